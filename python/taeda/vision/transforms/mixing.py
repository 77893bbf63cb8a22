"""Transforms of whole batches, that mix pictures and their classes, and of colours at random."""

import math

from ... import _C
from ...distributions import Beta
from ...nn import Module
from ...nn.functional import one_hot

__all__ = ["CutMix", "GaussianNoise", "MixUp", "RandomChannelPermutation"]


class _OfBatches(Module):
    """`forward` takes a batch of pictures [N, channels, height, width] and its labels, as two arguments or in a tuple: numbers
    of classes, or their probabilities [N, num_classes]. `labels_getter` finds the labels in what it is given otherwise."""

    def __init__(self, *, alpha=1.0, num_classes=None, labels_getter="default"):
        super().__init__()
        self.alpha, self.num_classes = float(alpha), num_classes
        self._dist = Beta(_C._tensor_from([self.alpha], None, None), _C._tensor_from([self.alpha], None, None))
        self._labels_getter = labels_getter

    def _labels_of(self, inputs):
        if callable(self._labels_getter):
            return self._labels_getter(inputs)
        if isinstance(inputs, dict):
            return next(value for name, value in inputs.items() if "label" in str(name).lower())
        return inputs[-1]

    def forward(self, *inputs):
        given = inputs if len(inputs) > 1 else inputs[0]
        labels = self._labels_of(given)
        if not isinstance(labels, _C.TensorBase):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.dim() not in (1, 2):
            raise ValueError(f"labels should be index based with shape (batch_size,) or probability based with shape "
                             f"(batch_size, num_classes), but got a tensor of shape {labels.shape} instead.")
        if labels.dim() == 2 and self.num_classes is not None and labels.size(-1) != self.num_classes:
            raise ValueError(f"When passing 2D labels, the number of elements in last dimension must match num_classes: "
                             f"{labels.size(-1)} != {self.num_classes}.")
        if labels.dim() == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")
        items = list(given.values()) if isinstance(given, dict) else list(given)
        images = next(item for item in items if isinstance(item, _C.TensorBase) and item is not labels)
        if images.dim() != 4:
            raise ValueError("Expected a batched input with 4 dims, but got unbatched input.")
        if images.size(0) != labels.size(0):
            raise ValueError("The batch size of the image or video does not match the batch size of the labels: "
                             f"{images.size(0)} != {labels.size(0)}.")
        mixed, share = self._mixed(images, float(self._dist.sample(())))
        classes = labels if labels.dim() == 2 else one_hot(labels, self.num_classes)
        classes = classes if classes.is_floating_point() else classes.float()
        classes = classes.roll(1, 0) * (1.0 - share) + classes * share
        items = [mixed if item is images else classes if item is labels else item for item in items]
        return dict(zip(given, items)) if isinstance(given, dict) else type(given)(items)

    def extra_repr(self):
        return f"alpha={self.alpha}, num_classes={self.num_classes}"


class MixUp(_OfBatches):
    """Each picture times lambda, and the one before it times 1 - lambda, of a Beta (Zhang et al., arXiv:1710.09412)."""

    def _mixed(self, images, share):
        return images.roll(1, 0) * (1.0 - share) + images * share, share


class CutMix(_OfBatches):
    """Each picture with a rectangle of the one before it (Yun et al., arXiv:1905.04899)."""

    def _mixed(self, images, share):
        height, width = images.shape[-2:]
        middle = [_C.randint(size, (1,)).item() for size in (width, height)]
        part = 0.5 * math.sqrt(1.0 - share)
        (x1, x2), (y1, y2) = ((max(at - int(part * size), 0), min(at + int(part * size), size))
                              for at, size in zip(middle, (width, height)))
        mixed = images.clone()
        mixed[..., y1:y2, x1:x2] = images.roll(1, 0)[..., y1:y2, x1:x2]
        return mixed, float(1.0 - (x2 - x1) * (y2 - y1) / (width * height))


class GaussianNoise(Module):
    """Normal numbers added to a picture of numbers from 0 to 1, or of bytes, for which `mean` and `sigma` count 255 times;
    `clip` keeps the result in the range."""

    def __init__(self, mean=0.0, sigma=0.1, clip=True):
        super().__init__()
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def forward(self, image):
        if not image.is_floating_point() and image.dtype != _C.uint8:
            raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
        if self.sigma < 0:
            raise ValueError(f"sigma shouldn't be negative. Got {self.sigma}")
        if image.dtype == _C.uint8:
            noise = _C.randn_like(image, dtype=_C.float32) * self.sigma * 255 + self.mean * 255
            made = image.to(_C.int16) + noise.to(_C.int16)
            return (made.clamp(0, 255) if self.clip else made).to(_C.uint8)
        made = image + (self.mean + _C.randn_like(image) * self.sigma)
        return made.clamp(0, 1) if self.clip else made

    def extra_repr(self):
        return f"mean={self.mean}, sigma={self.sigma}, clip={self.clip}"


class RandomChannelPermutation(Module):
    """Channels in a random order."""

    def forward(self, image):
        return image[..., _C.randperm(image.size(-3), device=image.device), :, :]
