"""Names that packages made for PyTorch ask for, and what they mean here."""

import pickle

import pytest

import taeda as torch


def test_operations_by_the_dispatchers_names():
    aten, x = torch.ops.aten, torch.arange(6.0).reshape(2, 3)
    assert torch.equal(aten.clone.default(x), x) and torch.equal(aten.add.Tensor(x, x, alpha=2), 3 * x)
    assert torch.equal(aten.slice.Tensor(x, 1, 0, 2), x[:, :2]) and aten._to_copy(x, dtype=torch.int32).dtype == torch.int32
    assert torch.equal(aten.select.int(x, 0, 1), x[1]) and aten.sym_size.int(x, 1) == 3
    assert aten.view.default(x, [6]).shape == (6,) and torch.equal(aten.index.Tensor(x, [None, torch.tensor([2])]), x[:, 2:])
    assert torch.equal(aten.linalg_inv.default(torch.eye(2)), torch.eye(2)) and torch.equal(aten.special_erf(x), x.erf())
    assert aten.clone.default is aten.clone.default and aten.clone.default.overloadpacket is aten.clone
    assert str(aten.add.Tensor) == "aten.add.Tensor" and aten.add.Tensor.name() == "aten::add.Tensor"
    with pytest.raises(NotImplementedError, match="PyTorch has torch.ops.aten.convolution, Taeda does not"):
        aten.convolution.default(x)


def test_structures():
    import collections

    from taeda.utils import _pytree as pytree
    tree = {"a": [1, (2, 3)], "b": collections.deque([4], maxlen=2)}
    assert [(pytree.keystr(path), leaf) for path, leaf in pytree.tree_leaves_with_path(tree)] == [
        ("['a'][0]", 1), ("['a'][1][0]", 2), ("['a'][1][1]", 3), ("['b'][0]", 4)]
    doubled = pytree.tree_map_with_path(lambda path, leaf: leaf * len(path), tree)
    assert doubled == {"a": [2, (6, 9)], "b": collections.deque([8])} and doubled["b"].maxlen == 2
    spec = pytree.tree_structure(tree)
    assert spec == pytree.tree_structure(doubled) and isinstance(spec.children()[0].children()[0], pytree.LeafSpec)

    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second
    pytree.register_pytree_node(Pair, lambda p: ([p.first, p.second], None), lambda children, _: Pair(*children))
    assert pytree.tree_map(str, Pair(1, [2])).second == ["2"] and pytree.SUPPORTED_NODES[Pair].type is Pair
    with pytest.raises(ValueError, match="already registered as pytree node"):
        pytree.register_pytree_node(Pair, None, None)
    pytree._deregister_pytree_node(Pair)
    assert pytree.tree_is_leaf(Pair(1, 2))


def test_dicts_of_tensors_told_apart_by_identity():
    from taeda.utils.weak import TensorWeakRef, WeakTensorKeyDictionary
    x, y = torch.ones(2), torch.ones(2)
    known = WeakTensorKeyDictionary({x: 1})
    known[y] = 2
    assert known[x] == 1 and known[y] == 2 and list(known) == [x, y] or len(known) == 2
    reference = TensorWeakRef(y)
    assert reference() is y and x in known and 3 not in known
    del y
    assert len(known) == 1 and reference() is None


def test_tensors_of_modules_are_swapped():
    from taeda.nn.utils._named_member_accessor import swap_tensor
    layer, other = torch.nn.Linear(2, 2), torch.ones(2, 2)
    before = swap_tensor(layer, "weight", other)
    assert layer.weight is other and swap_tensor(layer, "weight", before) is other and layer.weight is before
    with pytest.raises(AttributeError, match="Linear has no attribute `nothing`"):
        swap_tensor(layer, "nothing", other)
    assert swap_tensor(layer, "nothing", other, allow_missing=True) is None and layer.nothing is other
    with pytest.raises(TypeError, match="is not an instance of torch.Tensor"):
        swap_tensor(layer, "in_features", other)


