"""Writes tests/tensor/print_golden.h: how PyTorch prints the tensors that print_test.cpp makes.

Usage: python3 tests/golden/print.py > tests/tensor/print_golden.h     (needs PyTorch 1.13)
"""
import torch

inf, nan = float("inf"), float("nan")
t = torch.tensor
CASES = [
    t(1.5), t(3), t(True), t([1, 2, 3]), t([1.0, 2.0, 3.0]), t([1.0, 2.5, -3.25]),
    t([[1, -2], [3, 40]]), t([1e-5, 1.0]), t([1e10, 1.0]), t([1e5, 1.0]), t([0.0, 0.0]),
    t([nan, inf, 1.0]), t([nan, -inf, 1.5]), t([True, False]),
    t([1.5, 2.5], dtype=torch.float64), t([1, 2], dtype=torch.int32), t([1.5], dtype=torch.float16),
    t([0.1], dtype=torch.bfloat16), torch.zeros(0), torch.zeros(2, 0), torch.zeros(0, dtype=torch.int64),
    torch.arange(8.0).reshape(2, 2, 2), torch.arange(24).reshape(1, 2, 3, 4),
    torch.arange(1001), torch.arange(1001.0) / 7, torch.arange(2000).reshape(2, 1000),
    torch.arange(30.0), torch.arange(30) * 1000000, torch.arange(1200.0).reshape(20, 20, 3),
    torch.complex(t([1.0, -2.5]), t([0.0, 3.0])), torch.complex(t(1.0), t(-1.0)),
    t([1.0, 2.0], requires_grad=True), t([1.0, 2.0], requires_grad=True) * 2,
    torch.arange(24.0, requires_grad=True) * 1.5, t([123456.0, 0.001]), t([-1.0, 2.0]), t([[0.1, 100.25]]),
    t([0, 255], dtype=torch.uint8), t([99999999.0]), t([999999999.0]),
]

print("// Made by tests/golden/print.py with PyTorch", torch.__version__.split("+")[0] + ".")
print("#pragma once\n")
print("constexpr const char* kPrintGolden[] = {")
for x in CASES:
    text = repr(x).replace("torch.", "taeda.")
    lines = text.split("\n")
    for i, line in enumerate(lines):
        end = "\\n" if i + 1 < len(lines) else ""
        print('    "' + line + end + '"' + ("," if i + 1 == len(lines) else ""))
print("};")
