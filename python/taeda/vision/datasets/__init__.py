"""Data sets of pictures. They read what is there; those with a public address can be downloaded."""

from . import utils
from .cifar import CIFAR10, CIFAR100
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from .pictures import STL10, SVHN, CelebA, CocoCaptions, CocoDetection, VOCDetection, VOCSegmentation
from .vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100", "CelebA", "CocoCaptions", "CocoDetection", "DatasetFolder", "EMNIST", "FakeData",
           "FashionMNIST", "ImageFolder", "KMNIST", "MNIST", "STL10", "SVHN", "VOCDetection", "VOCSegmentation",
           "VisionDataset", "utils"]
