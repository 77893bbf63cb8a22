"""What pictures and targets go through before a detector, and what it finds goes through behind it."""

import math

from .... import _C, nn
from ....nn import functional as F
from .image_list import ImageList
from .masks import paste_masks_in_image


def _ratios(original_size, new_size, like):
    """By how much heights and widths change, as float32."""
    return [(_C._tensor_from(new, _C.float32, like.device) / _C._tensor_from(old, _C.float32, like.device))
            for old, new in zip(original_size, new_size)]


def resize_boxes(boxes, original_size, new_size):
    """Boxes [N, 4] of a picture (height, width) in the same picture of another size."""
    down, right = _ratios(original_size, new_size, boxes)
    return boxes * _C.stack((right, down, right, down))


def resize_keypoints(keypoints, original_size, new_size):
    """Points [N, K, 3] (x, y, whether they are seen) in the picture of another size."""
    down, right = _ratios(original_size, new_size, keypoints)
    return keypoints * _C.stack((right, down, _C.ones_like(down)))


class GeneralizedRCNNTransform(nn.Module):
    """Normalizes pictures, resizes them so that the short side is `min_size` (one of several while training) and the long one
    at most `max_size`, or to `fixed_size` (width, height), and makes a batch whose sides are multiples of `size_divisible`."""

    def __init__(self, min_size, max_size, image_mean, image_std, size_divisible=32, fixed_size=None, **kwargs):
        super().__init__()
        self.min_size = min_size if isinstance(min_size, (list, tuple)) else (min_size,)
        self.max_size, self.image_mean, self.image_std = max_size, image_mean, image_std
        self.size_divisible, self.fixed_size = size_divisible, fixed_size
        self._skip_resize = kwargs.pop("_skip_resize", False)

    def forward(self, images, targets=None):
        images = list(images)
        targets = [dict(t) for t in targets] if targets is not None else None
        for i, image in enumerate(images):
            if image.dim() != 3:
                raise ValueError(f"images is expected to be a list of 3d tensors of shape [C, H, W], got {image.shape}")
            target = targets[i] if targets is not None else None
            images[i], target = self.resize(self.normalize(image), target)
            if target is not None:
                targets[i] = target
        sizes = [tuple(image.shape[-2:]) for image in images]
        return ImageList(self.batch_images(images, size_divisible=self.size_divisible), sizes), targets

    def normalize(self, image):
        if not image.is_floating_point():
            raise TypeError("Expected input images to be of floating type (in range [0, 1]), but found type "
                            f"{image.dtype} instead")
        mean, std = (_C._tensor_from(list(v), image.dtype, image.device)[:, None, None]
                     for v in (self.image_mean, self.image_std))
        return (image - mean) / std

    def torch_choice(self, k):
        """One of a list, from the default generator."""
        return k[int(_C.empty(1).uniform_(0.0, float(len(k))).item())]

    def resize(self, image, target=None):
        before = image.shape[-2:]
        if self.training and self._skip_resize:
            return image, target
        if self.fixed_size is not None:
            how = {"size": [self.fixed_size[1], self.fixed_size[0]]}
        else:
            short = self.torch_choice(self.min_size) if self.training else self.min_size[-1]
            how = {"scale_factor": min(short / min(before), self.max_size / max(before)), "recompute_scale_factor": True}
        image = F.interpolate(image[None], mode="bilinear", align_corners=False, **how)[0]
        if target is not None:
            if "masks" in target:
                target["masks"] = F.interpolate(target["masks"][:, None].float(), **how)[:, 0].to(_C.uint8)
            target["boxes"] = resize_boxes(target["boxes"], before, image.shape[-2:])
            if "keypoints" in target:
                target["keypoints"] = resize_keypoints(target["keypoints"], before, image.shape[-2:])
        return image, target

    def batch_images(self, images, size_divisible=32):
        channels, *sides = (max(image.shape[i] for image in images) for i in range(3))
        sides = [math.ceil(side / size_divisible) * size_divisible for side in sides]
        batch = images[0].new_zeros((len(images), channels, *sides))
        for place, image in zip(batch, images):
            place[:image.shape[0], :image.shape[1], :image.shape[2]].copy_(image)
        return batch

    def postprocess(self, result, image_shapes, original_image_sizes):
        """What was found, in the pictures as they came."""
        if self.training:
            return result
        for found, size, original in zip(result, image_shapes, original_image_sizes):
            found["boxes"] = resize_boxes(found["boxes"], size, original)
            if "masks" in found:
                found["masks"] = paste_masks_in_image(found["masks"], found["boxes"], original)
            if "keypoints" in found:
                found["keypoints"] = resize_keypoints(found["keypoints"], size, original)
        return result

    def __repr__(self):
        return (f"{type(self).__name__}(\n    Normalize(mean={self.image_mean}, std={self.image_std})\n    "
                f"Resize(min_size={self.min_size}, max_size={self.max_size}, mode='bilinear')\n)")
