"""Makes vision_ops.json: what torchvision 0.29's operations on boxes and its layers give. Run by a Python with PyTorch 2.15 and
torchvision."""

import json
import sys

import torch
from torchvision import ops


def draw(*shape, seed=4):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def boxes(n, seed, size=10.0):
    corner = draw(n, 2, seed=seed) * size * 0.7
    return torch.cat((corner, corner + 0.3 + draw(n, 2, seed=seed + 50) * size * 0.5), 1)


def numbers(tensor):
    """Shape, and some of its numbers."""
    flat = tensor.detach().flatten().to(torch.float64)
    step = max(1, flat.numel() // 24)
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "sum": flat.sum().item(), "some": flat[::step].tolist()}


A, B, MANY = boxes(6, 1), boxes(6, 2), boxes(60, 3)
SCORES, CLASSES = draw(60, seed=5), (draw(60, seed=6) * 3).long()
PICTURES = draw(2, 3, 12, 14) - 0.5
ROIS = torch.cat(((draw(5, 1, seed=8) * 2).floor(), boxes(5, 9, 24.0)), 1)
PARTS = draw(2, 12, 12, 14, seed=14) - 0.5
MASKS = draw(4, 9, 8, seed=11) > torch.tensor([0.9, 0.97, 0.5, 2.0]).view(4, 1, 1)
OFFSETS, COUNTS = (draw(2, 2 * 2 * 6, 5, 7, seed=12) - 0.5) * 6, draw(2, 2 * 6, 5, 7, seed=13)

