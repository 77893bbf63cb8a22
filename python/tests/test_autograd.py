"""Recording, passes, functions and hooks written in Python, modes."""

import sys
import threading
import traceback
import warnings

import pytest
import taeda as torch
from samples import Square


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_backward_sums_into_grad():
    x = leaf(1.0, 2.0)
    for expected in ([2, 4], [4, 8]):
        (x * x).sum().backward()
        assert x.grad.tolist() == expected
    y = x * x
    y.backward(torch.tensor([1.0, 10.0]), retain_graph=True)
    assert x.grad.tolist() == [6, 48]
    y.backward(gradient=torch.ones(2))
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward(torch.ones(2))
    a, b = leaf(1.0), leaf(2.0)
    (a * b).backward(inputs=[a])
    assert a.grad.item() == 2 and b.grad is None


def test_grad():
    x, y = leaf(3.0), leaf(4.0)
    gx, gy = torch.autograd.grad(x * x * y, (x, y))
    assert (gx.item(), gy.item()) == (24, 9) and x.grad is None
    first, = torch.autograd.grad(x ** 3, x, create_graph=True)
    second, = torch.autograd.grad(first, x)
    assert second.item() == 18
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * 2, y)
    assert torch.autograd.grad(x * 2, y, allow_unused=True) == (None,)
    zeros, = torch.autograd.grad((x * 2).sum(), y, allow_unused=True, materialize_grads=True)
    assert zeros.item() == 0
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(torch.ones(1).sum(), x)


def test_function():
    x = leaf(3.0, -2.0)
    y = Square.apply(x)
    assert y.grad_fn.name() == "SquareBackward" and type(y) is torch.Tensor
    y.sum().backward()
    assert x.grad.tolist() == [6, -4]
    assert torch.autograd.gradcheck(Square.apply, (torch.tensor([1.5, 2.0], dtype=torch.double, requires_grad=True),))
    assert torch.autograd.gradgradcheck(Square.apply, (torch.tensor([1.5], dtype=torch.double, requires_grad=True),))
    z, = torch.autograd.grad(torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)[0].sum(), x)
    assert z.tolist() == [2, 2]


def test_function_with_setup_context_and_other_arguments():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x, factor, name=None):
            return x * factor, x + 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
            assert len(output) == 2

        @staticmethod
        def backward(ctx, first, second):
            assert ctx.needs_input_grad == (True, False, False)
            return first * ctx.factor + second, None, None

    x = leaf(1.0)
    a, b = Scaled.apply(x, 5, "name")
    (a + 2 * b).backward()
    assert x.grad.item() == 7


def test_function_s_marks():
    class Marks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            x.add_(1)
            ctx.mark_dirty(x)
            place = y.argmax()
            ctx.mark_non_differentiable(place)
            ctx.set_materialize_grads(False)
            return x, place, y * 2

        @staticmethod
        def backward(ctx, gx, gplace, gy):
            assert gplace is None and gy is None
            return gx * 3, None

    base, y = leaf(1.0, 2.0), leaf(5.0, 6.0)
    x = base * 1
    out, place, _ = Marks.apply(x, y)
    assert out is x and not place.requires_grad
    out.sum().backward()
    assert base.grad.tolist() == [3, 3] and y.grad is None


def test_errors_of_functions():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, mode):
            ctx.mode = mode
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.mode == "count":
                return grad, grad, grad
            if ctx.mode == "type":
                return "grad", None
            raise KeyError("from backward")

    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients \\(expected 2, got 3\\)"):
        Wrong.apply(leaf(1.0), "count").backward()
    with pytest.raises((TypeError, RuntimeError), match="expected Variable or None \\(got str\\)"):
        Wrong.apply(leaf(1.0), "type").backward()
    try:
        Wrong.apply(leaf(1.0), "raise").backward()
    except KeyError as error:
        assert error.args == ("from backward",)
        assert any(frame.name == "backward" and "raise KeyError" in frame.line
                   for frame in traceback.extract_tb(error.__traceback__))
    else:
        assert False
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        Square()(leaf(1.0))


def test_once_differentiable():
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return grad * 2

    x = leaf(1.0)
    y = Once.apply(x)
    g, = torch.autograd.grad(y * y, x, create_graph=True)
    assert g.item() == 8
    with pytest.raises(RuntimeError, match="once_differentiable"):
        (g * x).backward()


def test_saved_tensors_are_watched():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = Square.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_hooks_of_tensors():
    x = leaf(1.0, 2.0)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()))
    double = x.register_hook(lambda g: g * 2)
    x.sum().backward()
    assert seen == [[1, 1]] and x.grad.tolist() == [2, 2]
    handle.remove()
    double.remove()
    x.sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [3, 3]
    y = x * 2
    assert y.retain_grad() is None
    y.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert y.grad.tolist() == [2, 2]
    after = []
    handle = x.register_post_accumulate_grad_hook(lambda p: after.append(p is x))
    x.sum().backward()
    handle.remove()
    assert after == [True]
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(print)


