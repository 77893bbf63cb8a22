"""torch.cuda.amp: automatic mixed precision for devices of type cuda."""

import functools

from .. import amp
from ..amp import AutocastOfType, GradScalerOfType

custom_fwd, custom_bwd = (functools.partial(each, device_type="cuda") for each in (amp.custom_fwd, amp.custom_bwd))


class autocast(AutocastOfType):
    """torch.amp.autocast("cuda")"""

    device_type = "cuda"


class GradScaler(GradScalerOfType):
    """torch.amp.GradScaler("cuda")"""

    device_type = "cuda"
