"""Data sets whose answers are boxes, masks, sentences and attributes, read from files that the tests write; and their tools."""

import gzip
import json
import pathlib
import struct
import tarfile
import zipfile

import pytest

import taeda as torch
import taeda.vision.datasets as datasets
import taeda.vision.utils as utils
from taeda.vision import io
from taeda.vision.datasets import utils as tools


def picture(path, value, side=8):
    path.parent.mkdir(parents=True, exist_ok=True)
    write = io.write_png if path.suffix == ".png" else io.write_jpeg
    write(torch.full((1 if path.suffix == ".png" else 3, side, side), value, dtype=torch.uint8), str(path))


def value_of(image):
    from taeda.vision.transforms.functional import pil_to_tensor
    return pil_to_tensor(image).to(torch.float32).mean().item()


def test_voc(tmp_path):
    base = tmp_path / "VOCdevkit" / "VOC2007"
    for name, value in (("a", 50), ("b", 200)):
        picture(base / "JPEGImages" / f"{name}.jpg", value)
        picture(base / "SegmentationClass" / f"{name}.png", value // 10)
        (base / "Annotations").mkdir(exist_ok=True)
        (base / "Annotations" / f"{name}.xml").write_text(
            "<annotation><filename>x.jpg</filename><size><width>8</width><height>8</height></size>"
            "<object><name>dog</name><bndbox><xmin>1</xmin></bndbox></object></annotation>")
    for kind in ("Main", "Segmentation"):
        (base / "ImageSets" / kind).mkdir(parents=True)
        (base / "ImageSets" / kind / "train.txt").write_text("b\na\n")
    masks = datasets.VOCSegmentation(str(tmp_path), "2007", "train")
    image, mask = masks[0]
    assert len(masks) == 2 and value_of(image) == pytest.approx(200, abs=3) and value_of(mask) == 20
    boxes = datasets.VOCDetection(str(tmp_path), "2007", "train", transforms=lambda x, y: (value_of(x), y))
    value, answer = boxes[1]
    assert value == pytest.approx(50, abs=3) and answer["annotation"]["filename"] == "x.jpg"
    assert answer["annotation"]["object"] == [{"name": "dog", "bndbox": {"xmin": "1"}}]
    with pytest.raises(RuntimeError, match="Dataset not found or corrupted"):
        datasets.VOCDetection(str(tmp_path), "2012")
    with pytest.raises(ValueError, match="Unknown value 'test' for argument image_set"):
        datasets.VOCDetection(str(tmp_path), "2012", "test")


def test_coco(tmp_path):
    for number, value in ((7, 30), (3, 90)):
        picture(tmp_path / "images" / f"{number}.jpg", value)
    notes = tmp_path / "notes.json"
    notes.write_text(json.dumps({"images": [{"id": n, "file_name": f"{n}.jpg"} for n in (7, 3)], "annotations": [
        {"image_id": 7, "bbox": [1, 2, 3, 4], "caption": "one"}, {"image_id": 7, "bbox": [0, 0, 1, 1], "caption": "two"}]}))
    data = datasets.CocoDetection(str(tmp_path / "images"), str(notes))
    assert data.ids == [3, 7] and data[0][1] == [] and [a["bbox"] for a in data[1][1]] == [[1, 2, 3, 4], [0, 0, 1, 1]]
    assert value_of(data[0][0]) == pytest.approx(90, abs=3)
    words = datasets.CocoCaptions(str(tmp_path / "images"), str(notes), target_transform=len)
    assert words[1][1] == 2
    with pytest.raises(ValueError, match="Index must be of type integer"):
        data["a"]


def test_faces(tmp_path):
    base = tmp_path / "celeba"
    for i in range(3):
        picture(base / "img_align_celeba" / f"{i}.jpg", 40 * i)
    (base / "list_eval_partition.txt").write_text("0.jpg 0\n1.jpg 2\n2.jpg 0\n")
    (base / "list_attr_celeba.txt").write_text("3\nBald Young\n0.jpg 1 -1\n1.jpg -1 -1\n2.jpg 1 1\n")
    (base / "identity_CelebA.txt").write_text("0.jpg 12\n1.jpg 13\n2.jpg 14\n")
    data = datasets.CelebA(str(tmp_path), target_type=["attr", "identity"])
    assert len(data) == 2 and data.attr_names == ["Bald", "Young"] and data.filename == ["0.jpg", "2.jpg"]
    image, (attributes, person) = data[1]
    assert value_of(image) == pytest.approx(80, abs=3) and attributes.tolist() == [1, 1] and person.item() == 14
    assert datasets.CelebA(str(tmp_path), "test", "identity")[0][1].item() == 13
    assert len(datasets.CelebA(str(tmp_path), "all")) == 3
    with pytest.raises(RuntimeError, match="Dataset not found or corrupted"):
        datasets.CelebA(str(tmp_path), target_type="bbox")
    with pytest.raises(ValueError, match='Target type "age" is not recognized'):
        datasets.CelebA(str(tmp_path), target_type="age")


def test_stl10(tmp_path):
    base = tmp_path / "stl10_binary"
    base.mkdir()
    pictures = torch.zeros(3, 3, 96, 96, dtype=torch.uint8)
    pictures[1, 0, 5, :] = 9  # the sixth column, red
    for name, count in (("train", 3), ("unlabeled", 2)):
        (base / f"{name}_X.bin").write_bytes(bytes(pictures[:count].flatten().tolist()))
    (base / "train_y.bin").write_bytes(bytes([1, 10, 3]))
    (base / "class_names.txt").write_text("airplane\nbird\n")
    (base / "fold_indices.txt").write_text("1 2 \n" + "0 \n" * 9)
    data = datasets.STL10(str(tmp_path))
    assert len(data) == 3 and [data[i][1] for i in range(3)] == [0, 9, 2] and data.classes == ["airplane", "bird"]
    assert data.data[1, 0, :, 5].tolist() == [9] * 96 and data.data[1].sum() == 9 * 96
    assert [n for _, n in datasets.STL10(str(tmp_path), folds=0)] == [9, 2]
    assert datasets.STL10(str(tmp_path), "train+unlabeled").labels.tolist() == [0, 9, 2, -1, -1]
    with pytest.raises(ValueError, match="should be in the range"):
        datasets.STL10(str(tmp_path), folds=10)
    with pytest.raises(RuntimeError, match="Dataset not found or corrupted"):
        datasets.STL10(str(tmp_path), "test")


def test_house_numbers(tmp_path):
    scipy = pytest.importorskip("scipy.io")
    import numpy as np
    pictures = np.zeros((32, 32, 3, 2), np.uint8)
    pictures[4, 5, 0, 1] = 7
    scipy.savemat(tmp_path / "test_32x32.mat", {"X": pictures, "y": np.array([[10], [3]], np.uint8)})
    data = datasets.SVHN(str(tmp_path), "test")
    assert data.labels.tolist() == [0, 3] and data.data[1, 0, 4, 5] == 7 and data[1][1] == 3


def test_letters(tmp_path):
    raw = tmp_path / "EMNIST" / "raw"
    raw.mkdir(parents=True)
    for part, count in (("train", 2), ("test", 1)):
        with gzip.open(raw / f"emnist-letters-{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4i", 0x803, count, 28, 28) + bytes([count]) * (count * 784))
        with gzip.open(raw / f"emnist-letters-{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2i", 0x801, count) + bytes(range(1, count + 1)))
    data = datasets.EMNIST(str(tmp_path), "letters", train=True)
    assert len(data) == 2 and data.targets.tolist() == [1, 2] and data.classes[1] == "a" and value_of(data[0][0]) == 2
    assert len(datasets.EMNIST(str(tmp_path), "letters", train=False)) == 1
    assert [len(c) for c in datasets.EMNIST.classes_split_dict.values()] == [62, 47, 47, 27, 10, 10]
    with pytest.raises(ValueError, match="Unknown value 'words'"):
        datasets.EMNIST(str(tmp_path), "words")


