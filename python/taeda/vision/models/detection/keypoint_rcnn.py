"""Keypoint R-CNN: points of each box (arXiv:1703.06870, section 5)."""

from .... import nn
from ....nn import functional as F
from .._weights import on_backbone, weights_of
from ..resnet import ResNet50_Weights
from .backbone_utils import _resnet_fpn_extractor, trained_resnet
from .faster_rcnn import FasterRCNN, check_pool, pool_of, without_eps

__all__ = ["KeypointRCNN", "KeypointRCNN_ResNet50_FPN_Weights", "keypointrcnn_resnet50_fpn"]


class KeypointRCNN(FasterRCNN):
    """FasterRCNN whose targets have `keypoints` [N, K, 3] (x, y, whether it is seen), too, and that finds `keypoints` and
    `keypoints_scores`."""

    def __init__(self, backbone, num_classes=None, min_size=None, *args, keypoint_roi_pool=None, keypoint_head=None,
                 keypoint_predictor=None, num_keypoints=None, **kwargs):
        check_pool("keypoint_roi_pool", keypoint_roi_pool)
        if num_keypoints is not None and keypoint_predictor is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        keypoint_roi_pool = keypoint_roi_pool or pool_of(14)
        keypoint_head = keypoint_head or KeypointRCNNHeads(backbone.out_channels, (512,) * 8)
        keypoint_predictor = keypoint_predictor or KeypointRCNNPredictor(512, num_keypoints or 17)
        super().__init__(backbone, num_classes, min_size or (640, 672, 704, 736, 768, 800), *args, **kwargs)
        self.roi_heads.keypoint_roi_pool = keypoint_roi_pool
        self.roi_heads.keypoint_head = keypoint_head
        self.roi_heads.keypoint_predictor = keypoint_predictor


class KeypointRCNNHeads(nn.Sequential):
    """Convolutions."""

    def __init__(self, in_channels, layers):
        parts, width = [], in_channels
        for channels in layers:
            parts += [nn.Conv2d(width, channels, 3, stride=1, padding=1), nn.ReLU(inplace=True)]
            width = channels
        super().__init__(*parts)
        for m in self.children():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                nn.init.constant_(m.bias, 0)


class KeypointRCNNPredictor(nn.Module):
    """Four times the sides, and a map for each point."""

    def __init__(self, in_channels, num_keypoints):
        super().__init__()
        self.kps_score_lowres = nn.ConvTranspose2d(in_channels, num_keypoints, 4, stride=2, padding=1)
        nn.init.kaiming_normal_(self.kps_score_lowres.weight, mode="fan_out", nonlinearity="relu")
        nn.init.constant_(self.kps_score_lowres.bias, 0)
        self.up_scale, self.out_channels = 2, num_keypoints

    def forward(self, x):
        return F.interpolate(self.kps_score_lowres(x), scale_factor=float(self.up_scale), mode="bilinear", align_corners=False,
                             recompute_scale_factor=False)


KeypointRCNN_ResNet50_FPN_Weights = weights_of("KeypointRCNN_ResNet50_FPN_Weights", "COCO_V1",
                                               COCO_LEGACY="keypointrcnn_resnet50_fpn_coco-9f466800.pth",
                                               COCO_V1="keypointrcnn_resnet50_fpn_coco-fc266e95.pth")


@on_backbone(KeypointRCNN_ResNet50_FPN_Weights, ResNet50_Weights, 2, finish=without_eps, num_keypoints=17)
def keypointrcnn_resnet50_fpn(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """Keypoint R-CNN on a ResNet of 50 layers."""
    backbone = _resnet_fpn_extractor(*trained_resnet(weights_backbone, chosen, trainable_backbone_layers))
    return KeypointRCNN(backbone, num_classes, **kwargs)
