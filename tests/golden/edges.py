#!/usr/bin/env python3
"""Prints what tests/ops/edges_test.cpp expects, by an installed PyTorch (2.15): values and gradients at the edges of formulas."""

import math

import torch
import torch.nn.functional as F

nan = math.nan
tensor = torch.tensor


def gradients(f, *inputs):
    leaves = [x.clone().requires_grad_() for x in inputs]
    f(*leaves).sum().backward()
    return [x.grad.nan_to_num(-99).tolist() for x in leaves]


def error_of(f):
    try:
        return f()
    except Exception as e:  # the text is what is asked for
        return str(e).split("\n")[0]


def seeded(f):
    torch.manual_seed(0)
    return f().flatten().tolist()


def main():
    x, one, three = tensor([1.0, 2, 3, nan, 0, 5]), torch.ones(6), torch.full((6,), 3.0)
    print("clamp", gradients(lambda x: x.clamp(1, 3), x), gradients(lambda x: x.clamp_min(1), x), gradients(lambda x: x.clamp_max(3), x))
    print("clamp_min", gradients(torch.clamp_min, x, one), "clamp_max", gradients(torch.clamp_max, x, three))
    for low, high in (one, three), (three, three), (three, one):
        print("clamp of tensors", gradients(torch.clamp, x, low, high))
    print("hardswish", gradients(F.hardswish, tensor([3.0, -3])))
    y = tensor([1.0, nan, 3, nan])
    print("amax", gradients(lambda x: x.amax(0), y), "aminmax", gradients(lambda x: x.aminmax()[0], y), "max", gradients(torch.max, y))
    print("sign", torch.sign(tensor([nan, -2, 0, 3])))
    ends, values = tensor([1, 2, nan]), tensor([nan, 1, 3])
    print("searchsorted", torch.searchsorted(ends, values), torch.searchsorted(ends, values, right=True),
          torch.searchsorted(tensor([nan, nan, 1]), tensor([0, nan, 2])))
    for order, dims in (math.inf, 0), (math.inf, None), (-1, None), (math.inf, 1), (2, 0):
        print("vector_norm", order, dims, error_of(lambda: torch.linalg.vector_norm(torch.zeros(0, 3), order, dims)))
    print("cov", torch.cov(torch.ones(1, 4)), torch.corrcoef(tensor([[1.0, 2, 4]])))
    mask = tensor([True, False, True])
    for value in tensor(2), tensor([2]), tensor(1j):
        print("index_put_", error_of(lambda: torch.zeros(3).index_put_((mask,), value)))
    print("lerp", torch.lerp(torch.zeros(2).half(), torch.ones(2).half(), tensor(0.5, dtype=torch.double)))
    print("where", torch.where(tensor([1, 0, 7], dtype=torch.uint8), torch.ones(3), torch.zeros(3)))
    at = tensor([0, 1])
    print("index_add_", error_of(lambda: torch.zeros(3, 2).index_add_(0, at, torch.ones(2, 3))))
    print("index_copy_", error_of(lambda: torch.zeros(3, 2).index_copy_(0, at, torch.ones(2, 3))))
    for dtype in torch.half, torch.bfloat16:
        print("bernoulli", dtype, seeded(lambda: torch.bernoulli(torch.full((5,), 0.5).to(dtype))))
    print("feature_dropout", seeded(lambda: torch.feature_dropout(torch.ones(2, 5, 1), 0.5, True)))
    print("alpha_dropout", seeded(lambda: torch.alpha_dropout(torch.ones(6), 0.5, True)))
    print("feature_alpha_dropout", seeded(lambda: torch.feature_alpha_dropout(torch.ones(1, 4, 2), 0.5, True)))


if __name__ == "__main__":
    main()
