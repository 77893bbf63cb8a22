"""torchvision's networks that tell the classes of pixels and draw boxes: parts, first weights, losses, what they find."""

import json

import pytest
from test_vision_models import GOLDEN, close, results

import taeda as torch
import taeda.vision.models as models
from taeda.vision.models import detection, segmentation
from taeda.vision.models.detection import anchor_utils, transform
from taeda.vision.models.detection.roi_heads import paste_masks_in_image
from taeda.vision.ops import MultiScaleRoIAlign, box_iou

EXPECTED = json.loads((GOLDEN / "vision_detection.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def got(tmp_path_factory):
    return results("vision_detection.py", tmp_path_factory)


@pytest.mark.parametrize("name", EXPECTED)
def test_model(name, got):
    for what, wanted in EXPECTED[name].items():
        made = got[name][what]
        for one, other in zip(wanted if what == "found" else [wanted], made if what == "found" else [made]):
            if isinstance(one, dict):
                assert list(one) == list(other)
                size = 10 if what == "losses" else None
                assert all(close(one[key], other[key], size) for key in one), f"{what}: {other} instead of {one}"
            else:
                assert close(one, other), f"{what}: {other} instead of {one}"


def small(**options):
    """Faster R-CNN on a network of one convolution."""
    backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 8, 1), torch.nn.ReLU())
    backbone.out_channels = 8
    anchors = anchor_utils.AnchorGenerator(((16, 32),), ((0.5, 1.0, 2.0),))
    pool = MultiScaleRoIAlign(["0"], 3, 2)
    return detection.FasterRCNN(backbone, 2, min_size=64, max_size=64, rpn_anchor_generator=anchors, box_roi_pool=pool,
                                **options)


def test_learns_where_a_square_is():
    torch.manual_seed(0)
    model = small(box_detections_per_img=5, rpn_pre_nms_top_n_train=100, box_batch_size_per_image=64)
    picture = torch.zeros(3, 64, 64)
    picture[:, 16:48, 24:56] = 1
    target = {"boxes": torch.tensor([[24.0, 16, 56, 48]]), "labels": torch.tensor([1])}
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(60):
        loss = sum(model([picture], [target]).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = model.eval()([picture])[0]
    assert found["labels"][0] == 1 and found["scores"][0] > 0.7
    assert box_iou(found["boxes"][:1], target["boxes"]) > 0.6


def test_pictures_without_objects():
    torch.manual_seed(0)
    model = small()
    empty = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)}
    losses = model([torch.rand(3, 64, 64)], [empty])
    assert losses["loss_box_reg"] == 0 and losses["loss_rpn_box_reg"] == 0 and losses["loss_classifier"] > 0


def test_masks_are_pasted_where_boxes_are():
    masks = paste_masks_in_image(torch.ones(2, 1, 4, 4), torch.tensor([[2.0, 3, 8, 9], [-4, -4, 3, 2]]), (12, 10))
    assert masks.shape == (2, 1, 12, 10) and masks[0, 0, 5, 5] == 1 and masks[0, 0, 0, 0] == 0 and masks[0, 0, 11].sum() == 0
    assert masks[1, 0, 0, 0] == 1 and masks[1, 0, 8, 8] == 0
    assert paste_masks_in_image(torch.ones(0, 1, 4, 4), torch.zeros(0, 4), (5, 6)).shape == (0, 1, 5, 6)


def test_boxes_follow_the_picture():
    resized = transform.resize_boxes(torch.tensor([[1.0, 2, 3, 4]]), (10, 20), (20, 60))
    assert resized.tolist() == [[3.0, 4.0, 9.0, 8.0]]
    batch, targets = transform.GeneralizedRCNNTransform(20, 40, [0.0] * 3, [1.0] * 3, size_divisible=16).eval()(
        [torch.rand(3, 10, 30), torch.rand(3, 10, 10)], None)
    assert batch.image_sizes == [(13, 40), (20, 20)] and batch.tensors.shape == (2, 3, 32, 48) and targets is None


def test_weights_of_the_network_below_are_fetched(monkeypatch):
    asked = []

    def fetch(self, **_):
        asked.append(str(self))
        raise OSError("no network")
    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fetch)
    for call in (lambda: segmentation.fcn_resnet50(), lambda: segmentation.fcn_resnet50(weights="DEFAULT"),
                 lambda: detection.ssd300_vgg16(), lambda: detection.fasterrcnn_resnet50_fpn_v2(weights="COCO_V1")):
        with pytest.raises(OSError):
            call()
    assert asked == ["ResNet50_Weights.IMAGENET1K_V1", "FCN_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1",
                     "VGG16_Weights.IMAGENET1K_FEATURES", "FasterRCNN_ResNet50_FPN_V2_Weights.COCO_V1"]


@pytest.mark.parametrize("call, kind, text", [
    (lambda: small()([torch.rand(3, 8, 8)]), AssertionError, "targets should not be none when in training mode"),
    (lambda: small()([torch.rand(3, 8, 8)], [{"boxes": torch.zeros(4), "labels": torch.zeros(1, dtype=torch.int64)}]),
     AssertionError, r"Expected target boxes to be a tensor of shape \[N, 4\]"),
    (lambda: small()([torch.rand(3, 8, 8)], [{"boxes": torch.tensor([[1.0, 1, 1, 3]]), "labels": torch.tensor([1])}]),
     AssertionError, r"Found invalid box \[8.0, 8.0, 8.0, 24.0\] for target at index 0"),
    (lambda: small()([torch.rand(3, 8, 8)], [{"boxes": torch.tensor([[1.0, 1, 4, 3]])}]), KeyError, "labels"),
    (lambda: small().eval()([torch.zeros(3, 8, 8, dtype=torch.uint8)]), TypeError,
     "Expected input images to be of floating type"),
    (lambda: small().eval()([torch.rand(8, 8)]), ValueError, "images is expected to be a list of 3d tensors"),
    (lambda: detection.FasterRCNN(torch.nn.Identity(), 2), ValueError, "backbone should contain an attribute out_channels"),
    (lambda: small(box_predictor=torch.nn.Identity()), ValueError,
     "num_classes should be None when box_predictor is specified"),
    (lambda: segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, aux_loss=True), NotImplementedError,
     "auxiliary loss"),
    (lambda: detection.fasterrcnn_resnet50_fpn(weights_backbone="IMAGENET1K_V1", trainable_backbone_layers=6), ValueError,
     r"Trainable backbone layers should be in the range \[0,5\]"),
    (lambda: detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None, returned_layers=[5]),
     ValueError,
     r"Each returned layer should be in the range \[1,4\]. Got \[5\]"),
    (lambda: models._utils.IntermediateLayerGetter(models.resnet18(), {"layer9": "x"}), ValueError,
     "return_layers are not present in model"),
])
def test_wrong_calls(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
