"""Several changes of colours and places at once, chosen at random: AutoAugment (arXiv:1805.09501), RandAugment
(arXiv:1909.13719), TrivialAugmentWide (arXiv:2103.10158) and AugMix (arXiv:1912.02781).

Pictures are PIL's, or tensors of bytes (..., 1 or 3, height, width).
"""

import enum
import math

from ... import _C
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


# The papers' pairs of changes, each with its probability and the step of its strength out of ten.
_POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
    Posterize 0.4 8 + Rotate 0.6 9, Solarize 0.6 5 + AutoContrast 0.6 -, Equalize 0.8 - + Equalize 0.6 -,
    Posterize 0.6 7 + Posterize 0.6 6, Equalize 0.4 - + Solarize 0.2 4, Equalize 0.4 - + Rotate 0.8 8,
    Solarize 0.6 3 + Equalize 0.6 -, Posterize 0.8 5 + Equalize 1 -, Rotate 0.2 3 + Solarize 0.6 8,
    Equalize 0.6 - + Posterize 0.4 6, Rotate 0.8 8 + Color 0.4 0, Rotate 0.4 9 + Equalize 0.6 -,
    Equalize 0 - + Equalize 0.8 -, Invert 0.6 - + Equalize 1 -, Color 0.6 4 + Contrast 1 8, Rotate 0.8 8 + Color 1 2,
    Color 0.8 8 + Solarize 0.8 7, Sharpness 0.4 7 + Invert 0.6 -, ShearX 0.6 5 + Equalize 1 -,
    Color 0.4 0 + Equalize 0.6 -, Equalize 0.4 - + Solarize 0.2 4, Solarize 0.6 5 + AutoContrast 0.6 -,
    Invert 0.6 - + Equalize 1 -, Color 0.6 4 + Contrast 1 8, Equalize 0.8 - + Equalize 0.6 -
""",
    AutoAugmentPolicy.CIFAR10: """
    Invert 0.1 - + Contrast 0.2 6, Rotate 0.7 2 + TranslateX 0.3 9, Sharpness 0.8 1 + Sharpness 0.9 3,
    ShearY 0.5 8 + TranslateY 0.7 9, AutoContrast 0.5 - + Equalize 0.9 -, ShearY 0.2 7 + Posterize 0.3 7,
    Color 0.4 3 + Brightness 0.6 7, Sharpness 0.3 9 + Brightness 0.7 9, Equalize 0.6 - + Equalize 0.5 -,
    Contrast 0.6 7 + Sharpness 0.6 5, Color 0.7 7 + TranslateX 0.5 8, Equalize 0.3 - + AutoContrast 0.4 -,
    TranslateY 0.4 3 + Sharpness 0.2 6, Brightness 0.9 6 + Color 0.2 8, Solarize 0.5 2 + Invert 0 -,
    Equalize 0.2 - + AutoContrast 0.6 -, Equalize 0.2 - + Equalize 0.6 -, Color 0.9 9 + Equalize 0.6 -,
    AutoContrast 0.8 - + Solarize 0.2 8, Brightness 0.1 3 + Color 0.7 0, Solarize 0.4 5 + AutoContrast 0.9 -,
    TranslateY 0.9 9 + TranslateY 0.7 9, AutoContrast 0.9 - + Solarize 0.8 3, Equalize 0.8 - + Invert 0.1 -,
    TranslateY 0.7 9 + AutoContrast 0.9 -
