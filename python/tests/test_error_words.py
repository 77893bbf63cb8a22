"""What the library's errors say is said in Python's words."""

import pytest
import taeda as torch


def message_of(function, error=RuntimeError):
    with pytest.raises(error) as raised:
        function()
    return str(raised.value)


def test_the_only_overload_of_as_many_arguments():
    assert message_of(lambda: torch.sum([1, 2]), TypeError) == "sum(): argument 'input' (position 1) must be Tensor, not list"
    assert "expected one of" in message_of(lambda: torch.ones(2).sum("a"), TypeError)


def test_what_was_called_is_named():
    calls = {"std": torch.std, "var": torch.var, "std_mean": torch.std_mean, "var_mean": torch.var_mean}
    for name, call in calls.items():
        assert message_of(lambda: call([1]), TypeError) == f"{name}(): argument 'input' (position 1) must be Tensor, not list"
    assert message_of(lambda: torch.where(1), TypeError) == "where(): argument 'condition' (position 1) must be Tensor, not int"
    said = message_of(lambda: torch.nonzero([1], as_tuple=True), TypeError)
    assert said == "nonzero(): argument 'input' (position 1) must be Tensor, not list"
    said = message_of(lambda: torch.nn.functional.pad([1], (1, 1)), TypeError)
    assert said == "pad(): argument 'input' (position 1) must be Tensor, not list"
    said = message_of(lambda: torch.nn.functional.pixel_shuffle([1], 2), TypeError)
    assert said == "pixel_shuffle(): argument 'input' (position 1) must be Tensor, not list"
    said = message_of(lambda: torch.nn.functional.multi_margin_loss(torch.ones(2, 3), [1, 2]), TypeError)
    assert said == "multi_margin_loss(): argument 'target' (position 2) must be Tensor, not list"
    said = message_of(lambda: torch.nn.functional.max_unpool2d(torch.ones(1, 1, 1), 0, 2), TypeError)
    assert said == "max_unpool2d(): argument 'indices' (position 2) must be Tensor, not int"
    said = message_of(lambda: torch.bilinear(torch.ones(2), torch.ones(2), weight=0), TypeError)
    assert said == "bilinear(): argument 'weight' must be Tensor, not int"
    line = torch.ones(1, 1, 2)
    said = message_of(lambda: torch.nn.functional.interpolate(line, 2, mode="linear", align_corners=0), TypeError)
    assert said == "interpolate(): argument 'align_corners' (position 5) must be bool, not int"


def test_options_of_optimizers_that_stand_for_none_or_nothing():
    w = torch.ones(1, requires_grad=True)

    def step(**options):
        torch.optim.LBFGS([w], **options).step(lambda: torch.ones(()))
    assert message_of(lambda: step(max_eval=-1), ValueError) == "Invalid max_eval value: -1"
    assert message_of(lambda: step(line_search_fn="armijo")).startswith("only 'strong_wolfe' is supported")


def test_parameters_of_distributions_are_shown_as_python_shows_them():
    said = message_of(lambda: torch.distributions.Normal(0.0, -1.0), ValueError)
    assert said.endswith("but found invalid values:\n-1.0")
    said = message_of(lambda: torch.distributions.Normal(torch.zeros(2), torch.tensor([1.0, -1.0])), ValueError)
    assert said.endswith("but found invalid values:\ntensor([ 1., -1.])")
    said = message_of(lambda: torch.distributions.MultivariateNormal(torch.zeros(2), -torch.eye(2)), ValueError)
    assert said.endswith("but found invalid values:\ntensor([[-1., -0.],\n        [-0., -1.]])")


def test_what_is_no_module():
    said = message_of(lambda: torch.nn.Sequential(lambda x: x), TypeError)
    assert said == f"{__name__}.test_what_is_no_module.<locals>.<lambda>.<locals>.<lambda> is not a Module subclass"


def test_a_graph_that_is_gone():
    x = torch.ones(1, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    said = message_of(y.backward)
    assert "retain_graph=True" in said and "autograd.grad()" in said and "::" not in said


def test_a_tensor_that_was_changed():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y.exp().mul(y).sum()
    with torch.no_grad():
        y.zero_()
    said = message_of(z.backward)
    assert "[torch.FloatTensor [2]]" in said and "torch.autograd.set_detect_anomaly(True)" in said and "::" not in said


def test_two_dtypes_of_a_product():
    said = message_of(lambda: torch.mm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float16)))
    assert "Half" in said and "c10" not in said


def test_functions_that_pytorch_removed():
    for name, instead in {"cholesky": "cholesky", "qr": "qr", "symeig": "eigh", "solve": "solve"}.items():
        for of in (torch, torch.Tensor):
            said = message_of(lambda: getattr(of, name)(torch.eye(2)))
            assert "now removed" in said and said.endswith(f"`torch.linalg.{instead}`."), name