def test_archives(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("text")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(source, "in/a.txt")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(source, "zipped/a.txt")
    with gzip.open(tmp_path / "b.txt.gz", "wb") as file:
        file.write(b"plain")
    for name in ("a.tar.gz", "a.zip", "b.txt.gz"):
        tools.extract_archive(str(tmp_path / name), str(tmp_path))
    assert (tmp_path / "in" / "a.txt").read_text() == (tmp_path / "zipped" / "a.txt").read_text() == "text"
    assert (tmp_path / "b.txt").read_text() == "plain"
    assert sorted(tools.list_dir(str(tmp_path))) == ["in", "zipped"] and tools.list_files(str(tmp_path), ".zip") == ["a.zip"]
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../outside.txt", "no")
    with pytest.raises(RuntimeError, match="names a file outside of its folder"):
        tools.extract_archive(str(tmp_path / "bad.zip"), str(tmp_path / "in"))
    assert not (tmp_path / "outside.txt").exists()
    with pytest.raises(RuntimeError, match="Unknown compression or archive type: 'a.txt'"):
        tools.extract_archive(str(source))
    md5 = tools.calculate_md5(str(source))
    assert tools.check_integrity(str(source), md5) and not tools.check_integrity(str(source), "0" * 32)
    tools.download_and_extract_archive((tmp_path / "a.zip").as_uri(), str(tmp_path / "got"), remove_finished=True)
    assert [p.name for p in (tmp_path / "got").rglob("*.txt")] == ["a.txt"] and not (tmp_path / "got" / "a.zip").exists()
    assert tools.verify_str_arg("a", "split", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"Unknown value 'c' for argument split. Valid values are \{'a', 'b'\}."):
        tools.verify_str_arg("c", "split", ("a", "b"))
    assert pathlib.Path(tools.download_url(source.as_uri(), str(tmp_path / "got"))).read_text() == "text"


def test_painted_masks():
    """torchvision 0.29's numbers."""
    image = torch.full((3, 2, 3), 100, dtype=torch.uint8)
    masks = torch.tensor([[[True, False, False], [False, False, False]], [[False, False, False], [False, True, False]]])
    made = utils.draw_segmentation_masks(image, masks, 0.5, [(200, 0, 50), (0, 0, 0)])
    assert made[:, 0, 0].tolist() == [150, 50, 75] and made[:, 1, 1].tolist() == [50, 50, 50]
    assert made[:, 0, 1].tolist() == [100, 100, 100] and made.dtype == torch.uint8
    floats = utils.draw_segmentation_masks(image / 255, masks[0], 0.5, (255, 0, 0))
    assert torch.allclose(floats[:, 0, 0], torch.tensor([(100 / 255 + 1) / 2, 50 / 255, 50 / 255]))
    with pytest.raises(ValueError, match="The masks must be of dtype bool"):
        utils.draw_segmentation_masks(image, masks.int())
    with pytest.warns(UserWarning, match="No mask was drawn"):
        assert torch.equal(utils.draw_segmentation_masks(image, masks[:0]), image)


def test_drawn_boxes():
    image = torch.zeros(3, 10, 12, dtype=torch.uint8)
    boxes = torch.tensor([[2.0, 3.0, 7.0, 8.0]])
    with pytest.raises(ValueError, match="xmin, ymin, xmax, ymax"):
        utils.draw_bounding_boxes(image, boxes[:, [2, 1, 0, 3]])
    with pytest.raises(ValueError, match=r"Number of boxes \(1\) and labels \(2\) mismatch"):
        utils.draw_bounding_boxes(image, boxes, ["a", "b"])
    pytest.importorskip("PIL")
    made = utils.draw_bounding_boxes(image, boxes, colors=(255, 0, 9))
    assert made[:, 3, 2].tolist() == [255, 0, 9] and made[0].gt(0).sum() == 20 and made[:, 5, 5].tolist() == [0, 0, 0]
