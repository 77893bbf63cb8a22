"""torch.fx: tracing, graphs and the modules made of them."""

import copy
import io
import math
import operator
import pickle

import pytest
import taeda as torch
from taeda import fx, nn
from taeda.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 5)
        self.p = nn.Parameter(torch.rand(3, 4))
        self.seq = nn.Sequential(nn.Linear(5, 5), nn.ReLU())

    def forward(self, x, scale: float = 2.0):
        y = self.lin(x + self.p).clamp(min=0.0, max=1.0)
        z = F.relu(self.seq(y)) * scale
        return torch.cat([z, y], dim=-1).view(z.size(0), -1), {"k": z[:, 1:2], "q": x.T}


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x, y=None, *, z=3):
        return torch.relu(self.lin(x)) + self.lin.weight.sum() * z


def code_of(function, **kwargs):
    return fx.symbolic_trace(function, **kwargs).code


CODE = """


def forward(self, x, scale : float = 2.0):
    p = self.p
    add = x + p;  p = None
    lin = self.lin(add);  add = None
    clamp = lin.clamp(min = 0.0, max = 1.0);  lin = None
    seq_0 = getattr(self.seq, "0")(clamp)
    seq_1 = getattr(self.seq, "1")(seq_0);  seq_0 = None
    relu = torch.nn.functional.relu(seq_1, inplace = False);  seq_1 = None
    mul = relu * scale;  relu = scale = None
    cat = torch.cat([mul, clamp], dim = -1);  clamp = None
    size = mul.size(0)
    view = cat.view(size, -1);  cat = size = None
    getitem = mul[(slice(None, None, None), slice(1, 2, None))];  mul = None
    getattr_1 = x.T;  x = None
    return (view, {'k': getitem, 'q': getattr_1})
    """


def test_the_code_of_a_module():
    assert fx.symbolic_trace(Net()).code == CODE


def test_a_traced_module_computes_the_same():
    net = Net()
    traced = fx.symbolic_trace(net)
    x = torch.rand(3, 4)
    expected, made = net(x, 3.0), traced(x, 3.0)
    assert torch.equal(made[0], expected[0]) and torch.equal(made[1]["q"], expected[1]["q"])
    assert torch.equal(traced(x)[0], net(x)[0])
    assert set(traced.state_dict()) == set(net.state_dict()) and traced.lin.weight is net.lin.weight
    traced(x)[0].sum().backward()
    assert net.p.grad is not None
    assert type(traced).__name__ == "Net" and isinstance(traced, fx.GraphModule)


def test_nodes():
    graph = fx.symbolic_trace(Net()).graph
    nodes = {n.name: n for n in graph.nodes}
    assert [n.op for n in graph.nodes][:5] == ["placeholder", "placeholder", "get_attr", "call_function", "call_module"]
    add = nodes["add"]
    assert add.target is operator.add and add.args == (nodes["x"], nodes["p"]) and add.kwargs == {}
    assert list(nodes["x"].users) == [add, nodes["getattr_1"]] and add.all_input_nodes == [nodes["x"], nodes["p"]]
    assert nodes["relu"].target is F.relu and nodes["relu"].kwargs == {"inplace": False}
    assert nodes["seq_0"].target == "seq.0" and nodes["clamp"].op == "call_method" and nodes["clamp"].target == "clamp"
    assert nodes["scale"].args == (2.0,) and nodes["scale"].type is float
    assert add.format_node() == "%add : [num_users=1] = call_function[target=operator.add](args = (%x, %p), kwargs = {})"
    assert str(graph).startswith("graph():\n    %x : [num_users=2] = placeholder[target=x]\n    %scale : float [num_users=1] = "
                                 "placeholder[target=scale](default=2.0)\n    %p : [num_users=1] = get_attr[target=p]\n")
    assert len(graph.nodes) == len(list(graph.nodes)) and list(reversed(graph.nodes))[0].op == "output"
    assert nodes["x"].next is nodes["scale"] and nodes["add"] < nodes["mul"] and graph.output_node().op == "output"
    assert graph.find_nodes(op="call_function", target=torch.cat) == [nodes["cat"]]
    with pytest.raises(TypeError, match="does not support mutation"):
        nodes["cat"].args[0].append(1)


