"""Makes vision_samples.json: what torchvision 0.29's transforms.v2 make of a picture with masks, boxes and labels. Run by a
Python with PyTorch 2.15 and torchvision."""

import json
import sys

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

TRANSFORMS = {
    "hflip": lambda: v2.RandomHorizontalFlip(1.0), "vflip": lambda: v2.RandomVerticalFlip(0.6),
    "resize": lambda: v2.Resize((40, 45)),
    "short": lambda: v2.Resize(10, max_size=14), "crop": lambda: v2.RandomCrop((14, 20)),
    "padded crop": lambda: v2.RandomCrop((20, 30), padding=4), "center": lambda: v2.CenterCrop(16),
    "pad": lambda: v2.Pad([1, 2, 3, 4]),
    "resized crop": lambda: v2.RandomResizedCrop((12, 16), antialias=True), "zoom out": lambda: v2.RandomZoomOut(
        fill={tv_tensors.Image: (0.9, 0.8, 0.7), "others": 0}, p=1.0), "iou crop": lambda: v2.RandomIoUCrop(),
    "shortest": lambda: v2.RandomShortestSize([16, 24, 32], max_size=40),
    "jitter": lambda: v2.ScaleJitter((30, 40), (0.5, 1.5)),
    "random size": lambda: v2.RandomResize(8, 30), "distort": lambda: v2.RandomPhotometricDistort(p=0.9),
    "colours": lambda: v2.ColorJitter(0.3, 0.3, 0.3, 0.1), "grey": lambda: v2.RandomGrayscale(1.0),
    "format": lambda: v2.ConvertBoundingBoxFormat("CXCYWH"), "clamp": lambda: v2.ClampBoundingBoxes(),
    "sanitize": lambda: v2.SanitizeBoundingBoxes(min_size=5), "dtype": lambda: v2.ToDtype(
        {tv_tensors.Image: torch.uint8, tv_tensors.Mask: torch.int64, "others": None}, scale=True),
    "bytes": lambda: v2.ToDtype(torch.uint8, scale=True), "pure": lambda: v2.ToPureTensor(), "same": lambda: v2.Identity(),
    "apply": lambda: v2.RandomApply([v2.RandomHorizontalFlip(1.0), v2.Pad(2)], p=0.7),
    "choice": lambda: v2.RandomChoice([v2.Pad(1), v2.RandomVerticalFlip(1.0), v2.CenterCrop(10)]),
    "order": lambda: v2.RandomOrder([v2.Pad(3), v2.CenterCrop(18), v2.RandomHorizontalFlip(0.5)]),
    "lambda": lambda: v2.Lambda(lambda t: t * 2, tv_tensors.Image),
    "detection": lambda: v2.Compose([v2.RandomPhotometricDistort(), v2.RandomZoomOut(), v2.RandomIoUCrop(),
                                     v2.RandomHorizontalFlip(), v2.Resize((16, 16)), v2.SanitizeBoundingBoxes(),
                                     v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.2] * 3),
                                     v2.ToPureTensor()]),
}


