import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from .common import copied_by_file, numbers

X = torch.linspace(0, 1, 8, dtype=torch.double).unsqueeze(-1)
Y = torch.sin(X * 6)


def predicted(model):
    found = model.posterior(torch.tensor([[0.13], [0.77]], dtype=torch.double))
    return numbers(found.mean, found.variance)


def forward(folder):
    return predicted(SingleTaskGP(X, Y))


def training(folder):
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    point, value = optimize_acqf(LogExpectedImprovement(model, Y.max()), torch.tensor([[0.0], [1.0]], dtype=torch.double), q=1,
                                 num_restarts=2, raw_samples=16)
    return predicted(model) + numbers(point)


def saving(folder):
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return predicted(copied_by_file(model, SingleTaskGP(X, Y), folder))