EXPRESSIONS = [
    (lambda x: 2 - x / 3 ** x // 2 - x @ x & ~x, "and_ = sub_1 & invert"),
    (lambda x: torch.ones(3) + x, "_tensor_constant0.add(x)"),
    (lambda x: F.gelu(F.linear(x, torch.ones(2, 2))), "torch._C._nn.gelu(linear)"),
    (lambda x: torch.zeros(3, dtype=torch.float64, device=x.device) + x.to(torch.float32),
     "torch.zeros(3, dtype = torch.float64, device = getattr_1)"),
    (lambda x: torch.where(x > 0, x, 0 * x), "torch.where(gt, x, mul)"),
    (lambda x: abs(x) + -x, "neg = -x"),
    (lambda x: torch.max(x, 1)[0], "max_1 = torch.max(x, 1)"),
    (lambda x: math.sqrt(x.size(0)), "math_sqrt(size)"),
    (lambda x: x * float("inf"), "x * inf"),
    (lambda x: x.to(torch.device("cpu")), "x.to(device(type='cpu'))"),
    (lambda x: x.new_zeros(torch.Size([2, 3])), "x.new_zeros((2, 3))"),
    (lambda x: torch.ones(5)[x], "__getitem__(x)"),
    (lambda x: torch.arange(x.shape[0]), "torch.arange(getitem)"),
    (lambda x: torch.zeros((x.shape[0], 3)), "torch.zeros((getitem, 3))"),
    (lambda x: torch.full((x.shape[0], 3), 1.0), "torch.full((getitem, 3), 1.0)"),
    (lambda x: torch.ones(2, 3).view(-1, x.shape[0]), "_tensor_constant0.view(-1, getitem)"),
    (lambda x: x.foo.bar(3), "getattr_1.bar(3)"),
    (lambda x: x.add_(1), "x.add_(1)"),
    (lambda x: F.max_pool2d(x, 2), "max_pool2d(x, 2, stride = None, padding = 0, dilation = 1, ceil_mode = False, "
                                   "return_indices = False)"),
    (lambda x: F.batch_norm(x, torch.zeros(3), torch.ones(3), training=True), "training = True, momentum = 0.1, eps = 1e-05)"),
    (lambda input, device: input + device, "def forward(self, input, device):\n    input_1 = input\n    device_1 = device\n"),
]


@pytest.mark.parametrize("function, expected", EXPRESSIONS)
def test_expressions(function, expected):
    assert expected in code_of(function)


def test_numbers_from_shapes_in_indices():
    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("pe", torch.rand(1, 5, 3))

        def forward(self, x):
            return x + self.pe[:, :x.size(1)]
    module = Positions()
    traced = fx.symbolic_trace(module)
    x = torch.rand(1, 4, 3)
    assert torch.equal(traced(x), module(x))


def test_control_flow_is_an_error_that_says_so():
    def branches(x):
        return x if x.sum() > 0 else -x
    for function in (branches, lambda x: [row for row in x], lambda x: torch.cat(*x), lambda x: {**x}):
        with pytest.raises(fx.proxy.TraceError):
            fx.symbolic_trace(function)
    with pytest.raises(fx.proxy.TraceError, match="cannot be used as inputs to control flow"):
        fx.symbolic_trace(branches)
    with pytest.raises(RuntimeError, match="'len' is not supported in symbolic tracing"):
        fx.symbolic_trace(lambda x: len(x))
    for function in (lambda x: range(x), lambda x: int(x)):
        with pytest.raises(TypeError):
            fx.symbolic_trace(function)
    # The package is as before.
    assert F.relu(torch.ones(2)).tolist() == [1, 1] and type(nn.Linear(2, 2).weight) is nn.Parameter


def test_unpacking_to_names():
    def swapped(x):
        a, b = x
        return b - a
    assert fx.symbolic_trace(swapped)((torch.ones(1), torch.zeros(1))).item() == -1


def test_inputs():
    traced = fx.symbolic_trace(lambda x, *a, **k: torch.add(x, a[0], alpha=k["z"]))
    assert "def forward(self, x, *a, **k):\n    _a = a\n    _k = k\n" in traced.code
    assert traced(torch.ones(1), torch.ones(1), z=3).item() == 4
    small = Small()
    traced = fx.symbolic_trace(small)
    x = torch.rand(2, 3)
    assert "def forward(self, x, y = None, z = 3):" in traced.code and torch.equal(traced(x, z=2), small(x, z=2))


def flagged(x, training):
    return x * 2 if training else x * 3


def test_concrete_args():
    traced = fx.symbolic_trace(flagged, concrete_args={"training": False})
    assert "eq = training_1 == False" in traced.code and traced(torch.ones(1), False).item() == 3
    with pytest.raises(AssertionError, match="training has been specialized to have value False but got another value"):
        traced(torch.ones(1), True)
    traced = fx.symbolic_trace(lambda x, y=None: x if y is None else x + y, concrete_args={"y": None})
    assert traced(torch.ones(1)).item() == 1
    traced = fx.symbolic_trace(lambda d: d["a"] + d["b"][0], concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
    assert traced({"a": torch.ones(1), "b": [torch.ones(1)]}).item() == 2


def test_leaf_modules_and_tracers():
    class Deep(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False
    net = Small()
    graph = Deep().trace(net)
    assert not graph.find_nodes(op="call_module") and "linear" in [n.name for n in graph.nodes]
    module = fx.GraphModule(net, graph)
    x = torch.rand(2, 3)
    assert torch.equal(module(x), net(x)) and "lin_weight = self.lin.weight" in module.code
    assert graph.find_nodes(op="call_function")[0].meta["nn_module_stack"]

    class Renaming(fx.Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            node.meta["seen"] = True
            return node
    assert all(n.meta["seen"] for n in Renaming().trace(net).nodes)


def test_modules_are_as_fast_as_before():
    before = type(nn.Linear(1, 1)).__getattribute__
    fx.symbolic_trace(Small())
    assert nn.Module.__getattribute__ is before and not {"__call__", "__getattribute__"} & set(vars(nn.Module))

    class Later(nn.Module):
        def forward(self, x):
            return x
    assert Later()(1) == 1


def test_look_ups_are_the_extensions_again(run_python):
    """Not the slower ones that tracing puts in their place, also for classes that were made meanwhile."""
    print(run_python("""
import ctypes
import taeda as torch
from taeda import fx, nn


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x):
        class Inner(nn.Module):
            pass
        Own.inner = Inner()
        return x + self.w


def look_up(cls):
    # tp_getattro of PyTypeObject, the nineteenth word of it.
    return ctypes.c_void_p.from_address(id(cls) + 18 * ctypes.sizeof(ctypes.c_void_p)).value


class Slow(nn.Module):
    def __getattr__(self, name):
        return super().__getattr__(name)


fast = look_up(nn.Module)
assert fast and look_up(Own) == fast and look_up(Slow) != fast
fx.symbolic_trace(Own())
assert look_up(nn.Module) == fast and look_up(Own) == fast and look_up(type(Own.inner)) == fast
"""))


def test_changing_a_graph():
    def function(x, y):
        return torch.add(x, y) * 2
    traced = fx.symbolic_trace(function)
    for node in traced.graph.nodes:
        if node.target is torch.add:
            node.target = torch.sub
    traced.graph.lint()
    assert traced.recompile() is not None and traced(torch.ones(1), torch.ones(1)).item() == 0
    sub, = traced.graph.find_nodes(op="call_function", target=torch.sub)
    with traced.graph.inserting_after(sub):
        new = traced.graph.call_function(torch.neg, (sub,))
        sub.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    traced.recompile()
    assert "neg = torch.neg(add)" in traced.code
    assert traced(torch.ones(1), torch.zeros(1)).item() == -2
    with pytest.raises(RuntimeError, match="still had 1 users"):
        traced.graph.erase_node(new)
    new.replace_all_uses_with(sub)
    traced.graph.erase_node(new)
    assert new not in list(traced.graph.nodes)
    sub.update_arg(1, 5)
    sub.update_kwarg("alpha", 2)
    sub.insert_arg(2, 1)
    assert sub.args == (sub.args[0], 5, 1) and sub.kwargs == {"alpha": 2}
    sub.args, sub.kwargs = sub.args[:2], {}
    assert not [n for n in traced.graph.nodes if n.name == "y"][0].users


def test_building_a_graph():
    graph = fx.Graph()
    x = graph.placeholder("x")
    w = graph.get_attr("w")
    y = graph.call_function(torch.mul, (x, w))
    dead = graph.call_method("relu", (y,))
    z = graph.call_module("inner.act", (y,))
    graph.output((z, [y]))
    graph.lint()
    module = fx.GraphModule({"w": nn.Parameter(torch.full((1,), -3.0)), "inner.act": nn.ReLU()}, graph)
    made = module(torch.ones(1))
    assert made[0].item() == 0 and made[1][0].item() == -3 and isinstance(module.w, nn.Parameter)
    assert module.graph.eliminate_dead_code() and dead not in list(module.graph.nodes)
    assert not module.graph.eliminate_dead_code()
    y.prepend(z)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    y.append(z)
    other = fx.Graph()
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        other.call_function(torch.neg, (x,)), other.lint()
    with pytest.raises(RuntimeError, match="was not provided"):
        fx.GraphModule({}, module.graph)
    joined = fx.Graph()
    values = {}
    joined.output(joined.graph_copy(module.graph, values))
    joined.lint()
    assert len(joined.nodes) == len(module.graph.nodes)


def test_proxies_add_to_a_graph():
    traced = fx.symbolic_trace(lambda x: x * 2)
    mul = [n for n in traced.graph.nodes if n.op == "call_function"][0]
    with traced.graph.inserting_after(mul):
        made = torch.relu(fx.Proxy(mul)) + 1
    traced.graph.output_node().args = (made.node,)
    traced.recompile()
    assert traced(torch.full((1,), -1.0)).item() == 1


def test_copies_and_pickles():
    net = Net().eval()
    traced = fx.symbolic_trace(net)
    x = torch.rand(3, 4)
    for made in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced)):
        assert made.code == traced.code and torch.equal(made(x)[0], traced(x)[0]) and not made.training
        assert isinstance(made, fx.GraphModule) and type(made).__name__ == "Net"
    changed = copy.deepcopy(traced)
    changed.lin.weight.data.zero_()
    for node in changed.graph.nodes:
        if node.target is F.relu:
            node.target = F.gelu
            node.kwargs = {}
    changed.recompile()
    assert traced.code == CODE and changed.code != CODE and net.lin.weight.abs().sum() > 0
    file = io.BytesIO()
    torch.save(traced, file)
    file.seek(0)
    assert torch.load(file, weights_only=False).code == CODE
    graph = copy.deepcopy(traced.graph)
    assert str(graph) == str(traced.graph) and graph.owning_module is None


def test_texts(capsys):
    traced = fx.symbolic_trace(Small())
    text = traced.print_readable(print_output=False)
    assert text.startswith("class Small(torch.nn.Module):\n    def forward(self, x, y = None, z = 3):\n")
    assert "        lin = self.lin(x)" in text and capsys.readouterr().out == ""
    assert str(traced).startswith("Small(\n  (lin): Linear(in_features=3, out_features=3, bias=True)\n)")
    assert traced.code in str(traced)
    traced.graph.print_tabular()
    assert capsys.readouterr().out.startswith("opcode")


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.inner = Small()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_modules_in_a_graph_module():
    traced = fx.symbolic_trace(Outer())
    assert [n.target for n in traced.graph.nodes if n.op == "call_module"] == ["layers.0", "layers.1"]
    assert not hasattr(traced, "inner")
    assert traced.add_submodule("extra.act", nn.ReLU()) and isinstance(traced.extra.act, nn.ReLU)
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "extra") and hasattr(traced.layers, "1")
    assert traced.delete_submodule("layers.1") and not traced.delete_submodule("layers.7")
    with pytest.raises(RuntimeError, match="nonexistent"):
        traced.graph.lint()


def test_interpreter():
    net = Net()
    traced = fx.symbolic_trace(net)
    x = torch.rand(3, 4)
    assert torch.equal(fx.Interpreter(traced).run(x)[0], net(x)[0])

    class Swaps(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sigmoid if target is torch.neg else target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return args[0].sigmoid() if target == "neg" else super().call_method(target, args, kwargs)
    traced = fx.symbolic_trace(lambda x: torch.neg(x) + x.neg())
    assert torch.allclose(Swaps(traced).run(x), x.sigmoid() * 2)
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        fx.Interpreter(traced).run()
    with pytest.raises(RuntimeError, match="While executing %neg"):
        fx.Interpreter(fx.symbolic_trace(lambda x: torch.neg(x) @ x)).run(torch.ones(2, dtype=torch.bool))


def test_transformer():
    class NegSigmSwap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is torch.sigmoid else target, args, kwargs)
    traced = fx.symbolic_trace(lambda x: torch.sigmoid(x) * 2)
    made = NegSigmSwap(traced).transform()
    x = torch.rand(3)
    assert torch.equal(made(x), x.neg() * 2) and isinstance(made, fx.GraphModule)
    net = Net()
    y = torch.rand(3, 4)
    assert torch.equal(fx.Transformer(fx.symbolic_trace(net)).transform()(y)[0], net(y)[0])


def looked_at(x):
    return x + len(x.shape)


fx.wrap("looked_at")


@fx.wrap
def hidden(x):
    return x * 2 if x.sum() > 0 else x


def test_wrap():
    def function(x):
        return hidden(looked_at(x)) * 2
    traced = fx.symbolic_trace(function)
    assert [n.target for n in traced.graph.nodes if n.op == "call_function"][:2] == [looked_at, hidden]
    assert traced(torch.ones(2)).tolist() == [8, 8] and hidden(torch.ones(1)).item() == 2
    again = fx.symbolic_trace(traced)
    assert again(torch.ones(2)).tolist() == [8, 8]
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("hidden")


def test_replace_pattern():
    def function(x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w1, w2]).sum()
        return x + torch.max(m1) + torch.max(m2)
    traced = fx.symbolic_trace(function)
    matches = fx.replace_pattern(traced, lambda w1, w2: torch.cat([w1, w2]).sum(), lambda w1, w2: torch.stack([w1, w2]))
    assert len(matches) == 2 and traced.code.count("torch.stack") == 2 and "torch.cat" not in traced.code
    assert matches[0].anchor.target == "sum" and len(matches[0].nodes_map) >= 3
    made = traced(torch.zeros(1), torch.ones(2), torch.full((2,), 2.0))
    assert made.item() == 4
    chain = fx.symbolic_trace(lambda x: torch.relu(torch.relu(torch.relu(x))))
    fx.replace_pattern(chain, lambda x: torch.relu(x), lambda x: torch.neg(x))
    assert chain(torch.ones(1)).item() == -1
    kept = fx.symbolic_trace(lambda x: (torch.relu(x) + 1, torch.relu(x)))
    assert not fx.replace_pattern(kept, lambda x: torch.relu(x) + 2, lambda x: x)


