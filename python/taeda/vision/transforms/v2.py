"""The second version: transforms of samples - pictures, masks and boxes (`tv_tensors`) in any structure are changed alike."""

from ... import _C
from ...nn import Module
from .. import tv_tensors
from . import _v2, augment, autoaugment, mixing, transforms
from . import sample_functional as functional
from ._samples import (  # noqa: F401
    ANNOTATIONS, Transform, check_type, has_all, has_any, is_pure_tensor, of_samples, plain, query_chw)
from ._samples import first_boxes as get_bounding_boxes  # noqa: F401
from ._samples import first_points as get_keypoints  # noqa: F401
from ._samples import size_of as query_size  # noqa: F401
from ._v2 import *  # noqa: F403
from .autoaugment import AutoAugmentPolicy  # noqa: F401
from .functional import InterpolationMode
from .mixing import *  # noqa: F403
from .transforms import PILToTensor, ToPILImage, ToTensor  # noqa: F401

_MOVING = ("CenterCrop", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "Resize", "RandomResizedCrop",
           "RandomPerspective", "RandomRotation", "RandomAffine", "ElasticTransform", "FiveCrop", "TenCrop")
_CONTAINERS = ("Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder", "PILToTensor", "ToPILImage", "ToTensor")

for _name in transforms.__all__ + augment.__all__ + autoaugment.__all__:
    _kind = next(vars(m)[_name] for m in (transforms, augment, autoaugment) if _name in vars(m))
    if _name not in _CONTAINERS and _name != "AutoAugmentPolicy":
        _refused = ANNOTATIONS if _name in (*autoaugment.__all__, "FiveCrop", "TenCrop") else ()
        globals()[_name] = of_samples(_kind, _name in _MOVING, _refused)


class Normalize(Normalize):  # noqa: F811
    """(tensor - mean) / std by channel."""

    def __repr__(self):
        return f"Normalize(mean={self.mean}, std={self.std}, inplace={self.inplace})"


class Resize(Resize):  # noqa: F811
    """To (height, width), or so that the shorter side has `size` pixels."""

    def __repr__(self):
        more = f", max_size={self.max_size}" if self.max_size is not None else ""
        return (f"Resize(size={[self.size] if isinstance(self.size, int) else list(self.size)}, "
                f"interpolation={self.interpolation.value}{more}, antialias={self.antialias})")


for _name in ("GaussianNoise", "RandomChannelPermutation"):
    globals()[_name] = of_samples(getattr(mixing, _name))

__all__ = transforms.__all__ + augment.__all__ + autoaugment.__all__ + mixing.__all__ + _v2.__all__
__all__ += ["Identity", "InterpolationMode", "ToDtype", "ToImage", "ToPureTensor", "Transform", "functional"]


def _one(inputs):
    return inputs if len(inputs) > 1 else inputs[0]


class _Several(Module):
    """Transforms, one after the other."""

    def __init__(self, transforms):
        super().__init__()
        if not isinstance(transforms, (list, tuple)) or not transforms:
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def _all(self, inputs, chosen):
        for transform in chosen:
            made = transform(*inputs)
            inputs = made if len(inputs) > 1 else (made,)
        return _one(inputs)

    def extra_repr(self):
        return "\n".join(f"    {transform}" for transform in self.transforms)


class Compose(_Several):
    """One transform after the other."""

    def forward(self, *inputs):
        return self._all(inputs, self.transforms)

    def __repr__(self):
        lines = "".join(f"\n      {line}" for transform in self.transforms for line in str(transform).split("\n"))
        return f"{type(self).__name__}({lines}\n)"


class RandomApply(_Several):
    """All of some transforms, or none, with probability p."""

    def __init__(self, transforms, p=0.5):
        super().__init__(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def forward(self, *inputs):
        return _one(inputs) if _C.rand(1) >= self.p else self._all(inputs, self.transforms)


class RandomChoice(_Several):
    """One of several transforms; `p` are their weights."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and len(p) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(p)} != {len(transforms)}")
        p = [1] * len(transforms) if p is None else p
        self.p = [weight / sum(p) for weight in p]

    def forward(self, *inputs):
        at = int(_C.multinomial(_C._tensor_from(self.p, None, None), 1))
        return self.transforms[at](*inputs)


class RandomOrder(_Several):
    """Transforms in a random order."""

    def forward(self, *inputs):
        return self._all(inputs, [self.transforms[i] for i in _C.randperm(len(self.transforms)).tolist()])


class Lambda(Transform):
    """A function, of all that is of the classes `types`."""

    def __init__(self, lambd, *types):
        super().__init__()
        self.lambd, self.types = lambd, types or (object,)
        self._transformed_types = self.types

    def _needs(self, leaves):
        return [check_type(leaf, self._transformed_types) for leaf in leaves]

    def transform(self, inpt, params):
        return self.lambd(inpt)

    def extra_repr(self):
        return f"{getattr(self.lambd, '__name__', self.lambd)}, types={[kind.__name__ for kind in self.types]}"


class ToPureTensor(Transform):
    """Tensors that no longer say what they are."""

    _transformed_types = (tv_tensors.TVTensor,)

    def transform(self, inpt, params):
        return plain(inpt)


class Identity(Transform):
    """What it gets."""

    def transform(self, inpt, params):
        return inpt
