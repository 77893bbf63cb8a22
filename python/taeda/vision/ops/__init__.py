"""Boxes around objects, what is pooled of them, and layers of networks that find them."""

from .boxes import (  # noqa: F401
    batched_nms, box_area, box_convert, box_iou, clip_boxes_to_image, complete_box_iou, distance_box_iou, generalized_box_iou,
    masks_to_boxes, nms, remove_small_boxes)
from .deform_conv import DeformConv2d, deform_conv2d  # noqa: F401
from .drops import (  # noqa: F401
    DropBlock2d, DropBlock3d, StochasticDepth, drop_block2d, drop_block3d, stochastic_depth)
from .feature_pyramid_network import FeaturePyramidNetwork  # noqa: F401
from .losses import (  # noqa: F401
    complete_box_iou_loss, distance_box_iou_loss, generalized_box_iou_loss, sigmoid_focal_loss)
from .misc import (  # noqa: F401
    MLP, Conv2dNormActivation, Conv3dNormActivation, FrozenBatchNorm2d, Permute, SqueezeExcitation)
from .poolers import MultiScaleRoIAlign  # noqa: F401
from .pools import (  # noqa: F401
    PSRoIAlign, PSRoIPool, RoIAlign, RoIPool, ps_roi_align, ps_roi_pool, roi_align, roi_pool)

__all__ = ["batched_nms", "box_area", "box_convert", "box_iou", "clip_boxes_to_image", "complete_box_iou", "distance_box_iou",
           "generalized_box_iou", "masks_to_boxes", "nms", "remove_small_boxes", "DeformConv2d", "deform_conv2d",
           "DropBlock2d", "DropBlock3d", "StochasticDepth", "drop_block2d", "drop_block3d", "stochastic_depth",
           "FeaturePyramidNetwork", "complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss",
           "sigmoid_focal_loss", "MLP", "Conv2dNormActivation", "Conv3dNormActivation", "FrozenBatchNorm2d", "Permute",
           "SqueezeExcitation", "RoIAlign", "RoIPool", "roi_align", "roi_pool",
           "MultiScaleRoIAlign", "PSRoIAlign", "PSRoIPool", "ps_roi_align", "ps_roi_pool"]
