"""nn.Module itself: attributes, hooks, state dicts, moves, copies."""

import collections
import copy
import gc
import inspect
import io
import pickle
import warnings
import weakref

import pytest

import taeda as torch
from taeda import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.ModuleList([nn.Linear(3, 3), nn.BatchNorm1d(3)])
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)

    def forward(self, x):
        x = self.first(x)
        for module in self.rest:
            x = module(x)
        return x * self.scale


def test_attributes_are_registered():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias", "rest.1.weight", "rest.1.bias"]
    assert list(net.state_dict()) == ["scale", "count", "first.weight", "first.bias", "rest.0.weight", "rest.0.bias",
                                      "rest.1.weight", "rest.1.bias", "rest.1.running_mean", "rest.1.running_var",
                                      "rest.1.num_batches_tracked"]
    assert [n for n, _ in net.named_buffers()][:2] == ["count", "scratch"]
    assert "scale" in dir(net) and "first" in dir(net) and net.scale is net._parameters["scale"]
    net.count = torch.ones(1)
    assert net._buffers["count"] is net.count
    net.first = None
    assert net._modules["first"] is None and "first.weight" not in net.state_dict()
    del net.scale, net.scratch, net.rest
    assert not net._parameters and list(net._modules) == ["first"] and net._non_persistent_buffers_set == set()
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'scale'"):
        net.scale


def test_attributes_change_their_kind():
    net = nn.Module()
    net.x = 3
    net.x = nn.Parameter(torch.ones(1))
    assert "x" not in net.__dict__ and "x" in net._parameters
    net.x = None
    net.y = nn.Linear(1, 1)
    net.y = nn.Linear(1, 2)
    assert net._parameters["x"] is None and net.y.out_features == 2
    net.z = nn.Buffer(torch.ones(2), persistent=False)
    assert "z" in net._buffers and list(net.state_dict()) == ["y.weight", "y.bias"]
    net.t = torch.ones(1)
    assert "t" in net.__dict__


def test_before_init():
    class Late(nn.Module):
        def __init__(self, what):
            self.plain = 1
            self.what = what
    for what, kind in ((nn.Linear(1, 1), "module"), (nn.Parameter(torch.ones(1)), "parameters")):
        with pytest.raises(AttributeError, match=f"cannot assign {kind} before Module.__init__\\(\\) call"):
            Late(what)


def test_classes_with_an_attribute_look_up_of_their_own():
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.Linear(2, 3)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("module"), name)

        def __setattr__(self, name, value):
            super().__setattr__(name, value)

    class Derived(Wrapper):
        pass
    for cls in (Wrapper, Derived):
        assert cls().in_features == 2 and cls().weight.shape == (3, 2) and isinstance(cls().module, nn.Linear)
        with pytest.raises(AttributeError, match="'Linear' object has no attribute 'missing'"):
            cls().missing


def test_mixins_and_properties():
    class Mixin:
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__()
            cls.noted = kwargs

    class Before(Mixin, nn.Module, key=1):
        def forward(self, x):
            return x

    class After(nn.Module, Mixin, key=2):
        limit = 5

        @property
        def broken(self):
            raise AttributeError("inside")

        def forward(self, x):
            return x + self.limit
    assert Before.noted == {"key": 1} and After.noted == {"key": 2}
    assert Before()(3) == 3 and After()(3) == 8
    after = After()
    after.limit = 6
    assert after(3) == 9
    with pytest.raises(AttributeError, match="inside"):
        after.broken


def test_forward_may_be_replaced():
    layer = nn.Linear(2, 2)
    x = torch.ones(1, 2)
    layer.forward = lambda x: x * 2
    assert torch.equal(layer(x), x * 2)
    del layer.forward
    assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias))

    class Flexible(nn.Module):
        def forward(self, *args, key=None, **kwargs):
            return args, key, kwargs
    assert Flexible()(1, 2, key=3, other=4) == ((1, 2), 3, {"other": 4})
    assert Flexible()(*range(12)) == (tuple(range(12)), None, {})


