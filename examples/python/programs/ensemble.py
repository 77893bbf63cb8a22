"""An ensemble as one model: stack_module_state, functional_call, vmap; gradients by sample, Hessians, a meta-learning step."""

import copy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vjp, vmap


class SimpleMLP(nn.Module):
    def __init__(self):
        super(SimpleMLP, self).__init__()
        self.fc1 = nn.Linear(8, 12)
        self.fc2 = nn.Linear(12, 3)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x.flatten(1))))


torch.manual_seed(12)
models = [SimpleMLP() for _ in range(4)]
data, targets = torch.randn(10, 2, 4), torch.randint(3, (10,))
params, buffers = stack_module_state(models)
print({name: tuple(p.shape) for name, p in params.items()}, len(buffers))
base_model = copy.deepcopy(models[0]).to("meta")


def fmodel(params, buffers, x):
    return functional_call(base_model, (params, buffers), (x,))


predictions = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, data)
assert torch.allclose(predictions, torch.stack([m(data) for m in models]), atol=1e-5)


def compute_loss(params, buffers, x, t):
    return F.cross_entropy(fmodel(params, buffers, x), t)


step = vmap(grad_and_value(compute_loss), in_dims=(0, 0, None, None))
for epoch in range(6):
    grads, losses = step(params, buffers, data, targets)
    params = {k: (p - 0.5 * grads[k]).detach() for k, p in params.items()}
    if epoch % 2:
        print(f"epoch {epoch} losses", " ".join(f"{v:.4f}" for v in losses.tolist()))
one = {k: v[0] for k, v in params.items()}


def loss_of_sample(params, sample, target):
    return compute_loss(params, {}, sample.unsqueeze(0), target.unsqueeze(0))


per_sample = vmap(grad(loss_of_sample), in_dims=(None, 0, 0))(one, data, targets)
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
print(f"per-sample norms {norms.min().item():.4f} {norms.max().item():.4f}")
total = grad(compute_loss)(one, {}, data, targets)
assert torch.allclose(per_sample["fc1.weight"].mean(0), total["fc1.weight"], atol=1e-5)


def f(x):
    return (x.sin() * x.roll(1)).sum()


x = torch.linspace(0, 1, 4)
print("hessian", [f"{v:.4f}" for v in torch.linalg.eigvalsh(hessian(f)(x)).tolist()])
value, tangent = jvp(f, (x,), (torch.ones_like(x),))
_, pull = vjp(f, x)
print(f"{value.item():.4f} {tangent.item():.4f} {pull(torch.tensor(1.0))[0].sum().item():.4f}")
print(f"{vmap(jacrev(torch.tanh))(torch.randn(3, 2)).abs().sum().item():.4f}")


def inner(weight, x, y):
    return F.mse_loss(x @ weight, y)


def outer(weight, support, query):
    adapted = weight - 0.1 * grad(inner)(weight, *support)
    return inner(adapted, *query)


weight = torch.zeros(3, 1)
for step in range(8):
    tasks = torch.randn(5, 8, 3)
    answers = tasks @ torch.randn(5, 3, 1).add(1)
    batch = ((tasks[:, :4], answers[:, :4]), (tasks[:, 4:], answers[:, 4:]))
    losses, grads = (v.mean(0) for v in reversed(vmap(grad_and_value(outer), in_dims=(None, 0, 0))(weight, *batch)))
    weight = weight - 0.2 * losses if losses.shape == weight.shape else weight - 0.2 * grads
    if step % 4 == 3:
        print(f"step {step} weight {weight.norm().item():.4f}")
print(vmap(partial(torch.topk, k=2))(torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])).indices.tolist())
