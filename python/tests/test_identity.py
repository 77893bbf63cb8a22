"""One object for each tensor, for as long as anybody can tell."""

import copy
import gc
import threading
import weakref

import pytest
import taeda as torch


class Named(torch.Tensor):
    pass


def test_a_gradient_is_one_object():
    p = torch.ones(3, requires_grad=True)
    p.sum().backward()
    assert p.grad is p.grad


def test_attributes_survive_while_only_cpp_holds_the_tensor():
    p = torch.ones(3, requires_grad=True)
    p.grad = torch.zeros(3)
    p.grad.note = ["kept"]
    gc.collect()
    assert p.grad.note == ["kept"]
    first = p.grad.note
    del p
    gc.collect()
    assert first == ["kept"]


def test_a_plain_object_may_be_made_anew():
    p = torch.ones(3, requires_grad=True)
    p.grad = torch.zeros(3)
    for _ in range(3):
        assert p.grad.tolist() == [0, 0, 0]


def test_a_subclass_survives_in_a_graph():
    x = torch.ones(2).as_subclass(Named)
    p = torch.ones(2, requires_grad=True)
    p.grad = x
    del x
    gc.collect()
    assert type(p.grad) is Named


def test_weak_references():
    x = torch.ones(2)
    seen = []
    ref = weakref.ref(x, lambda r: seen.append(r))
    assert ref() is x
    del x
    assert ref() is None and seen == [ref]


def test_a_weak_reference_outlives_pythons_last_reference():
    p = torch.ones(2, requires_grad=True)
    grad = torch.zeros(2)
    ref = weakref.ref(grad)
    p.grad = grad
    del grad
    gc.collect()
    assert ref() is p.grad
    p.grad = None
    gc.collect()
    assert ref() is None


def test_cycles_through_attributes_are_collected():
    x = torch.ones(2)
    x.me = x
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_cycles_through_hooks_are_collected():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_cycles_through_a_function_s_context_are_collected():
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.out = x * 2
            return ctx.out

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = Keep.apply(torch.ones(2, requires_grad=True))
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_subclasses():
    x = torch.ones(2).as_subclass(Named)
    assert isinstance(x, Named) and isinstance(x, torch.Tensor)
    x.label = "a"
    assert x.label == "a"
    assert torch.equal(x + 1, torch.full((2,), 2.0))


def test_equality_hash_and_use_as_a_key():
    a, b = torch.ones(2), torch.ones(2)
    assert len({a, b, a}) == 2
    assert hash(a) == hash(a)
    assert (a == b).tolist() == [True, True]
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(a == b)


def test_copies():
    p = torch.ones(2, requires_grad=True)
    p.tag = {"k": [1]}
    q = copy.deepcopy(p)
    assert q is not p and q.requires_grad and q.tag == {"k": [1]} and q.tag is not p.tag
    q.data.add_(1)
    assert p.tolist() == [1, 1]
    memo = copy.deepcopy([p, p])
    assert memo[0] is memo[1]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(p * 2)


def test_threads_make_and_drop_wrappers():
    p = torch.ones(4, requires_grad=True)
    p.grad = torch.zeros(4)
    failures = []

    def work():
        try:
            for i in range(2000):
                p.grad.counter = i
                assert p.grad.shape == (4,)
                (p.detach() + 1).sum()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_end_of_the_interpreter(run_python):
    program = ("import taeda as torch\n"
               "p = torch.ones(2, requires_grad=True)\n"
               "p.grad = torch.zeros(2); p.grad.note = 'x'\n"
               "class C:\n    def __del__(self): (p * 2).sum().backward()\n"
               "c = C(); y = (p * 3); y.register_hook(lambda g: None)\n"
               "print('end')\n")
    assert run_python(program) == "end\n"
