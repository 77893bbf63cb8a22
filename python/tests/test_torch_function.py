"""__torch_function__: subclasses of Tensor, classes that are no tensors, and modes."""

import copy
import operator
import threading

import pytest
import taeda as torch
from taeda import nn
from taeda.nn import functional as F
from taeda.overrides import TorchFunctionMode


class Plain(torch.Tensor):
    """A subclass without an override of its own."""


class Below(Plain):
    pass


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Logged.calls.append((func, types, args, kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)


class Duck:
    """No tensor; says what it was asked."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs or {}


class Shy:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


@pytest.fixture
def logged():
    Logged.calls.clear()
    return torch.ones(3).as_subclass(Logged)


def last_call():
    return Logged.calls[-1]


def test_results_are_of_the_subclass():
    x = torch.ones(2, 2).as_subclass(Plain)
    for made in (x + 1, 1 - x, x.sum(), torch.add(x, x), x[0], x.T, F.relu(x), F.softmax(x, 0),
                 torch.cat([torch.ones(2, 2), x]),
                 F.linear(torch.ones(2, 2), x), x.double(), x.view(4), torch.zeros_like(x), x.detach(), x.clone(), -x, x == x,
                 nn.Linear(2, 2)(x), torch.where(x > 0, x, x), torch.einsum("ij,jk", x, x), torch.linalg.norm(x), x @ x):
        assert type(made) is Plain, made
    assert type(torch.max(x, 0)[1]) is Plain and type(x.unbind()[0]) is Plain and type(x.split(1)[0]) is Plain
    assert [type(row) for row in x] == [Plain, Plain]
    assert x.shape == (2, 2) and type(x.shape) is torch.Size and x.dim() == 2 and x.tolist() == [[1, 1], [1, 1]]


def test_what_changes_in_place_stays_what_it_is():
    x = torch.ones(2).as_subclass(Plain)
    same = x
    x += 1
    assert x is same and x.mul_(2) is x and x.tolist() == [4, 4]
    x[0] = 7
    t = torch.zeros(2)
    t[1] = x[0]
    assert t.tolist() == [0, 7] and type(t) is torch.Tensor


def test_the_derived_class_goes_first():
    a, b = torch.ones(2).as_subclass(Plain), torch.ones(2).as_subclass(Below)
    assert type(a + b) is Below and type(b + a) is Below and type(torch.add(a, b)) is Below
    assert type(torch.ones(2) * a) is Plain


def test_classes_that_do_not_know_each_other_have_no_answer():
    class Other(torch.Tensor):
        pass
    a, b = torch.ones(2).as_subclass(Plain), torch.ones(2).as_subclass(Other)
    with pytest.raises(TypeError):
        torch.add(a, b)


def test_gradients_pass_through():
    leaf = torch.ones(3, requires_grad=True)
    x = leaf.as_subclass(Plain)
    (x * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 2, 2] and type(leaf.grad) is torch.Tensor
    own = torch.ones(3).as_subclass(Plain).requires_grad_()
    (own * 3).sum().backward()
    assert type(own.grad) is torch.Tensor and own.grad.tolist() == [3, 3, 3]


BINARY = [("add", "add", "add"), ("sub", "sub", "__rsub__"), ("mul", "mul", "mul"), ("truediv", "div", None),
          ("floordiv", "__floordiv__", "__rfloordiv__"), ("mod", "remainder", "__rmod__"), ("pow", "pow", "__rpow__"),
          ("eq", "eq", "eq"), ("lt", "lt", "gt"), ("ge", "ge", "le")]


@pytest.mark.parametrize("name, left, right", BINARY)
def test_operators_are_methods(logged, name, left, right):
    getattr(operator, name)(logged, 2)
    func, types, args, kwargs = last_call()
    assert func.__name__ == left and args[0] is logged and args[1] == 2 and types == (Logged,) and kwargs == {}
    assert func == getattr(torch.Tensor, left)
    getattr(operator, name)(2, logged)
    func, types, args, _ = last_call()
    assert right is None or func.__name__ == right
    assert args[0] is logged and args[1] == 2


@pytest.mark.parametrize("name, method", [("iadd", "add_"), ("isub", "sub_"), ("imul", "mul_"), ("itruediv", "div_"),
                                          ("ifloordiv", "floor_divide_"), ("imod", "remainder_"), ("ipow", "pow_")])
def test_operators_in_place(logged, name, method):
    getattr(operator, name)(logged, 2)
    assert last_call()[0].__name__ == method


def test_other_operators_and_conversions(logged):
    one = torch.ones(1).as_subclass(Logged)
    for call, name in [(lambda: -logged, "neg"), (lambda: +logged, "positive"), (lambda: abs(logged), "abs"),
                       (lambda: ~logged.bool(), "__invert__"), (lambda: bool(one), "__bool__"), (lambda: int(one), "__int__"),
                       (lambda: float(one), "__float__"), (lambda: operator.index(one.long()), "__index__"),
                       (lambda: len(logged), "__len__"), (lambda: logged[0], "__getitem__"),
                       (lambda: 1 in logged, "__contains__"),
                       (lambda: repr(logged), "__repr__"), (lambda: logged @ torch.ones(3), "matmul"),
                       (lambda: torch.ones(3) @ logged, "matmul"), (lambda: reversed(logged), "__reversed__"),
                       (lambda: f"{one}", "__format__"), (lambda: operator.setitem(logged, 0, 1.0), "__setitem__"),
                       (lambda: operator.setitem(torch.ones(3), 0, one[0]), "__setitem__"),
                       (lambda: torch.ones(5)[logged.long()], "__getitem__")]:
        call()
        assert name in [func.__name__ for func, *_ in Logged.calls], name
        Logged.calls.clear()


def test_functions_and_methods_are_told_apart(logged):
    torch.add(logged, 1)
    assert last_call()[0] is torch.add
    logged.add(1)
    assert last_call()[0] == torch.Tensor.add
    torch.add(torch.ones(3), torch.ones(3), out=logged)
    assert last_call()[3]["out"] is logged
    F.linear(logged, torch.ones(2, 3))
    assert last_call()[0] is F.linear
    torch.cat([torch.ones(3), logged], dim=0)
    func, types, args, kwargs = last_call()
    assert func is torch.cat and types == (Logged,) and args[0][1] is logged and kwargs == {"dim": 0}
    logged.size()
    assert last_call()[0] == torch.Tensor.size
    logged.dim()
    assert last_call()[0] == torch.Tensor.dim


def test_functions_in_python_have_their_defaults_filled_in(logged):
    F.relu(logged)
    func, _, args, kwargs = last_call()
    assert func is F.relu and args[0] is logged and kwargs == {"inplace": False}
    F.dropout(logged, 0.0)
    func, _, args, kwargs = last_call()
    assert func is F.dropout and kwargs == {"p": 0.0, "training": True, "inplace": False}
    F.cross_entropy(logged, torch.tensor(1))
    func, _, args, kwargs = last_call()
    assert func is F.cross_entropy and len(args) == 2 and kwargs["label_smoothing"] == 0.0 and kwargs["reduction"] == "mean"
    torch.split(logged, 2)
    assert last_call()[2:] == ((logged, 2), {"dim": 0})
    logged.split(2)
    assert last_call()[0] is torch.Tensor.split
    torch.einsum("i,i", logged, logged)
    assert last_call()[0] is torch.einsum and len(last_call()[2]) == 3
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        F.relu(logged, nothing=1)


def test_attributes(logged):
    logged.shape
    assert last_call()[0] == torch.Tensor.shape.__get__ and last_call()[0].__name__ == "__get__"
    assert last_call()[0].__self__ is torch.Tensor.shape
    logged.requires_grad = True
    func, _, args, _ = last_call()
    assert func == torch.Tensor.requires_grad.__set__ and args[1] is True and logged.requires_grad
    assert type(logged.data) is Logged and logged.grad is None


def test_a_class_that_is_no_tensor():
    duck, t = Duck(), torch.ones(2)
    for made, func, args in [(torch.add(duck, 1), torch.add, (duck, 1)), (torch.mean(duck), torch.mean, (duck,)),
                             (t + duck, torch.Tensor.add, (t, duck)), (duck * t, torch.Tensor.mul, (t, duck)),
                             (duck - t, torch.Tensor.__rsub__, (t, duck)), (t.add(duck), torch.Tensor.add, (t, duck)),
                             (t.view(duck, 1), torch.Tensor.view, (t, duck, 1)),
                             (t.view(1, duck), torch.Tensor.view, (t, 1, duck)),
                             (t.clamp(duck, duck), torch.Tensor.clamp, (t, duck, duck)),
                             (t[duck], torch.Tensor.__getitem__, (t, duck)),
                             (torch.linalg.norm(duck), torch.linalg.norm, (duck,)), (F.linear(duck, t), F.linear, (duck, t)),
                             (torch.zeros((duck, 2)), torch.zeros, ((duck, 2),))]:
        assert made[0] == func and made[1][-1] is Duck and len(made[2]) == len(args), func
        assert all(a is b or a == b for a, b in zip(made[2], args)), func
    made = torch.cat([t, duck])
    assert made[0] is torch.cat and made[2][0][1] is duck
    assert F.relu(duck)[0] is F.relu and torch.unique(duck, dim=0)[3]["dim"] == 0


def test_a_number_of_another_class_may_answer():
    class Index(Duck):
        def __index__(self):
            raise AssertionError("it answers itself")
        __float__ = __index__
    t = torch.ones(2)
    assert (t + Index())[0] == torch.Tensor.add and t.view(Index(), 1)[0] == torch.Tensor.view
    assert torch.full((2, Index()), 1.0)[0] is torch.full


def test_nobody_answers():
    t = torch.ones(2)
    with pytest.raises(TypeError, match="torch.add"):
        torch.add(Shy(), t)
    with pytest.raises(TypeError, match="no implementation found for 'torch.nn.functional.relu' on types that implement "
                                        "__torch_function__: .*Shy"):
        F.relu(Shy())
    with pytest.raises(TypeError, match="unsupported operand"):
        t + Shy()
    with pytest.raises(TypeError, match="unsupported operand"):
        Shy() + t
    assert torch.add(Shy(), Duck())[1] == (Shy, Duck)


def test_errors_of_an_override_arrive():
    class Refuses:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError(func.__name__)
    for call in (lambda: torch.add(Refuses(), 1), lambda: torch.ones(2) + Refuses(), lambda: F.relu(Refuses())):
        with pytest.raises(KeyError):
            call()


def test_guards_switch_it_off(logged):
    with torch._C.DisableTorchFunctionSubclass():
        assert type(logged + 1) is torch.Tensor and type(F.relu(logged)) is torch.Tensor and logged.shape == (3,)
        with pytest.raises(TypeError):
            torch.add(Duck(), 1)
        seen = []
        other = threading.Thread(target=lambda: seen.append(type(logged + 1)))
        other.start()
        other.join()
        assert seen == [Logged]
    assert len(Logged.calls) == 1 and type(logged + 1) is Logged


def test_parameters_take_no_part():
    p = nn.Parameter(torch.ones(2))
    assert type(p + 1) is torch.Tensor and not torch.overrides.has_torch_function((p, torch.ones(1)))

    class Weight(nn.Parameter):
        pass
    assert type(Weight(torch.ones(2)) * 2) is torch.Tensor

    class Untouched(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl
    assert type(torch.ones(2).as_subclass(Untouched) + 1) is torch.Tensor


def test_a_parameter_of_a_subclass_keeps_its_class():
    p = nn.Parameter(torch.ones(2).as_subclass(Plain))
    assert type(p) is Plain and isinstance(p, nn.Parameter) and p.requires_grad
    module = nn.Module()
    module.p = p
    assert dict(module.named_parameters())["p"] is p


def test_copies_keep_the_class():
    x = torch.ones(2).as_subclass(Plain)
    x.note = 1
    made = copy.deepcopy(x)
    assert type(made) is Plain and made.tolist() == [1, 1] and made.note == 1


def test_repr_says_the_class():
    assert repr(torch.ones(2).as_subclass(Plain)) == "Plain([1., 1.])"
    assert repr(torch.ones(2, 2).as_subclass(Plain)) == "Plain([[1., 1.],\n       [1., 1.]])"


def test_helpers():
    duck, t, x = Duck(), torch.ones(1), torch.ones(1).as_subclass(Plain)
    has = torch.overrides.has_torch_function
    assert has((t, duck)) and has([x]) and not has((t, 1, None)) and not has(())
    assert torch.overrides.has_torch_function_unary(duck) and torch.overrides.has_torch_function_variadic(t, x)
    assert torch.overrides.is_tensor_like(duck) and torch.overrides.is_tensor_like(t) and not torch.overrides.is_tensor_like(1)

    def twice(value, by=2):
        if has((value,)):
            return torch.overrides.handle_torch_function(twice, (value,), value, by=by)
        return value * by
    assert twice(t).item() == 2 and twice(duck) == (twice, (Duck,), (duck,), {"by": 2})

    @torch.overrides.wrap_torch_function(lambda value: (value,))
    def thrice(value):
        return value * 3
    assert thrice(t).item() == 3 and thrice(duck)[0] is thrice


def test_what_can_be_overridden():
    listed = torch.overrides.get_overridable_functions()
    everything = {f for functions in listed.values() for f in functions}
    assert {torch.add, F.relu, torch.Tensor.add, torch.Tensor.shape.__get__, torch.linalg.norm} <= everything
    assert torch.zeros in torch.overrides.get_ignored_functions() and torch.zeros not in everything
    name = torch.overrides.resolve_name
    assert name(torch.add) == "torch.add" and name(torch.Tensor.add) == "torch.Tensor.add" and name(print) is None
    assert name(F.relu) == "torch.nn.functional.relu"
    method = torch.overrides.is_tensor_method_or_property
    assert method(torch.Tensor.add) and method(torch.Tensor.shape.__get__) and not method(torch.add) and not method(F.relu)
    assert torch.Tensor.grad.__get__ in torch.overrides.get_default_nowrap_functions()


class Counting(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.functions = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.functions.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_modes_answer_every_call():
    with Counting() as mode:
        x = torch.zeros(2) + 1
        F.relu(x)
        x.shape
    torch.ones(1) + 1
    assert mode.functions[:2] == ["zeros", "add"] and "relu" in mode.functions and "__get__" in mode.functions
    assert mode.functions.count("add") == 1


def test_modes_are_nested_and_of_one_thread():
    class Tenfold(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            return made * 10 if func is torch.add else made
    t = torch.ones(1)
    with Counting() as outer, Tenfold():
        assert torch.add(t, t).item() == 20
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(torch.add(t, t).item()))
        other.start()
        other.join()
    assert "add" in outer.functions and elsewhere == [2]
    with pytest.raises(ZeroDivisionError), Tenfold():
        1 / 0
    assert torch.add(t, t).item() == 2


def test_a_mode_goes_before_classes():
    class Takes(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return types
    t = torch.ones(1)
    with Takes():
        assert torch.add(t, Duck()) == (Duck,) and torch.rand(2) == ()
        with torch._C.DisableTorchFunctionSubclass():
            assert torch.rand(2) == ()
        with torch._C.DisableTorchFunction():
            assert torch.rand(2).shape == (2,)


def test_calls_of_overrides_leak_nothing(logged):
    import gc
    import sys
    x = torch.ones(1).as_subclass(Plain)
    for _ in range(3):
        x + 1, F.relu(x), x.shape
    gc.collect()
    before, known = sys.getrefcount(Plain), len(gc.get_objects())
    for _ in range(200):
        x + 1, F.relu(x), x.shape, torch.cat([x, x])
    gc.collect()
    assert sys.getrefcount(Plain) - before < 5 and len(gc.get_objects()) - known < 50
