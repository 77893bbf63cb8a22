"""What libtorch has of operations that are declared for its programs alone, in include/compat/taeda_compat, and the names
that operations have for them."""

import dataclasses

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


SECOND_DOC = """\
// Operations under the names that libtorch has for them in torch itself - torch::fft_rfft, torch::linalg_norm - and forms in
// place as functions: torch::clamp_(t, 0, 1). They have the types of the operation, so that braces and absent values may
// stand for arguments. Those that take tensors and numbers alone are templates (taeda_compat/functions.h)."""

# Forms in place with arguments beside the tensor that are functions, too.
IN_PLACE = {"addmv", "clamp", "clamp_max", "clamp_min", "gcd", "lcm", "ldexp", "logit", "nan_to_num", "round", "xlogy"}


def second_name(operation):
    """Its name in torch itself, behind that of the namespace; None if it has none."""
    if operation.namespace in ("fft", "linalg"):
        return f"{operation.namespace}_{operation.name}"
    return "special_logsumexp" if operation.public_name == "logsumexp" else None


def outside(operation):
    """The operation with the types of its namespace named from outside."""
    arguments = [dataclasses.replace(a, type=a.type.replace("OptionalNorm", "fft::OptionalNorm")) for a in operation.arguments]
    return dataclasses.replace(operation, arguments=arguments)


def second_form(name, operation, results):
    """`name_out`, which calls the operation's."""
    if name.removeprefix("fft_") in ("hfft2", "hfftn", "ihfft2", "ihfftn"):  # libtorch's take and give back const handles
        call = f"{operation.qualified}_out({', '.join(['result'] + [a.name for a in out_arguments(operation)])})"
        return declaration(f"inline const Tensor& {name}_out", [Argument("out", "const Tensor&")] + out_arguments(operation),
                           f" {{ Tensor result = out; return {call}, out; }}", width=WIDE)
    return forward(f"{name}_out", operation, results, last=False)


def in_place_function(operation):
    """The form in place as a function of the tensor: [lines], also under its second names."""
    given, out = ", ".join(a.name for a in operation.rest), []
    for name in [operation.name] + operation.tags.get("also", []):
        out.append(declaration(f"inline Tensor& {name}_", [Argument("self", "const Tensor&")] + operation.rest,
                               f" {{ return self.{name}_({given}); }}", width=WIDE))
    return out


def second_names_h(families):
    """taeda/generated/compat/second_names.h."""
    with_out = {id(o) for _, o in out_operations(families) + other_out_operations(families)}
    out = [NOTICE] + SECOND_DOC.split("\n") + ["#pragma once", "", "#include <taeda/ops/out_forms.h>",
                                               "#include <taeda_compat/namespaces.h>", "", "namespace taeda_compat {", ""]
    for o in (o for f in families for o in f.operations if not o.only_method):
        if name := second_name(o):
            given, seen = ", ".join(a.name for a in o.arguments), outside(o)
            out.append(declaration(f"inline {o.returns} {name}", seen.arguments, f" {{ return {o.qualified}({given}); }}",
                                   width=WIDE))
            out += [second_form(name, seen, out_names(o))] if id(o) in with_out else []
        out += in_place_function(o) if o.name in IN_PLACE and not o.namespace and "in-place" in o.tags else []
    return "\n".join(out + ["", "}  // namespace taeda_compat", ""])


def forward_last(operation):
    """`name_outf`, the same with the results behind all arguments."""
    return forward(f"{operation.name}_outf", operation, out_names(operation), last=True).replace(
        f"return {operation.qualified}_out(", f"return taeda_compat::{operation.name}_out(")
