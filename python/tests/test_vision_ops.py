"""torchvision.ops: boxes, pools, losses and layers, with torchvision's numbers and errors."""

import json
import pathlib

import pytest

import taeda as torch
from taeda.vision import ops

GOLDEN = pathlib.Path(__file__).parent / "golden"


def differs(expected, got, at=""):
    """Where two trees of numbers differ by more than rounding."""
    if isinstance(expected, dict):
        return [d for key in expected for d in differs(expected[key], got.get(key), f"{at}.{key}")]
    if isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            return [f"{at}: {expected} != {got}"]
        return [d for i, (e, g) in enumerate(zip(expected, got)) for d in differs(e, g, f"{at}[{i}]")][:3]
    if isinstance(expected, float):
        return [] if abs(expected - got) <= 3e-5 * max(1, abs(expected)) else [f"{at}: {expected} != {got}"]
    return [] if expected == got else [f"{at}: {expected!r} != {got!r}"]


def test_numbers_of_torchvision(tmp_path, run_python):
    """The script that torchvision ran, under its names."""
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "vision_ops.py"), str(out))
    expected, got = json.loads((GOLDEN / "vision_ops.json").read_text()), json.loads(out.read_text())
    wrong = {name: found for name in expected if (found := differs(expected[name], got[name]))}
    assert wrong == {}


def test_nothing_to_look_at():
    none = torch.zeros(0, 4)
    assert ops.nms(none, torch.zeros(0), 0.5).tolist() == [] and ops.box_iou(none, torch.ones(3, 4)).shape == (0, 3)
    assert ops.batched_nms(none, torch.zeros(0), torch.zeros(0), 0.5).dtype == torch.int64
    assert ops.masks_to_boxes(torch.zeros(0, 3, 3)).shape == (0, 4)
    for pool in (ops.roi_align, ops.roi_pool):
        assert pool(torch.rand(1, 2, 5, 5), torch.zeros(0, 5), 3).shape == (0, 2, 3, 3)


def test_a_product_of_half_precision_does_not_overflow():
    large = torch.tensor([[0, 0, 1000, 1000]], dtype=torch.float16)
    assert ops.box_area(large).item() == 1e6


@pytest.mark.parametrize("call, error, words", [
    (lambda: ops.nms(torch.zeros(3), torch.zeros(3), 0.5), RuntimeError, "boxes should be a 2d tensor"),
    (lambda: ops.nms(torch.zeros(3, 4), torch.zeros(2), 0.5), RuntimeError, "same number of elements .* got 3 and 2"),
    (lambda: ops.box_convert(torch.zeros(1, 4), "xyxy", "abcd"), ValueError, "Unsupported Bounding Box Conversions"),
    (lambda: ops.box_convert(torch.zeros(1, 5), "xywhr", "xyxy"), NotImplementedError,
     "Unsupported Bounding Box Conversions for given in_fmt xywhr and out_fmt xyxy"),
    (lambda: ops.sigmoid_focal_loss(torch.zeros(2), torch.zeros(2), reduction="all"), ValueError, "Supported reduction modes"),
    (lambda: ops.sigmoid_focal_loss(torch.zeros(2), torch.zeros(2), alpha=3), ValueError, "Invalid alpha value: 3"),
    (lambda: ops.roi_align(torch.rand(1, 2, 5, 5), torch.zeros(1, 4), 3), AssertionError, r"Tensor\[K, 5\]"),
    (lambda: ops.stochastic_depth(torch.ones(2), 2.0, "row"), ValueError, "has to be between 0 and 1, but got 2"),
    (lambda: ops.stochastic_depth(torch.ones(2), 0.5, "rows"), ValueError, "'batch' or 'row', but got rows"),
    (lambda: ops.drop_block2d(torch.ones(2, 3), 0.5, 3), ValueError, "input should be 4 dimensional. Got 2"),
    (lambda: ops.drop_block2d(torch.ones(1, 1, 8, 8), 0.5, 4), ValueError, "block size should be odd. Got 4"),
    (lambda: ops.DeformConv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
    (lambda: ops.deform_conv2d(torch.ones(1, 1, 5, 5), torch.ones(1, 18, 2, 2), torch.ones(1, 1, 3, 3)), RuntimeError,
     "expected output dims: \\(3, 3\\)"),
    (lambda: ops.FeaturePyramidNetwork([2], 3, extra_blocks=len), TypeError, "ExtraFPNBlock"),
])
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_doubles_among_many_boxes():
    torch.manual_seed(0)
    corners = torch.rand(300, 2) * 50
    boxes, scores = torch.cat([corners, corners + torch.rand(300, 2) * 40], 1), torch.rand(300)
    share, kept = ops.box_iou(boxes, boxes), []
    for i in scores.argsort(descending=True).tolist():
        if all(share[i, j] <= 0.4 for j in kept):
            kept.append(i)
    assert ops.nms(boxes, scores, 0.4).tolist() == kept and ops.nms(boxes.double(), scores, 0.4).tolist() == kept
    assert ops.nms(boxes.to("sim"), scores.to("sim"), 0.4).cpu().tolist() == kept
    assert ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5).shape == (0,)


@pytest.mark.parametrize("classes", [[0, 1, 1], [0, 10_000_000, 10_000_000], [3, 2 ** 40, 2 ** 40], [-1, 2 ** 62, 2 ** 62]])
def test_numbers_of_classes_may_be_large(classes):
    boxes = torch.tensor([[0, 0, 1.5, 1.5], [0, 0, 1.5, 1.5], [1000.25, 0, 1001.5, 1]])
    kept = ops.batched_nms(boxes, torch.tensor([0.5, 0.75, 0.25]), torch.tensor(classes), 0.5)
    assert kept.tolist() == [1, 0, 2]


def test_a_box_with_negative_corners_stays_in_its_class():
    boxes = torch.tensor([[0, 0, 10.0, 10], [-11, -11, -1, -1]])
    assert ops.batched_nms(boxes, torch.tensor([0.5, 0.75]), torch.tensor([0, 1]), 0.5).tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="expected a class for each of 2 boxes"):
        ops.batched_nms(boxes, torch.tensor([0.5, 0.75]), torch.tensor([0, 1, 1]), 0.5)
