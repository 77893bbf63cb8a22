"""Embeddings."""

from ... import _C
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter
from .module import Module

_embedding = F.embedding  # another, if a program puts one there, is called


class Embedding(Module):
    """Rows of a table that learns, one for each integer.

    num_embeddings, embedding_dim: rows of the table and their size
    padding_idx: a row of zeros without a gradient; may be negative, an AssertionError outside of the table
    max_norm, norm_type: rows with a larger norm (of order 2 unless given) are shortened to it when they are looked up
    scale_grad_by_freq: whether a row's gradient is divided by how often it was looked up; False unless given
    sparse: whether the table's gradient is a sparse tensor; False unless given
    _weight: the table, where there is one

    Shapes: input of integers [*], result [*, embedding_dim]; `weight` [num_embeddings, embedding_dim] begins standard normal.
    An integer outside of the table is an IndexError.

    >>> nn.Embedding(10, 3)(torch.tensor([[1, 2], [4, 9]])).shape
    torch.Size([2, 2, 3])
    """

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"]

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            padding_idx = _padding("Padding_idx", padding_idx, num_embeddings)
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            self.weight = Parameter(_C.empty((num_embeddings, embedding_dim), device=device, dtype=dtype), not _freeze)
            self.reset_parameters()
        else:
            _check_weight(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(_weight, not _freeze)
        self.sparse = sparse

    def reset_parameters(self):
        """Draws from the standard normal distribution; the padding's row is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    def forward(self, input):
        if self.max_norm is None and F.embedding is _embedding:
            return _C.embedding(self.weight, input, -1 if self.padding_idx is None else self.padding_idx,
                                self.scale_grad_by_freq, self.sparse)
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        for name, usual in (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        if self.sparse:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        sparse=False):
        """An embedding with the rows of a matrix, which do not learn if `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


def _padding(name, index, rows):
    """The row that counts for nothing, from the front. Row 0 is looked for when it is to be zero."""
    if index and not -rows <= index < rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return index % rows if index else index


def _check_weight(weight, num_embeddings, embedding_dim):
    if list(weight.shape) != [num_embeddings, embedding_dim]:
        raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")


class EmbeddingBag(Module):
    """Sums, means or maxima of rows of a table that learns, for bags of integers.

    num_embeddings, embedding_dim: rows of the table and their size
    mode: "mean" (unless given), "sum" or "max"
    include_last_offset: whether `offsets` end with the number of integers; False unless given
    padding_idx: integers that count for nothing
    max_norm, norm_type, scale_grad_by_freq, sparse: as Embedding's

    Shapes: input [B, L], each row a bag, or [n] with `offsets` [B] at which bags begin; result [B, embedding_dim].
    `per_sample_weights`, in the input's shape, are for "sum" alone.

    >>> nn.EmbeddingBag(10, 3)(torch.tensor([1, 2, 4, 9]), torch.tensor([0, 3])).shape
    torch.Size([2, 3])
    """

    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
                     "include_last_offset", "padding_idx"]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                 sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if padding_idx is not None:
            padding_idx = _padding("padding_idx", padding_idx, num_embeddings)
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(_C.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        else:
            _check_weight(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(_weight)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    reset_parameters = Embedding.reset_parameters
    _fill_padding_idx_with_zero = Embedding._fill_padding_idx_with_zero

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
                               self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        for name, usual in (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                        sparse=False, include_last_offset=False, padding_idx=None):
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        made = cls(*embeddings.shape, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset,
                   padding_idx)
        made.weight.requires_grad = not freeze
        return made
