"""Batches of sequences of different lengths."""

import collections

from ... import _C

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence",
           "unpad_sequence", "pack_sequence", "unpack_sequence"]

_Parts = collections.namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_Parts):
    """Sequences without padding: the first elements of all, then the second of those that have one, and so on; what
    pack_padded_sequence gives and recurrent networks take.

    Fields: `data` [sum of lengths, *]; `batch_sizes` (int64, on the CPU), how many sequences have each step; `sorted_indices`
        and `unsorted_indices` [N], or None, from the order before packing to that of falling lengths and back.

    >>> nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]).batch_sizes
    tensor([2, 1])
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None and isinstance(data, (list, tuple)):
            data, batch_sizes = data
        if batch_sizes is not None and batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                             "manually. They should be instantiated by functions like pack_sequence and pack_padded_sequences "
                             "in nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self):
        return type(self)(self.data.pin_memory(), self.batch_sizes.pin_memory(),
                          *(None if i is None else i.pin_memory() for i in self[2:]))

    def to(self, *args, **kwargs):
        """The data with another dtype or on another device; indices follow to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, *(None if i is None else i.to(data.device) for i in self[2:]))

    def cuda(self, *args, **kwargs):
        return self.to("cuda" if not args else _C.device("cuda", args[0]) if isinstance(args[0], int) else args[0], **kwargs)

    def cpu(self):
        return self.to("cpu")

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def is_pinned(self):
        return self.data.is_pinned()


def _dtype_method(name, dtype):
    def call(self):
        return self.to(dtype)
    call.__name__ = name
    return call


for _name, _dtype in (("double", _C.float64), ("float", _C.float32), ("half", _C.float16), ("long", _C.int64), ("int",
                      _C.int32), ("short", _C.int16), ("char", _C.int8), ("byte", _C.uint8)):
    setattr(PackedSequence, _name, _dtype_method(_name, _dtype))


def invert_permutation(permutation):
    """p with p[permutation[i]] = i; of None, None.

    Shapes: a vector [n] of 0, ..., n - 1 in any order, and so is the result.

    >>> nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    out = _C.empty_like(permutation)
    return out.scatter_(0, permutation, _C.arange(permutation.numel(), device=permutation.device))


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs padded sequences for recurrent networks, which then leave the padding out.

    input: [T, N, *], or [N, T, *] with batch_first, of which sequence i fills the first lengths[i] steps
    lengths: a list or a tensor on the CPU, [N]; not positive is a RuntimeError
    enforce_sorted: whether lengths must fall, else RuntimeError; True unless given

    Shapes: the packed `data` is [sum of lengths, *].

    >>> packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4), [3, 1])
    >>> packed.data.shape, packed.batch_sizes
    (torch.Size([4, 4]), tensor([2, 1, 1]))
    """
    if not isinstance(lengths, _C.TensorBase):
        lengths = _C._tensor_from(list(lengths), _C.int64, None)
    return PackedSequence(*_C._rnn.pack_padded_sequence(input, lengths, batch_first, enforce_sorted))


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The inverse of pack_padded_sequence: the padded tensor and the lengths, in the order from before packing.

    batch_first: whether the batch is the first dimension; False unless given
    padding_value: what fills up; 0 unless given
    total_length: T; the longest length unless given, and a ValueError if it is less

    Shapes: [T, N, *] or [N, T, *], and [N].

    >>> packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4), [3, 1])
    >>> padded, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    >>> padded.shape, lengths
    (torch.Size([3, 2, 4]), tensor([3, 1]))
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                         f"total_length={total_length} and max sequence length being {longest}")
    return _C._rnn.pad_packed_sequence(tuple(sequence), batch_first, padding_value, total_length)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences as one tensor, filled up at their ends or starts.

    sequences: tensors [L_i, *]
    batch_first: whether the batch is the first dimension; False unless given
    padding_value: what fills up; 0 unless given
    padding_side: "right" (unless given) or "left", else RuntimeError

    Shapes: [max L, N, *] or [N, max L, *].

    >>> nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    try:
        sequences = list(sequences.unbind(0)) if isinstance(sequences, _C.TensorBase) else list(sequences)
    except TypeError:
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
                           ) from None
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"padding_side must be 'left' or 'right', but got {padding_side}")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest, rest = max(s.size(0) for s in sequences), sequences[0].shape[1:]
    padded = []
    for s in sequences:
        if s.shape[1:] != rest:
            raise RuntimeError(f"The size of tensor a ({rest}) must match the size of tensor b ({s.shape[1:]}): sequences may "
                               "differ in their first dimension only")
        filler = s.new_full((longest - s.size(0), *rest), padding_value)
        padded.append(_C.cat([s, filler] if padding_side == "right" else [filler, s]) if s.size(0) < longest else s)
    return _C.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The inverse of pad_sequence: sequence i is the first lengths[i] steps.

    Shapes: [T, N, *], or [N, T, *] with batch_first, and lengths [N]; sequences [L_i, *].

    >>> nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:int(n)] for s, n in zip(padded_sequences.unbind(0), lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences [L_i, *], by falling length unless `enforce_sorted` is False.

    Shapes: the packed `data` is [sum of lengths, *].

    >>> nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]).data
    tensor([1, 3, 2])
    """
    lengths = _C._tensor_from([s.size(0) for s in sequences], _C.int64, None)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The inverse of pack_sequence: a list of sequences [L_i, *].

    >>> nn.utils.rnn.unpack_sequence(nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
