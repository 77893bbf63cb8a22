"""Prints the numbers of Linalg.AgreesWithPyTorch (tests/ops/linalg_test.cpp): python3 tests/golden/linalg.py"""
import torch

a = torch.tensor([[2, -1, 0.5], [1, 3, -2], [0, 4, 1]], dtype=torch.double)
singular = torch.tensor([[1, 2, 3], [2, 4, 6], [1, 0, 1]], dtype=torch.double)
print("det", torch.linalg.det(a).item())
print("svdvals", torch.linalg.svdvals(a).tolist())
print("matrix_exp", torch.matrix_exp(a).tolist())
print("lu_factor", [x.tolist() for x in torch.linalg.lu_factor(a)])
print("qr", torch.linalg.qr(a)[1].tolist())
print("cond", torch.linalg.cond(a, "fro").item())
print("30 pinv", torch.linalg.pinv(singular).mul(30).tolist())