def test_an_error_of_a_hook_keeps_its_traceback():
    x = leaf(1.0)

    def hook(grad):
        raise ZeroDivisionError("in the hook")

    x.register_hook(hook)
    with pytest.raises(ZeroDivisionError, match="in the hook") as caught:
        x.sum().backward()
    assert caught.traceback[-1].name == "hook"


def test_hooks_of_nodes():
    x = leaf(1.0)
    y = (x * 2).exp()
    calls = []
    y.grad_fn.register_prehook(lambda grads: calls.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: calls.append("after"))
    y.backward()
    assert calls == ["before", "after"]
    assert "Exp" in y.grad_fn.name() and y.grad_fn.next_functions[0][0].name().startswith("Mul")


def test_numbers_are_inputs_without_a_node():
    x = leaf(1.0)
    for y in (x + 1, 1 + x, x - 1, x * 2, 2 * x, x / 2, x.div(2, rounding_mode="floor"), x.clone().mul_(2)):
        assert len(y.grad_fn.next_functions) == 2 and y.grad_fn.next_functions[1] == (None, 0)
    assert len((1 - x).grad_fn.next_functions) == len((x ** 2).grad_fn.next_functions) == 1


def test_hooks_of_several_tensors():
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    seen, first = [], []
    handle = torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append(grads))
    with torch.autograd.graph.register_multi_grad_hook((a, b), first.append, mode="any"):
        (a * 2 + b * 3 + c).sum().backward()
        (a * b).sum().backward()  # c has no part in it
        (c * 5).sum().backward()
    assert [[None if g is None else g.tolist() for g in grads] for grads in seen] == [
        [[2, 2], [3, 3], [1, 1]], [[1, 1], [1, 1], None], [None, None, [5, 5]]]
    assert len(first) == 2 and torch._C._current_graph_task_id() == -1
    (a + b).sum().backward()
    assert len(first) == 2 and len(seen) == 4
    handle.remove()
    (a + b).sum().backward()
    assert len(seen) == 4
    with pytest.raises(ValueError, match="to be one of .* but got some"):
        torch.autograd.graph.register_multi_grad_hook((a,), print, mode="some")


def test_modes():
    x = leaf(1.0)
    with torch.no_grad():
        assert not torch.is_grad_enabled() and not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    assert torch.is_grad_enabled()

    @torch.no_grad()
    def plain(y):
        return y * 2

    @torch.no_grad
    def bare(y):
        return y * 2

    assert not plain(x).requires_grad and not bare(x).requires_grad and plain.__name__ == "plain"

    @torch.no_grad()
    def generator():
        for _ in range(2):
            yield torch.is_grad_enabled()

    for inside in generator():
        assert not inside and torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    with torch.inference_mode():
        y = x * 2
        assert y.is_inference() and torch.is_inference_mode_enabled()
    with pytest.raises(RuntimeError, match="Inference tensors"):
        (y * x).sum().backward()
    with pytest.raises(KeyError):
        with torch.no_grad():
            raise KeyError
    assert torch.is_grad_enabled()
    states = []
    thread = threading.Thread(target=lambda: states.append(torch.is_grad_enabled()))
    with torch.no_grad():
        thread.start()
        thread.join()
    assert states == [True]


def test_anomaly():
    with torch.autograd.detect_anomaly():
        x = leaf(-1.0)
        y = x.sqrt()
        with (pytest.raises(RuntimeError, match="^Function 'SqrtBackward0' returned nan values in its 0th output.$"),
              pytest.warns(UserWarning, match=r"Error detected in SqrtBackward0(.|\n)*in test_anomaly\n    y = x.sqrt\(\)")):
            y.backward()
    assert not torch.is_anomaly_enabled()


def test_anomaly_in_a_function_of_ones_own():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no gradient")
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        y = Fails.apply(leaf(1.0))
        with (pytest.raises(ValueError, match="^no gradient$"),
              pytest.warns(UserWarning, match=r"Error detected in FailsBackward(.|\n)*y = Fails.apply\(leaf")):
            y.backward()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="^no gradient$"):
                Fails.apply(leaf(1.0)).backward()


def test_gradcheck_finds_wrong_gradients():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.ones(2, dtype=torch.double, requires_grad=True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (x,))
    assert not torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)


def test_jacobians():
    x = torch.tensor([1.0, 2.0])
    assert torch.autograd.functional.jacobian(lambda v: v ** 2, x).tolist() == [[2, 0], [0, 4]]
    assert torch.autograd.functional.hessian(lambda v: (v ** 3).sum(), x).tolist() == [[6, 0], [0, 12]]


