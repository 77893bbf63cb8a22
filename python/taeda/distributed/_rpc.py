"""The library's part of RPC, which a build may leave out."""

from .. import _C

if not hasattr(_C._distributed, "_rpc"):
    raise ImportError("torch.distributed.rpc and torch.distributed.autograd are not part of this Taeda: it was built with "
                      "TAEDA_RPC=OFF")
rpc = _C._distributed._rpc
