"""torch.cuda.amp: automatic mixed precision for devices of type cuda."""

from ..amp import AutocastOfType, GradScalerOfType, custom_bwd, custom_fwd  # noqa: F401


class autocast(AutocastOfType):
    """torch.amp.autocast("cuda")"""

    device_type = "cuda"


class GradScaler(GradScalerOfType):
    """torch.amp.GradScaler("cuda")"""

    device_type = "cuda"
