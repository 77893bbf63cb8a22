"""Repeated calls leave no memory behind: every operation of the table for a while, and what holds objects of Python longer.

TAEDA_LEAK_REPETITIONS=100000 repeats every operation that often, which takes the better part of an hour.
"""

import gc
import os
import resource
import warnings

import samples
import taeda as torch
import test_operations

REPETITIONS = int(os.environ.get("TAEDA_LEAK_REPETITIONS", "60"))
# Python objects alive after so many calls as before, but for a few that caches keep.
MOST_OBJECTS = 20
PAGE = resource.getpagesize()


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * PAGE


def test_operations_keep_no_objects():
    """No call, right or wrong, keeps an object that it was given or has made. By default of every sixteenth operation."""
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, number, function, signature, sample in list(test_operations.all_rows())[::1 if REPETITIONS > 1000 else 16]:
            positional, named = test_operations.arguments(sample)
            spoiled = positional[:-1] + [object()]

            def repeat(n):
                for _ in range(n):
                    samples.call(function, positional, named)
                    try:
                        function(*spoiled, **named)
                    except Exception:
                        pass

            repeat(2)
            gc.collect()
            before = len(gc.get_objects())
            repeat(REPETITIONS // 4 if REPETITIONS < 1000 else REPETITIONS)
            gc.collect()
            kept = len(gc.get_objects()) - before
            if kept > MOST_OBJECTS // 2:
                wrong.append(f"{name} {number} keeps {kept}")
    assert not wrong, wrong


def grows(body, repetitions, allowed=1 << 20):
    """Bytes by which the process grows from a first round of repetitions to a second."""
    for _ in range(repetitions):
        body()
    gc.collect()
    before = resident()
    for _ in range(repetitions):
        body()
    gc.collect()
    assert resident() - before < allowed, f"{resident() - before} bytes in {repetitions} repetitions"


def test_all_operations_keep_no_memory():
    rows = [(function, *test_operations.arguments(sample)) for _, _, function, _, sample in test_operations.all_rows()]

    def body():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for function, positional, named in rows:
                samples.call(function, positional, named)

    body()
    grows(body, max(3, REPETITIONS // 12), allowed=4 << 20)


def test_passes_keep_no_memory():
    w = torch.randn(8, 8, requires_grad=True)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            ctx.save_for_backward(out)
            ctx.note = out
            return out

        @staticmethod
        def backward(ctx, grad):
            ctx.saved_tensors
            return grad * 2

    def body():
        h = (w @ w).tanh()
        h.register_hook(lambda g: g * 1)
        Twice.apply(h)  # dropped without a pass
        Twice.apply(h).sum().backward()
        w.grad = None

    grows(body, 2000)


def test_conversions_keep_no_memory():
    import numpy as np

    def body():
        x = torch.tensor([[1.0, 2.0]] * 50)
        torch.from_numpy(x.numpy())
        np.from_dlpack(x), torch.from_dlpack(x)
        x.__dlpack__()
        x.tolist(), repr(x), x[0], x[:, 1], x[x > 1], x.shape
        try:
            torch.tensor([[1], [1, 2]])
        except ValueError:
            pass
        try:
            x + torch.ones(3)
        except RuntimeError:
            pass

    grows(body, 2000)