PLAIN = {
    "area": lambda: ops.box_area(A), "iou": lambda: ops.box_iou(A, B), "iou_batch": lambda: ops.box_iou(A.view(2, 3, 4), B[:3]),
    "iou_half": lambda: ops.box_iou(A.half(), B.half()), "iou_integers": lambda: ops.box_iou(A.long(), B.long() + 1),
    "generalized": lambda: ops.generalized_box_iou(A, B), "distance": lambda: ops.distance_box_iou(A, B),
    "complete": lambda: ops.complete_box_iou(A, B), "nms": lambda: ops.nms(MANY, SCORES, 0.3),
    "nms_equal": lambda: ops.nms(MANY, torch.ones(60), 0.1), "nms_batched": lambda: ops.batched_nms(MANY, SCORES, CLASSES, 0.3),
    "small": lambda: ops.remove_small_boxes(MANY, 2.0), "clip": lambda: ops.clip_boxes_to_image(MANY, (6, 8)),
    "masks": lambda: ops.masks_to_boxes(MASKS), "pool": lambda: ops.roi_pool(PICTURES, ROIS, (3, 2), 0.6),
    # Where boxes reach over the edge torchvision's derivative is not that of its result.
    "ps_pool": lambda: ops.ps_roi_pool(PARTS, ROIS, (2, 3), 0.6),
    "align_list": lambda: ops.roi_align(PICTURES, [ROIS[:2, 1:], ROIS[2:, 1:]], 3, 0.5, 2),
    **{f"convert_{a}_{b}": lambda a=a, b=b: ops.box_convert(A, a, b)
       for a in ("xyxy", "xywh", "cxcywh") for b in ("xyxy", "xywh", "cxcywh")},
}
# Functions of tensors with gradients.
DERIVED = {
    "align": (lambda x: ops.roi_align(x, ROIS, (3, 4), 0.6), PICTURES),
    "align_moved": (lambda x: ops.roi_align(x, ROIS, (3, 4), 0.6, aligned=True), PICTURES),
    "align_sampled": (lambda x: ops.roi_align(x, ROIS, (2, 5), 0.5, 3, True), PICTURES),
    "pool": (lambda x: ops.roi_pool(x, ROIS, 4, 0.6), PICTURES),
    "ps_align": (lambda x: ops.ps_roi_align(x, ROIS, (2, 3), 0.6), PARTS),
    "ps_align_sampled": (lambda x: ops.ps_roi_align(x, ROIS, (2, 3), 0.5, 2), PARTS),
    "ps_pool": (lambda x: ops.ps_roi_pool(x, ROIS, (2, 3), 0.3), PARTS),
    "ps_pool_all": (lambda x: ops.ps_roi_pool(x, [ROIS[:2, 1:], ROIS[2:, 1:]], (3, 2)), PARTS),
    "scales": (lambda x: ops.MultiScaleRoIAlign(["a", "b"], (2, 3), 2, canonical_scale=12)(
        {"a": x, "left out": x, "b": x[..., ::2, ::2] * 2}, [ROIS[:2, 1:], ROIS[2:, 1:]], [(24, 28), (20, 28)]), PICTURES),
    "one_scale": (lambda x: ops.MultiScaleRoIAlign(["a"], 2, -1)({"a": x}, [A, B], [(12, 14), (12, 12)]), PICTURES),
    "focal": (lambda x: ops.sigmoid_focal_loss(x, (draw(6, 4) > 0.5).float()), draw(6, 4, seed=7) * 4 - 2),
    "focal_mean": (lambda x: ops.sigmoid_focal_loss(x, (draw(6, 4) > 0.5).float(), -1, 1.5, "mean"), draw(6, 4, seed=7)),
    "generalized": (lambda x: ops.generalized_box_iou_loss(x, B), A),
    "distance": (lambda x: ops.distance_box_iou_loss(x, B, "mean"), A),
    "complete": (lambda x: ops.complete_box_iou_loss(x, B, "sum"), A),
    "complete_iou": (lambda x: ops.complete_box_iou(x, B), A),
    "deformed": (lambda x: ops.deform_conv2d(PICTURES[:, :2], x, draw(4, 1, 2, 3), draw(4), (2, 2), (0, 1), (2, 1)), OFFSETS),
    "deformed_mask": (lambda x: ops.deform_conv2d(x[:, :2], OFFSETS, draw(4, 2, 2, 3), None, 2, (0, 1), (2, 1), COUNTS),
                      PICTURES),
}
LAYERS = {
    "frozen": (lambda: ops.FrozenBatchNorm2d(3), (2, 3, 5, 5)),
    "conv2d": (lambda: ops.Conv2dNormActivation(3, 6), (2, 3, 5, 5)),
    "conv2d_plain": (lambda: ops.Conv2dNormActivation(3, 6, (3, 5), dilation=2, norm_layer=None, activation_layer=None),
                     (2, 3, 9, 9)),
    "conv3d": (lambda: ops.Conv3dNormActivation(2, 3, stride=2), (2, 2, 4, 5, 5)),
    "squeeze": (lambda: ops.SqueezeExcitation(4, 2), (2, 4, 5, 5)), "permute": (lambda: ops.Permute([1, 0]), (2, 3)),
    "mlp": (lambda: ops.MLP(4, [5, 3], torch.nn.LayerNorm), (2, 4)),
    "deform": (lambda: ops.DeformConv2d(3, 4, 3, padding=1, groups=1), None),
    "block2d": (lambda: ops.DropBlock2d(0.2, 3), (2, 3, 9, 9)), "block3d": (lambda: ops.DropBlock3d(0.2, 3), (2, 3, 5, 6, 7)),
    "depth_row": (lambda: ops.StochasticDepth(0.4, "row"), (6, 3, 2)),
    "depth": (lambda: ops.StochasticDepth(0.4, "batch"), (6, 3)),
}


def compute():
    out = {f"plain_{name}": numbers(call()) for name, call in PLAIN.items()}
    for name, (call, given) in DERIVED.items():
        leaf = given.clone().requires_grad_()
        made = call(leaf)
        (made * draw(*made.shape, seed=21)).sum().backward()
        out[f"derived_{name}"] = [numbers(made), numbers(leaf.grad)]
    for name, (make, shape) in LAYERS.items():
        torch.manual_seed(1)
        layer = make()
        found = layer(draw(*shape)) if shape else layer(draw(2, 3, 6, 6), draw(2, 18, 6, 6), draw(2, 9, 6, 6))
        out[f"layer_{name}"] = [list(layer.state_dict()), repr(layer), numbers(found)]
    torch.manual_seed(1)
    pyramid = ops.FeaturePyramidNetwork([2, 3], 4, ops.feature_pyramid_network.LastLevelMaxPool())
    found = pyramid({"a": draw(1, 2, 9, 8), "b": draw(1, 3, 4, 5)})
    out["pyramid"] = [list(pyramid.state_dict()), list(found), *map(numbers, found.values())]
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(compute(), file)
