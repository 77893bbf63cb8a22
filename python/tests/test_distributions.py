"""Distributions: PyTorch's draws, densities, divergences and words."""

import json
import pathlib

import pytest

import taeda as torch
import taeda.distributions as D

GOLDEN = pathlib.Path(__file__).parent / "golden"


def _close(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_close, a, b))
    if isinstance(a, str):
        return a == b
    return a == b or a != a and b != b or abs(a - b) <= 2e-5 * max(1, abs(a))


def test_numbers_are_pytorchs(tmp_path, run_python):
    out = tmp_path / "ours.json"
    run_python("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')", str(GOLDEN / "distributions.py"), str(out))
    expected, got = json.loads((GOLDEN / "distributions.json").read_text()), json.loads(out.read_text())
    wrong = []
    for name, wanted in expected.items():
        if not isinstance(wanted, dict):
            wrong += [] if _close(wanted, got[name]) else [name]
            continue
        wrong += [f"{name}.{key}" for key, value in wanted.items() if key != "repr" and not _close(value, got[name].get(key))]
    assert wrong == []


@pytest.mark.parametrize("call, text", [
    (lambda: D.Normal(torch.zeros(1), torch.tensor([-1.0])), "Expected parameter scale"),
    (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both."),
    (lambda: D.Categorical(torch.tensor(0.5)), "`probs` parameter must be at least one-dimensional."),
    (lambda: D.Normal("a", 1), "Input arguments must all be instances of Number"),
    (lambda: D.Bernoulli(0.5).log_prob(torch.tensor(2.0)), "to be within the support"),
    (lambda: D.MultivariateNormal(torch.zeros(2)), "Exactly one of covariance_matrix or precision_matrix or scale_tril"),
])
def test_words(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert text in str(error.value)


def test_policy_gradient():
    logits = torch.zeros(1, 3, requires_grad=True)
    chosen = D.Categorical(logits=logits)
    action = chosen.sample()
    (-chosen.log_prob(action) * 2.0).sum().backward()
    assert action.shape == (1,) and logits.grad[0, action.item()].item() == pytest.approx(-4 / 3)


def test_a_distribution_of_ones_own():
    class Always(D.Distribution):
        def sample(self, sample_shape=()):
            return torch.ones(sample_shape)

        def log_prob(self, value):
            return torch.zeros_like(value)

    @D.register_kl(Always, Always)
    def _none(p, q):
        return torch.tensor(0.0)
    assert Always().sample((2,)).tolist() == [1, 1] and D.kl_divergence(Always(), Always()).item() == 0
    with pytest.raises(NotImplementedError):
        D.kl_divergence(Always(), D.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        Always().entropy()


def test_checks_can_be_left_out():
    assert D.Normal(torch.zeros(1), -torch.ones(1), validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(torch.zeros(1), -torch.ones(1))
    finally:
        D.Distribution.set_default_validate_args(True)


def test_transforms():
    f = D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.ExpTransform()])
    x = torch.tensor([0.5, -1.0])
    assert torch.allclose(f.inv(f(x)), x) and torch.allclose(f.log_abs_det_jacobian(x, f(x)), torch.log(2 * f(x)))
    assert D.constraints.positive.check(torch.tensor([1.0, -1.0])).tolist() == [True, False]
