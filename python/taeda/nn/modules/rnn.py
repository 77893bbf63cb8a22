"""Recurrent networks."""

import math
import numbers

from ... import _C
from .. import init
from ..._tensors.parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .utils import check_copies
from ..._core.warnings import warn

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Several layers of one kind of cell, in one direction or two: what RNN, LSTM and GRU share.

    mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU", else ValueError
    input_size, hidden_size: in and H, sizes of an input and of a state
    num_layers: how many layers, each of which takes the output of the one below; 1 unless given
    bias: whether b_ih and b_hh are there; True unless given
    batch_first: whether the batch is the first dimension of input and output, not the second; False unless given
    dropout: probability with which elements between layers are zeroed while training; 0 unless given
    bidirectional: whether a second network reads backwards; False unless given
    proj_size: of an LSTM, the size to which hidden states are projected; 0 (unless given) for none

    Shapes: input [T, N, in], output [T, N, D H] and states [num_layers D, N, H], with D = 2 directions or 1, or all of them
    without N; the weights begin uniform between -1 / sqrt(H) and 1 / sqrt(H).

    >>> nn.RNNBase("GRU", 3, 5, num_layers=2).weight_ih_l1.shape
    torch.Size([15, 5])
    """

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
                     "proj_size"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_options(dropout)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        directions, state_size = 2 if bidirectional else 1, proj_size or hidden_size
        gates = _GATES[mode] * hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                shapes = {"weight_ih": (gates, input_size if layer == 0 else state_size * directions),
                          "weight_hh": (gates, state_size)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(_C.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
            if layer == 1:  # as all that follow
                check_copies("num_layers", num_layers, [getattr(self, name) for name in self._all_weights[-1]])
        self.reset_parameters()

    def _check_options(self, dropout):
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                             "zeroed")
        if dropout > 0 and self.num_layers == 1:
            warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                 f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}")
        for name in ("input_size", "hidden_size"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"{name} should be of type int, got: {type(getattr(self, name)).__name__}")
        for name in ("hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def reset_parameters(self):
        """Draws all weights uniformly from +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        params = self._parameters
        return [params[name] if name in params else getattr(self, name) for names in self._all_weights for name in names]

    def flatten_parameters(self):
        """Does nothing: devices pack weights themselves where they want them in one piece."""

    def __setstate__(self, state):
        state = {k: v for k, v in state.items() if k not in ("_flat_weights", "_flat_weights_names", "_flat_weight_refs",
                                                             "all_weights")}
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
                            ("bidirectional", False)):
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)

    def _state_sizes(self):
        """Sizes of the last dimension of the states: hidden, and of an LSTM the cells'."""
        return (self.proj_size or self.hidden_size,) + ((self.hidden_size,) if self.mode == "LSTM" else ())

    def _first_states(self, input, batch):
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return [_C.zeros((layers, batch, size), dtype=input.dtype, device=input.device) for size in self._state_sizes()]

    def _check_input(self, input):
        weight = self._parameters.get("weight_ih_l0")
        if weight is not None and input.dtype != weight.dtype and not _C._amp.is_enabled(input.device):
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                             f"input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _check_states(self, states, batch):
        layers = self.num_layers * (2 if self.bidirectional else 1)
        for i, (state, size) in enumerate(zip(states, self._state_sizes())):
            expected = (layers, batch, size)
            if state.shape != expected:
                what = f"hidden[{i}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {what} size {expected}, got {list(state.shape)}")

    def _run(self, input, states):
        """Output and last states of a tensor or a PackedSequence."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        alone, at = input.dim() == 2, 1 if self.batch_first else 0
        if states is not None:
            self._check_dims(states, alone)
            states = [s.unsqueeze(1) for s in states] if alone else states
        if alone:
            input = input.unsqueeze(0 if self.batch_first else 1)
        self._check_input(input)
        batch = input.size(0 if self.batch_first else 1)
        if states is None:
            states = self._first_states(input, batch)
        else:
            self._check_states(states, batch)
        output, *last = self._operation(input, states if self.mode == "LSTM" else states[0], self._flat_weights, self.bias,
                                        self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first)
        if alone:
            output, last = output.squeeze(1 - at), [s.squeeze(1) for s in last]
        return output, last

    def _check_dims(self, states, alone):
        kind, dims = ("unbatched 2-D", 2) if alone else ("batched 3-D", 3)
        given = [s.dim() for s in states]
        if any(d != dims for d in given):
            raise RuntimeError(f"For {kind} input, hx and cx should also be {dims}-D but got ({given[0]}-D, {given[-1]}-D) "
                               "tensors"
                               if self.mode == "LSTM" else
                               f"For {kind} input, hx should also be {dims}-D but got {given[0]}-D tensor")

    def _run_packed(self, packed, states):
        self._check_input(packed.data)
        batch = int(packed.batch_sizes[0])
        if states is not None:
            self._check_states(states, batch)
        hidden, cell = (list(states or ()) + [None, None])[:2]
        output, *last = _C._rnn.run_packed(
            self.mode, tuple(packed), self._flat_weights, [self.input_size, self.hidden_size, self.proj_size, self.num_layers],
            self.bias, self.bidirectional, self.dropout, self.training, hidden, cell)
        return PackedSequence(*output), last[:len(self._state_sizes())]

    def forward(self, input, hx=None):
        """Output [T, N, D H] and last states [layers D, N, H], from input [T, N, in] (both batch first if so made), or [T, in],
        or a PackedSequence, and first states, which are zero unless given."""
        output, last = self._run(input, None if hx is None else [hx])
        return output, last[0]


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh) for each step, or relu in the place of tanh (Elman 1990).

    input_size, hidden_size, num_layers: in, H and how many layers (1 unless given)
    nonlinearity: "tanh" (unless given) or "relu", else ValueError
    bias, batch_first, dropout, bidirectional: as RNNBase's

    Shapes: input [T, N, in] or [T, in] (or a PackedSequence), first states [num_layers D, N, H] or [num_layers D, H], zeros
    unless given; gives output [T, N, D H] and last states, D = 2 directions or 1.

    >>> output, last = nn.RNN(3, 5)(torch.ones(4, 2, 3))
    >>> output.shape, last.shape
    (torch.Size([4, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)

    @property
    def _operation(self):
        return _C.rnn_tanh if self.mode == "RNN_TANH" else _C.rnn_relu


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), for each step

        i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
        c = sigmoid(f) c + sigmoid(i) tanh(g)
        h = sigmoid(o) tanh(c)

    with proj_size, h is projected to that size after (arXiv:1402.1128).

    input_size, hidden_size, num_layers: in, H and how many layers (1 unless given)
    bias, batch_first, dropout, bidirectional, proj_size: as RNNBase's

    Shapes: input [T, N, in] or [T, in] (or a PackedSequence) and first states (h, c) [num_layers D, N, H] or [num_layers D,
    H], zeros unless given; gives output [T, N, D H] and last states (h, c), D = 2 directions or 1.

    >>> output, (h, c) = nn.LSTM(3, 5, num_layers=2)(torch.ones(4, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([4, 2, 5]), torch.Size([2, 2, 5]))
    """

    _operation = staticmethod(_C.lstm)

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input, hx=None):
        """Output [T, N, D H] and (last hidden, last cell states); `hx` are the first ones."""
        output, last = self._run(input, None if hx is None else list(hx))
        return output, tuple(last)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al. 2014, arXiv:1406.1078), for each step

        r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
        z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
        n = tanh(W_in x + b_in + r (W_hn h + b_hn))
        h = (1 - z) n + z h

    input_size, hidden_size, num_layers: in, H and how many layers (1 unless given)
    bias, batch_first, dropout, bidirectional: as RNNBase's

    Shapes: input [T, N, in] or [T, in] (or a PackedSequence), first states [num_layers D, N, H] or [num_layers D, H], zeros
    unless given; gives output [T, N, D H] and last states, D = 2 directions or 1.

    >>> output, last = nn.GRU(3, 5, bidirectional=True)(torch.ones(4, 2, 3))
    >>> output.shape, last.shape
    (torch.Size([4, 2, 10]), torch.Size([2, 2, 5]))
    """

    _operation = staticmethod(_C.gru)

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent network: what RNNCell, LSTMCell and GRUCell share.

    input_size, hidden_size: in and H
    bias: whether b_ih and b_hh are there
    num_chunks: how many gates

    Shapes: `weight_ih` [num_chunks H, in], `weight_hh` [num_chunks H, H], biases [num_chunks H].

    >>> nn.RNNCellBase(3, 5, True, 1).weight_ih.shape
    torch.Size([5, 3])
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_C.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_C.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_C.empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    reset_parameters = RNNBase.reset_parameters

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, operation, input, states, count=1):
        """The next states, from [N, in] or [in] and the states so far or None."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        alone = input.dim() == 1
        if states is not None:
            for i, state in enumerate(states):
                if state.dim() not in (1, 2):
                    what = f"hx[{i}]" if count == 2 else "hidden"
                    raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {state.dim()}D instead")
            states = [s.unsqueeze(0) for s in states] if alone else states
        input = input.unsqueeze(0) if alone else input
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {self.input_size}")
        if states is None:
            states = [_C.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)] * count
        for i, state in enumerate(states):
            if state.size(0) != input.size(0):
                raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {state.size(0)}")
        made = operation(input, states if count == 2 else states[0], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not alone:
            return made
        return tuple(s.squeeze(0) for s in made) if count == 2 else made.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    input_size, hidden_size: in and H
    bias: whether b_ih and b_hh are there; True unless given
    nonlinearity: "tanh" (unless given) or "relu", else RuntimeError of the call

    Shapes: input [N, in] or [in] and h [N, H] or [H], zeros unless given; gives h' in h's shape.

    >>> nn.RNNCell(3, 5)(torch.ones(2, 3)).shape
    torch.Size([2, 5])
    """

    __constants__ = [*RNNCellBase.__constants__, "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(_C.rnn_tanh_cell if self.nonlinearity == "tanh" else _C.rnn_relu_cell, input,
                          None if hx is None else [hx])


class LSTMCell(RNNCellBase):
    """One step of LSTM.

    input_size, hidden_size: in and H
    bias: whether b_ih and b_hh are there; True unless given

    Shapes: input [N, in] or [in] and (h, c) [N, H] or [H], zeros unless given; gives the next (h, c).

    >>> h, c = nn.LSTMCell(3, 5)(torch.ones(2, 3))
    >>> h.shape
    torch.Size([2, 5])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        return self._step(_C.lstm_cell, input, None if hx is None else list(hx), 2)


class GRUCell(RNNCellBase):
    """One step of GRU.

    input_size, hidden_size: in and H
    bias: whether b_ih and b_hh are there; True unless given

    Shapes: input [N, in] or [in] and h [N, H] or [H], zeros unless given; gives the next h.

    >>> nn.GRUCell(3, 5)(torch.ones(2, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step(_C.gru_cell, input, None if hx is None else [hx])
