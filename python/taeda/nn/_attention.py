"""Attention of several heads, as a function."""

import math

from .. import _C
from .._core.warnings import warn

_own = None  # functions of nn.functional that attention is made of, and which the operation leaves out


def remember(functional):
    """Notes the package's own functions: where a program puts others into their places, they are called."""
    global F, _own
    F, _own = functional, _parts(functional)


def _parts(functional):
    return functional.linear, functional.scaled_dot_product_attention, functional.softmax, functional.dropout, functional.pad


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
                                 need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                                 average_attn_weights=True, is_causal=False):
    """Attention of several heads as a function: what nn.MultiheadAttention computes, of weights that are given.

    embed_dim_to_check, num_heads: E and h; another last dimension of query is an AssertionError
    in_proj_weight, in_proj_bias: the projections of query, key and value, [3 E, E] and [3 E]; or with
        use_separate_proj_weight q_proj_weight [E, E], k_proj_weight [E, *] and v_proj_weight [E, *]
    bias_k, bias_v, add_zero_attn: a learned key and value, or zeros, added to the sequence
    dropout_p, training: with which probability weights are zeroed while training
    out_proj_weight, out_proj_bias: [E, E] and [E]
    key_padding_mask, attn_mask, need_weights, average_attn_weights, is_causal: as MultiheadAttention's call takes them
    static_k, static_v: keys and values of the heads, [N h, S, E / h], in the place of those that are projected

    Shapes: query [L, N, E], key and value [S, N, *] (or all without N) give [L, N, E] and the weights [N, L, S], or None.

    >>> x, weight = torch.randn(5, 3, 8), torch.randn(24, 8)
    >>> out, weights = F.multi_head_attention_forward(
    ...     x, x, x, 8, 2, weight, None, None, None, False, 0.0, torch.eye(8), None)
    >>> out.shape, weights.shape
    (torch.Size([5, 3, 8]), torch.Size([3, 5, 5]))
    """
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if query.shape[-1] != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}")
    if key_padding_mask is not None and attn_mask is not None and key_padding_mask.dtype != attn_mask.dtype:
        warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.")
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    forward = _C._functional.multi_head_attention_forward if _parts(F) == _own else _composed
    output, weights = forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, bool(add_zero_attn),
        dropout_p, out_proj_weight, out_proj_bias, bool(training), key_padding_mask, bool(need_weights), attn_mask,
        bool(use_separate_proj_weight), q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v,
        bool(average_attn_weights))
    if not batched:
        output, weights = output.squeeze(1), None if weights is None else weights.squeeze(0)
    return output, weights


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether there is a batch dimension. Throws AssertionError for tensors of which some have one."""
    ndim = query.dim()
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    kind, batched = ("batched", True) if ndim == 3 else ("unbatched", False)
    if key.dim() != ndim or value.dim() != ndim:
        raise AssertionError(f"For {kind} ({ndim}-D) `query`, expected `key` and `value` to be {ndim}-D but found "
                             f"{key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != ndim - 1:
        raise AssertionError(f"For {kind} ({ndim}-D) `query`, expected `key_padding_mask` to be `None` or {ndim - 1}-D but "
                             f"found {key_padding_mask.dim()}-D tensor instead")
    if key_padding_mask is not None:
        for i, (given, wanted) in enumerate(zip(key_padding_mask.shape[::-1], key.shape[::-1][1:] if not batched else
                                                (key.shape[0], key.shape[1]))):
            if given != wanted:
                raise AssertionError(f"Expected key_padded_mask.shape[{1 - i}] to be {wanted}, but got {given}")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {kind} ({ndim}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                             f"{attn_mask.dim()}-D tensor instead")
    if not batched and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def _composed(query, key, value, size, heads, in_weight, in_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_weight,
              out_bias, training, padding, need_weights, mask, separate, q_weight, k_weight, v_weight, static_k, static_v,
              average):
    """The same, step by step, by the functions that nn.functional has at the time."""
    biases = (None, None, None) if in_bias is None else in_bias.chunk(3)
    weights = (q_weight, k_weight, v_weight) if separate else in_weight.chunk(3)
    q, k, v = (F.linear(*each) for each in zip((query, key, value), weights, biases))
    length, batch = query.shape[:2]
    mask = _joined_mask(mask, padding, batch, heads, q.dtype)
    if bias_k is not None and bias_v is not None:
        k, v = _C.cat((k, bias_k.expand(-1, batch, -1))), _C.cat((v, bias_v.expand(-1, batch, -1)))
        mask = None if mask is None else F.pad(mask, (0, 1))

    def split(x):
        return x.reshape(x.shape[0], batch, heads, -1).permute(1, 2, 0, 3)  # [N, heads, L, E / heads]
    q, k, v = split(q), split(k), split(v)
    k = k if static_k is None else static_k.unflatten(0, (batch, heads))
    v = v if static_v is None else static_v.unflatten(0, (batch, heads))
    if add_zero_attn:
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        mask = None if mask is None else F.pad(mask, (0, 1))
    dropout_p = dropout_p if training else 0.0
    if not need_weights:
        attended, shown = F.scaled_dot_product_attention(q, k, v, mask, dropout_p), None
    else:
        scores = q / math.sqrt(q.shape[-1]) @ k.transpose(-2, -1)
        shown = F.dropout(F.softmax(scores if mask is None else scores + mask, dim=-1), p=dropout_p)
        attended = shown @ v
        shown = shown.mean(1) if average else shown
    return F.linear(attended.permute(2, 0, 1, 3).reshape(length, batch, size), out_weight, out_bias), shown


def _joined_mask(mask, padding, batch, heads, dtype):
    """Both masks as numbers to add to the scores [N, heads, L, S], or None."""
    def added(given):
        return given if given.dtype != _C.bool else _C.zeros_like(given, dtype=dtype).masked_fill_(given, -math.inf)
    if mask is not None:
        mask = added(mask.unflatten(0, (batch, heads)) if mask.dim() == 3 else mask.expand(batch, heads, *mask.shape))
    if padding is not None:
        padding = added(padding)[:, None, None, :]
        mask = padding.expand(batch, heads, 1, -1) if mask is None else mask + padding
    return mask
