"""Writes tests/ops/promotion_golden.h: dtypes of results, from PyTorch."""
import sys
import torch

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
          "complex128", "bool", "bfloat16"]
NUMBERS = [True, 2, 2.5, 2.5 + 1j]


def name(dtype):
    return str(dtype).replace("torch.", "")


def tensor(dtype, dims):
    return torch.ones([2] * dims, dtype=getattr(torch, dtype))


def main():
    out = ["// Written by tests/golden/promotion.py: result dtypes of PyTorch " + torch.__version__ + ".",
           "#pragma once", "", "namespace taeda::testing {", "",
           "/// Dimensions and dtypes of two tensors, and the dtype of their sum and quotient.",
           "struct PromotionCase { int a_dims; const char* a; int b_dims; const char* b; const char* sum; const char* quotient; };",
           "constexpr PromotionCase kPromotion[] = {"]
    for i, a in enumerate(DTYPES):
        for b in DTYPES[i:]:
            for dims in [(1, 1), (1, 0), (0, 1)]:
                x, y = tensor(a, dims[0]), tensor(b, dims[1])
                if (x + y).dtype == torch.complex32:  # complex numbers of 16-bit parts do not exist here
                    continue
                out.append('    {%d, "%s", %d, "%s", "%s", "%s"},' % (
                    dims[0], a, dims[1], b, name((x + y).dtype), name((x / y).dtype)))
    out += ["};", "", "/// A tensor times true, 2, 2.5 and 2.5 + i; empty where PyTorch has a 16-bit complex result.",
            "struct NumberCase { int dims; const char* dtype; const char* products[4]; };",
            "constexpr NumberCase kNumberPromotion[] = {"]
    for a in DTYPES:
        for dims in [0, 1]:
            products = [name((tensor(a, dims) * number).dtype) for number in NUMBERS]
            out.append('    {%d, "%s", {%s}},' % (
                dims, a, ", ".join('"%s"' % p.replace("complex32", "") for p in products)))
    out += ["};", "", "}  // namespace taeda::testing", ""]
    open(sys.argv[1], "w").write("\n".join(out))


main()
