"""L-BFGS: a quasi-Newton method that keeps the last steps (Nocedal and Wright 2006, chapters 3 and 7)."""

from .. import _C
from ..autograd.modes import enable_grad, no_grad
from .optimizer import Optimizer, check_rate


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with these slopes is least, within the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 ** 2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square ** 0.5
    least = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2)) if x1 <= x2 else (
        x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2)))
    return min(max(least, low), high)


class _Point:
    """The objective at a step of length t: value, gradient, slope along the direction."""

    def __init__(self, t, value, grad, slope):
        self.t, self.value, self.grad, self.slope = t, value, grad, slope


def _strong_wolfe(evaluate, t, direction, start, c1=1e-4, c2=0.9, tolerance=1e-9, most=25):
    """The point of a step that meets the strong Wolfe conditions, and how many evaluations it took."""
    size = direction.abs().max()

    def point(t):
        value, grad = evaluate(t)
        return _Point(t, value, grad, grad.dot(direction))
    new, evaluations, iteration = point(t), 1, 0
    before, bracket, done = start, None, False
    while iteration < most:
        if new.value > start.value + c1 * new.t * start.slope or (iteration > 1 and new.value >= before.value):
            bracket = [before, new]
            break
        if abs(new.slope) <= -c2 * start.slope:
            bracket, done = [new], True
            break
        if new.slope >= 0:
            bracket = [before, new]
            break
        low, high = new.t + 0.01 * (new.t - before.t), new.t * 10
        t = _cubic_minimum(before.t, before.value, before.slope, new.t, new.value, new.slope, (low, high))
        before, new = new, point(t)
        evaluations += 1
        iteration += 1
    if bracket is None:  # most iterations passed
        bracket = [start, new]
    return _zoom(point, bracket, done, start, size, c1, c2, tolerance, most, iteration, evaluations)


def _zoom(point, bracket, done, start, size, c1, c2, tolerance, most, iteration, evaluations):
    stuck = False
    low, high = (0, 1) if bracket[0].value <= bracket[-1].value else (1, 0)
    while not done and iteration < most:
        if abs(bracket[1].t - bracket[0].t) * size < tolerance:
            break
        first, second = bracket
        t = _cubic_minimum(first.t, first.value, first.slope, second.t, second.value, second.slope)
        least, most_t = min(first.t, second.t), max(first.t, second.t)
        margin = 0.1 * (most_t - least)
        if min(most_t - t, t - least) < margin:  # too near to an end
            if stuck or t >= most_t or t <= least:
                t = most_t - margin if abs(t - most_t) < abs(t - least) else least + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = point(t)
        evaluations += 1
        iteration += 1
        if new.value > start.value + c1 * t * start.slope or new.value >= bracket[low].value:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].value <= bracket[1].value else (1, 0)
            continue
        if abs(new.slope) <= -c2 * start.slope:
            done = True
        elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
    return bracket[low if len(bracket) > 1 else 0], evaluations


class LBFGS(Optimizer):
    """Steps along the inverse Hessian that the last steps suggest; `step` takes a closure and evaluates it several times."""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None, *, maximize=False):
        check_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn, "maximize": maximize})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        parts = []
        for p in self._params:
            grad = p.new_zeros(p.numel()) if p.grad is None else (p.grad.to_dense() if p.grad.is_sparse else p.grad).reshape(-1)
            parts.append(_C.view_as_real(grad).reshape(-1) if grad.is_complex() else grad)
        flat = _C.cat(parts)
        return flat.neg() if self.param_groups[0]["maximize"] else flat

    def _move(self, t, direction):
        offset = 0
        for p in self._params:
            real = _C.view_as_real(p) if p.is_complex() else p
            n = real.numel()
            real.add_(direction[offset:offset + n].view_as(real), alpha=t)
            offset += n

    def _loss(self, closure):
        with enable_grad():
            loss = closure()
        loss = float(loss)
        return -loss if self.param_groups[0]["maximize"] else loss

    def _direction(self, state, grad):
        """-H grad by two loops over the steps that are kept."""
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        q, weights = grad.neg(), state.setdefault("al", [None] * self.param_groups[0]["history_size"])
        for i in reversed(range(len(dirs))):
            weights[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-weights[i].item())
        r = q.mul(state["H_diag"])
        for i in range(len(dirs)):
            beta = dirs[i].dot(r) * ro[i]
            r.add_(steps[i], alpha=(weights[i] - beta).item())
        return r

    def _remember(self, state, grad, history_size):
        """Adds the last step to those that are kept, where curvature was positive."""
        y, s = grad.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        ys = y.dot(s)
        if ys > 1e-10:
            if len(state["old_dirs"]) == history_size:
                for name in ("old_dirs", "old_stps", "ro"):
                    state[name].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)

    def _search(self, closure, state, group, t, direction, loss, grad, slope):
        """Moves by a step of about t: (t, loss, gradient, evaluations); the last three None where there is nothing more."""
        if group["line_search_fn"] is None:
            self._move(t, direction)
            if state["n_iter_here"] == group["max_iter"]:
                return t, loss, grad, 0
            loss = self._loss(closure)
            return t, loss, self._flat_grad(), 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [p.detach().clone() for p in self._params]

        def put_back():
            for p, before in zip(self._params, origin):
                p.copy_(before)

        def evaluate(t):
            self._move(t, direction)
            value = self._loss(closure)
            grad = self._flat_grad()
            put_back()
            return value, grad
        found, evaluations = _strong_wolfe(evaluate, t, direction, _Point(0, loss, grad, slope))
        self._move(found.t, direction)
        return found.t, found.value, found.grad, evaluations

    def step(self, closure):
        """Up to max_iter iterations; returns the closure's first value."""
        with no_grad():
            return self._steps(closure)

    def _steps(self, closure):
        group, state = self.param_groups[0], self.state[self._params[0]]
        lr = float(group["lr"])
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        loss = -float(first) if group["maximize"] else float(first)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        for iterations in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            state["n_iter_here"] = iterations
            if state["n_iter"] == 1:
                state.update(d=grad.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                self._remember(state, grad, group["history_size"])
                state["d"] = self._direction(state, grad)
            direction, before = state["d"], loss
            if state.get("prev_flat_grad") is None:
                state["prev_flat_grad"] = grad.clone()
            else:
                state["prev_flat_grad"].copy_(grad)
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                state["t"] = t
                break
            t, loss, grad, used = self._search(closure, state, group, float(t), direction, loss, grad, slope)
            state["t"] = t
            evaluations += used
            state["func_evals"] += used
            if (iterations == group["max_iter"] or evaluations >= group["max_eval"]
                    or grad.abs().max() <= group["tolerance_grad"]
                    or direction.mul(t).abs().max() <= group["tolerance_change"]
                    or abs(loss - before) < group["tolerance_change"]):
                break
        state.pop("n_iter_here", None)
        state["prev_loss"] = before
        for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"):
            state[name] = state.pop(name)  # PyTorch's order
        return first
