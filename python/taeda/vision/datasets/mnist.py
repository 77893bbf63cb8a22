"""MNIST and data sets of its form."""

import os

from ... import _C
from .. import picture as pictures
from ..._files import fetch as files
from .vision import VisionDataset, row_reader


class MNIST(VisionDataset):
    """Handwritten digits, 28 x 28, grey: `data` (N, 28, 28) bytes, `targets` (N). Reads the IDX files, plain or .gz, of
    `root`/<name>/raw, `root`/raw or `root`; RuntimeError when there are none."""

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    resources = [("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
                 ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
                 ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
                 ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c")]
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
               "9 - nine"]
    _installed = None  # a folder of the system that has the files

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError("Dataset not found. You can use download=True to download it")
        self.data, self.targets = self._load_data()

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self):
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def train_labels(self):
        return self.targets

    @property
    def test_labels(self):
        return self.targets

    @property
    def train_data(self):
        return self.data

    @property
    def test_data(self):
        return self.data

    def _found(self, name):
        """The file, plain or .gz, in the first folder that has it; or None."""
        plain = name[:-len(".gz")]
        folders = [self.raw_folder, os.path.join(self.root, "raw"), self.root] + ([self._installed] if self._installed else [])
        for folder in folders:
            for found in (plain, name):
                path = os.path.join(folder, found)
                if os.path.isfile(path):
                    return path
        return None

    def _check_exists(self):
        return all(self._found(name) for name, _ in self.resources)

    def download(self):
        """Fetches what is not there."""
        if self._check_exists():
            return
        for name, md5 in self.resources:
            files.fetch([mirror + name for mirror in self.mirrors], self.raw_folder, name, md5)

    def _load_data(self):
        images, labels = (_C._vision.read_idx(self._found(name)) for name, _ in self.resources[0 if self.train else 2:][:2])
        if images.dim() != 3 or labels.dim() != 1 or images.size(0) != labels.size(0):
            raise RuntimeError(f"The files of {type(self).__name__} do not belong together: {list(images.shape)} and "
                               f"{list(labels.shape)}")
        return images, labels.to(_C.int64)

    def __getitem__(self, index):
        return self._transformed(pictures.from_bytes(self.data[index].unsqueeze(0), "L"), int(self.targets[index]))

    def __len__(self):
        return len(self.data)

    def _row_reader(self):
        if type(self).__getitem__ is not MNIST.__getitem__:
            return None
        return row_reader(self, self.data.unsqueeze(1), self.targets)

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """Pieces of clothing, in MNIST's form (Xiao, Rasul, Vollgraf, arXiv:1708.07747). Debian's package
    dataset-fashion-mnist is found by itself."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
                 ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
                 ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
                 ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310")]
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
    _installed = "/usr/share/datasets/fashion-mnist"


class KMNIST(MNIST):
    """Japanese characters, in MNIST's form (Clanuwat et al., arXiv:1812.01718)."""

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = [(name, None) for name, _ in MNIST.resources]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Letters and digits, in MNIST's form (Cohen et al., arXiv:1702.05373): `split` "byclass", "bymerge", "balanced",
    "letters", "digits" or "mnist". Pictures are turned, as the files have them."""

    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    url, md5 = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip", "58c8d27c78d21e728a6bc7b3cc06412e"
    _all = [str(d) for d in range(10)] + [chr(c) for c in range(ord("A"), ord("Z") + 1)] + [
        chr(c) for c in range(ord("a"), ord("z") + 1)]
    _same = set("cijklmopsuvwxyz")  # small letters that are taken for large ones
    classes_split_dict = {"byclass": sorted(_all), "bymerge": sorted(set(_all) - _same), "balanced": sorted(set(_all) - _same),
                          "letters": ["N/A"] + [chr(c) for c in range(ord("a"), ord("z") + 1)],
                          "digits": [str(d) for d in range(10)], "mnist": [str(d) for d in range(10)]}

    def __init__(self, root, split, **kwargs):
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {{{', '.join(self.splits)}}}.")
        self.split, self.classes = split, self.classes_split_dict[split]
        super().__init__(root, **kwargs)

    @property
    def resources(self):
        return [(f"emnist-{self.split}-{part}-{kind}-ubyte.gz", None) for part in ("train", "test")
                for kind in ("images-idx3", "labels-idx1")]

    def download(self):
        """Fetches all splits, which are one archive."""
        from .utils import download_and_extract_archive
        if self._check_exists():
            return
        download_and_extract_archive(self.url, self.raw_folder, filename="gzip.zip", md5=self.md5, remove_finished=True)
        inside = os.path.join(self.raw_folder, "gzip")
        for name in os.listdir(inside):
            os.replace(os.path.join(inside, name), os.path.join(self.raw_folder, name))
        os.rmdir(inside)
