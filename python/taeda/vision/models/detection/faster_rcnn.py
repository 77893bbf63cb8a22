"""Faster R-CNN (Ren, He, Girshick, Sun, arXiv:1506.01497)."""

from .... import nn
from ....nn import functional as F
from ...ops.misc import Conv2dNormActivation, FrozenBatchNorm2d
from ...ops.poolers import MultiScaleRoIAlign
from .._weights import on_backbone, weights_of
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ..resnet import ResNet50_Weights, resnet50
from ._utils import overwrite_eps
from .anchor_utils import AnchorGenerator
from .backbone_utils import _mobilenet_extractor, _resnet_fpn_extractor, _validate_trainable_layers, trained_resnet
from .generalized_rcnn import GeneralizedRCNN
from .roi_heads import RoIHeads
from .rpn import RegionProposalNetwork, RPNHead
from .transform import GeneralizedRCNNTransform

__all__ = ["FasterRCNN", "FasterRCNN_ResNet50_FPN_Weights", "FasterRCNN_ResNet50_FPN_V2_Weights",
           "FasterRCNN_MobileNet_V3_Large_FPN_Weights", "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights",
           "fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fasterrcnn_mobilenet_v3_large_fpn",
           "fasterrcnn_mobilenet_v3_large_320_fpn"]


def _default_anchorgen():
    return AnchorGenerator(((32,), (64,), (128,), (256,), (512,)), ((0.5, 1.0, 2.0),) * 5)


def check_pool(name, pool):
    if not isinstance(pool, (MultiScaleRoIAlign, type(None))):
        raise TypeError(f"{name} should be of type MultiScaleRoIAlign or None instead of {type(pool)}")


def pool_of(size):
    """Pieces of the four maps of a ResNet's pyramid."""
    return MultiScaleRoIAlign(featmap_names=["0", "1", "2", "3"], output_size=size, sampling_ratio=2)


def _check(backbone, anchors, pool, num_classes, predictor):
    if not hasattr(backbone, "out_channels"):
        raise ValueError("backbone should contain an attribute out_channels specifying the number of output channels (assumed "
                         "to be the same for all the levels)")
    if not isinstance(anchors, (AnchorGenerator, type(None))):
        raise TypeError(f"rpn_anchor_generator should be of type AnchorGenerator or None instead of {type(anchors)}")
    check_pool("box_roi_pool", pool)
    if num_classes is not None and predictor is not None:
        raise ValueError("num_classes should be None when box_predictor is specified")
    if num_classes is None and predictor is None:
        raise ValueError("num_classes should not be None when box_predictor is not specified")


class FasterRCNN(GeneralizedRCNN):
    """A detector on `backbone`, which has `out_channels`. It takes a list of pictures [C, H, W] and, while training, a list of
    dicts with `boxes` (x1, y1, x2, y2) [N, 4] and `labels` [N], 0 being background; it gives a dict of losses, or a dict of
    `boxes`, `labels` and `scores` for each picture."""

    def __init__(self, backbone, num_classes=None, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 rpn_anchor_generator=None, rpn_head=None, rpn_pre_nms_top_n_train=2000, rpn_pre_nms_top_n_test=1000,
                 rpn_post_nms_top_n_train=2000, rpn_post_nms_top_n_test=1000, rpn_nms_thresh=0.7, rpn_fg_iou_thresh=0.7,
                 rpn_bg_iou_thresh=0.3, rpn_batch_size_per_image=256, rpn_positive_fraction=0.5, rpn_score_thresh=0.0,
                 box_roi_pool=None, box_head=None, box_predictor=None, box_score_thresh=0.05, box_nms_thresh=0.5,
                 box_detections_per_img=100, box_fg_iou_thresh=0.5, box_bg_iou_thresh=0.5, box_batch_size_per_image=512,
                 box_positive_fraction=0.25, bbox_reg_weights=None, **kwargs):
        _check(backbone, rpn_anchor_generator, box_roi_pool, num_classes, box_predictor)
        anchors = rpn_anchor_generator or _default_anchorgen()
        head = rpn_head or RPNHead(backbone.out_channels, anchors.num_anchors_per_location()[0])
        rpn = RegionProposalNetwork(
            anchors, head, rpn_fg_iou_thresh, rpn_bg_iou_thresh, rpn_batch_size_per_image, rpn_positive_fraction,
            {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test}, rpn_nms_thresh,
            score_thresh=rpn_score_thresh)
        pool = box_roi_pool or pool_of(7)
        box_head = box_head or TwoMLPHead(backbone.out_channels * pool.output_size[0] ** 2, 1024)
        box_predictor = box_predictor or FastRCNNPredictor(1024, num_classes)
        heads = RoIHeads(pool, box_head, box_predictor, box_fg_iou_thresh, box_bg_iou_thresh, box_batch_size_per_image,
                         box_positive_fraction, bbox_reg_weights, box_score_thresh, box_nms_thresh, box_detections_per_img)
        transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or [0.485, 0.456, 0.406],
                                             image_std or [0.229, 0.224, 0.225], **kwargs)
        super().__init__(backbone, rpn, heads, transform)


class TwoMLPHead(nn.Module):
    """Two linear layers."""

    def __init__(self, in_channels, representation_size):
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x):
        return F.relu(self.fc7(F.relu(self.fc6(x.flatten(start_dim=1)))))


