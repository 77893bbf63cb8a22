"""torch.nn.parameter."""

from .._tensors.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter, is_lazy  # noqa: F401
