"""A detector in two steps: boxes are proposed, then looked at."""

import collections

from .... import _C, nn


def check_targets(model, targets):
    """AssertionError for targets that are no lists of boxes [N, 4]."""
    if targets is None:
        raise AssertionError("targets should not be none when in training mode")
    for target in targets:
        boxes = target["boxes"]
        if not isinstance(boxes, _C.TensorBase):
            raise AssertionError(f"Expected target boxes to be of type Tensor, got {type(boxes)}.")
        if boxes.dim() != 2 or boxes.shape[-1] != 4:
            raise AssertionError(f"Expected target boxes to be a tensor of shape [N, 4], got {boxes.shape}.")


def check_sides(targets):
    """AssertionError for boxes without height or width."""
    for i, target in enumerate(targets or ()):
        empty = (target["boxes"][:, 2:] <= target["boxes"][:, :2]).any(1)
        if empty.any():
            box = target["boxes"][_C.where(empty)[0][0]].tolist()
            raise AssertionError("All bounding boxes should have positive height and width. Found invalid box "
                                 f"{box} for target at index {i}.")


def prepared(model, images, targets):
    """The pictures' sizes as they came, and pictures and checked targets as the model's transform makes them."""
    if model.training:
        check_targets(model, targets)
    originals = [tuple(image.shape[-2:]) for image in images]
    images, targets = model.transform(images, targets)
    check_sides(targets)
    return originals, images, targets


def as_dict(features):
    """Features of one map as those of several."""
    return collections.OrderedDict([("0", features)]) if isinstance(features, _C.TensorBase) else features


class GeneralizedRCNN(nn.Module):
    """Losses of pictures and targets while training, else what is found in each picture."""

    def __init__(self, backbone, rpn, roi_heads, transform):
        super().__init__()
        self.transform, self.backbone, self.rpn, self.roi_heads = transform, backbone, rpn, roi_heads

    def forward(self, images, targets=None):
        originals, images, targets = prepared(self, images, targets)
        features = as_dict(self.backbone(images.tensors))
        proposals, losses = self.rpn(images, features, targets)
        found, more = self.roi_heads(features, proposals, images.image_sizes, targets)
        found = self.transform.postprocess(found, images.image_sizes, originals)
        return {**more, **losses} if self.training else found
