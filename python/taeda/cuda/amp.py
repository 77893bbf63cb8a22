"""torch.cuda.amp: automatic mixed precision for devices of type cuda."""

from .. import amp
from .._core.warnings import deprecated
from ..amp import AutocastOfType, GradScalerOfType


@deprecated("`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., "
            "device_type='cuda')` instead.")
def custom_fwd(fwd=None, *, cast_inputs=None):
    """torch.amp.custom_fwd for device type cuda."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


@deprecated("`torch.cuda.amp.custom_bwd(args...)` is deprecated. Please use `torch.amp.custom_bwd(args..., "
            "device_type='cuda')` instead.")
def custom_bwd(bwd):
    """torch.amp.custom_bwd for device type cuda."""
    return amp.custom_bwd(bwd, device_type="cuda")


class autocast(AutocastOfType):
    """torch.amp.autocast("cuda")"""

    device_type = "cuda"


class GradScaler(GradScalerOfType):
    """torch.amp.GradScaler("cuda")"""

    device_type = "cuda"