def test_shapes():
    from taeda.fx.passes.shape_prop import ShapeProp
    traced = fx.symbolic_trace(Net())
    ShapeProp(traced).propagate(torch.rand(3, 4))
    nodes = {n.name: n for n in traced.graph.nodes}
    known = nodes["lin"].meta["tensor_meta"]
    assert known.shape == (3, 5) and known.dtype is torch.float32 and known.requires_grad and known.stride == (5, 1)
    assert known.memory_format is torch.contiguous_format and nodes["size"].meta["type"] is int
    assert nodes["output"].meta["tensor_meta"][1]["q"].shape == (4, 3)


def test_fuse():
    from taeda.fx.experimental.optimization import fuse, remove_dropout
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout(0.5))
    for _ in range(3):
        net(torch.rand(4, 2, 5, 5))
    net.eval()
    fused = fuse(net)
    x = torch.rand(1, 2, 5, 5)
    assert torch.allclose(fused(x), net(x), atol=1e-6)
    assert not [m for m in fused.modules() if isinstance(m, nn.BatchNorm2d)] and isinstance(net[1], nn.BatchNorm2d)
    assert not [m for m in remove_dropout(net).modules() if isinstance(m, nn.Dropout)]


def test_models_trace_whole():
    from taeda.vision import models
    model = models.resnet18().eval()
    traced = fx.symbolic_trace(model)
    x = torch.rand(1, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(traced(x), model(x))
        fused = fx.experimental.optimization.fuse(model) if hasattr(fx.experimental, "optimization") else traced
        assert torch.allclose(fused(x), model(x), atol=1e-4)
    assert sum(n.op == "call_module" for n in traced.graph.nodes) == 60


def test_structures():
    from taeda.utils import _pytree
    tree = {"a": [1, (2, 3)], "b": None}
    leaves, spec = _pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, None] and _pytree.tree_unflatten(leaves, spec) == tree
    assert _pytree.tree_map(lambda x: x and x + 1, tree) == {"a": [2, (3, 4)], "b": None}
    assert _pytree.tree_map_only(int, str, [1, "x"]) == ["1", "x"]


