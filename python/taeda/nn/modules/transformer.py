"""Transformers (Vaswani et al. 2017, arXiv:1706.03762)."""

import copy

from ... import _C
from .. import functional as F
from .. import init
from .activation import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm
from .utils import check_copies

_ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


def _activation(given):
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return _ACTIVATIONS[given]


_get_activation_fn = _activation  # the name that programs import


def _copies(layer, num_layers):
    """A list of so many copies of a layer."""
    if not isinstance(layer, Module):
        raise TypeError(f"{type(layer).__name__} is not a Module subclass")
    check_copies("num_layers", num_layers, layer.parameters())
    return ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])


_get_clones = _copies  # the name that programs import


def _causal_mask(size, device=None, dtype=None):
    """-inf above the diagonal, 0 elsewhere."""
    return _C.triu(_C.full((size, size), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _additive(mask, like):
    """A mask as numbers to add: -inf where a mask of bools is True."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != _C.bool:
        raise AssertionError("only bool and floating types of key_padding_mask and attn_mask are supported")
    return _C.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float("-inf"))


def _is_causal(mask, is_causal, size):
    """Whether a mask is the causal one, as told or, by None, as found."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    expected = _causal_mask(size, mask.device, mask.dtype if mask.is_floating_point() else None)
    if not mask.is_floating_point():
        expected = expected.isinf()
    return mask.size() == expected.size() and bool((mask == expected).all())


def _length(source, batch_first):
    return source.size(0 if source.dim() == 2 else 1 if batch_first else 0)


class _Layer(Module):
    """What encoder and decoder layers share: residual blocks with the norm before or behind."""

    __constants__ = ["norm_first"]

    def __setstate__(self, state):
        super().__setstate__(state)
        if "activation" not in self.__dict__:
            self.activation = F.relu

    def _block(self, x, norm, block):
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _feed_forward(self, x, last):
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a network of two layers, each with a residual connection, dropout and a layer norm: norm(x + f(x)), or
    x + f(norm(x)) (Vaswani et al. 2017, arXiv:1706.03762).

    d_model: E, the size of inputs
    nhead: how many heads; divides d_model
    dim_feedforward: between the two layers; 2048 unless given
    dropout: probability; 0.1 unless given
    activation: between the two layers; a function, "relu" (unless given) or "gelu", else RuntimeError
    layer_norm_eps: 1e-5 unless given
    batch_first: whether inputs are [N, S, E] and not [S, N, E]; False unless given
    norm_first: which of both orders; False unless given
    bias: of projections and norms; True unless given

    Shapes: src [S, N, E] or [S, E], which the result has; src_mask [S, S] or [N nhead, S, S], src_key_padding_mask [N, S].

    >>> nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        src_mask, padding = _additive(src_mask, src), _additive(src_key_padding_mask, src)

        def attend(x):
            return self.dropout1(self.self_attn(x, x, x, attn_mask=src_mask, key_padding_mask=padding, need_weights=False,
                                                is_causal=is_causal)[0])
        x = self._block(src, self.norm1, attend)
        return self._block(x, self.norm2, lambda x: self._feed_forward(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output and a network of two layers, each with a residual connection, dropout
    and a layer norm. Arguments as TransformerEncoderLayer's.

    Shapes: tgt [T, N, E] or [T, E], which the result has, and memory [S, N, E] or [S, E]; tgt_mask [T, T], memory_mask [T,
    S], tgt_key_padding_mask [N, T], memory_key_padding_mask [N, S].

    >>> nn.TransformerDecoderLayer(8, 2, 16)(torch.ones(4, 3, 8), torch.ones(5, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        attention = {"dropout": dropout, "batch_first": batch_first, "bias": bias, **options}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        for i in (1, 2, 3):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=False, memory_is_causal=False):
        def attend(x):
            return self.dropout1(self.self_attn(x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                                                is_causal=tgt_is_causal, need_weights=False)[0])

        def look(x):
            return self.dropout2(self.multihead_attn(x, memory, memory, attn_mask=memory_mask,
                                                     key_padding_mask=memory_key_padding_mask, is_causal=memory_is_causal,
                                                     need_weights=False)[0])
        x = self._block(tgt, self.norm1, attend)
        x = self._block(x, self.norm2, look)
        return self._block(x, self.norm3, lambda x: self._feed_forward(x, self.dropout3))


class TransformerEncoder(Module):
    """Copies of an encoder layer one after another.

    encoder_layer: the layer, of which each is a copy
    num_layers: how many
    norm: a module behind the last one; None unless given
    enable_nested_tensor, mask_check: are taken and change nothing

    Shapes: src [S, N, E], which the result has, or as the layer takes it.

    >>> nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False)(torch.ones(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        # Taken from PyTorch's signature; there are no nested tensors to be faster with.
        self.enable_nested_tensor = self.use_nested_tensor = False
        self.mask_check = mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        mask, padding = _additive(mask, src), _additive(src_key_padding_mask, src)
        first = self.layers[0] if len(self.layers) else None
        batch_first = first is not None and getattr(getattr(first, "self_attn", None), "batch_first", False)
        is_causal = _is_causal(mask, is_causal, _length(src, batch_first))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer one after another.

    decoder_layer: the layer, of which each is a copy
    num_layers: how many
    norm: a module behind the last one; None unless given

    Shapes: tgt [T, N, E], which the result has, and memory [S, N, E], or as the layer takes them.

    >>> nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)(torch.ones(4, 3, 8), torch.ones(5, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=None, memory_is_causal=False):
        first = self.layers[0] if len(self.layers) else None
        batch_first = first is not None and getattr(getattr(first, "self_attn", None), "batch_first", False)
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, batch_first))
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                        memory_is_causal=memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Encoder and decoder, with a layer norm behind each (Vaswani et al. 2017, arXiv:1706.03762).

    d_model, nhead: E and how many heads; 512 and 8 unless given
    num_encoder_layers, num_decoder_layers: 6 unless given
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as TransformerEncoderLayer's
    custom_encoder, custom_decoder: modules in the place of these

    Shapes: src [S, N, E] and tgt [T, N, E] give [T, N, E]; with batch_first N stands first. Other sizes of N or E are a
    RuntimeError.

    >>> model = nn.Transformer(8, 2, 1, 1, 16)
    >>> model(torch.ones(5, 3, 8), torch.ones(4, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
                 activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm():
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*layer, **options), num_encoder_layers, norm())
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*layer, **options), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        """src [S, N, E], tgt [T, N, E] (batch first if so made, or without a batch) give [T, N, E]."""
        at = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(at) != tgt.size(at):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                            memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """A matrix with -inf where a position would look at a later one, and 0 elsewhere.

        Shapes: sz is a number; result [sz, sz].

        >>> nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self):
        for param in self.parameters():
            if param.dim() > 1:
                init.xavier_uniform_(param)


