"""Makes vision_detection.json: what torchvision 0.29's networks for pixels and for boxes are made of, which losses they give,
and what they find. Run by a Python with PyTorch 2.15 and torchvision."""

import hashlib
import json
import sys
import warnings

import torch
from torchvision.models import detection, segmentation

PIXELS = {"fcn_resnet50": {"aux_loss": True}, "deeplabv3_resnet50": {}, "deeplabv3_mobilenet_v3_large": {"aux_loss": True},
          "lraspp_mobilenet_v3_large": {}}
SMALL = {"min_size": 64, "max_size": 96}
BOXES = {"maskrcnn_resnet50_fpn": SMALL, "retinanet_resnet50_fpn": SMALL, "fcos_resnet50_fpn": SMALL}
# Of others the losses alone, for the time they take; on MobileNets batch norms over few pixels make much of rounding, too.
LOSSES = {"keypointrcnn_resnet50_fpn": SMALL, "ssd300_vgg16": {}, "ssdlite320_mobilenet_v3_large": {},
          "fasterrcnn_mobilenet_v3_large_320_fpn": {}}
# What these find: first weights make features of 1e-8 of them, which all look the same, unless batch norms know the pictures.
NORMALIZED = {"fasterrcnn_mobilenet_v3_large_fpn": {"min_size": 160, "max_size": 256},
              "fasterrcnn_mobilenet_v3_large_320_fpn": {}}
SHAPES = ["fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "maskrcnn_resnet50_fpn_v2", "retinanet_resnet50_fpn_v2",
          "fasterrcnn_mobilenet_v3_large_fpn"]


def some(tensor):
    flat = tensor.detach().flatten().to(torch.float64)
    return [round(v, 4) for v in flat[::max(1, flat.numel() // 6)].tolist()]


def made_of(model):
    rows = [f"{name} {list(value.shape)}" for name, value in model.state_dict().items()]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


def pixels(name, options):
    torch.manual_seed(5)
    model = getattr(segmentation, name)(weights=None, weights_backbone=None, num_classes=3, **options)
    x = torch.rand(2, 3, 32, 48, generator=torch.Generator().manual_seed(4))
    out = {"state": made_of(model), "first": some(model.classifier[-1].weight if "ras" not in name else
                                                  model.classifier.low_classifier.weight)}
    model.double()
    torch.manual_seed(6)
    out["train"] = {key: some(value) for key, value in model(x.double()).items()}
    out["eval"] = {key: [*value.shape, *some(value)] for key, value in model.eval()(x.double()).items()}
    return out


def examples():
    g = torch.Generator().manual_seed(7)
    pictures, targets = [], []
    for n, (height, width) in enumerate(((64, 80), (80, 64))):
        boxes = torch.tensor([[10.0, 12, 40, 50], [30, 5, 60, 30], [2, 40, 50, 60]])[:3 - n]
        masks = torch.zeros(len(boxes), height, width, dtype=torch.uint8)
        for mask, (x1, y1, x2, y2) in zip(masks, boxes.long().tolist()):
            mask[y1:y2, x1:x2] = 1
        points = torch.rand(len(boxes), 17, 3, generator=g)
        points[..., :2] = boxes[:, None, :2] + points[..., :2] * (boxes[:, None, 2:] - boxes[:, None, :2])
        points[..., 2] = (points[..., 2] > 0.3).float()
        pictures.append(torch.rand(3, height, width, generator=g))
        targets.append({"boxes": boxes, "labels": torch.tensor([1, 2, 1])[:len(boxes)], "masks": masks, "keypoints": points})
    return pictures, targets


def boxes(name, options):
    torch.manual_seed(5)
    model = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=3, **options)
    pictures, targets = examples()
    out = {"state": made_of(model), "repr": hashlib.sha256(str(model).encode()).hexdigest()[:16]}
    torch.manual_seed(6)
    losses = model(pictures, targets)
    out["losses"] = {key: round(loss.item(), 4) for key, loss in losses.items()}
    if name in LOSSES:
        return out
    sum(losses.values()).backward()
    out["grads"] = [round(p.grad.norm().item(), 4) for p in list(model.parameters())[-6:] if p.grad is not None]
    out["found"] = found(model, pictures)
    return out


def found(model, pictures):
    getattr(model, "roi_heads", model).score_thresh = 0.0
    with torch.no_grad():
        for p in model.parameters():  # so that no two scores are the same
            p.add_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel() % 1000)) * 0.002)
        results = model.eval()(pictures)
    return [{key: [*value.shape, *some(value[:5])] for key, value in one.items()} for one in results]


def normalized(name, options):
    """What a network finds whose batch norms have seen the pictures once."""
    torch.manual_seed(5)
    model = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=3, **options)
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
    pictures = examples()[0]
    with torch.no_grad():
        model.backbone(model.transform(pictures)[0].tensors)
    return {"found": found(model, pictures)}


def compute():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    made = {name: pixels(name, options) for name, options in PIXELS.items()}
    made.update({name: boxes(name, options) for name, options in {**BOXES, **LOSSES}.items()})
    with torch.device("meta"):
        for name in SHAPES:
            made[name] = {"state": made_of(getattr(detection, name)(weights=None, weights_backbone=None))}
    for name, options in NORMALIZED.items():
        made[name].update(normalized(name, options))
    return made


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in compute().items()) + "}\n")