""",
    AutoAugmentPolicy.SVHN: """
    ShearX 0.9 4 + Invert 0.2 -, ShearY 0.9 8 + Invert 0.7 -, Equalize 0.6 - + Solarize 0.6 6,
    Invert 0.9 - + Equalize 0.6 -, Equalize 0.6 - + Rotate 0.9 3, ShearX 0.9 4 + AutoContrast 0.8 -,
    ShearY 0.9 8 + Invert 0.4 -, ShearY 0.9 5 + Solarize 0.2 6, Invert 0.9 - + AutoContrast 0.8 -,
    Equalize 0.6 - + Rotate 0.9 3, ShearX 0.9 4 + Solarize 0.3 3, ShearY 0.8 8 + Invert 0.7 -,
    Equalize 0.9 - + TranslateY 0.6 6, Invert 0.9 - + Equalize 0.6 -, Contrast 0.3 3 + Rotate 0.8 4,
    Invert 0.8 - + TranslateY 0 2, ShearY 0.7 6 + Solarize 0.4 8, Invert 0.6 - + Rotate 0.8 4,
    ShearY 0.3 7 + TranslateX 0.9 3, ShearX 0.1 6 + Invert 0.6 -, Solarize 0.7 2 + TranslateY 0.6 7,
    ShearY 0.8 4 + Invert 0.8 -, ShearX 0.7 9 + TranslateY 0.8 3, ShearY 0.8 5 + AutoContrast 0.7 -,
    ShearX 0.7 2 + Invert 0.1 -
