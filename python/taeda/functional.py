"""torch.functional: functions of torch by another path."""

from ._C import istft
from ._operations.index import unique, unique_consecutive, unravel_index
from ._operations.linalg import cdist, chain_matmul, einsum, lu, pca_lowrank, svd_lowrank, tensordot
from ._operations.reduce import norm
from ._operations.shape import (
    atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_shapes, broadcast_tensors, cartesian_prod, meshgrid, split)
from ._operations.spectral import stft

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
           "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
           "tensordot", "unique", "unique_consecutive", "unravel_index"]
