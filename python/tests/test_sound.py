"""Threads, hooks, errors, signals, cycles and memory: what must hold whatever a program does."""

import gc
import os
import signal
import sys
import threading
import time
import traceback
import weakref

import pytest

import ranks
import taeda as torch

DEVICES = ["cpu", "sim:0", "sim:1"]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return raise_from_deep(3)


class Mine(Exception):
    def __init__(self, payload, second):
        super().__init__(payload, second)
        self.payload = payload


def raise_from_deep(depth):
    if depth:
        return raise_from_deep(depth - 1)
    raise Mine({"payload": 3}, "second")


def in_threads(count, work):
    """Runs work(i) on threads; raises what one raised."""
    errors = []

    def run(i):
        try:
            work(i)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a thread stands still"
    if errors:
        raise errors[0]


# Threads


@pytest.mark.parametrize("device", DEVICES)
def test_passes_with_hooks_on_several_threads(device):
    seen = [0] * 8

    def work(i):
        x = torch.full((50,), float(i), device=device, requires_grad=True)

        def count(g):
            seen[i] += 1
            return g * 2
        for _ in range(40):
            x.grad = None
            y = Double.apply(x)
            y.register_hook(count)
            (y * y).sum().backward()
            assert x.grad.cpu().tolist() == [i * 16.0] * 50
    in_threads(8, work)
    assert seen == [40] * 8


def test_passes_over_both_devices_with_hooks_while_others_run():
    """Hooks take the GIL on the threads of the engine; nobody who holds it waits for a device."""
    def work(i):
        x = torch.randn(64, 64, requires_grad=True)
        for _ in range(10):
            a, b = x.to("sim:0"), x.to("sim:1")
            a.register_hook(lambda g: g.clone())
            b.register_hook(lambda g: None)
            loss = (Double.apply(a @ a).cpu() + (b @ b).cpu()).sum()
            loss.backward()
            assert x.grad.sum().item() == x.grad.sum().item()
            x.grad = None
    in_threads(4, work)


def test_leaves_that_threads_share():
    x = torch.zeros(10, requires_grad=True)
    calls = []
    x.register_hook(lambda g: calls.append(1))

    def work(i):
        for _ in range(50):
            (x * 1.0).sum().backward()
    in_threads(6, work)
    assert x.grad.tolist() == [300.0] * 10 and len(calls) == 300


def test_hooks_that_come_and_go_while_passes_run():
    x = torch.ones(5, requires_grad=True)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            x.register_hook(lambda g: g).remove()
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            (x * 2).sum().backward()
    finally:
        stop.set()
        thread.join()
    assert x.grad.tolist() == [600.0] * 5


# Errors


@pytest.mark.parametrize("device", DEVICES)
def test_errors_keep_class_value_and_traceback(device):
    x = torch.ones(3, device=device, requires_grad=True)

    def hook(g):
        raise_from_deep(2)
    hooked = x * 2
    hooked.register_hook(hook)
    node_hooked = x * 3
    node_hooked.grad_fn.register_hook(lambda i, o: raise_from_deep(2))
    post = torch.ones(3, device=device, requires_grad=True)
    post.register_post_accumulate_grad_hook(lambda t: raise_from_deep(2))
    for loss in (hooked.sum(), node_hooked.sum(), Fails.apply(x).sum(), (post * 2).sum()):
        with pytest.raises(Mine) as caught:
            loss.backward()
        error = caught.value
        assert type(error) is Mine and error.payload == {"payload": 3} and error.args[1] == "second"
        names = [f.name for f in traceback.extract_tb(error.__traceback__)]
        assert names.count("raise_from_deep") >= 3 and names[-1] == "raise_from_deep", names
    (x * 2).sum().backward()  # the next pass works
    assert x.grad.cpu().tolist()[0] >= 2


def test_an_error_in_forward_of_a_function():
    class InForward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise_from_deep(1)
    with pytest.raises(Mine) as caught:
        InForward.apply(torch.ones(1, requires_grad=True))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "raise_from_deep"
    assert torch.is_grad_enabled()


def test_errors_of_saved_tensor_hooks_and_callbacks():
    def bad(t):
        raise Mine("unpack", 0)
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, bad):
        y = (x * x).sum()
    with pytest.raises(Mine):
        y.backward()
    with pytest.raises(Mine), torch.autograd.graph.saved_tensors_hooks(bad, lambda t: t):
        x * x


# Signals


def interrupted_in_backward(rank, size, path):
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            print("in backward", flush=True)
            while True:
                time.sleep(0.001)
    device = "sim" if path == "sim" else "cpu"
    x = torch.ones(3, device=device, requires_grad=True)
    try:
        Slow.apply(x).sum().backward()
    except KeyboardInterrupt:
        assert "backward" in traceback.format_exc()
        (x * 2).sum().backward()
        print("interrupted", x.grad.cpu().tolist(), flush=True)


@pytest.mark.parametrize("device", ["cpu"])
def test_ctrl_c_in_backward(device):
    process = ranks.start(interrupted_in_backward, 0, 1, device)
    assert process.stdout.readline() == "in backward\n"
    ranks.interrupt(process)
    [(status, text)] = ranks.finish([process])
    assert (status, text) == (0, "interrupted [2.0, 2.0, 2.0]\n")