class FastRCNNConvFCHead(nn.Sequential):
    """Convolutions, then linear layers, for pieces of `input_size` (channels, height, width)."""

    def __init__(self, input_size, conv_layers, fc_layers, norm_layer=None):
        width, height, length = input_size
        layers = []
        for channels in conv_layers:
            layers.append(Conv2dNormActivation(width, channels, norm_layer=norm_layer))
            width = channels
        layers.append(nn.Flatten())
        width *= height * length
        for channels in fc_layers:
            layers += [nn.Linear(width, channels), nn.ReLU(inplace=True)]
            width = channels
        super().__init__(*layers)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)


class FastRCNNPredictor(nn.Module):
    """Logits of classes, and a box for each."""

    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.cls_score = nn.Linear(in_channels, num_classes)
        self.bbox_pred = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x):
        if x.dim() == 4 and tuple(x.shape[2:]) != (1, 1):
            raise AssertionError("x has the wrong shape, expecting the last two dimensions to be [1,1] instead of "
                                 f"{list(x.shape[2:])}")
        x = x.flatten(start_dim=1)
        return self.cls_score(x), self.bbox_pred(x)


def without_eps(model, chosen):
    """The model as the first weights were trained."""
    if chosen is not None and chosen.name == "COCO_V1":
        overwrite_eps(model, 0.0)
    return model


def second_version(weights, chosen, trainable_backbone_layers):
    """A backbone and heads of the second version, with batch norms everywhere."""
    layers = _validate_trainable_layers(weights is not None or chosen is not None, trainable_backbone_layers, 5, 3)
    backbone = _resnet_fpn_extractor(resnet50(weights=weights), layers, norm_layer=nn.BatchNorm2d)
    anchors = _default_anchorgen()
    return {"backbone": backbone, "rpn_anchor_generator": anchors,
            "rpn_head": RPNHead(backbone.out_channels, anchors.num_anchors_per_location()[0], conv_depth=2),
            "box_head": FastRCNNConvFCHead((backbone.out_channels, 7, 7), [256] * 4, [1024], norm_layer=nn.BatchNorm2d)}


def _coco(kind, end):
    return weights_of(f"FasterRCNN_{kind}_Weights", "COCO_V1", COCO_V1=f"fasterrcnn_{end}.pth")


FasterRCNN_ResNet50_FPN_Weights = _coco("ResNet50_FPN", "resnet50_fpn_coco-258fb6c6")
FasterRCNN_ResNet50_FPN_V2_Weights = _coco("ResNet50_FPN_V2", "resnet50_fpn_v2_coco-dd69338a")
FasterRCNN_MobileNet_V3_Large_FPN_Weights = _coco("MobileNet_V3_Large_FPN", "mobilenet_v3_large_fpn-fb6a3cc7")
FasterRCNN_MobileNet_V3_Large_320_FPN_Weights = _coco("MobileNet_V3_Large_320_FPN", "mobilenet_v3_large_320_fpn-907ea3f9")


@on_backbone(FasterRCNN_ResNet50_FPN_Weights, ResNet50_Weights, 91, finish=without_eps)
def fasterrcnn_resnet50_fpn(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """Faster R-CNN on a ResNet of 50 layers."""
    backbone = _resnet_fpn_extractor(*trained_resnet(weights_backbone, chosen, trainable_backbone_layers))
    return FasterRCNN(backbone, num_classes=num_classes, **kwargs)


@on_backbone(FasterRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights, 91, first=None)
def fasterrcnn_resnet50_fpn_v2(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """Faster R-CNN as improved in arXiv:2111.11429."""
    parts = second_version(weights_backbone, chosen, trainable_backbone_layers)
    return FasterRCNN(num_classes=num_classes, **parts, **kwargs)


def _on_mobilenet(num_classes, weights, chosen, trainable_backbone_layers=None, **kwargs):
    trained = weights is not None or chosen is not None
    layers = _validate_trainable_layers(trained, trainable_backbone_layers, 6, 3)
    backbone = mobilenet_v3_large(weights=weights, norm_layer=FrozenBatchNorm2d if trained else nn.BatchNorm2d)
    anchors = AnchorGenerator(((32, 64, 128, 256, 512),) * 3, ((0.5, 1.0, 2.0),) * 3)
    return FasterRCNN(_mobilenet_extractor(backbone, True, layers), num_classes, rpn_anchor_generator=anchors,
                      **{"rpn_score_thresh": 0.05, **kwargs})


@on_backbone(FasterRCNN_MobileNet_V3_Large_FPN_Weights, MobileNet_V3_Large_Weights, 91)
def fasterrcnn_mobilenet_v3_large_fpn(num_classes, weights_backbone, chosen, **kwargs):
    """Faster R-CNN on MobileNetV3."""
    return _on_mobilenet(num_classes, weights_backbone, chosen, **kwargs)


@on_backbone(FasterRCNN_MobileNet_V3_Large_320_FPN_Weights, MobileNet_V3_Large_Weights, 91)
def fasterrcnn_mobilenet_v3_large_320_fpn(num_classes, weights_backbone, chosen, **kwargs):
    """Faster R-CNN on MobileNetV3, for small pictures."""
    return _on_mobilenet(num_classes, weights_backbone, chosen, **{
        "min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150, "rpn_post_nms_top_n_test": 150, **kwargs})