def test_saved_tensors_hooks():
    kept = []

    def pack(t):
        kept.append(t)
        return len(kept) - 1

    x = leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda i: kept[i]):
        y = x * x
    y.backward()
    assert kept and x.grad.item() == 4


def test_leaves_and_views():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 3]
    x.data.zero_()
    y = x.detach()
    assert not y.requires_grad and y.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf variables|you can only change"):
        (x * 1).requires_grad_(False)
    x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="of a different size|attempting to assign a gradient of size"):
        x.grad = torch.ones(3)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1
    x.grad = None
    assert x.grad is None


def test_deep_graphs_need_no_deep_stack():
    x = leaf(1.0)
    y = x
    for _ in range(20000):
        y = y + 0
    y.backward()
    assert x.grad.item() == 1


def test_deep_chains_of_functions():
    x = leaf(1.0)
    y = x
    for _ in range(3 * sys.getrecursionlimit()):
        y = Square.apply(y)
    assert y.item() == 1
    y.backward()
    assert x.grad.item() == float("inf")  # 2 to the power of the depth


def test_interrupt(run_python):
    """Ctrl-C during backward ends it as KeyboardInterrupt."""
    program = ("import os, signal, taeda as torch\n"
               "x = torch.ones(2, requires_grad=True)\n"
               "x.register_hook(lambda g: os.kill(os.getpid(), signal.SIGINT))\n"
               "try:\n"
               "    for _ in range(1000): (x * 2).sum().backward()\n"
               "except KeyboardInterrupt:\n"
               "    print('interrupted')\n")
    assert run_python(program) == "interrupted\n"


def test_fork_after_threads_have_run(run_python):
    """A child computes with threads of its own although its parent's had run."""
    program = ("import os, taeda as torch\n"
               "torch.set_num_threads(2)\n"
               "a = torch.ones(300, 300); (a @ a).sum(); torch.ones(1 << 20).exp()\n"
               "pid = os.fork()\n"
               "if pid == 0:\n"
               "    ok = (a @ a)[0, 0].item() == 300 and torch.ones(1 << 20).exp().sum().item() > 0\n"
               "    os._exit(0 if ok else 1)\n"
               "print(os.waitpid(pid, 0)[1])\n")
    assert run_python(program) == "0\n"


def test_threads_run_passes_side_by_side():
    shared = leaf(*[1.0] * 64)

    def work():
        for _ in range(100):
            Square.apply(shared).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert shared.grad.tolist() == [800.0] * 64


def test_gradients_of_complex_numbers_are_checked():
    a, b = (torch.randn(2, 2, dtype=torch.complex128, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(torch.matmul, (a, b)) and torch.autograd.gradgradcheck(torch.matmul, (a, b))
    assert torch.autograd.gradcheck(lambda x: (x * x.conj()).real.sum(), (a,))

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1j

        @staticmethod
        def backward(ctx, grad):
            return grad * 1j  # should be the conjugate
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (a,))


def test_backward_takes_its_gradient_in_a_list():
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward([torch.tensor(3.0)])
    assert x.grad == 12


@pytest.mark.parametrize("a, b, rule", [
    ((2, 3, 4), (4,), "...ij,j->...i"), ((4,), (4, 4), "j,jk->k"), ((4,), (2, 4, 3), "j,...jk->...k"),
    ((2, 3, 4, 4), (2, 3, 4, 4), "...ij,...jk->...ik"), ((2, 3, 4), (4, 5), "...ij,jk->...ik")])
def test_products_are_no_views(a, b, rule):
    a, b = torch.randn(a, requires_grad=True), torch.randn(b)
    product, known = a.matmul(b), torch.einsum(rule, a, b)
    assert not product._is_view()
    torch.testing.assert_close(product, known)
    torch.testing.assert_close(*(torch.autograd.grad(each.sin().sum(), a)[0] for each in (product, known)))
    assert product.detach_() is product and not product.requires_grad


@pytest.mark.parametrize("upper", [False, True])
def test_the_gradient_of_cholesky_solve_is_that_of_the_product_of_factors(upper):
    torch.manual_seed(0)
    factor = (torch.randn(2, 3, 3, dtype=torch.double) / 3 + torch.eye(3)).tril()
    factor = (factor.mT if upper else factor).contiguous().requires_grad_()
    right = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    whole = factor.mT @ factor if upper else factor @ factor.mT
    found, known = torch.cholesky_solve(right, factor, upper), torch.linalg.solve(whole, right)
    for one, other in zip(torch.autograd.grad(found.sin().sum(), [factor, right]),
                          torch.autograd.grad(known.sin().sum(), [factor, right])):
        torch.testing.assert_close(one, other)
    assert torch.autograd.gradgradcheck(lambda f, r: torch.cholesky_solve(r, f.triu() if upper else f.tril(), upper),
                                        (factor, right))
