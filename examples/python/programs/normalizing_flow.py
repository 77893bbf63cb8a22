"""A normalizing flow of couplings, and variational inference over constrained parameters by biject_to."""

import math

import torch
import torch.distributions as dist
from torch import nn
from torch.distributions import Independent, Normal, TransformedDistribution, biject_to, constraints
from torch.distributions.transforms import Transform
from torch.distributions.utils import broadcast_all, lazy_property

torch.manual_seed(0)


class Coupling(Transform):
    domain = codomain = constraints.real_vector
    bijective = True

    def __init__(self, net, mask):
        super().__init__()
        self.net, self.mask = net, mask

    def _scale_and_shift(self, x):
        scale, shift = self.net(x * self.mask).chunk(2, -1)
        return torch.tanh(scale) * (1 - self.mask), shift * (1 - self.mask)

    def _call(self, x):
        scale, shift = self._scale_and_shift(x)
        return x * scale.exp() + shift

    def _inverse(self, y):
        scale, shift = self._scale_and_shift(y)
        return (y - shift) * (-scale).exp()

    def log_abs_det_jacobian(self, x, y):
        return self._scale_and_shift(x)[0].sum(-1)


class ZeroInflatedPoisson(dist.Distribution):
    arg_constraints = {"gate": constraints.unit_interval, "rate": constraints.positive}
    support = constraints.nonnegative_integer

    def __init__(self, gate, rate, validate_args=None):
        self.gate, self.rate = broadcast_all(gate, rate)
        super().__init__(self.gate.shape, validate_args=validate_args)

    @lazy_property
    def poisson(self):
        return dist.Poisson(self.rate)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_prob = (-self.gate).log1p() + self.poisson.log_prob(value)
        return torch.where(value == 0, (self.gate + log_prob.exp()).log(), log_prob)


nets = nn.ModuleList(nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4)) for _ in range(4))
masks = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])] * 2
flow = TransformedDistribution(Independent(Normal(torch.zeros(2), torch.ones(2)), 1),
                               [Coupling(net, mask) for net, mask in zip(nets, masks)])
angle = torch.rand(256) * math.pi
data = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(256, 2)
optimizer = torch.optim.Adam(nets.parameters(), lr=5e-3)
for step in range(60):
    loss = -flow.log_prob(data).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"flow {step} loss {loss.item():.4f}")
print("drawn", tuple(flow.sample((2,)).shape), flow.rsample((3,)).requires_grad)

priors = {"scale": dist.HalfCauchy(torch.tensor(1.0)), "weights": dist.Dirichlet(torch.tensor([1.0, 2.0, 3.0])),
          "rate": dist.Gamma(2.0, 1.0), "share": dist.Beta(2.0, 5.0)}
into = {name: biject_to(prior.support) for name, prior in priors.items()}
free = {name: torch.zeros(into[name].inverse_shape(p.batch_shape + p.event_shape), requires_grad=True)
        for name, p in priors.items()}
optimizer = torch.optim.SGD(free.values(), lr=0.1)
for _ in range(30):
    loss = 0.0
    for name, prior in priors.items():
        x = into[name](free[name])
        loss = loss - prior.log_prob(x).sum() - into[name].log_abs_det_jacobian(free[name], x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
for name in priors:
    print(name, [f"{v:.4f}" for v in into[name](free[name]).flatten().tolist()])

rare = ZeroInflatedPoisson(torch.tensor(0.3), torch.tensor([1.0, 2.0]))
print("rare", [f"{v:.4f}" for v in rare.log_prob(torch.tensor([0.0, 3.0])).tolist()], rare)
for wrong in (lambda: ZeroInflatedPoisson(torch.tensor(1.3), torch.tensor(1.0)),
              lambda: rare.log_prob(torch.tensor([0.5, 1.0]))):
    try:
        wrong()
    except ValueError as error:
        print("refused:", str(error).splitlines()[0][:60])
