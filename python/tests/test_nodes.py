"""Nodes of the graph as programs read them: grad_fn, its attributes, notes, and what anomaly mode says."""

import pytest

import taeda as torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def test_a_node_is_one_object():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y + 1
    assert y.grad_fn is y.grad_fn and z.grad_fn.next_functions[0][0] is y.grad_fn
    assert y.grad_fn.next_functions[0][0].variable is x
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1} and z.grad_fn.metadata == {}
    with pytest.raises(AttributeError):
        y.grad_fn.own = 3
    with pytest.raises(AttributeError):
        y.grad_fn.saved_tensors


def test_what_a_node_says_of_itself():
    x = torch.ones(2, 3, requires_grad=True)
    node = (x * x).grad_fn
    (takes,) = node._input_metadata
    assert tuple(takes.shape) == (2, 3) and takes.dtype == torch.float32 and takes.device.type == "cpu"
    assert node.requires_grad and isinstance(node, torch.autograd.graph.Node)
    saved = {name for name in dir(node) if name.startswith("_saved_")}
    assert saved == {"_saved_self", "_saved_other"} and all(getattr(node, name) is x for name in saved)
    node._set_sequence_nr(3)
    assert node._sequence_nr() == 3


@pytest.mark.parametrize("shape", [(3, 2), (4, 3, 2)])
def test_a_linear_layer_is_the_product_that_its_node_names(shape):
    first, second, heard = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1), []
    for name, parameter in (*first.named_parameters("first"), *second.named_parameters("second")):
        parameter.register_hook(lambda grad, name=name: heard.append(name))
    inside = first(torch.ones(shape))
    out = second(inside)
    operands = [node for node, _ in out.grad_fn.next_functions]
    assert out.grad_fn.name() == "AddmmBackward0" and operands[0].variable is second.bias and operands[1] is inside.grad_fn
    out.sum().backward()
    assert heard == ["second.bias", "second.weight", "first.bias", "first.weight"]
    product = torch.nn.functional.linear(inside, second.weight)
    assert product.grad_fn.name() == "MmBackward0" and product.grad_fn.next_functions[0][0] is inside.grad_fn


def test_the_node_of_a_function_has_what_its_ctx_has():
    x = torch.ones(2, requires_grad=True)
    y = Scaled.apply(x, 3)
    node = y.grad_fn
    assert node.saved_tensors[0] is x and node.factor == 3 and node.needs_input_grad == (True, False)
    assert type(node).__name__ == node.name() == "ScaledBackward" and len(node.next_functions) == 1
    assert "factor" in dir(node)
    node.factor = 5
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        node.saved_tensors


def test_anomaly_mode_notes_where_nodes_come_from():
    x = torch.tensor([4.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x.pow(1.5)
        (grad,) = torch.autograd.grad(y, x, create_graph=True)
    assert any("test_nodes.py" in line for line in y.grad_fn.metadata["traceback_"])
    assert grad.grad_fn.metadata["parent_"] is y.grad_fn and "parent_" not in y.grad_fn.metadata


def test_anomaly_mode_tells_whose_backward_failed():
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (grad,) = torch.autograd.grad(Failing.apply(x), x, create_graph=True)
        with pytest.warns(UserWarning) as caught, pytest.raises(RuntimeError, match="second"):
            grad.backward()
    (text,) = (str(w.message) for w in caught)
    assert text.startswith("Error detected in FailingTwiceBackward. Traceback of forward call that caused the error:")
    assert "Previous calculation was induced by FailingBackward. Traceback of forward call that induced" in text
    y = torch.sqrt(torch.tensor([-1.0], requires_grad=True))
    with torch.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="No forward pass information available"):
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            y.backward()


class FailingTwice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("second")


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return FailingTwice.apply(grad * ctx.saved_tensors[0])


def test_what_functions_may_not_return():
    def function(forward, backward=lambda ctx, g: g):
        return type("Own", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got str\)"):
        function(lambda ctx, x: x.clone(), lambda ctx, g: "a").apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables, but argument 0 is of type int"):
        function(lambda ctx, x: (ctx.mark_dirty(3), x.clone())[1]).apply(x)
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable arguments, but got int"):
        function(lambda ctx, x: (ctx.mark_non_differentiable(3), x.clone())[1]).apply(x)
    x.register_hook(lambda grad: grad.double())
    with pytest.raises(RuntimeError, match="hook has changed the type of value"):
        x.sum().backward()
