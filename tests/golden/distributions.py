"""Prints tests/distributions/distributions_golden.h, from PyTorch's distributions:

python3 tests/golden/distributions.py > tests/distributions/distributions_golden.h
"""
import torch
from torch import distributions as D

torch.set_default_dtype(torch.double)


def t(*values):
    return torch.tensor(values)


P3 = t([0.2, 0.5, 0.3], [0.6, 0.1, 0.3])
L3 = t([0.5, -1.0, 2.0], [0.0, 0.3, -0.2])
COVARIANCE = t([2.0, 0.5, 0.1], [0.5, 1.5, -0.3], [0.1, -0.3, 1.0])
LOC3 = t(0.5, -1.0, 2.0)
CORRELATIONS = t([[1.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.0]], [[1.0, -0.2, 0.4], [-0.2, 1.0, 0.6], [0.4, 0.6, 1.0]])
FACTOR = t([1.0, 0.2], [-0.5, 0.7], [0.3, 0.4])

# What tests/distributions/golden_test.cpp makes under the same names, and values to ask about.
REALS = t(-0.7, 1.3)
POSITIVE = t(0.4, 2.5)
COUNTS = t(0.0, 3.0)
CASES = {
    "Normal": (D.Normal(t(0.5, -1.0), t(2.0, 0.3)), REALS),
    "LogNormal": (D.LogNormal(t(0.5, -1.0), t(2.0, 0.3)), POSITIVE),
    "HalfNormal": (D.HalfNormal(t(2.0, 0.3)), POSITIVE),
    "MultivariateNormal": (D.MultivariateNormal(LOC3, COVARIANCE), t([0.1, 0.2, 0.3], [-1.0, 0.0, 2.0])),
    "MultivariateNormal precision": (D.MultivariateNormal(LOC3, precision_matrix=COVARIANCE), t([0.1, 0.2, 0.3], [-1.0, 0.0, 2.0])),
    "Uniform": (D.Uniform(t(-1.0, 0.0), t(0.5, 3.0)), t(-0.7, 1.3)),
    "Laplace": (D.Laplace(t(0.5, -1.0), t(2.0, 0.3)), REALS),
    "Cauchy": (D.Cauchy(t(0.5, -1.0), t(2.0, 0.3)), REALS),
    "HalfCauchy": (D.HalfCauchy(t(2.0, 0.3)), POSITIVE),
    "Gumbel": (D.Gumbel(t(0.5, -1.0), t(2.0, 0.3)), REALS),
    "Exponential": (D.Exponential(t(2.0, 0.3)), POSITIVE),
    "Weibull": (D.Weibull(t(2.0, 0.3), t(1.5, 2.5)), POSITIVE),
    "Pareto": (D.Pareto(t(0.2, 0.3), t(3.0, 2.5)), POSITIVE),
    "GeneralizedPareto": (D.GeneralizedPareto(t(0.1, 0.3), t(2.0, 0.3), t(0.2, -0.3)), t(0.4, 0.9)),
    "GeneralizedPareto exponential": (D.GeneralizedPareto(t(0.1, 0.3), t(2.0, 0.3), t(0.0, 0.7)), t(0.4, 0.9)),
    "Kumaraswamy": (D.Kumaraswamy(t(2.0, 1.3), t(1.5, 2.5)), t(0.4, 0.9)),
    "ContinuousBernoulli": (D.ContinuousBernoulli(t(0.3, 0.8)), t(0.4, 0.9)),
    "ContinuousBernoulli logits": (D.ContinuousBernoulli(logits=t(0.3, -0.001)), t(0.4, 0.9)),
    "LowRankMultivariateNormal": (D.LowRankMultivariateNormal(LOC3, FACTOR, t(0.5, 1.0, 2.0)), t([0.1, 0.2, 0.3], [-1.0, 0.0, 2.0])),
    "LogisticNormal": (D.LogisticNormal(t([0.5, -1.0], [0.2, 0.1]), t(2.0, 0.3)), P3),
    "Gamma": (D.Gamma(t(2.0, 0.3), t(1.5, 2.5)), POSITIVE),
    "Chi2": (D.Chi2(t(2.0, 5.0)), POSITIVE),
    "InverseGamma": (D.InverseGamma(t(2.5, 3.3), t(1.5, 2.5)), POSITIVE),
    "Beta": (D.Beta(t(2.0, 1.3), t(1.5, 2.5)), t(0.4, 0.9)),
    "Dirichlet": (D.Dirichlet(t([2.0, 1.3, 0.7], [1.5, 2.5, 4.0])), P3),
    "StudentT": (D.StudentT(t(3.0, 4.5), t(0.5, -1.0), t(2.0, 0.3)), REALS),
    "FisherSnedecor": (D.FisherSnedecor(t(3.0, 4.5), t(5.5, 6.0)), POSITIVE),
    "Bernoulli": (D.Bernoulli(t(0.3, 0.8)), t(0.0, 1.0)),
    "Bernoulli logits": (D.Bernoulli(logits=t(0.3, -0.8)), t(0.0, 1.0)),
    "Geometric": (D.Geometric(t(0.3, 0.8)), COUNTS),
    "Binomial": (D.Binomial(5, t(0.3, 0.8)), COUNTS),
    "Binomial logits": (D.Binomial(5, logits=t(0.3, -0.8)), COUNTS),
    "NegativeBinomial": (D.NegativeBinomial(t(5.0, 2.5), t(0.3, 0.8)), COUNTS),
    "Poisson": (D.Poisson(t(2.3, 0.8)), COUNTS),
    "Poisson of many": (D.Poisson(t(70.0, 800.0)), t(60.0, 850.0)),
    "Binomial of many": (D.Binomial(300, t(0.3, 0.8)), t(88.0, 230.0)),
    "Categorical": (D.Categorical(P3), t(2.0, 0.0)),
    "Categorical logits": (D.Categorical(logits=L3), t(2.0, 0.0)),
    "OneHotCategorical": (D.OneHotCategorical(P3), t([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])),
    "Multinomial": (D.Multinomial(4, P3), t([1.0, 2.0, 1.0], [4.0, 0.0, 0.0])),
    "RelaxedBernoulli": (D.RelaxedBernoulli(t(0.7), t(0.3, 0.8)), t(0.4, 0.9)),
    "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical(t(0.7), P3), P3),
    "Independent": (D.Independent(D.Normal(LOC3, t(2.0, 0.3, 1.0)), 1), t([0.1, 0.2, 0.3], [-1.0, 0.0, 2.0])),
    "MixtureSameFamily": (D.MixtureSameFamily(D.Categorical(P3), D.Normal(L3, P3)), REALS),
    "Transformed": (D.TransformedDistribution(D.Normal(t(0.5, -1.0), t(2.0, 0.3)), [D.SigmoidTransform(), D.AffineTransform(1.0, -3.0)]), t(-0.7, 0.3)),
    "StickBreaking": (D.TransformedDistribution(D.Normal(t(0.5, -1.0), t(2.0, 0.3)), D.StickBreakingTransform()), P3),
    "Tanh": (D.TransformedDistribution(D.Normal(t(0.5, -1.0), t(2.0, 0.3)), [D.TanhTransform()]), t(-0.7, 0.3)),
    "Power": (D.TransformedDistribution(D.Exponential(t(2.0, 0.3)), [D.PowerTransform(t(0.5)), D.SoftplusTransform().inv]), REALS),
}


