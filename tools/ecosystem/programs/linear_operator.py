import pickle

import torch
from linear_operator import to_linear_operator
from linear_operator.operators import DiagLinearOperator, KroneckerProductLinearOperator, ToeplitzLinearOperator
from linear_operator.operators import TriangularLinearOperator

from .common import losses, numbers


def spd(n=4):
    a = torch.randn(n, n)
    return a @ a.mT + n * torch.eye(n)


def forward(folder):
    a, b = to_linear_operator(spd()), torch.ones(4, 1)
    kron = KroneckerProductLinearOperator(to_linear_operator(spd(2)), to_linear_operator(spd(3)))
    return numbers(a.solve(b), a.logdet(), a.cholesky().to_dense(), kron @ torch.ones(6, 1),
                   ToeplitzLinearOperator(torch.tensor([4.0, 1.0, 0.5])).add_diagonal(torch.ones(3)).to_dense())


def training(folder):
    p, rhs, lower = torch.nn.Parameter(torch.ones(4)), torch.randn(4, 1), torch.nn.Parameter(spd().tril())
    a = to_linear_operator(spd())
    found = losses([p, lower], lambda: (a + DiagLinearOperator(p.exp())).inv_quad_logdet(rhs, logdet=True)[0].sum()
                   + (TriangularLinearOperator(lower * 1) @ rhs).square().sum())
    return found + numbers(p, lower)


def saving(folder):
    with open(f"{folder}/operator", "wb") as file:
        pickle.dump(to_linear_operator(spd()), file)
    with open(f"{folder}/operator", "rb") as file:
        return numbers(pickle.load(file).solve(torch.ones(4, 1)))