def test_shared_parameters_are_listed_once():
    net = nn.Module()
    net.a, net.b = nn.Linear(2, 2), nn.Linear(2, 2)
    net.b.weight = net.a.weight
    assert [n for n, _ in net.named_parameters()] == ["a.weight", "a.bias", "b.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert "b.weight" in net.state_dict()


def test_state_dicts():
    net, other = Net(), Net()
    state = net.state_dict()
    assert state._metadata["rest.1"] == {"version": 2} and not state["scale"].requires_grad
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert torch.equal(other.first.weight, net.first.weight) and other.first.weight is not net.first.weight
    del state["count"]
    state["more"] = torch.ones(1)
    keys = other.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["count"] and keys.unexpected_keys == ["more"]
    with pytest.raises(RuntimeError, match='Missing.*: "count". \n\tUnexpected key.s. in state_dict: "more". '):
        other.load_state_dict(state)
    mine = {k: v.clone() for k, v in net.state_dict().items()}
    other.load_state_dict(mine, assign=True)
    assert other.first.weight.data_ptr() == mine["first.weight"].data_ptr() and isinstance(other.first.weight, nn.Parameter)


def test_state_dict_hooks_and_extra_state():
    class Extra(nn.Linear):
        def get_extra_state(self):
            return {"a": 1}

        def set_extra_state(self, state):
            self.got = state
    layer = Extra(1, 1)
    assert layer.state_dict()["_extra_state"] == {"a": 1}
    layer.load_state_dict(layer.state_dict())
    assert layer.got == {"a": 1}
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "_extra_state"'):
        layer.load_state_dict(nn.Linear(1, 1).state_dict())
    net = nn.Sequential(nn.Linear(1, 1))
    net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: state.update(
        {prefix + "weight": state.pop(prefix + "old")}))
    seen = []
    net.register_load_state_dict_post_hook(lambda module, keys: seen.append(keys.missing_keys))
    net.register_state_dict_post_hook(lambda module, state, prefix, meta: state.update(more=1))
    net.load_state_dict({"0.old": torch.full((1, 1), 7.0), "0.bias": torch.zeros(1)})
    assert net[0].weight.item() == 7 and seen == [[]] and net.state_dict()["more"] == 1


def test_training_modes_and_gradients():
    net = Net()
    assert net.training and not net.eval().rest[1].training and net.train().rest[1].training
    net(torch.ones(4, 2)).sum().backward()
    assert net.scale.grad is not None
    net.zero_grad(set_to_none=False)
    assert torch.equal(net.scale.grad, torch.zeros(3))
    net.zero_grad()
    assert net.scale.grad is None
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


def test_moves_keep_parameters():
    net = Net()
    before = net.scale
    net(torch.ones(4, 2)).sum().backward()
    assert net.double() is net and net.scale is before and net.scale.dtype == torch.float64
    assert net.scale.grad.dtype == torch.float64 and net.rest[1].num_batches_tracked.dtype == torch.int64
    net.to(torch.float32).half().bfloat16().float()
    assert net.scale.dtype == torch.float32 and net.count.dtype == torch.float32
    assert net.to("cpu", torch.float64).scale.dtype == torch.float64
    assert net.to(torch.ones(1)).scale.dtype == torch.float32
    meta = Net().to("meta")
    assert meta.scale.is_meta
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        meta.to("cpu")
    assert meta.to_empty(device="cpu").scale.device.type == "cpu"
    conv = nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
    assert conv.weight.is_contiguous(memory_format=torch.channels_last)


def test_copies_and_pickles():
    net = Net()
    net.tag = "x"
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert repr(other) == repr(net) and other.tag == "x" and list(other.state_dict()) == list(net.state_dict())
        assert torch.equal(other.first.weight, net.first.weight) and other.first.weight is not net.first.weight
        assert isinstance(other.scale, nn.Parameter) and other.scale.requires_grad
        other.scale.data.zero_()
        assert net.scale[0] == 1
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False).first.weight, net.first.weight)
    shallow = copy.copy(net)
    assert shallow.scale is net.scale


def test_modules_are_freed():
    net = Net()
    net.back = [net]
    net.register_forward_hook(lambda *args: net)
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_hooks_change_what_they_see():
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.data.fill_(1)
    x = torch.ones(1, 1)
    first = layer.register_forward_pre_hook(lambda m, args, kwargs: (args, {"input": kwargs["input"] * 3}), with_kwargs=True)
    assert layer(input=x).item() == 3
    first.remove()
    with layer.register_forward_hook(lambda m, args, out: out + 1):
        assert layer(x).item() == 2
    assert layer(x).item() == 1
    seen = []

    def fail(m, args):
        raise ValueError("stop")
    layer.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    layer.register_forward_pre_hook(fail)
    with pytest.raises(ValueError, match="stop"):
        layer(x)
    assert seen == [None]


