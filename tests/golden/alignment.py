"""Prints the numbers of tests/ops/alignment_test.cpp, from PyTorch 2.15: python3 -P tests/golden/alignment.py"""
import torch
import torch.nn.functional as F

x = torch.arange(30, dtype=torch.double).mul(0.7).sin().view(5, 2, 3).requires_grad_()
targets = torch.tensor([[1, 2], [2, 2]])
for reduction in ["none", "mean", "sum"]:
    print(reduction, F.ctc_loss(x.log_softmax(2), targets, (5, 4), (2, 1), reduction=reduction).tolist())
F.ctc_loss(x.log_softmax(2), targets, (5, 4), (2, 1)).backward()
print("gradient", x.grad[3].tolist())

image = torch.arange(42, dtype=torch.double).mul(1.3).cos().view(1, 1, 6, 7)
samples = torch.tensor([[[0.3, 0.8]]], dtype=torch.double)
values, indices = F.fractional_max_pool2d(image, (2, 3), output_size=(3, 4), return_indices=True, _random_samples=samples)
print("fractional", values.flatten().tolist(), indices.flatten().tolist())
volume = torch.arange(120, dtype=torch.double).mul(1.3).cos().view(1, 1, 4, 5, 6)
samples = torch.tensor([[[0.3, 0.8, 0.1]]], dtype=torch.double)
values, indices = F.fractional_max_pool3d(volume, 2, output_size=2, return_indices=True, _random_samples=samples)
print("fractional3d", values.flatten().tolist(), indices.flatten().tolist())

grid = torch.arange(12, dtype=torch.double).mul(2.1).sin().mul(1.2).view(1, 2, 3, 2)
for padding in ["zeros", "border", "reflection"]:
    for corners in [False, True]:
        y = F.grid_sample(image, grid, mode="bicubic", padding_mode=padding, align_corners=corners)
        print("bicubic", padding, corners, y.flatten().tolist())
t = torch.tensor([[1, 2, 1, 0], [3, 0, 3, 0], [1, 2, 1, 0]])
print("unique_dim", [v.tolist() for v in torch.unique(t, dim=0, return_inverse=True, return_counts=True)])
print("unique_dim 1", [v.tolist() for v in torch.unique(t, dim=1, return_inverse=True, return_counts=True)])
print("mode", torch.mode(torch.tensor([2, 2, 1, 1, 0])))
print("histogram", torch.histogram(torch.tensor([1.0, 2, 1, 5]), bins=4, range=(0.0, 3.0), weight=torch.tensor([1.0, 2, 4, 0]), density=True))
a = torch.tensor([[2.0, -1, 0.5], [1, 3, -2], [0, 4, 1], [1, 1, 1]], dtype=torch.double)
print("geqrf", [v.tolist() for v in torch.geqrf(a)])
