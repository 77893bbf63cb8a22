"""Writes tests/device/generator_golden.h: what PyTorch's CPU generator gives for a few seeds.

Run with PyTorch 1.13 or later, built without MKL: python3 tests/golden/generator.py
"""
import pathlib
import torch

SEEDS = (0, 1, 42)
SIZES = (1, 3, 15, 16, 17, 100)
KINDS = (
    ("Uniform", lambda n, t: torch.rand(n, dtype=t)),
    ("Normal", lambda n, t: torch.randn(n, dtype=t)),
)
EDGE = (8, 24)  # of long results, only the first and the last numbers are kept


def shortened(values):
    return values if len(values) <= sum(EDGE) else values[: EDGE[0]] + values[-EDGE[1]:]


def main():
    lines = []
    for kind, draw in KINDS:
        for dtype, name in ((torch.float, "kFloat"), (torch.double, "kDouble"),
                            (torch.half, "kHalf"), (torch.bfloat16, "kBFloat16")):
            for seed in SEEDS if dtype in (torch.float, torch.double) else (0,):
                for n in SIZES:
                    torch.manual_seed(seed)
                    values = shortened(draw(n, dtype).double().tolist())
                    lines.append((kind, name, seed, n, [f"{v:.9g}" if dtype == torch.float else f"{v:.17g}"
                                                        for v in values]))
    for seed in SEEDS:
        for kind, draw in (("Int10", lambda: torch.randint(0, 10, (12,))),
                           ("IntNegative", lambda: torch.randint(-5, 2**31, (12,))),
                           ("IntLarge", lambda: torch.randint(-7, 2**40, (12,))),
                           ("Permutation", lambda: torch.randperm(12))):
            torch.manual_seed(seed)
            lines.append((kind, "kLong", seed, 12, [str(v) for v in draw().tolist()]))
    torch.manual_seed(42)
    torch.randn(3)
    state = torch.get_rng_state().tolist()
    out = ["// Written by tests/golden/generator.py from PyTorch " + torch.__version__ + ".",
           "#pragma once", "", '#include "taeda/base/dtype.h"', "", "namespace taeda::golden {", "",
           "struct Draw {", "  const char* kind;", "  ScalarType dtype;", "  uint64_t seed;",
           "  int64_t n;", "  std::vector<double> values;", "};", "", "inline const std::vector<Draw> kDraws = {"]
    for kind, name, seed, n, values in lines:
        row = f'    {{"{kind}", {name}, {seed}, {n}, {{'
        for i, v in enumerate(values):
            piece = v + (", " if i + 1 < len(values) else "}},")
            if len(row) + len(piece) > 99:
                out.append(row.rstrip())
                row = "     "
            row += piece
        out.append(row)
    out += ["};", "",
            "/// Bytes 0 to 31 and the last 48 of the state after manual_seed(42) and randn(3).",
            "inline const std::vector<uint8_t> kStateHead = {" + ", ".join(map(str, state[:16])) + ",",
            "    " + ", ".join(map(str, state[16:32])) + "};",
            "inline const std::vector<uint8_t> kStateTail = {" + ", ".join(map(str, state[-48:-24])) + ",",
            "    " + ", ".join(map(str, state[-24:])) + "};", "", "}  // namespace taeda::golden", ""]
    target = pathlib.Path(__file__).parent.parent / "device" / "generator_golden.h"
    target.write_text("\n".join(out))


if __name__ == "__main__":
    main()