def test_backward_hooks_without_input_gradients():
    layer = nn.Linear(2, 2)
    seen = []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].shape)))
    layer(torch.ones(1, 2)).sum().backward()
    assert seen == [((), (1, 2))] or seen == [((None,), (1, 2))]


def test_kinds_of_backward_hooks_do_not_mix():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda *args: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        layer.register_backward_hook(lambda *args: None)


def test_registration_hooks():
    seen = []
    handles = [nn.modules.module.register_module_parameter_registration_hook(lambda m, n, p: seen.append(n)),
               nn.modules.module.register_module_module_registration_hook(lambda m, n, p: seen.append(n)),
               nn.modules.module.register_module_buffer_registration_hook(lambda m, n, p: seen.append(n))]
    Net()
    for handle in handles:
        handle.remove()
    assert seen[:3] == ["weight", "bias", "first"] and seen[-3:] == ["scale", "count", "scratch"]


def test_containers():
    net = nn.Sequential(collections.OrderedDict(a=nn.Linear(1, 2), b=nn.ReLU()))
    assert net.a is net[0] and len(net) == 2 and isinstance(net[:1], nn.Sequential) and list(net[1:]._modules) == ["b"]
    assert net.append(nn.Linear(2, 1))(torch.ones(1, 1)).shape == (1, 1) and list(net._modules) == ["a", "b", "2"]
    del net[0]
    assert list(net._modules) == ["0", "1"] and isinstance(net.insert(1, nn.Tanh())[1], nn.Tanh)
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers += [nn.ReLU()]
    layers.insert(0, nn.Tanh())
    layers[-1] = nn.Sigmoid()
    assert [type(m).__name__ for m in layers] == ["Tanh", "Linear", "Sigmoid"] and isinstance(layers.pop(0), nn.Tanh)
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Tanh()
    assert list(table) == ["a", "b"] and "a" in table and table.pop("a") is not None and len(table) == 1
    values = nn.ParameterList([torch.ones(1)])
    values.append(torch.zeros(2))
    assert len(values) == 2 and isinstance(values[1], nn.Parameter) and list(values.state_dict()) == ["0", "1"]
    named = nn.ParameterDict({"x": torch.ones(1)}) | nn.ParameterDict({"y": torch.ones(2)})
    assert list(named.keys()) == ["x", "y"] and named.get("z") is None and len(list(named.parameters())) == 2
    for container in (net, layers, table, values, named):
        other = copy.deepcopy(container)
        assert repr(other) == repr(container)


def test_lazy_modules():
    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    assert nn.parameter.is_lazy(net[0].weight)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        net[0].weight.shape
    first = net[0].weight
    net(torch.ones(2, 3, 5, 5))
    assert type(net[0]) is nn.Conv2d and net[0].weight is first and type(first) is nn.Parameter and net[3].in_features == 36
    other = nn.Sequential(nn.LazyLinear(2))
    other.load_state_dict(nn.Sequential(nn.Linear(3, 2)).state_dict())
    assert other[0].weight.shape == (2, 3)


def test_backward_hooks_let_go_of_their_graph():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda *args: None)
    layer.register_full_backward_pre_hook(lambda *args: None)
    x = torch.ones(1, 2, requires_grad=True)
    out = layer(x)
    gone = weakref.ref(out)
    out.sum().backward()
    del out
    gc.collect()
    assert gone() is None


def test_order_of_parameters_in_a_dict():
    two = {"b": nn.Parameter(torch.ones(1)), "a": nn.Parameter(torch.ones(1))}
    assert list(nn.ParameterDict(two)) == ["a", "b"] and list(nn.ParameterDict(two.items())) == ["b", "a"]
    assert list(nn.ParameterDict(nn.ParameterDict(two.items()))) == ["b", "a"] and list(nn.ModuleDict(
        {"b": nn.ReLU(), "a": nn.ReLU()})) == ["b", "a"]


