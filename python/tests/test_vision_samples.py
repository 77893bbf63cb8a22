"""transforms.v2 and tv_tensors: pictures, masks and boxes in one sample are changed alike, with torchvision's numbers."""

import copy
import json
import pickle

import pytest
from test_vision_models import GOLDEN, results

import taeda as torch
from taeda.vision import tv_tensors
from taeda.vision.transforms import v2
from taeda.vision.transforms.v2 import functional as F

EXPECTED = json.loads((GOLDEN / "vision_samples.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def got(tmp_path_factory):
    return results("vision_samples.py", tmp_path_factory)


def near(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    return abs(a - b) <= 5e-3 + 2e-3 * abs(a) if isinstance(a, float) else a == b


@pytest.mark.parametrize("name", EXPECTED)
def test_transform(name, got):
    assert near(EXPECTED[name], got[name]), f"{got[name]}\ninstead of\n{EXPECTED[name]}"


def boxes(**options):
    return tv_tensors.BoundingBoxes([[1.0, 2, 3, 4]], **{"format": "XYXY", "canvas_size": (8, 9), **options})


def test_what_stays_of_a_kind():
    picture = tv_tensors.Image(torch.rand(3, 4, 5))
    assert type(picture + 1) is torch.Tensor and type(picture.clone()) is tv_tensors.Image
    assert type(picture.to(torch.float64)) is tv_tensors.Image and type(torch.stack([picture, picture])) is torch.Tensor
    moved = boxes().to(torch.float64)
    assert type(moved) is tv_tensors.BoundingBoxes and moved.format == tv_tensors.BoundingBoxFormat.XYXY
    assert moved.canvas_size == (8, 9)
    with tv_tensors.set_return_type("TVTensor"):
        assert type(picture + 1) is tv_tensors.Image and (boxes() * 2).canvas_size == (8, 9)
    assert type(picture * 2) is torch.Tensor
    again = tv_tensors.wrap(boxes() + 1, like=boxes(), format="XYWH")
    assert again.format.value == "XYWH" and again.canvas_size == (8, 9)
    twin = copy.deepcopy(boxes())
    assert type(twin) is tv_tensors.BoundingBoxes and twin.canvas_size == (8, 9)
    kept = pickle.loads(pickle.dumps(boxes()))
    assert type(kept) is tv_tensors.BoundingBoxes and kept.canvas_size == (8, 9) and torch.equal(kept, boxes())


def test_clamping_modes_and_formats():
    assert v2.SetClampingMode(None)(boxes()).clamping_mode is None
    assert tv_tensors.is_rotated_bounding_format("XYXYXYXY") and not tv_tensors.is_rotated_bounding_format(boxes().format)


def test_a_transform_of_ones_own():
    class Add(v2.Transform):
        def make_params(self, flat_inputs):
            return {"by": len(flat_inputs)}

        def transform(self, inpt, params):
            return inpt + params["by"]
    picture, target = Add()(torch.zeros(3, 2, 2), {"mask": tv_tensors.Mask(torch.zeros(2, 2)), "label": torch.tensor(3)})
    assert picture[0, 0, 0] == 2 and target["mask"][0, 0] == 2 and target["label"] == 3


def test_batches_of_samples():
    data = [(tv_tensors.Image(torch.rand(3, 4, 4)), 1) for _ in range(4)]
    pictures, labels = next(iter(torch.utils.data.DataLoader(data, batch_size=4)))
    assert type(pictures) is torch.Tensor and pictures.shape == (4, 3, 4, 4) and labels.tolist() == [1] * 4


@pytest.mark.parametrize("call, kind, text", [
    (lambda: tv_tensors.Image(torch.rand(3)), ValueError, "Tensor must be 2D or higher, got 1D tensor."),
    (lambda: tv_tensors.KeyPoints(torch.ones(2, 3), canvas_size=(4, 4)), ValueError, r"a tensor of shape \(..., 2\)"),
    (lambda: F.rotate(tv_tensors.KeyPoints([[1, 2]], canvas_size=(4, 4)), 30), NotImplementedError, "rotate of KeyPoints"),
    (lambda: v2.Pad(1, padding_mode="edge")(tv_tensors.KeyPoints([[1, 2]], canvas_size=(4, 4))), ValueError,
     "'edge' is not supported with KeyPoints"),
    (lambda: F.clamp_keypoints(torch.ones(1, 2)), ValueError, "`canvas_size` has to be passed"),
    (lambda: F.sanitize_keypoints(torch.ones(1, 2)), ValueError, "canvas_size cannot be None"),
    (lambda: v2.SetClampingMode("firm"), ValueError, "must be soft, hard or None, got firm"),
    (lambda: boxes(format="XYWHR"), ValueError, r"Expected a tensor of shape \[N, 5\], got \[1, 4\]"),
    (lambda: tv_tensors.BoundingBoxes([[1, 2, 3, 4, 5]], format="XYWHR", canvas_size=(8, 9)), ValueError,
     "Rotated bounding boxes should be floating point tensors, got torch.int64"),
    (lambda: F.convert_bounding_box_format(boxes(), new_format="XYWHR"), ValueError,
     "Cannot convert between rotated and unrotated"),
    (lambda: v2.Resize(4)(tv_tensors.BoundingBoxes([[1.0, 2, 3, 4, 5]], format="XYWHR", canvas_size=(8, 9))),
     NotImplementedError, "boxes of the format XYWHR"),
    (lambda: tv_tensors.set_return_type("list"), ValueError, "return_type must be"),
    (lambda: v2.RandomRotation(30)(torch.rand(3, 8, 9), boxes()), NotImplementedError, "rotate of bounding boxes"),
    (lambda: v2.RandAugment()(torch.rand(3, 8, 9), boxes()), TypeError,
     "RandAugment\\(\\) does not support inputs of type BoundingBoxes"),
    (lambda: v2.RandomIoUCrop()(torch.rand(3, 8, 9), 3), TypeError, "requires input sample to contain tensor or PIL images"),
    (lambda: v2.SanitizeBoundingBoxes()((torch.rand(3, 8, 9), {"boxes": boxes()})), ValueError,
     "Could not infer where the labels"),
    (lambda: v2.SanitizeBoundingBoxes(min_size=0), ValueError, "min_size must be >= 1, got 0."),
    (lambda: v2.SanitizeBoundingBoxes()(torch.rand(3, 8, 9), {"boxes": boxes(), "labels": torch.ones(2)}), ValueError,
     "must match the number of labels"),
    (lambda: v2.RandomZoomOut(side_range=(0.5, 2)), ValueError, "Invalid side range provided"),
    (lambda: v2.ToDtype({torch.Tensor: torch.float32})(boxes()), ValueError, "No dtype was specified for type"),
    (lambda: v2.ToDtype(3), ValueError, "dtype must be a dict or a torch.dtype"),
    (lambda: v2.Compose([]), TypeError, "Argument transforms should be a sequence of callables"),
    (lambda: v2.RandomApply([len], p=2), ValueError, "in the interval"),
    (lambda: v2.RandomChoice([len], p=[1, 2]), ValueError, "Length of p doesn't match the number of transforms: 2 != 1"),
    (lambda: v2.Pad(1, padding_mode="edge")(torch.rand(3, 8, 9), boxes()), ValueError,
     "Padding mode 'edge' is not supported with bounding boxes"),
    (lambda: F.convert_bounding_box_format(torch.ones(1, 4), new_format="XYXY"), ValueError, "`old_format` has to be passed"),
    (lambda: F.clamp_bounding_boxes(torch.ones(1, 4)), ValueError, "`format` and `canvas_size` have to be passed"),
    (lambda: F.invert(boxes()), TypeError, "Functional F.invert supports inputs of type"),
    (lambda: F.nothing, AttributeError, "has no attribute 'nothing'"),
])
def test_wrong_calls(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
