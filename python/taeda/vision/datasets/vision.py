"""What data sets of pictures share: where they are, transforms, and batches in one go where nothing is random."""

import os

from ... import _C
from ...utils.data import Dataset
from ..transforms import Compose, Normalize, ToTensor


class StandardTransform:
    """A transform of the picture and one of the target."""

    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input, target):
        return (self.transform(input) if self.transform is not None else input,
                self.target_transform(target) if self.target_transform is not None else target)

    def __repr__(self):
        lines = ["StandardTransform"]
        for name, transform in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if transform is not None:
                first, *rest = str(transform).splitlines()
                lines += [name + first] + [" " * len(name) + line for line in rest]
        return "\n".join(lines)


class VisionDataset(Dataset):
    """The base of data sets of pictures: `root`, and either `transforms` of (picture, target) or one for each."""

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform, self.target_transform = transform, target_transform
        if transform is not None or target_transform is not None:
            transforms = StandardTransform(transform, target_transform)
        self.transforms = transforms

    def __len__(self):
        raise NotImplementedError

    def _transformed(self, picture, target):
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return picture, target

    def extra_repr(self):
        return ""

    def __repr__(self):
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            body.append(repr(self.transforms))
        return "\n".join(["Dataset " + type(self).__name__] + ["    " + line for line in body])


def row_reader(dataset, images, targets):
    """Reads batches of pictures in memory - bytes (N, channels, height, width) - without Python for each of them, where all
    that is done to them is ToTensor and Normalize; else None. What it gives is what examples one by one would give."""
    if dataset.target_transform is not None:
        return None
    steps = dataset.transform.transforms if type(dataset.transform) is Compose else [dataset.transform]
    if not steps or type(steps[0]) is not ToTensor or any(type(step) is not Normalize for step in steps[1:]):
        return None
    if images.dtype != _C.uint8:
        return None

    def read(rows):
        batch = images.index_select(0, rows).to(_C.get_default_dtype()).div_(255)
        for step in steps[1:]:
            batch = step(batch)
        return [batch, targets.index_select(0, rows)]
    return read