def test_containers_of_classes_of_a_programs_own():
    from taeda._core import pytree

    class Bag(dict):
        pass
    bag = Bag(a=[1, torch.Size([2])], b={"c": 3})
    assert pytree.tree_leaves(bag) == [bag] and list(pytree.leaves_of(bag)) == [1, 2, 3]
    made = pytree.mapped(lambda n: n + 1, bag)
    assert made == {"a": [2, (3,)], "b": {"c": 4}} and type(made) is Bag and type(made["a"][1]) is torch.Size
    assert pytree.mapped(len, [bag, "ab"], is_leaf=lambda value: isinstance(value, dict)) == [2, 2]


def test_a_place_for_new_nodes_counts_from_the_call_on():
    traced = fx.symbolic_trace(lambda x: x.relu() + 1)
    graph = traced.graph
    relu = next(node for node in graph.nodes if node.target == "relu")
    place = graph.inserting_after(relu)
    made = graph.call_function(torch.sigmoid, (relu,))
    next(node for node in graph.nodes if node.target is operator.add).replace_input_with(relu, made)
    graph.lint()
    with graph.inserting_before(relu):
        graph.call_function(torch.neg, (next(iter(graph.nodes)),))
    place.__exit__(None, None, None)
    graph.lint()
    assert [node.name for node in graph.nodes] == ["x", "neg", "relu", "sigmoid", "add", "output"]
    traced.recompile()
    assert traced(torch.zeros(1)).item() == 1.5


def test_the_class_of_one_graph_module_says_so():
    traced = fx.symbolic_trace(nn.Linear(1, 1))
    assert type(traced).__name__ == "Linear" and "GraphModuleImpl" in str(type(traced)) and isinstance(traced, fx.GraphModule)
    assert copy.deepcopy(traced).code == pickle.loads(pickle.dumps(traced)).code == traced.code
