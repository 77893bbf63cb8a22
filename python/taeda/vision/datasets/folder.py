"""A folder of files for each class."""

import os

from .. import picture as pictures
from .vision import VisionDataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename, extensions):
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename):
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """(names, {name: number}) of the folders in a directory, in the order of their names."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: i for i, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """[(path, class number)] of the files below the folders of the classes."""
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    accepts = is_valid_file or (lambda path: has_file_allowed_extension(path, extensions))
    found, empty = [], []
    for name in sorted(class_to_idx):
        before = len(found)
        for folder, _, names in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            paths = (os.path.join(folder, file) for file in sorted(names))
            found += [(path, class_to_idx[name]) for path in paths if accepts(path)]
        if len(found) == before:
            empty.append(name)
    if empty and not allow_empty:
        text = f"Found no valid file for the classes {', '.join(empty)}. "
        if extensions is not None:
            text += f"Supported extensions are: {extensions if isinstance(extensions, str) else ', '.join(extensions)}"
        raise FileNotFoundError(text)
    return found


class DatasetFolder(VisionDataset):
    """Files in a folder for each class, read by `loader(path)`. FileNotFoundError for a class without files."""

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None,
                 allow_empty=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.loader, self.extensions = loader, extensions
        self.samples = self.make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory):
        return find_classes(directory)

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


def default_loader(path):
    """A picture in colour: PNG and JPEG files, and with PIL all that it opens."""
    image = pictures._pil()
    if image is not None:
        with open(path, "rb") as file:
            return image.open(file).convert("RGB")
    from ..io import ImageReadMode, read_image
    return pictures.Picture(read_image(path, ImageReadMode.RGB), "RGB")


def pil_loader(path):
    """A picture in colour."""
    return default_loader(path)


class ImageFolder(DatasetFolder):
    """Pictures in a folder for each class; `imgs` lists (path, class number)."""

    def __init__(self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None,
                 allow_empty=False):
        super().__init__(root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform,
                         is_valid_file, allow_empty)
        self.imgs = self.samples