def test_volumes_have_a_memory_format():
    x = torch.randn(2, 3, 4, 5, 6)
    last = x.to(memory_format=torch.channels_last_3d)
    assert last.stride() == (360, 1, 90, 18, 3) and last.is_contiguous(memory_format=torch.channels_last_3d)
    assert not last.is_contiguous() and last.equal(x) and repr(torch.channels_last_3d) == "torch.channels_last_3d"
    for made in (last.clone(), torch.empty_like(last), last + 1, last.double(),
                 torch.nn.functional.interpolate(last, scale_factor=2), torch.nn.functional.max_pool3d(last, 2),
                 torch.empty(2, 3, 4, 5, 6, memory_format=torch.channels_last_3d)):
        assert made.is_contiguous(memory_format=torch.channels_last_3d)
    net = torch.nn.Sequential(torch.nn.Conv3d(3, 4, 2), torch.nn.BatchNorm3d(4), torch.nn.ReLU(), torch.nn.MaxPool3d(2))
    want = net(x)
    net.to(memory_format=torch.channels_last_3d)
    assert net[0].weight.stride() == (24, 1, 12, 6, 3)
    got = net(last)
    assert got.is_contiguous(memory_format=torch.channels_last_3d)
    torch.testing.assert_close(got, want)
    file = io.BytesIO()
    torch.save((last, torch.channels_last_3d), file)
    file.seek(0)
    loaded, known = torch.load(file)
    assert loaded.stride() == last.stride() and known is torch.channels_last_3d
    with pytest.raises(RuntimeError, match="required rank 5 tensor to use channels_last_3d format"):
        x[0].contiguous(memory_format=torch.channels_last_3d)


def test_a_module_that_is_kept_and_not_registered():
    """As a student keeps its teacher: by object.__setattr__, which registers nothing."""
    student, teacher = nn.Linear(2, 2), nn.Linear(3, 3)
    object.__setattr__(student, "teacher", teacher)
    assert student.teacher is teacher and list(student.modules()) == [student] and len(student.state_dict()) == 2
    object.__delattr__(student, "teacher")
    assert not hasattr(student, "teacher")

    class Own(nn.Module):
        def __setattr__(self, name, value):
            super().__setattr__(name.lower(), value)
    own = Own()
    own.PART = teacher
    nn.Module.__setattr__(own, "other", teacher)
    assert list(own._modules) == ["part", "other"]
    del own.part
    assert list(own._modules) == ["other"]


def test_a_compiled_module_names_its_state_as_pytorch_does():
    module = nn.Linear(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.compile(module)
        assert torch.compile(len) is len
    assert list(made.state_dict()) == [name for name, _ in made.named_parameters()] == ["_orig_mod.weight", "_orig_mod.bias"]
    x = torch.rand(3, 2)
    assert made._orig_mod is module and torch.equal(made(x), module(x)) and made.in_features == 2
    made.scale = 3
    assert module.scale == made.scale == 3 and not made.eval().training and not module.training
    assert not isinstance(made, nn.Linear) and isinstance(made, torch._dynamo.OptimizedModule)
    assert str(made.load_state_dict(made.state_dict())) == "<All keys matched successfully>"
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert torch.equal(again(x), made(x)) and again._orig_mod is not module
    del made.scale
    assert not hasattr(module, "scale")
    made._orig_mod = other = nn.Linear(2, 3)
    assert made._orig_mod is other and made(x).shape == (3, 3) and "_orig_mod" not in dict(module.named_children())


def test_attributes_of_subclasses_follow_pythons_rules():
    """A `__getattr__` of a class of its own is asked for parameters, buffers and modules, too, whenever it was set."""
    asked = []

    class Watched(nn.Linear):
        def __getattr__(self, name):
            asked.append(name)
            return super().__getattr__(name)
    layer = Watched(2, 2)
    asked.clear()
    layer(torch.ones(2))
    assert asked == ["weight", "bias"] and layer.in_features == 2

    class Plain(nn.Linear):
        pass
    plain = Plain(2, 2)
    assert plain.weight.shape == (2, 2)
    Plain.__getattr__ = lambda self, name: 3
    assert plain.weight == 3 and plain.in_features == 2
    del Plain.__getattr__
    assert plain.weight.shape == (2, 2)
    with pytest.raises(AttributeError, match="'Plain' object has no attribute 'nothing'"):
        plain.nothing
    with pytest.raises(AttributeError):
        object.__getattribute__(plain, "weight")


def test_calls_of_subclasses_follow_pythons_rules():
    assert str(inspect.signature(nn.Linear(2, 2))) == "(*args, **kwargs)"
    assert list(inspect.signature(nn.Linear).parameters)[:2] == ["in_features", "out_features"]

    class Doubled(nn.Identity):
        def __call__(self, x):
            return 2 * super().__call__(x)
    assert Doubled()(3) == 6 and nn.Module.__call__(Doubled(), 3) == 3
    nn.Identity.__call__ = lambda self, x: "replaced"
    assert nn.Identity()(3) == "replaced"
    del nn.Identity.__call__
    assert nn.Identity()(3) == 3
