#!/usr/bin/env python3
"""Runs random programs of views and in-place changes under PyTorch and compares what they come to.

    TAEDA_PROGRAMS=2000 TAEDA_PROGRAMS_PYTHON=programs.py test_autograd --gtest_filter='Programs.*'
    check_programs.py programs.py

Needs PyTorch, which the test suite does not: it is the judge of the rules in twin.h. Exits with 1 if
a program gives another gradient there, or no error where Taeda gives one. Programs that PyTorch alone
refuses are counted: it takes a view that just got a history for a leaf, and unpacks saved tensors whose
gradient nobody asked for.
"""
import sys

import torch


def numbers(sizes, is_complex, salt):
    count = 1
    for size in sizes:
        count *= size

    def real(phase):
        line = torch.arange(count, dtype=torch.float64) * 0.7 + 0.31 * (salt % 97) + phase
        return line.sin().reshape(sizes).clone()

    return torch.complex(real(0), real(1)) if is_complex else real(0)


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def check(leaf, expected):
    grad = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
    got = torch.view_as_real(grad) if grad.is_complex() else grad
    want = torch.tensor(expected, dtype=torch.float64)
    if not torch.allclose(got.reshape(-1), want, rtol=1e-5, atol=1e-7):
        raise AssertionError(f"gradient {got.reshape(-1).tolist()}, not {expected}")


def check_error(call):
    try:
        call()
    except RuntimeError:
        return
    raise AssertionError("no error")


def main():
    names = {"torch": torch, "numbers": numbers, "Triple": Triple, "check": check,
             "check_error": check_error}
    with open(sys.argv[1], encoding="utf-8") as file:
        exec(compile(file.read(), sys.argv[1], "exec"), names)  # written by our own test
    programs = [(name, f) for name, f in names.items() if name.startswith("program_")]
    different = refused = 0
    for name, program in programs:
        try:
            program()
        except RuntimeError as error:
            refused += 1
            print(f"{name}: refused by PyTorch alone: {str(error)[:100]}")
        except AssertionError as error:
            different += 1
            print(f"{name}: {error}")
    print(f"{len(programs)} programs: {different} differ, {refused} are refused by PyTorch alone")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
