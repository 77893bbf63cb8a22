import gpytorch
import torch

from .common import copied_by_file, losses, numbers

X = torch.linspace(0, 1, 20)
Y = torch.sin(X * 6)


class GP(gpytorch.models.ExactGP):
    def __init__(self):
        super().__init__(X, Y, gpytorch.likelihoods.GaussianLikelihood())
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(
            lengthscale_prior=gpytorch.priors.GammaPrior(3.0, 6.0)))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


class Sparse(gpytorch.models.ApproximateGP):
    def __init__(self):
        points = X[::4].unsqueeze(-1).clone()
        shape = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, shape))
        self.mean = gpytorch.means.ZeroMean()
        self.covariance = gpytorch.kernels.MaternKernel()

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


def predicted(model):
    found = model.eval().likelihood.eval()(model(torch.tensor([0.1, 0.55, 1.2])))
    return numbers(found.mean, found.variance, found.log_prob(torch.zeros(3)))


def fit(model):
    model.train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood.train(), model)
    return losses(model.parameters(), lambda: -marginal(model(X), Y))


def forward(folder):
    return predicted(GP())


def training(folder):
    model, likelihood = Sparse(), gpytorch.likelihoods.GaussianLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(X))
    torch.manual_seed(1)
    return fit(GP()) + losses([*model.parameters(), *likelihood.parameters()], lambda: -bound(model(X.unsqueeze(-1)), Y))


def saving(folder):
    model = GP()
    fit(model)
    return predicted(copied_by_file(model, GP(), folder))
