"""Training programs over transforms of functions, for either library: each gives numbers of the whole run.

Functions see parameters that learn by closure, by argument and by module, so a transform that loses a derivative of what is no
argument of it ends somewhere else, even where each of its values is right.
"""

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def values(torch, *shape):
    """Numbers that look random and are the same everywhere."""
    count = 1
    for n in shape:
        count *= n
    return torch.sin(torch.arange(1, count + 1, dtype=torch.double) ** 2 * 0.7).reshape(shape)


def network(torch, *sizes):
    """A tanh network of double numbers."""
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layer = torch.nn.Linear(a, b).double()
        with torch.no_grad():
            layer.weight.copy_(values(torch, b, a))
            layer.bias.copy_(values(torch, b) / 2)
        layers += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def trained(torch, parameters, loss, steps=15, lr=0.02):
    """Losses of the first and last steps, and a sum over all that was learned."""
    parameters = list(parameters)
    optimizer = torch.optim.Adam(parameters, lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return [losses[0], losses[1], losses[-1], sum(p.detach().abs().sum().item() for p in parameters)]


@program
def physics_informed(torch):
    """u'' = -u, u(0) = 0, u'(0) = 1, by derivatives of the network by its input."""
    net, xs = network(torch, 1, 8, 1), torch.linspace(0, 2, 7, dtype=torch.double)

    def u(x):
        return net(x.reshape(1)).squeeze()
    first = torch.func.grad(u)
    second = torch.func.vmap(torch.func.grad(first))

    def loss():
        start = torch.zeros((), dtype=torch.double)
        return ((second(xs) + torch.func.vmap(u)(xs)) ** 2).mean() + u(start) ** 2 + (first(start) - 1) ** 2
    return trained(torch, net.parameters(), loss)


@program
def physics_informed_forward(torch):
    """The same by tangents, and a coefficient that is learned, too."""
    net, xs = network(torch, 1, 6, 1), torch.linspace(0, 1, 5, dtype=torch.double)
    k = torch.tensor(0.5, dtype=torch.double, requires_grad=True)

    def loss():
        total = 0
        for x in xs:
            def slope(y):
                return torch.func.jvp(lambda z: net(z.reshape(1)).squeeze() * k, (y,), (torch.ones_like(y),))[1]
            value, curvature = torch.func.jvp(slope, (x,), (k,))
            total = total + (curvature + value - x) ** 2
        return total
    return trained(torch, [*net.parameters(), k], loss)


@program
def hamiltonian(torch):
    """dq = dH/dp, dp = -dH/dq of a network H, along a few steps that are differentiated through."""
    net, states = network(torch, 2, 8, 1), values(torch, 5, 2)

    def field(state):
        dq, dp = torch.func.grad(lambda s: net(s).squeeze())(state).unbind()
        return torch.stack([dp, -dq])

    def loss():
        now = states
        for _ in range(3):
            now = now + 0.1 * torch.func.vmap(field)(now)
        angle = torch.tensor(0.3, dtype=torch.double)
        turn = torch.stack([torch.stack([angle.cos(), angle.sin()]), torch.stack([-angle.sin(), angle.cos()])])
        return ((now - states @ turn.t()) ** 2).mean()
    return trained(torch, net.parameters(), loss)


@program
def score_matching(torch):
    """The trace of a Jacobian in the loss, by reverse and by forward mode."""
    net, xs = network(torch, 2, 6, 2), values(torch, 4, 2)

    def by(jacobian):
        def each(x):
            return jacobian(net)(x).diagonal().sum() + (net(x) ** 2).sum() / 2
        return torch.func.vmap(each)(xs).mean()
    return trained(torch, net.parameters(), lambda: by(torch.func.jacrev) + by(torch.func.jacfwd))


@program
def sliced_score_matching(torch):
    """v J v by a tangent and by a cotangent that learn themselves."""
    net, xs = network(torch, 3, 5, 3), values(torch, 4, 3)
    v = values(torch, 3).requires_grad_()

    def loss():
        total = 0
        for x in xs:
            out, along = torch.func.jvp(net, (x,), (v,))
            _, pull = torch.func.vjp(net, x)
            total = total + (v * along).sum() + (out ** 2).sum() / 2 + (pull(v)[0] ** 2).sum()
        return total
    return trained(torch, [*net.parameters(), v], loss)


@program
def meta_learning(torch):
    """MAML: the loss after steps of gradient descent, by where they begin and by how long they are."""
    net = network(torch, 1, 6, 1)
    rate = torch.tensor(0.1, dtype=torch.double, requires_grad=True)
    xs, tasks = torch.linspace(-1, 1, 6, dtype=torch.double).unsqueeze(1), (0.5, 1.5)

    def loss():
        total = 0
        for task in tasks:
            now = dict(net.named_parameters())

            def error(parameters, task=task):
                return ((torch.func.functional_call(net, parameters, (xs,)) - (xs * task).sin()) ** 2).mean()
            for _ in range(2):
                grads = torch.func.grad(error)(now)
                now = {name: p - rate * grads[name] for name, p in now.items()}
            total = total + error(now)
        return total
    return trained(torch, [*net.parameters(), rate], loss)


@program
def influence(torch):
    """A product with the inverse Hessian by conjugate gradients, differentiated by weights of samples and a regularizer."""
    xs, ys = values(torch, 6, 3), values(torch, 6)
    weights = torch.ones(6, dtype=torch.double, requires_grad=True)
    decay = torch.tensor(0.3, dtype=torch.double, requires_grad=True)
    at = values(torch, 3)

    def objective(w):
        return (weights * ((xs @ w).tanh() - ys) ** 2).mean() + decay * (w ** 2).sum()

    def product(v):
        return torch.func.jvp(torch.func.grad(objective), (at,), (v,))[1]
    grad = torch.func.grad(objective)(at)
    solution, rest = torch.zeros_like(grad), grad
    direction = rest
    for _ in range(3):
        moved = product(direction)
        step = (rest * rest).sum() / (direction * moved).sum()
        solution, left = solution + step * direction, rest - step * moved
        direction = left + (left * left).sum() / (rest * rest).sum() * direction
        rest = left
    (solution * values(torch, 3)).sum().backward()
    dense = torch.func.hessian(objective)(at)
    regularized = torch.autograd.grad(dense.sum(), [weights, decay])
    return [*solution.tolist(), *weights.grad.tolist(), decay.grad.item(), *dense.flatten().tolist(),
            *regularized[0].tolist(), regularized[1].item()]


@program
def clipped_gradients_of_samples(torch):
    """Gradients of each sample, clipped to a norm that is learned by a loss after the step."""
    net, xs, ys = network(torch, 3, 4, 2), values(torch, 5, 3), values(torch, 5, 2)
    norm = torch.tensor(0.5, dtype=torch.double, requires_grad=True)

    def error(parameters, x, y):
        return ((torch.func.functional_call(net, parameters, (x,)) - y) ** 2).sum()

    def loss():
        parameters = dict(net.named_parameters())
        each, before = torch.func.vmap(torch.func.grad_and_value(error), in_dims=(None, 0, 0))(parameters, xs, ys)
        size = sum((g ** 2).flatten(1).sum(1) for g in each.values()).sqrt()
        factor = norm / (size + norm)
        after = {name: p - 0.1 * (each[name] * factor.reshape(-1, *[1] * p.dim())).mean(0) for name, p in parameters.items()}
        return torch.func.vmap(error, in_dims=(None, 0, 0))(after, xs, ys).mean() + before.mean() / 10
    return trained(torch, [*net.parameters(), norm], loss)


@program
def levels(torch):
    """Which of several variables a derivative is by, where functions see those of the transforms around them."""
    F = torch.func
    one, two = torch.tensor(1.0, dtype=torch.double), torch.tensor(2.0, dtype=torch.double)
    w = torch.tensor(3.0, dtype=torch.double, requires_grad=True)
    found = [
        F.grad(lambda x: x * F.grad(lambda y: x + y)(one))(one),
        F.grad(lambda x: F.grad(lambda y: x * y)(x))(two),
        F.jvp(lambda x: x * F.jvp(lambda y: x + y, (one,), (one,))[1], (one,), (one,))[1],
        F.grad(lambda x: F.jvp(lambda y: y ** 2 * x, (x,), (x,))[1])(two),
        F.jvp(lambda x: F.grad(lambda y: y ** 3 * x)(x), (two,), (one,))[1],
        F.grad(lambda x: F.vjp(lambda y: y ** 2 * w * x, x)[1](x * w)[0])(two),
        F.grad(lambda x: F.jacrev(lambda y: y * x)(torch.stack([x, x * w])).sum())(two),
        F.grad(F.grad(F.grad(lambda x: x ** 4 * w ** 2)))(two),
        F.grad(lambda x: w * 1)(one),
        F.jvp(lambda x: w * 2, (one,), (one,))[1],
        F.jacfwd(lambda x: w * x ** 2)(two),
        F.hessian(lambda x: x ** 3 * w)(two),
    ]
    seen = [float(f.requires_grad) for f in found]
    sum(f * (i + 1) for i, f in enumerate(found)).backward()
    return [*(f.item() for f in found), *seen, w.grad.item()]
