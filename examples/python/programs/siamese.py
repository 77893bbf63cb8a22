"""A Siamese network: pairs of pictures, a contrastive loss, nearest neighbours in what it learned."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    def __init__(self, images, labels, transform=None):
        self.images, self.labels, self.transform = images, labels, transform
        self.by_label = {int(c): torch.where(labels == c)[0] for c in labels.unique()}

    def __getitem__(self, index):
        img0, label0 = self.images[index], int(self.labels[index])
        should_get_same_class = random.randint(0, 1)
        if should_get_same_class:
            other = random.choice(self.by_label[label0].tolist())
        else:
            other = random.choice((self.labels != label0).nonzero(as_tuple=True)[0].tolist())
        img1 = self.images[other]
        if self.transform is not None:
            img0, img1 = self.transform(img0), self.transform(img1)
        return img0, img1, torch.from_numpy(np.array([int(self.labels[other] != label0)], dtype=np.float32))

    def __len__(self):
        return len(self.images)


class SiameseNetwork(nn.Module):
    def __init__(self):
        super(SiameseNetwork, self).__init__()
        self.cnn = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(1, 4, kernel_size=3), nn.ReLU(inplace=True), nn.BatchNorm2d(4), nn.Dropout2d(p=.2),
            nn.ReflectionPad2d(1), nn.Conv2d(4, 8, kernel_size=3), nn.ReLU(inplace=True), nn.BatchNorm2d(8))
        self.fc = nn.Sequential(nn.Linear(8 * 12 * 12, 32), nn.ReLU(inplace=True), nn.Linear(32, 5))

    def forward_once(self, x):
        output = self.cnn(x)
        return self.fc(output.view(output.size()[0], -1))

    def forward(self, input1, input2):
        return self.forward_once(input1), self.forward_once(input2)


class ContrastiveLoss(torch.nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean((1 - label) * torch.pow(distance, 2)
                          + label * torch.pow(torch.clamp(self.margin - distance, min=0.0), 2))


random.seed(3)
torch.manual_seed(3)
prototypes = torch.rand(4, 1, 12, 12)
labels = torch.arange(48) % 4
images = (prototypes[labels] + 0.3 * torch.randn(48, 1, 12, 12)).clamp_(0, 1)
loader = DataLoader(PairDataset(images, labels, transform=lambda x: (x - 0.5) / 0.5), shuffle=True, batch_size=16)
net = SiameseNetwork()
criterion = ContrastiveLoss()
optimizer = optim.Adam(net.parameters(), lr=0.002)
for epoch in range(5):
    for i, (img0, img1, label) in enumerate(loader, 0):
        optimizer.zero_grad()
        output1, output2 = net(img0, img1)
        loss = criterion(output1, output2, label)
        loss.backward()
        optimizer.step()
    print("Epoch number {} current loss {:.5f}".format(epoch, loss.item()))
net.eval()
with torch.inference_mode():
    embedded = net.forward_once((images - 0.5) / 0.5)
    distances = torch.cdist(embedded, embedded).fill_diagonal_(float("inf"))
    nearest = distances.argmin(dim=1)
print(f"nearest neighbours of the same class: {(labels[nearest] == labels).float().mean().item():.3f}")
triplet = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: 1.0 - F.cosine_similarity(a, b), margin=0.5)
print(f"triplet {triplet(embedded[0:4], embedded[4:8], embedded[1:5]).item():.4f}")
