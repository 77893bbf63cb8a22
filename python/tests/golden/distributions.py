"""Makes distributions.json: draws, densities and divergences of PyTorch 2.15."""

import json
import sys
import warnings

import torch
import torch.distributions as D


def t(*values):
    return torch.tensor(values, dtype=torch.float32)


MAKE = {
    "normal": lambda: D.Normal(t(0.5, -1), t(1.0, 2.0)), "normal_numbers": lambda: D.Normal(0.0, 1.0),
    "log_normal": lambda: D.LogNormal(t(0.1), t(0.5)), "half_normal": lambda: D.HalfNormal(t(2.0)),
    "uniform": lambda: D.Uniform(t(-1.0, 2), t(1.0, 5)), "laplace": lambda: D.Laplace(t(1.0), t(0.5)),
    "cauchy": lambda: D.Cauchy(t(0.0), t(1.0)), "gumbel": lambda: D.Gumbel(t(1.0), t(2.0)),
    "exponential": lambda: D.Exponential(t(0.5, 3)), "gamma": lambda: D.Gamma(t(2.0, 0.5), t(1.0, 3.0)),
    "beta": lambda: D.Beta(t(2.0, 0.5), t(1.0, 3.0)), "dirichlet": lambda: D.Dirichlet(t(0.5, 1.5, 3)),
    "student_t": lambda: D.StudentT(t(4.0), t(1.0), t(2.0)), "chi2": lambda: D.Chi2(t(3.0)),
    "poisson": lambda: D.Poisson(t(2.0, 7.0)), "bernoulli": lambda: D.Bernoulli(t(0.3, 0.8)),
    "bernoulli_logits": lambda: D.Bernoulli(logits=t(0.3, -2)), "geometric": lambda: D.Geometric(t(0.3)),
    "binomial": lambda: D.Binomial(5, t(0.3, 0.6)), "categorical": lambda: D.Categorical(t(0.2, 0.5, 0.3)),
    "categorical_logits": lambda: D.Categorical(logits=torch.arange(6.0).view(2, 3)),
    "one_hot": lambda: D.OneHotCategorical(t(1, 2, 3)), "multinomial": lambda: D.Multinomial(6, t(0.2, 0.5, 0.3)),
    "multivariate": lambda: D.MultivariateNormal(t(1, 2), torch.tensor([[2.0, 0.5], [0.5, 1.0]])),
    "multivariate_tril": lambda: D.MultivariateNormal(t(1, 2), scale_tril=torch.tensor([[2.0, 0], [0.5, 1.0]])),
    "independent": lambda: D.Independent(D.Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1),
    "transformed": lambda: D.TransformedDistribution(D.Normal(t(0.0), t(1.0)),
                                                     [D.AffineTransform(1.0, 2.0), D.SigmoidTransform()]),
    "pareto": lambda: D.Pareto(t(1.0), t(3.0)), "weibull": lambda: D.Weibull(t(1.0), t(2.0)),
    "negative_binomial": lambda: D.NegativeBinomial(3, t(0.4)),
    "wishart": lambda: D.Wishart(t(4.5, 3.0), torch.tensor([[2.0, 0.5], [0.5, 1.0]])),
    "wishart_precision": lambda: D.Wishart(6, precision_matrix=torch.tensor([[2.0, 0.5, 0], [0.5, 1.0, 0.2], [0, 0.2, 1]])),
    "wishart_tril": lambda: D.Wishart(t(3.5), scale_tril=torch.tensor([[1.0, 0], [0.5, 2.0]])),
    "lkj": lambda: D.LKJCholesky(3, t(1.0, 0.5)), "lkj_number": lambda: D.LKJCholesky(2),
    "mixture": lambda: D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)), D.Normal(t(-2, 2), t(1.0, 0.5))),
}
PAIRS = [("normal", "normal"), ("gamma", "gamma"), ("beta", "beta"), ("bernoulli", "bernoulli_logits"), ("laplace", "laplace"),
         ("dirichlet", "dirichlet"), ("multivariate", "multivariate_tril"), ("exponential", "gamma"), ("uniform", "normal")]


def numbers(tensor):
    return tensor.detach().to(torch.float64).flatten().tolist() + list(tensor.shape)


def fixed(size, name):
    """A covariance, or its factor."""
    matrix = torch.eye(size) * 0.7 + 0.3
    return torch.linalg.cholesky(matrix) if name.startswith("lkj") else matrix


def compute():
    out = {}
    for name, make in MAKE.items():
        d = make()
        torch.manual_seed(3)
        # PyTorch 2.15 throws away the first draws of a Wishart, which it takes for singular, and says so; its LKJCholesky draws
        # from the second row of more than two on too long vectors, so that they have not the density that it gives.
        drawn = not name.startswith(("wishart", "lkj"))
        sample = d.sample((4,)) if drawn else fixed(d.event_shape[0], name)
        sample = sample.expand(*d.batch_shape, -1, -1) if not drawn else sample
        found = out[name] = {"sample": numbers(sample), "log_prob": numbers(d.log_prob(sample)),
                             "shapes": [list(d.batch_shape), list(d.event_shape)], "repr": repr(d)}
        for what in ("mean", "variance", "mode", "stddev"):
            try:
                found[what] = numbers(getattr(d, what))
            except NotImplementedError:
                pass
        try:
            found["entropy"] = numbers(d.entropy())
        except NotImplementedError:
            pass
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["expanded"] = list(d.expand((2,) + tuple(d.batch_shape)).sample().shape)
        if d.has_rsample and drawn:
            torch.manual_seed(4)
            found["rsample"] = numbers(d.rsample((2,)))
    for p, q in PAIRS:
        out[f"kl_{p}_{q}"] = numbers(D.kl_divergence(MAKE[p](), MAKE[q]()))
    loc = torch.zeros(3, requires_grad=True)
    torch.manual_seed(5)
    (D.Normal(loc, 1.0).rsample() ** 2).sum().backward()
    out["gradient"] = numbers(loc.grad)
    rate = torch.tensor([1.5, 0.7], requires_grad=True)
    torch.manual_seed(6)
    D.Gamma(rate, rate).rsample().sum().backward()
    out["gradient_gamma"] = numbers(rate.grad)
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(compute(), file)