def test_context_managers_of_ones_own():
    from taeda.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager
    seen = []

    class Named(_DecoratorContextManager):
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *error):
            seen.append(-self.name)

        def clone(self):
            return type(self)(self.name)

    class Plain(_NoParamDecoratorContextManager):
        def __enter__(self):
            seen.append("in")

        def __exit__(self, *error):
            seen.append("out")
    assert Named(3)(len)([1]) == 1 and Plain(len)([1]) == 1 and seen == [3, -3, "in", "out"]


def test_placements_are_values():
    from taeda.distributed.tensor import Partial, Replicate, Shard
    assert Shard(1) == pickle.loads(pickle.dumps(Shard(1))) != Shard(0) and repr(Shard(1)) == "Shard(dim=1)"
    assert Shard(1).is_shard() and Shard(1).is_shard(1) and not Shard(1).is_shard(0) and Replicate().is_replicate()
    assert Partial().is_partial("sum") and not Partial("max").is_partial("sum") and len({Shard(0), Shard(0), Replicate()}) == 2


def test_private_functions():
    torch._check(True)
    with pytest.raises(ValueError, match="^no$"):
        torch._check_value(False, lambda: "no")
    with pytest.raises(RuntimeError):
        torch._assert_async(torch.zeros(1))
    x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    out, grad = x.softmax(1), torch.randn(3, 4, dtype=torch.double)
    expected, = torch.autograd.grad(out, x, grad)
    assert torch.allclose(torch._softmax_backward_data(grad, out, 1, out.dtype), expected)
    rows = torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2, 3]), 5)
    assert rows.tolist() == [0, 2, 2, 3, 4, 4]
    both = torch._convert_indices_from_csr_to_coo(rows, torch.tensor([4, 3, 2, 1]))
    assert both.tolist() == [[0, 0, 2, 3], [4, 3, 2, 1]]
    assert torch._C._nn._parse_to("cpu", torch.int32)[:2] == (torch.device("cpu"), torch.int32)
    assert torch._C._get_accelerator().type in ("cpu", "cuda", "sim") and torch._C._is_alias_of(x, x.detach())


def test_switches_for_a_block():
    cudnn = torch.backends.cudnn
    before = cudnn.benchmark
    with cudnn.flags(enabled=True, benchmark=not before):
        assert cudnn.benchmark is not before
    assert cudnn.benchmark is before and cudnn.benchmark_limit == 10


def test_devices_that_are_not_there_are_values():
    apple = torch.device("mps", 0)
    assert apple.type == "mps" and apple != torch.device("cpu") and str(torch.device("xpu:1")) == "xpu:1"
    with pytest.raises(RuntimeError, match="no mps device is available"):
        torch.ones(2, device=apple)
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.device("nothing")


def test_batches_of_classes_of_ones_own():
    from taeda.utils.data._utils.collate import default_collate_fn_map

    class Pair(tuple):
        pass
    default_collate_fn_map[Pair] = lambda batch, *, collate_fn_map: len(batch)
    assert torch.utils.data.default_collate([Pair(), Pair()]) == 2
    del default_collate_fn_map[Pair]


def test_einsum_gives_its_operands_one_by_one():
    class Seen:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, len(args)
    assert torch.einsum("i,i->", (Seen(), torch.ones(1))) == torch.einsum("i,i->", Seen(), Seen()) == (torch.einsum, 3)
    assert torch.einsum("i,i->", [torch.ones(2), torch.ones(2)]) == 2


def test_samples_are_written_to_out():
    out = torch.empty(0, dtype=torch.int64)
    assert torch.multinomial(torch.tensor([0.0, 1.0]), 3, True, out=out) is out and out.tolist() == [1, 1, 1]
    assert torch.multinomial(torch.tensor([0.0, 1.0]), 1, out=None).tolist() == [1]


def test_parts_of_files(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(8)))
    storage = torch.UntypedStorage.from_file(str(path), shared=False, nbytes=8)
    assert torch.asarray(storage[2:6], dtype=torch.uint8).view(torch.int16).tolist() == [0x302, 0x504]
