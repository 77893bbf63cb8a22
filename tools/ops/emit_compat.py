"""What libtorch has of operations that are declared for its programs alone, in include/compat/taeda_compat."""

from emit_functions import (NOTICE, WIDE, declaration, exempt, forward, other_out_operations, out_arguments, out_inputs,
                            out_names, out_operations, out_returns, written_out)
from declarations import Argument

DOC = """\
// The results of the operations in taeda_compat/layers.h, losses.h and tensors.h written to tensors that exist, by the
// rules of taeda/ops/out.h."""


# Operations whose results libtorch takes and gives back as const.
CONST = {"resize", "resize_as", "sparse_resize", "sparse_resize_and_clear", "resize_as_sparse"}


def definition(operation):
    """`name_out`, whole."""
    o, results = operation, out_names(operation)
    if o.name in CONST:
        return const_definition(o)
    arguments = ", ".join(f"{results[0]}.options()" if a.type == "const TensorOptions&" else a.name
                          for a in o.arguments)
    body = written_out("taeda::detail::", o, f"taeda_compat::{o.name}({arguments})")
    return [declaration(f"inline {out_returns(o)} {o.name}_out", [Argument(n, "Tensor&") for n in results] + out_arguments(o),
                        f" {{ {body} }}", width=WIDE)]


def const_definition(operation):
    """`name_out` of one result that is a const handle."""
    o = operation
    head = declaration(f"inline const Tensor& {o.name}_out", [Argument("out", "const Tensor&")] + out_arguments(o), " {")
    given = ", ".join(a.name for a in o.arguments)
    return [head, "  Tensor result = out;", f"  taeda::detail::check_out(\"{o.name}\", {{result}}{out_inputs(o)});",
            f"  taeda::detail::write_out(\"{o.name}\", result, taeda_compat::{o.name}({given}));", "  return out;", "}"]


def out_forms_h(families, compat):
    """taeda/generated/compat/out_forms.h."""
    theirs = {o.name for _, o in out_operations(families) + other_out_operations(families) if not o.namespace}
    found = [o for f in compat for o in f.operations if exempt(o) is None]
    out = [NOTICE] + DOC.split("\n") + ["#pragma once", "", '#include "taeda/ops/write_out.h"']
    out += [f"#include <{f.include.removeprefix('include/compat/')}>" for f in compat]
    out += ["", "namespace taeda_compat {", ""]
    out += [f"using taeda::{name}_out, taeda::{name}_outf;" for name in sorted({o.name for o in found} & theirs)]
    for o in found:
        out += definition(o) + [forward_last(o)] * (o.name not in CONST)
    return "\n".join(out + ["", "}  // namespace taeda_compat", ""])


def forward_last(operation):
    """`name_outf`, the same with the results behind all arguments."""
    return forward(f"{operation.name}_outf", operation, out_names(operation), last=True).replace(
        f"return {operation.qualified}_out(", f"return taeda_compat::{operation.name}_out(")
