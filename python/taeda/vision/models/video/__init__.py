"""Networks that tell what happens in videos [batch, channels, time, height, width]."""

from .resnet import *  # noqa: F403
from .s3d import *  # noqa: F403