def sample(kind):
    g = torch.Generator().manual_seed(3)
    rows, columns = torch.arange(24)[:, None], torch.arange(36)
    picture = torch.stack([rows * 7 + columns, rows + columns * 5, rows * columns // 4]) / 255
    boxes = tv_tensors.BoundingBoxes(torch.tensor([[2.0, 3, 12, 14], [8, 5, 30, 20], [-3, 18, 4, 26]]), format="XYXY",
                                     canvas_size=(24, 36))
    masks = torch.rand(3, 24, 36, generator=g) > 0.5
    target = {"boxes": boxes, "masks": tv_tensors.Mask(masks), "labels": torch.tensor([1, 2, 3]), "id": 7}
    return (tv_tensors.Image(picture) if kind == "image" else picture), target


def summary(value):
    if isinstance(value, tv_tensors.BoundingBoxes):
        return ["boxes", value.format.value, list(value.canvas_size), [[round(v, 3) for v in row] for row in value.tolist()]]
    if isinstance(value, torch.Tensor):
        flat = value.flatten().double()
        return [type(value).__name__, str(value.dtype), list(value.shape), round(flat.sum().item(), 2),
                round((flat * torch.arange(len(flat)).double().cos()).sum().item(), 2)]
    return value


def outcome(make, kind, seed):
    torch.manual_seed(seed)
    picture, target = make()(*sample(kind))
    return [summary(picture), {key: summary(value) for key, value in target.items()}, round(torch.rand(1).item(), 5)]


def functions():
    picture, target = sample("image")
    boxes, masks = target["boxes"], target["masks"]
    made = {name: [summary(getattr(F, name)(value)) for value in (picture, boxes, masks)]
            for name in ("horizontal_flip", "vertical_flip")}
    made["crop"] = [summary(F.crop(value, -2, 3, 20, 20)) for value in (picture, boxes, masks)]
    made["size"] = [list(F.get_size(value)) for value in (picture, boxes, masks)]
    made["format"] = [summary(F.convert_bounding_box_format(boxes, new_format=kind)) for kind in ("XYWH", "CXCYWH")]
    made["plain"] = summary(F.convert_bounding_box_format(torch.ones(2, 4), "XYWH", "XYXY"))
    made["dtype"] = summary(F.to_dtype(F.to_dtype(picture, torch.uint8, scale=True), torch.float32, scale=True))
    made["sane"] = [summary(part) for part in F.sanitize_bounding_boxes(boxes)]
    made["clamp"] = summary(F.clamp_bounding_boxes(boxes))
    return made


def keypoints():
    """Points, single and in groups, and boxes that are turned."""
    points = tv_tensors.KeyPoints(torch.tensor([[[2.0, 3], [35, 23]], [[-1, 4], [8, 24]], [[7.5, 0.5], [30, 12.25]]]),
                                  canvas_size=(24, 36))
    whole = tv_tensors.KeyPoints([[3, 4], [40, 2]], canvas_size=(24, 36))

    def shown(value):
        if isinstance(value, tv_tensors.KeyPoints):
            return ["points", str(value.dtype), list(value.canvas_size), value.tolist()]
        return value.tolist() if isinstance(value, torch.Tensor) else value
    made = {name: [shown(make()(value)) for value in (points, whole)] for name, make in {
        "hflip": lambda: v2.RandomHorizontalFlip(1.0), "vflip": lambda: v2.RandomVerticalFlip(1.0),
        "resize": lambda: v2.Resize((48, 54)), "short": lambda: v2.Resize(10, max_size=14), "pad": lambda: v2.Pad([1, 2, 3, 4]),
        "center": lambda: v2.CenterCrop(16), "clamp": lambda: v2.ClampKeyPoints(), "sane": lambda: v2.SanitizeKeyPoints(),
        "colours": lambda: v2.RandomInvert(1.0), "pure": lambda: v2.ToPureTensor()}.items()}
    made["crop"], made["size"] = shown(F.crop(points, -2, 3, 20, 20)), list(F.get_size(points))
    made["sane"] += [shown(part) for part in F.sanitize_keypoints(points)]
    target = {"points": points, "labels": torch.tensor([4, 5, 6])}
    made["labels"] = {k: shown(v) for k, v in v2.SanitizeKeyPoints(labels_getter="default")(target).items()}
    torch.manual_seed(2)
    picture, moved = v2.Compose([v2.RandomCrop((20, 30), padding=4), v2.RandomHorizontalFlip(0.9)])(sample("image")[0], points)
    made["together"] = [summary(picture), shown(moved)]
    made["repr"] = [str(whole), str(points + 1)]
    turned = tv_tensors.BoundingBoxes(torch.tensor([[10.0, 8, 6, 4, 30], [5, 5, 2, 8, -75]]), format="CXCYWHR",
                                      canvas_size=(24, 36))
    made["turned"] = []
    for start in ("CXCYWHR", "XYWHR", "XYXYXYXY"):
        one = F.convert_bounding_box_format(turned, new_format=start)
        for end in ("CXCYWHR", "XYWHR", "XYXYXYXY"):
            again = F.convert_bounding_box_format(one, new_format=end)
            made["turned"].append([again.format.value, again.tolist()])
    return made


def compute():
    made = {f"{name}, {kind}": [outcome(make, kind, seed) for seed in range(3)] for name, make in TRANSFORMS.items()
            for kind in ("image", "tensor")}
    made["functions"] = functions()
    made["keypoints"] = keypoints()
    made["reprs"] = [str(sample("image")[1]["boxes"]), str(tv_tensors.Image(torch.ones(1, 1, 2))),
                     str(tv_tensors.Mask(torch.ones(1, 2))), str(v2.Compose([v2.Resize(4), v2.ToPureTensor()]))]
    return made


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in compute().items()) + "}\n")