class VonMises(D.VonMises):
    """Of exact Bessel functions instead of polynomials good to 1e-7."""

    def log_prob(self, value):
        scaled = torch.special.i0e(self.concentration)
        return self.concentration * ((value - self.loc).cos() - 1) - (2 * torch.pi * scaled).log()

    @property
    def variance(self):
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)


class Wishart(D.Wishart):
    """PyTorch 2.15 takes regular draws for singular ones, warns, and draws again."""

    def rsample(self, sample_shape=()):
        return self._bartlett_sampling(sample_shape)


def lkj(dim, concentration):
    """PyTorch 2.15's draws take row i's squared length from Beta(i - 1/2, .) for i > 1, where the paper has i / 2:
    correlations of three uniform ones get a variance of 0.30 instead of 1/4."""
    d = D.LKJCholesky(dim, concentration)
    offset = torch.cat([torch.zeros(1), torch.arange(dim - 1.0)])
    d._beta = D.Beta(0.5 * offset + 0.5, (concentration + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * offset)
    return d


CASES["LKJCholesky"] = (lkj(3, t(0.7, 2.5)), torch.linalg.cholesky(CORRELATIONS))
CASES["VonMises"] = (VonMises(t(0.5, -1.0), t(2.0, 0.3)), REALS)
CASES["Wishart"] = (Wishart(t(4.5, 5.0), COVARIANCE), torch.stack([COVARIANCE, torch.eye(3)]))


def write(name, what, value):
    numbers = ", ".join(repr(x) for x in value.detach().double().flatten().tolist())
    print(f'    {{"{name}", "{what}", {{{numbers.replace("inf", "kInf").replace("nan", "kNaN")}}}}},')


def ask(name, d, value):
    write(name, "log_prob", d.log_prob(value))
    for what in ("cdf",):
        try:
            write(name, what, getattr(d, what)(value))
        except NotImplementedError:
            pass
    try:
        write(name, "icdf", d.icdf(t(0.1, 0.7)))
    except NotImplementedError:
        pass
    for what in ("mean", "mode", "variance", "stddev"):
        if (name, what) == ("Kumaraswamy", "mode"):
            continue  # PyTorch swaps the concentrations
        try:
            write(name, what, getattr(d, what))
        except NotImplementedError:
            pass
    try:
        write(name, "entropy", d.entropy())
    except NotImplementedError:
        pass
    torch.manual_seed(7)
    write(name, "sample", d.sample((3,)))
    if d.has_enumerate_support and name != "Binomial of many":
        write(name, "enumerate_support", d.enumerate_support())


def pairs():
    names = [n for n in CASES if n not in ("Transformed", "StickBreaking", "Tanh", "Power", "MixtureSameFamily", "Binomial logits", "Kumaraswamy", "Wishart", "Poisson of many", "Binomial of many")]
    for a in names:
        for b in names:
            if a.startswith("ContinuousBernoulli") and b == "Uniform":
                continue  # PyTorch: infinite also for [0, 1]
            try:
                yield a, b, D.kl_divergence(CASES[a][0], CASES[b][0])
            except (NotImplementedError, AttributeError):
                pass


print("// Made by tests/golden/distributions.py with PyTorch " + torch.__version__.split("+")[0] + ".")
print("#pragma once\n\n#include <limits>\n#include <vector>\n")
print("namespace taeda {\n")
print("constexpr double kInf = std::numeric_limits<double>::infinity();")
print("constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();\n")
print("struct DistributionRow {\n  const char* distribution;\n  const char* what;\n  std::vector<double> numbers;\n};\n")
print("inline const std::vector<DistributionRow> kDistributionRows = {")
for name, (d, value) in CASES.items():
    ask(name, d, value)
print("};\n")
print("/// KL(first || second).")
print("inline const std::vector<DistributionRow> kDivergenceRows = {")
for a, b, value in pairs():
    write(a, b, value)
print("};\n\n}  // namespace taeda")
