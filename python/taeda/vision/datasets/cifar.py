"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009), in the version for Python or the binary one."""

import math
import os
import pickle

from ... import _C
from ..._files.safe_pickle import Machine
from .. import picture as pictures
from ..._files import fetch as files
from .vision import VisionDataset, row_reader


class _Dtype:
    """Stands for NumPy's dtype in a pickle."""

    def __init__(self, name="", *_):
        self.name = name

    def __setstate__(self, state):
        pass


class _Array:
    """Stands for NumPy's array: the bytes of one."""

    shape, data = (0,), b""

    def __setstate__(self, state):
        _, self.shape, dtype, fortran, self.data = state
        if isinstance(self.data, str):
            self.data = self.data.encode("latin1")
        if not isinstance(dtype, _Dtype) or dtype.name not in ("u1", "|u1") or fortran or not isinstance(self.data, bytes) \
                or math.prod(self.shape) != len(self.data):
            raise pickle.UnpicklingError("a file of CIFAR may hold arrays of bytes alone")

    def tensor(self):
        return _C.from_numpy(memoryview(bytearray(self.data))).reshape(tuple(self.shape))


def _reconstruct(*_):
    return _Array()


class _Unpickler(Machine):
    """Reads dicts of lists, texts and arrays of bytes; a file can do nothing else."""

    may_build = (_Dtype, _Array)
    names = {("numpy.core.multiarray", "_reconstruct"): _reconstruct, ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
             ("numpy", "ndarray"): _Array, ("numpy", "dtype"): _Dtype,
             ("_codecs", "encode"): lambda text, encoding: text.encode("latin1")}

    def find_class(self, module, name):
        if (module, name) not in self.names:
            raise pickle.UnpicklingError(f"a file of CIFAR may not hold {module}.{name}")
        return self.names[module, name]


class CIFAR10(VisionDataset):
    """60,000 colour pictures of 32 x 32 in 10 classes: `data` (N, 32, 32, 3) bytes, `targets` a list. RuntimeError when
    `root` has neither of the two versions."""

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"]
    test_list = ["test_batch"]
    meta = {"filename": "batches.meta", "key": "label_names"}
    _binary_folder = "cifar-10-batches-bin"
    _binary_names = "batches.meta.txt"
    _label_bytes = 1
    _label_keys = ("labels",)

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        self.train = train
        names = self.train_list if train else self.test_list
        if download and not self._binary(names) and not self._is_there(names):
            self.download()
        if self._binary(names):
            self._images, self.targets, self.classes = self._read_binary(names)
        elif self._is_there(names):
            self._images, self.targets, self.classes = self._read_pickles(names)
        else:
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    @property
    def data(self):
        """The pictures with their channels last, as array of NumPy."""
        return self._images.permute(0, 2, 3, 1).numpy()

    def _is_there(self, names):
        return all(os.path.isfile(os.path.join(self.root, self.base_folder, n)) for n in [*names, self.meta["filename"]])

    def _binary(self, names):
        return all(os.path.isfile(os.path.join(self.root, self._binary_folder, n + ".bin")) for n in names)

    def download(self):
        files.unpack(files.fetch([self.url], self.root, self.filename, self.tgz_md5), self.root)

    def _read_binary(self, names):
        size = self._label_bytes + 3072
        images, targets = [], []
        for name in names:
            path = os.path.join(self.root, self._binary_folder, name + ".bin")
            with open(path, "rb") as file:
                content = bytearray(file.read())
            if not content or len(content) % size:
                raise RuntimeError(f"{path} is damaged: {len(content)} bytes are no multiple of {size}")
            rows = _C.from_numpy(content).view(-1, size)
            targets += rows[:, self._label_bytes - 1].tolist()
            images.append(rows[:, self._label_bytes:].reshape(-1, 3, 32, 32))
        with open(os.path.join(self.root, self._binary_folder, self._binary_names)) as file:
            return _C.cat(images), targets, file.read().split()

    def _read_pickles(self, names):
        images, targets = [], []
        for name in names:
            content = self._unpickled(name)
            images.append(content["data"].tensor().reshape(-1, 3, 32, 32))
            targets += next(list(content[key]) for key in self._label_keys if key in content)
        return _C.cat(images), targets, self._unpickled(self.meta["filename"])[self.meta["key"]]

    def _unpickled(self, name):
        with open(os.path.join(self.root, self.base_folder, name), "rb") as file:
            return _Unpickler(file, os.fstat(file.fileno()).st_size, encoding="latin1").load()

    def __getitem__(self, index):
        return self._transformed(pictures.from_bytes(self._images[index], "RGB"), self.targets[index])

    def __len__(self):
        return self._images.size(0)

    def _row_reader(self):
        if type(self).__getitem__ is not CIFAR10.__getitem__:
            return None
        return row_reader(self, self._images, _C._tensor_from(self.targets, _C.int64, None))

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """The same in 100 classes."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = ["train"]
    test_list = ["test"]
    meta = {"filename": "meta", "key": "fine_label_names"}
    _binary_folder = "cifar-100-binary"
    _binary_names = "fine_label_names.txt"
    _label_bytes = 2
    _label_keys = ("fine_labels",)
