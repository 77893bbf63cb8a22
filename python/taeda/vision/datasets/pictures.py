"""Data sets of pictures with answers of other kinds: boxes, masks, sentences, attributes."""

import os
import xml.etree.ElementTree

from ... import _C
from .. import picture
from .folder import default_loader
from .utils import verify_str_arg
from .vision import VisionDataset

__all__ = ["CelebA", "CocoCaptions", "CocoDetection", "STL10", "SVHN", "VOCDetection", "VOCSegmentation"]


def _needed(condition):
    if not condition:
        raise RuntimeError("Dataset not found or corrupted.")


class _Rows(VisionDataset):
    """Pictures in memory, bytes (N, channels, height, width), with a number each."""

    def __getitem__(self, index):
        return self._transformed(picture.from_bytes(self._pictures[index], "RGB"), int(self._numbers[index]))

    def __len__(self):
        return self._pictures.size(0)

    data = property(lambda self: self._pictures.numpy())
    labels = property(lambda self: self._numbers.numpy())

    def extra_repr(self):
        return f"Split: {self.split}"


class SVHN(_Rows):
    """House numbers, 32 x 32 (Netzer et al. 2011), of the files <split>_32x32.mat in `root`; needs SciPy to read them."""

    splits = ("train", "test", "extra")

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", self.splits)
        name = f"{split}_32x32.mat"
        if download:
            from ..._files.fetch import fetch
            fetch([f"http://ufldl.stanford.edu/housenumbers/{name}"], self.root, name)
        _needed(os.path.isfile(os.path.join(self.root, name)))
        import scipy.io
        content = scipy.io.loadmat(os.path.join(self.root, name))
        self._pictures = _C.from_numpy(content["X"]).permute(3, 2, 0, 1).contiguous()
        numbers = _C.from_numpy(content["y"].astype("int64")).flatten()
        self._numbers = numbers.masked_fill(numbers == 10, 0)  # the digit 0 is class 10 in the files


class STL10(_Rows):
    """Pictures of 96 x 96 in 10 classes, and many without a class, whose number is -1 (Coates, Lee, Ng 2011), of the files in
    `root`/stl10_binary. `folds` chooses one of ten parts of the training pictures."""

    splits = ("train", "train+unlabeled", "unlabeled", "test")
    base_folder, filename = "stl10_binary", "stl10_binary.tar.gz"
    url, tgz_md5 = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz", "91f7769df0f17e558f3565bffb0c7dfb"

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", self.splits)
        if folds is not None and folds not in range(10):
            raise ValueError(f"Value for argument folds should be in the range [0, 10), but got {folds}.")
        self.folds = folds
        if download and not os.path.isdir(os.path.join(self.root, self.base_folder)):
            from .utils import download_and_extract_archive
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)
        parts = [self._part(name) for name in split.split("+")]
        self._pictures = _C.cat([pictures for pictures, _ in parts])
        self._numbers = _C.cat([numbers for _, numbers in parts])
        names = self._path("class_names.txt")
        if os.path.isfile(names):
            with open(names) as file:
                self.classes = file.read().splitlines()
        if folds is not None and split.startswith("train"):
            with open(self._path("fold_indices.txt")) as file:
                rows = _C._tensor_from([int(n) for n in file.read().splitlines()[folds].split()], None, None)
            self._pictures, self._numbers = self._pictures[rows], self._numbers[rows]

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _bytes(self, name):
        _needed(os.path.isfile(self._path(name)))
        with open(self._path(name), "rb") as file:
            return _C.from_numpy(bytearray(file.read()))

    def _part(self, name):
        pictures = self._bytes(f"{name}_X.bin")
        _needed(pictures.numel() % (3 * 96 * 96) == 0)
        pictures = pictures.view(-1, 3, 96, 96).permute(0, 1, 3, 2).contiguous()  # columns come first in the file
        if name == "unlabeled":
            return pictures, _C.full((pictures.size(0),), -1, dtype=_C.int64)
        return pictures, self._bytes(f"{name}_y.bin").to(_C.int64) - 1


