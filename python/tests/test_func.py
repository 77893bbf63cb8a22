"""torch.func, torch._foreach_*, and devices as contexts."""

import copy
import pickle

import pytest

import taeda as torch
from taeda import nn
from taeda.func import functional_call, grad, grad_and_value, hessian, jacfwd, jvp, stack_module_state, vmap


def _loss(params, x):
    return (x @ params["w"] + params["rest"][0]).pow(2).sum()


def test_gradients_have_the_structure_of_arguments():
    params = {"w": torch.tensor([1.0, 2]), "rest": [torch.tensor(3.0)]}
    found = grad(_loss)(params, torch.tensor([[1.0, 1]]))
    assert found["w"].tolist() == [12, 12] and found["rest"][0].item() == 12
    found, value = grad_and_value(_loss)(params, torch.tensor([[1.0, 1]]))
    assert value == 36 and not params["w"].requires_grad


def test_gradients_of_each_sample():
    params = {"w": torch.tensor([1.0, 2]), "rest": [torch.tensor(3.0)]}
    found = vmap(grad(_loss), in_dims=(None, 0))(params, torch.tensor([[1.0, 0], [0, 1]]))
    assert found["w"].tolist() == [[8, 0], [0, 10]] and found["rest"][0].tolist() == [8, 10]


def test_ensembles():
    models = [nn.Linear(3, 2) for _ in range(3)]
    params, buffers = stack_module_state(models)
    base, x = copy.deepcopy(models[0]).to("meta"), torch.randn(4, 3)
    found = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)
    torch.testing.assert_close(found, torch.stack([model(x) for model in models]))
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])


def test_second_and_forward_derivatives():
    x = torch.tensor([1.0, 2])
    assert hessian(lambda x: x.pow(3).sum())(x).tolist() == [[6, 0], [0, 12]]
    assert jacfwd(lambda x: x * x)(x).tolist() == [[2, 0], [0, 4]]
    assert grad(grad(lambda x: x ** 3))(torch.tensor(2.0)) == 12
    value, along = jvp(lambda x: x * x, (x,), (torch.ones(2),))
    assert value.tolist() == [1, 4] and along.tolist() == [2, 4]


