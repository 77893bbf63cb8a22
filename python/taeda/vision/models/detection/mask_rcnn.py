"""Mask R-CNN: a mask for each box (He, Gkioxari, Dollár, Girshick, arXiv:1703.06870)."""

import collections

from .... import nn
from ...ops.misc import Conv2dNormActivation
from .._weights import on_backbone, weights_of
from ..resnet import ResNet50_Weights
from .backbone_utils import _resnet_fpn_extractor, trained_resnet
from .faster_rcnn import FasterRCNN, check_pool, pool_of, second_version, without_eps

__all__ = ["MaskRCNN", "MaskRCNN_ResNet50_FPN_Weights", "MaskRCNN_ResNet50_FPN_V2_Weights", "maskrcnn_resnet50_fpn",
           "maskrcnn_resnet50_fpn_v2"]


class MaskRCNN(FasterRCNN):
    """FasterRCNN whose targets have `masks` [N, H, W], too, and that finds `masks` [N, 1, H, W], numbers from 0 to 1."""

    def __init__(self, backbone, num_classes=None, *args, mask_roi_pool=None, mask_head=None, mask_predictor=None, **kwargs):
        check_pool("mask_roi_pool", mask_roi_pool)
        if num_classes is not None and mask_predictor is not None:
            raise ValueError("num_classes should be None when mask_predictor is specified")
        mask_roi_pool = mask_roi_pool or pool_of(14)
        mask_head = mask_head or MaskRCNNHeads(backbone.out_channels, (256, 256, 256, 256), 1)
        mask_predictor = mask_predictor or MaskRCNNPredictor(256, 256, num_classes)
        super().__init__(backbone, num_classes, *args, **kwargs)
        self.roi_heads.mask_roi_pool = mask_roi_pool
        self.roi_heads.mask_head = mask_head
        self.roi_heads.mask_predictor = mask_predictor


class MaskRCNNHeads(nn.Sequential):
    """Convolutions."""

    _version = 2

    def __init__(self, in_channels, layers, dilation, norm_layer=None):
        widths = [in_channels, *layers]
        super().__init__(*(Conv2dNormActivation(a, b, kernel_size=3, stride=1, padding=dilation, dilation=dilation,
                                                norm_layer=norm_layer) for a, b in zip(widths, widths[1:])))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *others):
        if (local_metadata.get("version") or 1) < 2:
            for i in range(len(self)):
                for kind in ("weight", "bias"):
                    old = f"{prefix}mask_fcn{i + 1}.{kind}"
                    if old in state_dict:
                        state_dict[f"{prefix}{i}.0.{kind}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)


class MaskRCNNPredictor(nn.Sequential):
    """Twice the sides, and a mask for each class."""

    def __init__(self, in_channels, dim_reduced, num_classes):
        super().__init__(collections.OrderedDict([
            ("conv5_mask", nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0)), ("relu", nn.ReLU(inplace=True)),
            ("mask_fcn_logits", nn.Conv2d(dim_reduced, num_classes, 1, 1, 0))]))
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")


MaskRCNN_ResNet50_FPN_Weights = weights_of("MaskRCNN_ResNet50_FPN_Weights", "COCO_V1",
                                           COCO_V1="maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth")
MaskRCNN_ResNet50_FPN_V2_Weights = weights_of("MaskRCNN_ResNet50_FPN_V2_Weights", "COCO_V1",
                                              COCO_V1="maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth")


@on_backbone(MaskRCNN_ResNet50_FPN_Weights, ResNet50_Weights, 91, finish=without_eps)
def maskrcnn_resnet50_fpn(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """Mask R-CNN on a ResNet of 50 layers."""
    backbone = _resnet_fpn_extractor(*trained_resnet(weights_backbone, chosen, trainable_backbone_layers))
    return MaskRCNN(backbone, num_classes=num_classes, **kwargs)


@on_backbone(MaskRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights, 91, first=None)
def maskrcnn_resnet50_fpn_v2(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """Mask R-CNN as improved in arXiv:2111.11429."""
    parts = second_version(weights_backbone, chosen, trainable_backbone_layers)
    head = MaskRCNNHeads(parts["backbone"].out_channels, [256] * 4, 1, norm_layer=nn.BatchNorm2d)
    return MaskRCNN(num_classes=num_classes, mask_head=head, **parts, **kwargs)
