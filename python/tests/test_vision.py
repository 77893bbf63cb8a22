"""Pictures: torchvision's numbers, data sets, files, models."""

import gzip
import io
import json
import pathlib
import struct
import sys

import pytest

import taeda as torch
import taeda.vision as torchvision
from taeda.utils.data import DataLoader
from taeda.vision import datasets, models, transforms
from taeda.vision.picture import Picture, is_picture
from taeda.vision.transforms import functional as F

GOLDEN = pathlib.Path(__file__).parent / "golden"
DEBIAN = pathlib.Path("/usr/share/datasets/fashion-mnist")


def _differs(expected, got, tolerance):
    if isinstance(expected, dict):
        return [f"{key}: {part}" for key in expected for part in _differs(expected[key], got.get(key), tolerance)]
    if isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            return ["length"]
        return [f"{i}: {part}" for i, (e, g) in enumerate(zip(expected, got)) for part in _differs(e, g, tolerance)][:3]
    if isinstance(expected, float):
        return [] if abs(expected - got) <= tolerance * max(1, abs(expected)) else [f"{expected} != {got}"]
    return [] if expected == got else [f"{expected} != {got}"]


def test_transforms_and_models_give_torchvisions_numbers(tmp_path, run_python):
    """The script that torchvision ran, under its names. Bytes may differ by one level where they are rounded."""
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "vision.py"), str(out), timeout=280)
    expected, got = json.loads((GOLDEN / "vision.json").read_text()), json.loads(out.read_text())
    wrong = {}
    for name in expected:
        wanted, found = expected[name], got[name]
        if name.startswith("bytes_") and wanted["dtype"] == "torch.uint8":
            problems = ["values"] if any(abs(a - b) > 1 for a, b in zip(wanted["some"], found["some"])) else []
            problems += _differs(wanted["shape"], found["shape"], 0)
        else:
            problems = _differs(wanted, found, 1e-3 if name.startswith("model") else 2e-5)
        if problems:
            wrong[name] = problems
    assert wrong == {}


@pytest.mark.parametrize("transform, text", [
    (lambda: transforms.Compose([transforms.ToTensor(), transforms.Normalize((.5,), (.5,))]),
     "Compose(\n    ToTensor()\n    Normalize(mean=(0.5,), std=(0.5,))\n)"),
    (lambda: transforms.Resize(3), "Resize(size=3, interpolation=bilinear, max_size=None, antialias=True)"),
    (lambda: transforms.RandomCrop(3, padding=2), "RandomCrop(size=(3, 3), padding=2)"),
    (lambda: transforms.RandomResizedCrop(3), "RandomResizedCrop(size=(3, 3), scale=(0.08, 1.0), ratio=(0.75, 1.3333), "
     "interpolation=bilinear, antialias=True)"),
    (lambda: transforms.ColorJitter(.1, .2, .3, .4),
     "ColorJitter(brightness=(0.9, 1.1), contrast=(0.8, 1.2), saturation=(0.7, 1.3), hue=(-0.4, 0.4))"),
    (lambda: transforms.RandomRotation(10),
     "RandomRotation(degrees=[-10.0, 10.0], interpolation=nearest, expand=False, fill=0)"),
    (lambda: transforms.RandomApply([transforms.Pad(1)]),
     "RandomApply(\n    p=0.5\n    Pad(padding=1, fill=0, padding_mode=constant)\n)"),
], ids=lambda v: v[:12] if isinstance(v, str) else "")
def test_printing(transform, text):
    assert repr(transform()) == text


X = torch.rand(3, 8, 8)