def test_vmap_maps_outputs_of_any_structure():
    found = vmap(lambda x, y: {"sum": x + y, "pair": (x, y)}, in_dims=(0, None), out_dims=0)(torch.arange(3), torch.tensor(1))
    assert found["sum"].tolist() == [1, 2, 3] and found["pair"][1].tolist() == [1, 1, 1]
    assert vmap(lambda x: x * 2, in_dims=1, out_dims=1)(torch.ones(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match="same size"):
        vmap(torch.add)(torch.ones(2), torch.ones(3))
    with pytest.raises(ValueError, match="no tensor to map"):
        vmap(torch.neg, in_dims=None)(torch.ones(2))


def test_lists_of_tensors():
    lists = [torch.ones(2), torch.full((3,), 2.0)]
    torch._foreach_add_(lists, 1)
    assert [t.tolist() for t in lists] == [[2, 2], [3, 3, 3]]
    assert [t.tolist() for t in torch._foreach_mul(lists, [2.0, 10.0])] == [[4, 4], [30, 30, 30]]
    assert [t.item() for t in torch._foreach_norm([torch.tensor([3.0, 4])])] == [5]
    torch._foreach_addcdiv_(lists, lists, lists, value=-1)
    torch._foreach_lerp_(lists, [torch.zeros(2), torch.zeros(3)], 0.5)
    assert [t.tolist() for t in lists] == [[0.5, 0.5], [1, 1, 1]]
    assert [t.tolist() for t in torch._foreach_addcmul(lists, lists, lists, [1.0, 2.0])] == [[0.75, 0.75], [3, 3, 3]]
    torch._foreach_add_(lists, [torch.ones(2), torch.ones(3)], alpha=2)
    assert lists[1].tolist() == [3, 3, 3] and torch._foreach_maximum(lists, 2.75)[0].tolist() == [2.75, 2.75]
    with pytest.raises(RuntimeError, match="same number"):
        torch._foreach_add(lists, [1.0])


def test_devices_are_contexts():
    empty = torch.empty
    with torch.device("meta") as device:
        layer, like = nn.Linear(2, 2), torch.zeros_like(torch.ones(2, device="cpu"))
        assert device.type == "meta" and layer.weight.is_meta and torch.arange(3).is_meta and torch.tensor([1]).is_meta
        assert like.device.type == "cpu" and torch.get_default_device().type == "meta"
        with torch.device("cpu"):
            assert not torch.ones(2).is_meta
        assert torch.ones(2).is_meta
    assert not torch.ones(2).is_meta and torch.empty is empty
    with pytest.raises(KeyError), torch.device("meta"):
        raise KeyError
    assert not torch.rand(2).is_meta
    assert not layer.to_empty(device="cpu").weight.is_meta


class Named(torch.Tensor):
    """A class of a program's own."""


def test_pickles_keep_what_a_program_set():
    plain, param = torch.ones(2), nn.Parameter(torch.zeros(2))
    plain.tag, param.tag = "a", "b"
    again = pickle.loads(pickle.dumps(plain))
    assert again.tag == "a" and again.tolist() == [1, 1]
    again = pickle.loads(pickle.dumps(param))
    assert again.tag == "b" and isinstance(again, nn.Parameter)
    named = torch.ones(2).as_subclass(Named)
    assert type(pickle.loads(pickle.dumps(named))) is Named


def test_files_keep_what_a_program_set(tmp_path):
    plain = torch.ones(2)
    plain.tag = "a"
    torch.save({"x": plain}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt")["x"].tag == "a"
    torch.save(nn.Linear(2, 2), tmp_path / "layer.pt")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(tmp_path / "layer.pt")
    with torch.serialization.safe_globals([nn.Linear]):
        assert isinstance(torch.load(tmp_path / "layer.pt"), nn.Linear)


def test_nodes_have_classes_of_their_names():
    y = torch.ones(1, requires_grad=True) * 2
    assert type(y.grad_fn).__name__ == "MulBackward0" and isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert y.grad_fn == y.grad_fn and type(y.grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"
    with pytest.raises(TypeError, match="cannot create"):
        type(y.grad_fn)()


def test_einsum_takes_lists_of_dimensions():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.einsum(x, [0, 1], [1, 0]).tolist() == x.T.tolist()
    assert torch.einsum(x, [0, 1], x, [0, 1]).item() == 55
    assert torch.einsum(x, [..., 30], [...]).tolist() == [3, 12]
    with pytest.raises(ValueError, match="within the valid range"):
        torch.einsum(x, [0, 52])


def test_a_whole_factor_does_not_wrap_bytes():
    from taeda.vision.transforms import functional
    picture = torch.full((3, 4, 4), 200, dtype=torch.uint8)
    assert functional.adjust_sharpness(picture, 2).unique().tolist() == [200]
    assert functional.adjust_brightness(picture, 2).unique().tolist() == [255]


def test_pictures_of_pil_are_enhanced_by_pil(monkeypatch):
    """Its rounding differs from that of arithmetic on tensors; here something else stands in its place."""
    import sys
    import types

    from taeda.vision.transforms import functional
    calls = []

    def enhancer(kind):
        return lambda img: types.SimpleNamespace(enhance=lambda factor: calls.append((kind, factor)) or img)
    pil, enhance = types.ModuleType("PIL"), types.ModuleType("PIL.ImageEnhance")
    for kind in ("Brightness", "Contrast", "Color", "Sharpness"):
        setattr(enhance, kind, enhancer(kind))
    pil.ImageEnhance = enhance
    monkeypatch.setitem(sys.modules, "PIL", pil)
    monkeypatch.setitem(sys.modules, "PIL.ImageEnhance", enhance)
    picture = type("Image", (), {"__module__": "PIL.Image"})()
    assert functional.adjust_brightness(picture, 2) is picture
    assert functional.adjust_contrast(picture, contrast_factor=0.5) is picture
    functional.adjust_saturation(picture, 1.5), functional.adjust_sharpness(picture, 0)
    assert calls == [("Brightness", 2), ("Contrast", 0.5), ("Color", 1.5), ("Sharpness", 0)]
    with pytest.raises(ValueError, match="negative"):
        functional.adjust_brightness(picture, -1)


def test_pictures_of_pil_are_resized_by_pil(monkeypatch):
    import sys
    import types

    from taeda.vision.transforms import InterpolationMode, functional
    calls = []
    kind = type("Image", (), {"__module__": "PIL.Image", "width": 40, "height": 20, "getbands": lambda self: "RGB",
                              "resize": lambda self, *given: calls.append(given)})
    module = types.ModuleType("PIL.Image")
    module.Image, picture = kind, kind()
    monkeypatch.setitem(sys.modules, "PIL.Image", module)
    functional.resize(picture, 10)
    functional.resize(picture, (5, 6), InterpolationMode.NEAREST)
    assert calls == [((20, 10), 2), ((6, 5), 0)]
