"""Prints tests/ops/complex_functions_golden.h, from PyTorch's functions of complex numbers and their gradients:

python3 tests/golden/complex_functions.py > tests/ops/complex_functions_golden.h
"""
import torch

Z = torch.tensor([0.5 + 2.0j, -1.0 + 0.3j, 0.2 - 0.7j, -3.0 - 1.5j, 1e-5 + 2e-5j, 1.25 + 0.0j], dtype=torch.complex128)
W = torch.tensor([1.0 - 0.5j, 0.25 + 2.0j, -0.75 + 0.1j, 2.0 + 0.0j, -0.5 - 1.0j, 0.3 + 0.4j], dtype=torch.complex128)
OF_ONE = ("acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log10 log1p log2 reciprocal rsqrt sigmoid silu "
          "sin sinh sqrt square tan tanh logsumexp logcumsumexp nan_to_num").split()
OF_TWO = "pow logaddexp".split()


def call(name, *args):
    if name == "silu":  # PyTorch's own has no gradient
        return args[0] * args[0].sigmoid()
    if name in ("logsumexp", "logcumsumexp"):
        return getattr(torch, name)(*args, 0)
    return getattr(torch, name)(*args)


def pairs(t):
    return ", ".join(f"{x.real!r}, {x.imag!r}" for x in t.detach().resolve_conj().flatten().tolist())


def row(name, *args):
    leaves = [a.clone().requires_grad_() for a in args]
    y = call(name, *leaves)
    y.backward(W if y.dim() else W[0])
    gradients = ", ".join("{" + pairs(leaf.grad) + "}" for leaf in leaves)
    print(f'    {{"{name}", {{{pairs(y)}}}, {{{gradients}}}}},')


print("// Made by tests/golden/complex_functions.py with PyTorch " + torch.__version__.split("+")[0] + ".")
print("#pragma once\n\n#include <vector>\n\nnamespace taeda {\n")
print("/// Real and imaginary parts in turn.\nstruct ComplexRow {\n  const char* name;\n  std::vector<double> result;\n"
      "  std::vector<std::vector<double>> gradients;\n};\n")
print(f"inline const std::vector<double> kComplexArguments = {{{pairs(Z)}}};")
print(f"inline const std::vector<double> kComplexSeconds = {{{pairs(W)}}};\n")
print("inline const std::vector<ComplexRow> kComplexRows = {")
for function in OF_ONE:
    row(function, Z)
for function in OF_TWO:
    row(function, Z, W)
print("};\n\n}  // namespace taeda")