def interrupted_in_a_long_pass(rank, size, path):
    x = torch.ones(200, 200, requires_grad=True)
    y = x
    for _ in range(300):
        y = y @ x * 1e-2
    print("ready", flush=True)
    try:
        while True:
            y.sum().backward(retain_graph=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(0)


def test_ctrl_c_in_a_pass_without_python():
    process = ranks.start(interrupted_in_a_long_pass, 0, 1, "")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    ranks.interrupt(process)
    [(status, text)] = ranks.finish([process])
    assert (status, text) == (0, "interrupted\n")


def test_signals_leave_products_alone():
    signals = 0

    def count(number, frame):
        nonlocal signals
        signals += 1

    x, weight = torch.rand(20, 784), torch.rand(128, 784)
    expected = torch.nn.functional.linear(x, weight)
    before = signal.signal(signal.SIGPROF, count)
    try:
        signal.setitimer(signal.ITIMER_PROF, 2e-4, 2e-4)
        while signals < 60:
            assert torch.nn.functional.linear(x, weight).equal(expected)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# Cycles, weak references, resurrection


def collected(make):
    """Whether what make() returns weak references to is gone when the collector has run."""
    references = make()
    gc.collect()
    return [r() is None for r in references]


def test_cycles_through_hooks_are_collected():
    class Marker:
        pass

    def through_a_tensor_hook():
        x, marker = torch.ones(2, requires_grad=True), Marker()
        x.register_hook(lambda g: (x, marker))
        return weakref.ref(x), weakref.ref(marker)

    def through_an_attribute():
        x = torch.ones(2)
        x.itself = x
        return weakref.ref(x),

    def through_a_hook_of_a_result():
        x, marker = torch.ones(2, requires_grad=True), Marker()
        y = x * 2
        y.register_hook(lambda g: (y, marker))
        return weakref.ref(y), weakref.ref(marker)
    for make in (through_a_tensor_hook, through_an_attribute, through_a_hook_of_a_result):
        assert all(collected(make)), make.__name__


def test_cycles_through_functions_are_collected():
    class Marker:
        pass

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, marker):
            ctx.marker = marker
            out = x * 2
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    def output_in_its_own_context():
        x, marker = torch.ones(2, requires_grad=True), Marker()
        y = Keeps.apply(x, marker)
        marker.result = y
        return weakref.ref(y), weakref.ref(marker)

    def output_saved():
        y = Keeps.apply(torch.ones(2, requires_grad=True), Marker())
        return weakref.ref(y),
    for make in (output_saved, output_in_its_own_context):
        assert all(collected(make)), make.__name__


def test_weak_references():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    grad, seen = id(x.grad), weakref.ref(x.grad)
    assert seen() is x.grad and id(x.grad) == grad  # the leaf has it
    del x
    gc.collect()
    assert seen() is None
    dead = []
    z = torch.ones(1)
    weakref.finalize(z, dead.append, 1)
    del z
    assert dead == [1]


def test_resurrection():
    kept = []

    class Phoenix(torch.Tensor):
        def __del__(self):
            kept.append(self)
    made = torch._C._make_subclass(Phoenix, torch.ones(3), False)
    made.note = "here"
    del made
    gc.collect()
    assert len(kept) == 1 and kept[0].tolist() == [1, 1, 1] and kept[0].note == "here"
    assert (kept[0] + 1).tolist() == [2, 2, 2]
    kept.clear()
    gc.collect()


# Memory

REPETITIONS = 100_000


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cases():
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    xs = [torch.ones(2), torch.ones(2)]

    def with_hook():
        y = w * 2
        y.register_hook(lambda g: g)
        y.sum().backward()
        w.grad = None

    def raises():
        try:
            x @ torch.ones(4)
        except RuntimeError:
            pass

    def type_error():
        try:
            torch.add("a", x)
        except TypeError:
            pass

    def function():
        Double.apply(w).sum().backward()
        w.grad = None

    def attribute():
        y = x + 1
        y.note = y  # a cycle
    return {"add": lambda: x + x, "add a number": lambda: x + 1.0, "index": lambda: x[1], "slice": lambda: x[1:],
            "mask": lambda: x[x > 0], "item": lambda: x[0].item(), "tensor": lambda: torch.tensor([1.0, 2.0]),
            "tolist": lambda: x.tolist(), "cat": lambda: torch.cat(xs), "split": lambda: x.split(1),
            "in place": lambda: x.add_(0), "out": lambda: torch.add(x, x, out=torch.empty(3)),
            "shape": lambda: (x.shape, x.dtype, x.device, x.stride()),
            "grad": lambda: torch.autograd.grad((w * w).sum(), w), "hook": with_hook, "function": function, "error": raises,
            "type error": type_error, "repr of size": lambda: repr(x.shape), "no_grad": lambda: w.detach().requires_grad_(),
            "to": lambda: x.to(torch.float64), "cycle": attribute, "weak reference": lambda: weakref.ref(x + 1)}


@pytest.mark.parametrize("name", list(cases()))
def test_memory_is_flat(name):
    run = cases()[name]
    count = REPETITIONS if name not in ("error", "type error") else REPETITIONS // 10
    for _ in range(count // 10):
        run()
    gc.collect()
    before, blocks = resident(), sys.getallocatedblocks()
    for _ in range(count):
        run()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 1000
    assert resident() - before < 2 << 20