class _VOC(VisionDataset):
    """Pictures and answers that a list names, of `root`/VOCdevkit/VOC<year>."""

    _folder, _ending, _lists = "", "", ""

    def __init__(self, root, year="2012", image_set="train", download=False, transform=None, target_transform=None,
                 transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        self.year = verify_str_arg(year, "year", [str(y) for y in range(2007, 2013)])
        self.image_set = verify_str_arg(image_set, "image_set", ["train", "trainval", "val"] + ["test"] * (year == "2007"))
        base = os.path.join(self.root, "VOCdevkit", f"VOC{year}")
        if download and not os.path.isdir(base):
            raise RuntimeError(f"{type(self).__name__} cannot be downloaded: put VOCdevkit into {self.root}")
        if not os.path.isdir(base):
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        with open(os.path.join(base, "ImageSets", self._lists, f"{image_set}.txt")) as file:
            names = file.read().split()
        self.images = [os.path.join(base, "JPEGImages", f"{name}.jpg") for name in names]
        self.targets = [os.path.join(base, self._folder, name + self._ending) for name in names]

    def _answer(self, path):
        raise NotImplementedError

    def __getitem__(self, index):
        image, target = default_loader(self.images[index]), self._answer(self.targets[index])
        return self.transforms(image, target) if self.transforms is not None else (image, target)

    def __len__(self):
        return len(self.images)


class VOCSegmentation(_VOC):
    """Pascal VOC (Everingham et al. 2010): the answer is a picture of class numbers."""

    _folder, _ending, _lists = "SegmentationClass", ".png", "Segmentation"

    masks = property(lambda self: self.targets)

    def _answer(self, path):
        image = picture._pil()
        if image is not None:
            return image.open(path)
        from ..io import read_image
        return picture.Picture(read_image(path))


class VOCDetection(_VOC):
    """Pascal VOC: the answer is the dict of an XML file, in which "object" is a list."""

    _folder, _ending, _lists = "Annotations", ".xml", "Main"

    annotations = property(lambda self: self.targets)

    def _answer(self, path):
        return self.parse_voc_xml(xml.etree.ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node):
        """{tag: {tag: text or list of several}} of an element."""
        children = list(node)
        if not children:
            return {node.tag: (node.text or "").strip()}
        found = {}
        for child in children:
            for tag, value in VOCDetection.parse_voc_xml(child).items():
                found.setdefault(tag, []).append(value)
        if node.tag == "annotation":
            found["object"] = [found.get("object", [])]
        return {node.tag: {tag: values[0] if len(values) == 1 else values for tag, values in found.items()}}


class CocoDetection(VisionDataset):
    """MS COCO (Lin et al. 2014): pictures in `root`, answers - lists of dicts - in the JSON file `annFile`."""

    def __init__(self, root, annFile, transform=None, target_transform=None, transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        import json
        with open(annFile) as file:
            content = json.load(file)
        self.ids = sorted(image["id"] for image in content["images"])
        self._names = {image["id"]: image["file_name"] for image in content["images"]}
        self._answers = {}
        for answer in content.get("annotations", ()):
            self._answers.setdefault(answer["image_id"], []).append(answer)

    def _load_image(self, id):
        return default_loader(os.path.join(self.root, self._names[id]))

    def _load_target(self, id):
        return self._answers.get(id, [])

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        image, target = self._load_image(self.ids[index]), self._load_target(self.ids[index])
        return self.transforms(image, target) if self.transforms is not None else (image, target)

    def __len__(self):
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """The same with sentences as answers."""

    def _load_target(self, id):
        return [answer["caption"] for answer in super()._load_target(id)]


class CelebA(VisionDataset):
    """Faces (Liu et al. 2015) of `root`/celeba: `target_type` "attr" (40 of 0 and 1), "identity", "bbox" or "landmarks", or a
    list of them."""

    base_folder = "celeba"
    _FILES = {"attr": "list_attr_celeba.txt", "identity": "identity_CelebA.txt", "bbox": "list_bbox_celeba.txt",
              "landmarks": "list_landmarks_align_celeba.txt"}
    _SPLITS = {"train": 0, "valid": 1, "test": 2, "all": None}

    def __init__(self, root, split="train", target_type="attr", transform=None, target_transform=None, download=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.split = split
        self.target_type = target_type if isinstance(target_type, list) else [target_type]
        if not self.target_type and target_transform is not None:
            raise RuntimeError("target_transform is specified but target_type is empty")
        split = self._SPLITS[verify_str_arg(split.lower(), "split", tuple(self._SPLITS))]
        _needed(os.path.isfile(self._path("list_eval_partition.txt")) and os.path.isdir(self._path("img_align_celeba")))
        names, parts = self._table("list_eval_partition.txt")[1:]
        chosen = [i for i, part in enumerate(parts) if split is None or part[0] == split]
        self.filename = [names[i] for i in chosen]
        for kind in self.target_type:
            if kind not in self._FILES:
                raise ValueError(f'Target type "{kind}" is not recognized.')
        for kind, name in self._FILES.items():
            header, _, rows = self._table(name) if os.path.isfile(self._path(name)) else ([], [], None)
            setattr(self, kind, None if rows is None else _C._tensor_from(rows, _C.int64, None)[chosen])
            if kind == "attr":
                self.attr_names = header
        if self.attr is not None:
            self.attr = (self.attr + 1).div(2, rounding_mode="floor")
        for kind in self.target_type:
            _needed(getattr(self, kind) is not None)

    def _path(self, *names):
        return os.path.join(self.root, self.base_folder, *names)

    def _table(self, name):
        """(names of columns, names of pictures, rows of integers); two lines before them, the first a count, have the
        former."""
        with open(self._path(name)) as file:
            lines = [line.split() for line in file.read().splitlines() if line.strip()]
        header = lines[1] if len(lines[0]) == 1 else []
        lines = lines[2:] if header else lines
        return header, [line[0] for line in lines], [[int(n) for n in line[1:]] for line in lines]

    def __getitem__(self, index):
        image = default_loader(self._path("img_align_celeba", self.filename[index]))
        targets = [self.identity[index, 0] if kind == "identity" else getattr(self, kind)[index] for kind in self.target_type]
        target = None if not targets else targets[0] if len(targets) == 1 else tuple(targets)
        image = self.transform(image) if self.transform is not None else image
        if target is not None and self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self):
        return len(self.filename)

    def extra_repr(self):
        return f"Target type: {self.target_type}\nSplit: {self.split}"
