"""Functions that few programs call: constraints, functions below nn.functional, steps of optimizers, attention by functions."""

import json
import math
import pathlib

import pytest

import taeda as torch
import taeda.distributions as D
from taeda.nn.attention import bias, flex_attention as flex

GOLDEN = pathlib.Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "corners.json").read_text(encoding="utf-8"))


def close(a, b, size=1):
    """Whether values are the same but for rounding: numbers of one tensor by the largest of them."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        size = max((abs(v) for v in a if isinstance(v, float) and math.isfinite(v)), default=1)
        return isinstance(b, list) and len(a) == len(b) and all(close(x, y, size) for x, y in zip(a, b))
    if not isinstance(a, float):
        return a == b
    return isinstance(b, (int, float)) and (a == b or a != a and b != b or abs(a - b) <= 1e-5 * max(1, size))


def test_values_are_pytorchs(tmp_path, run_python):
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "corners.py"), str(out))
    got = json.loads(out.read_text())
    wrong = [f"{group} | {name}: {json.dumps(got[group].get(name))[:300]}\n    instead of {json.dumps(wanted)[:300]}"
             for group, cases in EXPECTED.items() for name, wanted in cases.items() if not close(wanted, got[group].get(name))]
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)


def test_a_constraint_of_ones_own():
    class Even(D.constraints.Constraint):
        is_discrete = True

        def check(self, value):
            return value % 2 == 0

    class _Odd(Even):
        pass

    even = Even()
    assert even.check(torch.tensor([1, 2])).tolist() == [False, True] and repr(_Odd()) == "Odd()"
    assert D.constraints.independent(even, 1).check(torch.tensor([[2, 4], [1, 2]])).tolist() == [True, False]
    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        D.transform_to(even)
    D.transform_to.register(Even, lambda c: D.AffineTransform(0.0, 2.0))
    try:
        assert D.transform_to(even)(torch.tensor(3.0)) == 6
    finally:
        del D.transform_to._registry[Even]
    with pytest.raises(ValueError, match="Cannot determine validity of dependent constraint"):
        D.constraints.dependent.check(torch.zeros(1))


def test_unconstrained_parameters_of_a_distribution():
    """What biject_to is for: an optimizer over all numbers finds a scale."""
    data = torch.tensor([1.0, -1.0, 3.0, -3.0])
    free = {name: torch.zeros((), requires_grad=True) for name in D.Normal.arg_constraints}
    optimizer = torch.optim.LBFGS(free.values(), line_search_fn="strong_wolfe", max_iter=50)

    def loss():
        optimizer.zero_grad()
        values = {name: D.biject_to(c)(free[name]) for name, c in D.Normal.arg_constraints.items()}
        out = -D.Normal(**values).log_prob(data).mean()
        out.backward()
        return out
    optimizer.step(loss)
    scale = D.biject_to(D.constraints.positive)(free["scale"]).item()
    assert scale == pytest.approx(math.sqrt(5), rel=1e-3) and abs(free["loc"].item()) < 1e-3


def attention_by_hand(q, k, v, allowed=None, change=lambda s: s):
    scores = change(q @ k.mT / math.sqrt(q.size(-1)))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, -1) @ v


def test_gradients_of_flex_attention():
    q, k, v = (torch.randn(2, 2, 4, 3, dtype=torch.float64, requires_grad=True) for _ in range(3))
    table = torch.randn(2, 7, dtype=torch.float64, requires_grad=True)

    def relative(score, b, h, q, kv):
        return score + table[h, q - kv + 3]
    places = torch.arange(4)
    causal = flex.create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 4, 4)
    made = flex.flex_attention(q, k, v, relative, causal)
    wanted = attention_by_hand(q, k, v, places[:, None] >= places, lambda s: s + table[:, places[:, None] - places + 3])
    assert torch.allclose(made, wanted)
    first = torch.autograd.grad(made.square().sum(), (q, k, v, table), retain_graph=True)
    second = torch.autograd.grad(wanted.square().sum(), (q, k, v, table))
    assert all(torch.allclose(a, b) for a, b in zip(first, second))
    made, lse = flex.flex_attention(q, k, v, return_lse=True)
    assert torch.allclose(lse, (q @ k.mT / math.sqrt(3)).logsumexp(-1))


def test_what_sees_nothing_gets_zeros():
    q = k = v = torch.ones(1, 1, 2, 2, requires_grad=True)
    mask = flex.create_block_mask(lambda b, h, q, kv: q > kv, None, None, 2, 2)
    made = flex.flex_attention(q, k, v, block_mask=mask)
    assert made[0, 0].tolist() == [[0, 0], [1, 1]]
    made.sum().backward()
    assert not q.grad.isnan().any()
    with pytest.raises(ValueError, match="but got q_len=3"):
        flex.flex_attention(torch.ones(1, 1, 3, 2), k, v, block_mask=mask)
    assert repr(mask) == "BlockMask(shape=(1, 1, 2, 2), sparsity=0.00%)"


def test_causal_masks_by_name():
    assert bias.causal_upper_left(2, 3).tolist() == [[True, False, False], [True, True, False]]
    assert bias.causal_lower_right(2, 3).tolist() == [[True, True, False], [True, True, True]]
    q, k = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 3, 4)
    mask = bias.causal_lower_right(2, 3)
    wanted = attention_by_hand(q, k, k, torch.tensor(mask.tolist()))
    assert torch.allclose(torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask), wanted, atol=1e-6)


def test_loops_and_branches():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))
    assert made[0] == 3 and made[1].tolist() == [8, 16]
    torch.cond(x.sum() > 0, lambda x: (x * x).sum(), lambda x: x.sum(), (x,)).backward()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="body_fn should return as many elements"):
        torch.while_loop(lambda i: True, lambda i: (i, i), (torch.tensor(0),))
    with pytest.raises(RuntimeError, match="Expect both branches to be callable"):
        torch.cond(True, 1, 2)


def test_steps_that_are_skipped_and_scaled():
    from taeda.optim.adam import adam
    from taeda.optim.sgd import sgd
    p, g = torch.tensor([1.0]), torch.tensor([8.0])
    options = dict(weight_decay=0.0, momentum=0.9, lr=0.5, dampening=0.0, nesterov=False, maximize=False)
    buffers = [None]
    sgd([p], [g], buffers, found_inf=torch.tensor(1.0), **options)
    assert p.item() == 1 and buffers == [None]
    sgd([p], [g], buffers, grad_scale=torch.tensor(4.0), found_inf=torch.tensor(0.0), **options)
    assert p.item() == 0 and buffers[0].item() == 2 and p.grad is None
    wrong = dict(amsgrad=False, beta1=0.9, beta2=0.9, lr=0.1, weight_decay=0.0, eps=1e-8, maximize=False)
    with pytest.raises(ValueError, match="as many gradients and states as the 1 parameters"):
        adam([p], [g, g], [p], [p], [], [torch.tensor(0.0)], **wrong)


def test_hooks_that_are_refused():
    graph = torch.autograd.graph
    with pytest.raises(RuntimeError, match="not here"):
        with graph.saved_tensors_hooks(lambda x: x, lambda x: x), graph.disable_saved_tensors_hooks("not here"):
            pass
    with graph.disable_saved_tensors_hooks("outer"):
        with graph.disable_saved_tensors_hooks("inner"):
            with pytest.raises(RuntimeError, match="inner"), graph.save_on_cpu():
                pass
        with pytest.raises(RuntimeError, match="outer"), graph.save_on_cpu():
            pass
    with graph.save_on_cpu():
        pass


def test_callbacks_at_the_end_of_a_pass():
    said = []
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: torch.autograd.graph.queue_callback(lambda: said.append("end")) or said.append("hook"))
    (x * 2).sum().backward()
    assert said == ["hook", "end"]
    with pytest.raises(RuntimeError, match="during backward pass"):
        torch.autograd.graph.queue_callback(lambda: None)


def test_wrong_triangles():
    with pytest.raises(ValueError, match="cannot be expressed as the lower triangular part"):
        D.CorrCholeskyTransform()(torch.zeros(4))
    with pytest.raises(ValueError, match="Input is not a flattened lower-diagonal number"):
        D.CorrCholeskyTransform().forward_shape((4,))
    with pytest.raises(ValueError, match="Input is not square"):
        D.CorrCholeskyTransform().inverse_shape((4, 3))