@pytest.mark.parametrize("call, kind, text", [
    (lambda: transforms.ToTensor()(X), TypeError, "pic should be PIL Image or ndarray. Got <class 'torch.Tensor'>"),
    (lambda: transforms.Normalize(0, 0)(X), ValueError,
     "std evaluated to zero after conversion to torch.float32, leading to division by zero."),
    (lambda: transforms.Normalize(.5, .5)(X.byte()), TypeError, "Input tensor should be a float tensor. Got torch.uint8."),
    (lambda: transforms.RandomCrop(10)(X), ValueError,
     "Required crop size (10, 10) is larger than input image size (8, 8)"),
    (lambda: transforms.Resize((1, 2, 3)), ValueError, "If size is a sequence, it should have 1 or 2 values"),
    (lambda: transforms.Pad((1, 2, 3)), ValueError,
     "Padding must be an int or a 1, 2, or 4 element tuple, not a 3 element tuple"),
    (lambda: transforms.Lambda(3), TypeError, "Argument lambd should be callable, got 'int'"),
    (lambda: transforms.ColorJitter(-1), ValueError, "If brightness is a single number, it must be non negative."),
    (lambda: transforms.ColorJitter(hue=1), ValueError, "hue values should be between (-0.5, 0.5), but got [-1.0, 1.0]."),
    (lambda: transforms.Grayscale()(torch.zeros(2, 3, 3)), TypeError,
     "Input image tensor permitted channel values are [1, 3], but found 2"),
    (lambda: F.to_pil_image(torch.zeros(5, 3, 3)), ValueError, "pic should not have > 4 channels. Got 5 channels."),
    (lambda: F.adjust_hue(X, 1), ValueError, "hue_factor (1) is not in [-0.5, 0.5]."),
    (lambda: F.crop("a", 1, 1, 1, 1), TypeError, "img should be PIL Image. Got <class 'str'>"),
    (lambda: datasets.MNIST("/nonexistent"), RuntimeError,
     "Dataset not found. You can use download=True to download it"),
    (lambda: datasets.CIFAR10("/nonexistent"), RuntimeError,
     "Dataset not found or corrupted. You can use download=True to download it"),
    (lambda: torchvision.utils.make_grid(3), TypeError, "tensor or list of tensors expected, got <class 'int'>"),
], ids=range(16))
def test_words(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


def _idx(array, shape):
    return struct.pack(">HBB", 0, 8, len(shape)) + b"".join(struct.pack(">I", n) for n in shape) + bytes(array)


@pytest.fixture
def digits(tmp_path):
    """A small MNIST: picture i is full of 10 i, its label i % 10."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, n in (("train", 20), ("t10k", 10)):
        pixels = [10 * i % 256 for i in range(n) for _ in range(28 * 28)]
        (raw / f"{part}-images-idx3-ubyte").write_bytes(_idx(pixels, (n, 28, 28)))
        with gzip.open(raw / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(_idx([i % 10 for i in range(n)], (n,)))
    return tmp_path


def test_mnist(digits):
    data = datasets.MNIST(digits, train=False, download=True)
    assert len(data) == 10 and data.data.shape == (10, 28, 28) and data.targets.tolist() == list(range(10))
    picture, label = data[3]
    assert is_picture(picture) and picture.size == (28, 28) and picture.mode == "L" and label == 3
    assert F.to_tensor(picture)[0, 5, 5].item() == pytest.approx(30 / 255)
    assert repr(datasets.MNIST(str(digits), transform=transforms.ToTensor())) == (
        f"Dataset MNIST\n    Number of datapoints: 20\n    Root location: {digits}\n    Split: Train\n"
        "    StandardTransform\nTransform: ToTensor()")


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_in_one_go_are_what_examples_would_be(digits, workers):
    steps = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    fast = datasets.MNIST(str(digits), transform=steps)
    slow = datasets.MNIST(str(digits), transform=lambda picture: steps(picture))
    assert fast._row_reader() is not None and slow._row_reader() is None
    for (a, b), (c, d) in zip(DataLoader(fast, 6, num_workers=workers), DataLoader(slow, 6)):
        assert torch.equal(a, c) and torch.equal(b, d) and b.dtype == torch.int64


@pytest.mark.skipif(not DEBIAN.exists(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist_of_debian(tmp_path):
    data = datasets.FashionMNIST(root=str(tmp_path / "data"), train=True, download=True,
                                 transform=transforms.Compose([transforms.ToTensor()]))
    assert len(data) == 60000 and data.targets[:5].tolist() == [9, 0, 0, 3, 0] and data.classes[9] == "Ankle boot"
    images, labels = next(iter(DataLoader(data, batch_size=1000)))
    assert images.shape == (1000, 1, 28, 28) and images.max().item() == 1.0 and labels.bincount().min().item() > 50


def test_cifar10_in_both_versions(tmp_path):
    import pickle
    import numpy
    pixels = numpy.arange(4 * 3072, dtype=numpy.uint32).astype(numpy.uint8).reshape(4, 3072)
    batches = tmp_path / "py" / "cifar-10-batches-py"
    batches.mkdir(parents=True)
    (batches / "test_batch").write_bytes(pickle.dumps({"data": pixels, "labels": [3, 1, 4, 1]}, 2))
    (batches / "batches.meta").write_bytes(pickle.dumps({"label_names": list("abcdefghij")}, 2))
    binary = tmp_path / "bin" / "cifar-10-batches-bin"
    binary.mkdir(parents=True)
    (binary / "test_batch.bin").write_bytes(b"".join(bytes([l]) + p.tobytes() for l, p in zip([3, 1, 4, 1], pixels)))
    (binary / "batches.meta.txt").write_text("\n".join("abcdefghij"))
    for root in ("py", "bin"):
        data = datasets.CIFAR10(str(tmp_path / root), train=False, transform=transforms.ToTensor())
        image, label = data[2]
        assert label == 4 and image.shape == (3, 32, 32) and data.classes[4] == "e"
        assert image[1, 0, 5].item() == pytest.approx(((2 * 3072 + 1024 + 5) % 256) / 255)
        assert data.data.shape == (4, 32, 32, 3)
    (batches / "batches.meta").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(pickle.UnpicklingError, match="may not hold os.system"):
        datasets.CIFAR10(str(tmp_path / "py"), train=False)


def test_image_folder_and_files(tmp_path):
    for name, level in (("cats", 0.2), ("dogs", 0.8)):
        (tmp_path / name).mkdir()
        for i in range(2):
            torchvision.utils.save_image(torch.full((3, 5, 6), level), str(tmp_path / name / f"{i}.png"))
    (tmp_path / "cats" / "notes.txt").write_text("no picture")
    data = datasets.ImageFolder(str(tmp_path), transforms.ToTensor())
    assert data.classes == ["cats", "dogs"] and data.class_to_idx == {"cats": 0, "dogs": 1} and data.targets == [0, 0, 1, 1]
    image, label = data[3]
    assert image.shape == (3, 5, 6) and label == 1 and image[0, 0, 0].item() == pytest.approx(0.8, abs=0.003)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="Found no valid file for the classes empty"):
        datasets.ImageFolder(str(tmp_path))
    read = torchvision.io.read_image(str(tmp_path / "dogs" / "0.png"))
    assert read.dtype == torch.uint8 and read.shape == (3, 5, 6) and read.unique().tolist() == [204]
    grey = torchvision.io.read_image(str(tmp_path / "dogs" / "0.png"), torchvision.io.ImageReadMode.GRAY)
    assert grey.shape == (1, 5, 6)
    assert torch.equal(torchvision.io.decode_image(torchvision.io.encode_png(read)), read)
    with pytest.raises(RuntimeError, match="nowhere.png"):
        torchvision.io.read_image("/nowhere.png")
    with pytest.raises(ValueError, match="unknown file extension: .webp"):
        torchvision.utils.save_image(X, str(tmp_path / "x.webp"))
    buffer = io.BytesIO()
    torchvision.utils.save_image(X, buffer, "png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_fake_data_is_the_same_each_time_and_draws_nothing():
    data = datasets.FakeData(5, (3, 4, 4), 3, transforms.ToTensor())
    before = torch.get_rng_state()
    a, b = data[2], data[2]
    assert torch.equal(a[0], b[0]) and a[1] == b[1] and torch.equal(torch.get_rng_state(), before)


def test_pictures_go_through_transforms_as_pictures():
    picture = F.to_pil_image(torch.rand(3, 9, 7))
    assert is_picture(picture) and picture.size == (7, 9) and picture.mode == "RGB"
    changed = transforms.Compose([transforms.Resize(6), transforms.RandomHorizontalFlip(1.0), transforms.Grayscale()])(picture)
    assert is_picture(changed) and changed.size == (6, 7) and changed.mode == "L"
    assert transforms.PILToTensor()(picture).dtype == torch.uint8
    own = Picture(torch.zeros(1, 2, 2, dtype=torch.uint8))
    assert own.convert("RGB").mode == "RGB" and own.convert("RGB").convert("L") == own


def test_models_by_name(tmp_path, monkeypatch):
    names = sorted(name for name in models.__dict__ if name.islower() and not name.startswith("__")
                   and callable(models.__dict__[name]))
    assert "resnet18" in names and "vgg16" in names and models.list_models()[0] == "alexnet"
    small = models.__dict__["resnet18"](num_classes=3)
    assert small.fc.out_features == 3 and models.resnet18(pretrained=False).fc.out_features == 1000
    assert models.ResNet50_Weights.DEFAULT is models.ResNet50_Weights.IMAGENET1K_V2
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    whole = models.resnet18()
    torch.save(whole.state_dict(), folder / "resnet18-f37072fd.pth")
    loaded = models.resnet18(weights="IMAGENET1K_V1")
    assert torch.equal(loaded.fc.weight, whole.fc.weight)
    with pytest.raises(TypeError, match="Invalid Weight class provided"):
        models.resnet18(weights=models.VGG11_Weights.DEFAULT)


def test_numpy_is_not_needed(run_python):
    run_python("import sys; sys.modules['numpy'] = None; sys.modules['PIL'] = None\n"
               "import taeda.vision.transforms as T, taeda.vision.datasets as D\n"
               "from taeda.utils.data import DataLoader\n"
               "x, y = next(iter(DataLoader(D.FakeData(4, (3, 8, 8), 3, T.Compose([T.Resize(4), T.ToTensor()])), 2)))\n"
               "assert x.shape == (2, 3, 4, 4), x.shape")
    assert sys.version_info >= (3, 10)


def test_grey_of_a_picture_is_rounded_as_pictures_are():
    colours = torch.tensor([[1, 201, 200]], dtype=torch.uint8).t().reshape(3, 1, 1)
    picture = transforms.functional.to_pil_image(colours)
    grey = transforms.functional.pil_to_tensor(transforms.functional.rgb_to_grayscale(picture))
    assert grey.item() == 141 and transforms.functional.rgb_to_grayscale(colours).item() == 141
    colours[2] = 203
    picture = transforms.functional.to_pil_image(colours)
    assert transforms.functional.pil_to_tensor(transforms.functional.rgb_to_grayscale(picture)).item() == (
        19595 + 201 * 38470 + 203 * 7471 + 32768) >> 16
    flat = transforms.functional.pil_to_tensor(transforms.functional.adjust_saturation(picture, 0.0))
    assert len(set(flat.flatten().tolist())) == 1


def test_pictures_are_resized_by_the_library_they_come_from():
    colours = torch.arange(60, dtype=torch.uint8).reshape(3, 4, 5) * 4
    picture = F.to_pil_image(colours)
    for mode, code in ((F.InterpolationMode.BILINEAR, 2), (F.InterpolationMode.BICUBIC, 3), (2, 2)):
        found = F.resize(picture, (3, 7), mode)
        assert found.size == (7, 3)
        if isinstance(picture, Picture):  # no PIL here
            assert torch.equal(F.pil_to_tensor(found), F.resize(colours, (3, 7), mode))
        else:
            assert found.tobytes() == picture.resize((7, 3), code).tobytes()


def test_chosen_changes():
    assert repr(transforms.AutoAugment()) == "AutoAugment(policy=AutoAugmentPolicy.IMAGENET, fill=None)"
    assert repr(transforms.TrivialAugmentWide()) == (
        "TrivialAugmentWide(num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None)")
    with pytest.raises(ValueError, match="The severity must be between"):
        transforms.AugMix(11)
    with pytest.raises(TypeError, match="Only torch.uint8 image tensors are supported"):
        for _ in range(50):
            transforms.RandAugment(9)(torch.rand(3, 8, 8))
    images = torch.randint(0, 256, (2, 3, 8, 9)).to(torch.uint8)
    for transform in (transforms.AutoAugment(), transforms.RandAugment(), transforms.TrivialAugmentWide(), transforms.AugMix()):
        assert transform(images).shape == images.shape and transform(images).dtype == torch.uint8
        assert is_picture(transform(F.to_pil_image(images[0])))


def test_pil_turns_its_own_pictures():
    pytest.importorskip("PIL.Image")
    picture = F.to_pil_image(torch.randint(0, 256, (3, 16, 20)).to(torch.uint8))
    assert F.rotate(picture, 33, fill=7).tobytes() == picture.rotate(33, fillcolor=(7, 7, 7)).tobytes()
    assert F.affine(picture, 0, [3, -2], 1.0, [0.0, 0.0]).tobytes() == (
        picture.transform(picture.size, 0, (1, 0, -3, 0, 1, 2)).tobytes())
    corners = [[0, 0], [19, 0], [19, 15], [0, 15]]
    assert F.perspective(picture, corners, corners, 0).tobytes() == picture.tobytes()
    assert F.adjust_hue(picture.convert("L"), 0.2).mode == "L" and F.adjust_hue(picture, 0.2).size == (20, 16)
    with pytest.raises(ValueError, match="number of elements in 'fill'"):
        F.rotate(picture, 33, fill=[1, 2])


def test_mixed_batches():
    """torchvision 0.29's numbers from one seed."""
    from taeda.vision.transforms import v2
    x, y = torch.rand(4, 3, 8, 10, generator=torch.Generator().manual_seed(1)), torch.tensor([0, 2, 1, 2])
    for kind, options, row, labels in (
            (v2.MixUp, {}, (5.01086, 4.75658), (0.26494, 0.94972)),
            (v2.MixUp, {"alpha": 0.3}, (4.73930, 5.08144), (0.99626, 0.07488)),
            (v2.CutMix, {}, (5.44813, 4.73791), (0.7, 0.9)), (v2.CutMix, {"alpha": 2.0}, (5.44813, 4.73791), (0.7, 0.8))):
        torch.manual_seed(7)
        mix = kind(num_classes=3, **options)
        for wanted, share in zip(row, labels):
            mixed, classes = mix(x, y)
            assert mixed[1, 0, 3].double().sum().item() == pytest.approx(wanted, abs=2e-5)
            assert classes[0].tolist() == pytest.approx([share, 0, 1 - share], abs=2e-5) and mixed.shape == x.shape
    assert list(v2.MixUp(num_classes=3)({"image": x, "label": y})) == ["image", "label"]
    assert isinstance(v2.CutMix(num_classes=3)((x, y)), tuple)
    assert repr(v2.MixUp(num_classes=3)) == "MixUp(alpha=1.0, num_classes=3)"
    for call, text in ((lambda: v2.MixUp()(x, y), "num_classes must be passed"),
                       (lambda: v2.MixUp(num_classes=3)(x[0], y), "Expected a batched input with 4 dims"),
                       (lambda: v2.MixUp(num_classes=3)(x, 3), "The labels must be a tensor"),
                       (lambda: v2.CutMix(num_classes=3)(x[:2], y), "does not match the batch size of the labels: 2 != 4"),
                       (lambda: v2.MixUp(num_classes=4)(x, torch.ones(4, 3)), "must match num_classes: 3 != 4")):
        with pytest.raises(ValueError, match=text):
            call()


def test_noise_and_channels():
    from taeda.vision.transforms import v2
    x = torch.rand(4, 3, 8, 10, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(3)
    assert v2.GaussianNoise(0.1, 0.2)(x).double().sum().item() == pytest.approx(560.612, abs=2e-3)
    swapped = v2.RandomChannelPermutation()(x)
    assert sorted(swapped[0, :, 0, 0].tolist()) == sorted(x[0, :, 0, 0].tolist())
    dark = v2.GaussianNoise(-1.0, 0.0)(torch.full((1, 2, 2), 9, dtype=torch.uint8))
    assert dark.dtype == torch.uint8 and dark.sum() == 0
    with pytest.raises(ValueError, match="sigma shouldn't be negative"):
        v2.GaussianNoise(sigma=-1.0)(x)
    with pytest.raises(ValueError, match="expected to be in uint8 or float dtype"):
        v2.GaussianNoise()(torch.zeros(1, 2, 2, dtype=torch.int64))
