"""Several changes of colours and places at once, chosen at random: AutoAugment (arXiv:1805.09501), RandAugment
(arXiv:1909.13719), TrivialAugmentWide (arXiv:2103.10158) and AugMix (arXiv:1912.02781).

Pictures are PIL's, or tensors of bytes (..., 1 or 3, height, width).
"""

import enum

from ... import _C
from ..._C import _vision as _V
from ...nn import Module
from . import functional as F
from .functional import InterpolationMode
from .transforms import _below

__all__ = ["AutoAugmentPolicy", "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"]


class AutoAugmentPolicy(enum.Enum):
    """The data set for which the pairs of changes were found."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class _Augment(Module):
    """What the transforms below share."""

    shown = ()

    def _apply(self, img, step):
        """The picture after one change: a function's name and its numbers."""
        name, numbers = step
        if name == "rotate":
            return F.rotate(img, *numbers, interpolation=self.interpolation, fill=self.fill)
        if name == "affine":
            return F.affine(img, 0.0, [int(n) for n in numbers[:2]], 1.0, numbers[2:], self.interpolation, self.fill, [0, 0])
        return getattr(F, name)(img, *(int(n) for n in numbers) if name == "posterize" else numbers) if name else img

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self.shown)})"


class AutoAugment(_Augment):
    """One of 25 pairs of changes that were found to help on a data set, each with its own probability."""

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        if policy not in AutoAugmentPolicy:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy, self.interpolation, self.fill = policy, F.mode_of(interpolation), fill
        self.policies = _V.policy(list(AutoAugmentPolicy).index(policy))

    @staticmethod
    def get_params(transform_num):
        """The number of a pair, and for each of its changes a number to compare with its probability and a sign."""
        return _below(transform_num), _C.rand(2), _C.randint(2, (2,))

    def forward(self, img):
        number, chances, signs = self.get_params(len(self.policies))
        size = F.get_dimensions(img)[1:]
        for step in _V.auto_augment(self.policies[number], chances.tolist(), signs.tolist(), size):
            img = self._apply(img, step)
        return img

    def __repr__(self):
        return f"{type(self).__name__}(policy={self.policy}, fill={self.fill})"


class RandAugment(_Augment):
    """`num_ops` random changes, all of the strength `magnitude` out of `num_magnitude_bins`."""

    shown = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill = F.mode_of(interpolation), fill

    def forward(self, img):
        size = F.get_dimensions(img)[1:]
        for _ in range(self.num_ops):
            img = self._apply(img, _V.rand_augment(self.magnitude, self.num_magnitude_bins, size))
        return img


class TrivialAugmentWide(_Augment):
    """One random change of a random strength."""

    shown = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, F.mode_of(interpolation), fill

    def forward(self, img):
        return self._apply(img, _V.trivial_augment(self.num_magnitude_bins))


class AugMix(_Augment):
    """A mixture, with random weights, of the picture and of what chains of changes make of it."""

    shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")

    def __init__(self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
                 interpolation=InterpolationMode.BILINEAR, fill=None):
        super().__init__()
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth, self.alpha = severity, mixture_width, chain_depth, alpha
        self.all_ops, self.interpolation, self.fill = all_ops, F.mode_of(interpolation), fill

    def forward(self, orig_img):
        img = orig_img if F.is_tensor(orig_img) else F.pil_to_tensor(orig_img)
        mix = _V.aug_mix(img, self.severity, self.mixture_width, self.chain_depth, self.alpha, self.all_ops,
                         self.interpolation.value, self.fill)
        return mix if F.is_tensor(orig_img) else F.to_pil_image(mix)
