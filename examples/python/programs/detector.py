"""Faster R-CNN learns to find squares and discs, from a data set whose pictures and boxes are changed alike."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.rpn import AnchorGenerator
from torchvision.ops import MultiScaleRoIAlign, box_iou
from torchvision.transforms import v2


class Shapes(Dataset):
    """Pictures of 48 x 48 with one or two shapes: squares are of class 1, discs of class 2."""

    def __init__(self, count, transforms):
        self.count, self.transforms = count, transforms

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(index)
        picture, boxes, labels = torch.rand(3, 48, 48, generator=g) * 0.2, [], []
        rows, columns = torch.arange(48)[:, None], torch.arange(48)
        for number in range(1 + index % 2):
            side = int(torch.randint(12, 20, (1,), generator=g))
            top, left = (int(v) for v in torch.randint(0, 48 - side, (2,), generator=g))
            if (index + number) % 3:
                inside = (rows >= top) & (rows < top + side) & (columns >= left) & (columns < left + side)
            else:
                inside = ((rows - top - side / 2) ** 2 + (columns - left - side / 2) ** 2) < (side / 2) ** 2
            picture[:, inside] = torch.rand(3, 1, generator=g) * 0.5 + 0.5
            boxes.append([left, top, left + side, top + side])
            labels.append(1 if (index + number) % 3 else 2)
        target = {"boxes": tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=(48, 48), dtype=torch.float32),
                  "labels": torch.tensor(labels), "image_id": index}
        return self.transforms(tv_tensors.Image(picture), target)


def transforms(train):
    steps = [v2.RandomHorizontalFlip(0.5), v2.RandomZoomOut(side_range=(1.0, 1.3), p=0.3)] if train else []
    return v2.Compose([*steps, v2.SanitizeBoundingBoxes(), v2.ToPureTensor()])


def collate(batch):
    return tuple(zip(*batch))


def make_model():
    backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                             nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU())
    backbone.out_channels = 32
    anchors = AnchorGenerator(sizes=((12, 16, 20),), aspect_ratios=((1.0,),))
    pool = MultiScaleRoIAlign(featmap_names=["0"], output_size=4, sampling_ratio=2)
    return FasterRCNN(backbone, num_classes=3, min_size=48, max_size=64, rpn_anchor_generator=anchors, box_roi_pool=pool,
                      image_mean=[0.3] * 3, image_std=[0.3] * 3, rpn_pre_nms_top_n_train=60, rpn_post_nms_top_n_train=40,
                      box_batch_size_per_image=32, rpn_batch_size_per_image=32)


def main():
    torch.manual_seed(0)
    model = make_model()
    loader = DataLoader(Shapes(16, transforms(True)), batch_size=4, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
    model.train()
    for step, (pictures, targets) in enumerate(loader):
        losses = model(list(pictures), list(targets))
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        print(f"step {step}: " + ", ".join(f"{name} {value:.3f}" for name, value in sorted(losses.items())))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(12):
        for pictures, targets in loader:
            optimizer.zero_grad()
            sum(model(list(pictures), list(targets)).values()).backward()
            optimizer.step()
    model.eval()
    found = 0
    with torch.no_grad():
        for pictures, targets in DataLoader(Shapes(8, transforms(False)), batch_size=4, collate_fn=collate):
            for result, target in zip(model(list(pictures)), targets):
                best = box_iou(target["boxes"], result["boxes"]).max(1).values if len(result["boxes"]) else torch.zeros(1)
                found += int((best > 0.5).sum())
    print("most shapes are found" if found >= 8 else f"{found} shapes are found")


if __name__ == "__main__":
    main()
