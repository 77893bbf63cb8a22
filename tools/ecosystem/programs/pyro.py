import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal, AutoNormal
from pyro.nn import PyroModule, PyroSample

from .common import numbers

X = torch.linspace(-1, 1, 20)
Y = 2 * X + 0.5


class Line(PyroModule):
    def __init__(self):
        super().__init__()
        self.slope = PyroSample(dist.Normal(0.0, 1.0))
        self.offset = PyroSample(dist.LogNormal(0.0, 1.0))

    def forward(self, x, y=None):
        mean = self.slope * x + self.offset
        with pyro.plate("data", len(x)):
            return pyro.sample("y", dist.Normal(mean, 0.3), obs=y)


def fit(model, guide, steps=20):
    svi = SVI(model, guide, pyro.optim.ClippedAdam({"lr": 0.05}), Trace_ELBO(num_particles=2))
    return [svi.step(X, Y) for _ in range(steps)]


def forward(folder):
    model = Line()
    trace = pyro.poutine.trace(model).get_trace(X, Y)
    return numbers(trace.log_prob_sum(), Predictive(model, num_samples=3)(X)["y"])


def training(folder):
    model = Line()
    found = fit(model, AutoDiagonalNormal(model))[::5]
    chain = MCMC(NUTS(model), num_samples=5, warmup_steps=5, disable_progbar=True)
    pyro.set_rng_seed(0)
    chain.run(X, Y)
    return found + numbers(chain.get_samples()["slope"])


def saving(folder):
    model = Line()
    guide = AutoNormal(model)
    fit(model, guide)
    pyro.get_param_store().save(f"{folder}/store")
    pyro.clear_param_store()
    pyro.get_param_store().load(f"{folder}/store")
    return [x for _, p in sorted(pyro.get_param_store().items()) for x in numbers(p)]
