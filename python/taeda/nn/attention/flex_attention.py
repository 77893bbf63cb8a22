"""Attention whose scores a function of the program changes, and masks that are functions.

A function gets the score and the numbers of batch, head, query and key as tensors that broadcast against each other, and is
called once for all of them: it computes with them as with numbers, and may look up tensors of its own by them.
"""

import math

from ... import _C
from ..functional import softmax as _softmax

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "create_nested_block_mask",
           "flex_attention", "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128


def _places(sizes, device):
    """For each of several sizes the numbers below it, along a dimension of its own."""
    count = len(sizes)
    return [_C.arange(size, device=device).reshape([-1 if k == i else 1 for k in range(count)]) for i, size in enumerate(sizes)]


def noop_mask(batch, head, token_q, token_kv):
    """A mask_mod that lets everything pass."""
    return _C.ones((), dtype=_C.bool, device=batch.device)


def _joined(name, operation, mask_mods):
    if not all(callable(mask_mod) for mask_mod in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def joined(b, h, q_idx, kv_idx):
        made = mask_mods[0](b, h, q_idx, kv_idx)
        for mask_mod in mask_mods[1:]:
            made = operation(made, mask_mod(b, h, q_idx, kv_idx))
        return made
    joined.__name__ = name
    return joined


def and_masks(*mask_mods):
    """A mask_mod that lets pass what all of them do."""
    return _joined("and_mask", lambda a, b: a & b, mask_mods)


def or_masks(*mask_mods):
    """A mask_mod that lets pass what one of them does."""
    return _joined("or_mask", lambda a, b: a | b, mask_mods)


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """What a mask_mod(b, h, q, kv) lets pass, or the scores that a score_mod(score, b, h, q, kv) makes of zeros: [B, H, Q,
    KV]."""
    import inspect
    places = _places([B or 1, H or 1, Q_LEN, KV_LEN], device or "cpu")
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    count = sum(p.default is p.empty for p in inspect.signature(mod_fn).parameters.values())
    if count == 5:
        made = mod_fn(_C.zeros(shape, device=places[0].device), *places)
        return _C.where(_C.isneginf(made), False, True)
    return mod_fn(*places).expand(shape).clone()


class BlockMask:
    """A mask_mod and the sizes that it is for. PyTorch keeps which blocks of scores it lets pass, to compute no others; here
    it is asked once in each attention."""

    def __init__(self, mask_mod, shape, block_size, device):
        self.mask_mod, self.shape, self.BLOCK_SIZE, self.device = mask_mod, tuple(shape), block_size, device

    seq_lengths = property(lambda self: self.shape[2:])

    def numel(self):
        return math.prod(self.shape)

    def to_dense(self):
        """Which blocks have something that passes: [B, H, blocks of queries, blocks of keys], int32."""
        mask = create_mask(self.mask_mod, *self.shape, device=self.device)
        rows, columns = self.BLOCK_SIZE
        batch, heads, queries, keys = self.shape
        mask = _C._functional.pad(mask.to(_C.float32), [0, -keys % columns, 0, -queries % rows], "constant", 0)
        blocks = mask.reshape(batch, heads, mask.size(2) // rows, rows, mask.size(3) // columns, columns)
        return blocks.amax((3, 5)).to(_C.int32)

    def sparsity(self):
        """The share of blocks that nothing passes, in percent."""
        return 100 * (1 - self.to_dense().to(_C.float32).mean().item())

    def to(self, device):
        return BlockMask(self.mask_mod, self.shape, self.BLOCK_SIZE, _C.device(device))

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE, _compile=False):
    """A BlockMask of mask_mod(b, h, q, kv); B and H are None where it is the same for all batches or heads."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), size, _C.device(device or "cpu"))


def create_nested_block_mask(*args, **kwargs):
    """Taeda has no nested tensors, for which it would be."""
    raise NotImplementedError("create_nested_block_mask: Taeda has no nested tensors")


class AuxRequest:
    """What flex_attention shall give beside its output."""

    def __init__(self, lse=False, max_scores=False):
        self.lse, self.max_scores = lse, max_scores


class AuxOutput:
    """What flex_attention gives beside its output: tensors [B, H, Q] that were asked for."""

    def __init__(self, lse=None, max_scores=None):
        self.lse, self.max_scores = lse, max_scores


def _check(query, key, value, enable_gqa):
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise NotImplementedError("NYI: query, key, and value must be 4D tensors"
                                      f" (flex_attention got {tensor.dim()} dimensions of {name})")
    if key.size(-2) != value.size(-2):
        raise ValueError(f"NYI: The target sequence length (L) of the key tensor must match the target sequence length of the "
                         f"value tensor, but got {key.size(-2)} and {value.size(-2)}.")
    if query.size(-1) != key.size(-1):
        raise ValueError(f"Expect query and key/value to have the same embedding dimension but got E={query.size(-1)} and "
                         f"E={key.size(-1)}.")
    if not enable_gqa and query.size(1) != key.size(1):
        raise ValueError("Expect query and key/value to have the same number of heads but got Hq="
                         f"{query.size(1)} and Hkv={key.size(1)}. Try setting enable_gqa=True for GQA.")
    if enable_gqa and query.size(1) % key.size(1):
        raise ValueError("Expect number of query heads to be a multiple of kv heads for GQA but got Hq="
                         f"{query.size(1)} and Hkv={key.size(1)}.")


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    """softmax(score_mod(query key^T scale, b, h, q, kv)) value over the keys that `block_mask` lets pass: [B, H, Q, Ev].

    query [B, Hq, Q, E], key [B, Hkv, KV, E], value [B, Hkv, KV, Ev]; with `enable_gqa` several heads of queries share one of
    keys. A query that nothing passes for gets zeros. With `return_lse` a pair: also the logarithms of the sums of exp(score).
    """
    _check(query, key, value, enable_gqa)
    if enable_gqa:
        group = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ key.mT * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    places = _places(scores.shape, query.device)
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        if block_mask.shape[2] < scores.size(2) or block_mask.shape[3] < scores.size(3):
            raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len="
                             f"{scores.size(2)} and kv_len={scores.size(3)}.")
        scores = scores.masked_fill(~block_mask.mask_mod(*places), -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = _softmax(scores.masked_fill(empty, 0), -1).masked_fill(empty, 0)
    made = (weights @ value).to(query.dtype)
    if return_aux is not None:
        return made, AuxOutput(scores.logsumexp(-1) if return_aux.lse else None,
                               scores.amax(-1) if return_aux.max_scores else None)
    return (made, scores.logsumexp(-1)) if return_lse else made
