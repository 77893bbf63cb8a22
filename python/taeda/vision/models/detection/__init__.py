"""Networks that find objects and draw boxes around them."""

from .faster_rcnn import *  # noqa: F403
from .fcos import *  # noqa: F403
from .keypoint_rcnn import *  # noqa: F403
from .mask_rcnn import *  # noqa: F403
from .retinanet import *  # noqa: F403
from .ssd import *  # noqa: F403
from .ssdlite import *  # noqa: F403