""",
}


def _pairs(policy):
    """((name, probability, step of strength or None), the same) for each pair of a policy."""
    rows = []
    for pair in _POLICIES[policy].split(","):
        changes = (change.split() for change in pair.split("+"))
        rows.append(tuple((name, float(p), None if step == "-" else int(step)) for name, p, step in changes))
    return rows


def _line(low, high, steps):
    return _C.linspace(low, high, steps).tolist()


def _bits(most, fewer, steps):
    """Bits that are kept: from `most` down by `fewer`."""
    return [most - round(i / ((steps - 1) / fewer)) for i in range(steps)]


def _strengths(steps, shear, move_x, move_y, turn, colours, bits):
    """For each change the strengths of its steps, none where it has one only, and whether it goes both ways."""
    return {"ShearX": (_line(0.0, shear, steps), True), "ShearY": (_line(0.0, shear, steps), True),
            "TranslateX": (_line(0.0, move_x, steps), True), "TranslateY": (_line(0.0, move_y, steps), True),
            "Rotate": (_line(0.0, turn, steps), True),
            **{name: (_line(0.0, colours, steps), True) for name in ("Brightness", "Color", "Contrast", "Sharpness")},
            "Posterize": (_bits(*bits, steps), False), "Solarize": (_line(255.0, 0.0, steps), False),
            "AutoContrast": (None, False), "Equalize": (None, False)}


_COLOURS = {
    "Brightness": lambda img, strength: F.adjust_brightness(img, 1.0 + strength),
    "Color": lambda img, strength: F.adjust_saturation(img, 1.0 + strength),
    "Contrast": lambda img, strength: F.adjust_contrast(img, 1.0 + strength),
    "Sharpness": lambda img, strength: F.adjust_sharpness(img, 1.0 + strength),
    "Posterize": lambda img, strength: F.posterize(img, int(strength)),
    "Solarize": lambda img, strength: F.solarize(img, strength),
    "AutoContrast": lambda img, _: F.autocontrast(img),
    "Equalize": lambda img, _: F.equalize(img),
    "Invert": lambda img, _: F.invert(img),
    "Identity": lambda img, _: img,
}


def _changed(img, name, strength, interpolation, fill):
    """The picture after one change."""
    if name in _COLOURS:
        return _COLOURS[name](img, strength)
    if name == "Rotate":
        return F.rotate(img, strength, interpolation=interpolation, fill=fill)
    across = name.endswith("X")
    if name.startswith("Translate"):
        moved = [int(strength), 0] if across else [0, int(strength)]
        return F.affine(img, 0.0, moved, 1.0, [0.0, 0.0], interpolation, fill)
    angle = math.degrees(math.atan(strength))
    return F.affine(img, 0.0, [0, 0], 1.0, [angle, 0.0] if across else [0.0, angle], interpolation, fill, center=[0, 0])


class _Augment(Module):
    """What the transforms below share."""

    shown = ()

    def _apply(self, img, name, strength):
        return _changed(img, name, strength, self.interpolation, self.fill)

    def _drawn(self, strengths, steps=None):
        """A random change and its strength: of a step that is given, or a random one of the first `steps`."""
        name = list(strengths)[_below(len(strengths))]
        values, signed = strengths[name]
        strength = 0.0
        if values is not None:
            strength = float(values[self.magnitude if steps is None else _below(steps)])
        return name, -strength if signed and _below(2) else strength

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self.shown)})"


class AutoAugment(_Augment):
    """One of 25 pairs of changes that were found to help on a data set, each with its own probability."""

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        if policy not in AutoAugmentPolicy:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy, self.interpolation, self.fill = policy, F.mode_of(interpolation), fill
        self.policies = _pairs(policy)

    @staticmethod
    def get_params(transform_num):
        """The number of a pair, and for each of its changes a number to compare with its probability and a sign."""
        return _below(transform_num), _C.rand(2), _C.randint(2, (2,))

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        number, chances, signs = self.get_params(len(self.policies))
        strengths = {**_strengths(10, 0.3, 150.0 / 331.0 * width, 150.0 / 331.0 * height, 30.0, 0.9, (8, 4)),
                     "Invert": (None, False)}
        for (name, probability, step), chance, sign in zip(self.policies[number], chances, signs.tolist()):
            if chance <= probability:
                values, signed = strengths[name]
                strength = float(values[step]) if step is not None else 0.0
                img = self._apply(img, name, -strength if signed and sign == 0 else strength)
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
        _, height, width = F.get_dimensions(img)
        strengths = {"Identity": (None, False), **_strengths(
            self.num_magnitude_bins, 0.3, 150.0 / 331.0 * width, 150.0 / 331.0 * height, 30.0, 0.9, (8, 4))}
        for _ in range(self.num_ops):
            img = self._apply(img, *self._drawn(strengths))
        return img


class TrivialAugmentWide(_Augment):
    """One random change of a random strength."""

    shown = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__()
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, F.mode_of(interpolation), fill

    def forward(self, img):
        strengths = {"Identity": (None, False), **_strengths(
            self.num_magnitude_bins, 0.99, 32.0, 32.0, 135.0, 0.99, (8, 6))}
        return self._apply(img, *self._drawn(strengths, self.num_magnitude_bins))


class AugMix(_Augment):
    """A mixture, with random weights, of the picture and of what chains of changes make of it."""

    shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")

    def __init__(self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
                 interpolation=InterpolationMode.BILINEAR, fill=None):
        super().__init__()
        self._steps = 10
        if not 1 <= severity <= self._steps:
            raise ValueError(f"The severity must be between [1, {self._steps}]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth, self.alpha = severity, mixture_width, chain_depth, alpha
        self.all_ops, self.interpolation, self.fill = all_ops, F.mode_of(interpolation), fill

    def _changes(self, height, width):
        found = _strengths(self._steps, 0.3, width / 3.0, height / 3.0, 30.0, 0.9, (4, 4))
        colours = {name: found.pop(name) for name in ("Brightness", "Color", "Contrast", "Sharpness")}
        return {**found, **colours} if self.all_ops else found

    def _weights(self, count, batch):
        from ...distributions import Dirichlet
        return Dirichlet(_C.full((batch, count), float(self.alpha))).sample()

    def forward(self, orig_img):
        _, height, width = F.get_dimensions(orig_img)
        img = orig_img if F.is_tensor(orig_img) else F.pil_to_tensor(orig_img)
        strengths = self._changes(height, width)
        batch = img.view([1] * max(4 - img.dim(), 0) + list(img.shape))
        each = [batch.size(0)] + [1] * (batch.dim() - 1)
        kept = self._weights(2, batch.size(0)).to(img.device)
        weights = self._weights(self.mixture_width, batch.size(0)).to(img.device) * kept[:, 1].view(-1, 1)
        mix = kept[:, 0].view(each) * batch
        for i in range(self.mixture_width):
            made = batch
            depth = self.chain_depth if self.chain_depth > 0 else int(_C.randint(1, 4, (1,)).item())
            for _ in range(depth):
                made = self._apply(made, *self._drawn(strengths, self.severity))
            mix.add_(weights[:, i].view(each) * made)
        mix = mix.view(img.shape).to(img.dtype)
        return mix if F.is_tensor(orig_img) else F.to_pil_image(mix)
