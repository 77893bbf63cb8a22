"""The functions that come from others: second names and forms with `out`."""

import out_rules
from declarations import Argument
from emit_methods import WIDE, NOTICE, declaration, tensor_arguments, wrap, first_sentence


def names_h(families):
    """taeda/generated/ops/names.h: the second names of functions."""
    out = [NOTICE, "// Second names that PyTorch gives to operations.", "#pragma once", ""]
    named = [(f, o, also) for f in families for o in f.operations if not o.only_method
             for also in o.tags.get("also", [])]
    out += [f'#include "{include}"' for include in sorted({f.include for f, _, _ in named})]
    out += ["", "namespace taeda::inline v0_2 {", ""]
    said = set()
    for _, o, also in named:
        if also not in said:
            out.append(f"/// Another name of {o.name}.")
            said.add(also)
        arguments = ", ".join(a.name for a in o.arguments)
        out.append(declaration(f"inline {o.returns} {also}", o.arguments, " {"))
        out.append(f"  return {o.qualified}({arguments});\n}}")
    return "\n".join(out + ["", "}  // namespace taeda", ""])


def out_names(operation):
    """The names of the arguments that take the results."""
    if operation.outputs == 1:
        return ["out"]
    taken = {a.name for a in operation.arguments}
    names = operation.tags.get("returns") or [f"out{i}" for i in range(operation.outputs)]
    return [f"{n}_out" if n in taken else n for n in names]


# Operations that return new tensors and have no form with `out`, by name, beside those that `exempt` tells.
WITHOUT_OUT = {
    "tensor": "it writes down what C++ code says",
    "from_blob": "its result is memory of somebody else",
}


def exempt(operation):
    """Why an operation has no form with `out`; None if it has one."""
    o = operation
    if o.only_method and "out" not in o.tags:
        return "it is a method alone"
    if o.outputs == 0 or o.returns == "Tensor&" or o.name.endswith("_"):
        return "it returns no new tensor"
    if "view" in o.tags:
        return "its result may be a view"
    return WITHOUT_OUT.get(o.name)


def out_arguments(operation):
    """The arguments behind `out`, which says what TensorOptions would; a method's tensor is the first."""
    own = [Argument("self", "const Tensor&")] if operation.only_method else []
    return own + [a for a in operation.arguments if a.type != "const TensorOptions&"]


def out_operations(families):
    """Those with the tag: what Python's functions take `out` for, too."""
    return [(f, o) for f in families for o in f.operations if "out" in o.tags and not o.only_method]


def other_out_operations(families):
    """All others that can have the form, one for each list of arguments; none that another's defaults cover."""
    able = [(f, o) for f in families for o in f.operations if exempt(o) is None]
    seen, found = {call for _, o in out_operations(families) for call in out_calls(o)}, set()
    for _, o in sorted(able, key=lambda pair: -len(out_arguments(pair[1]))):
        if out_calls(o)[0] not in seen:
            seen.update(out_calls(o))
            found.add(id(o))
    return [(f, o) for f, o in able if id(o) in found]


def out_calls(operation):
    """The types that calls of the form with `out` pass: all arguments, then those without the last default, and so on."""
    arguments = out_arguments(operation)
    required = max((i + 1 for i, a in enumerate(arguments) if a.default is None), default=0)
    return [(operation.namespace, operation.name, *[a.type for a in arguments[:n]])
            for n in range(len(arguments), required - 1, -1)]


def out_returns(operation):
    if operation.outputs == 1:
        return "Tensor&"
    return "std::tuple<" + ", ".join(["Tensor&"] * operation.outputs) + ">"


def out_head(operation, defaults):
    results = [Argument(n, "Tensor&") for n in out_names(operation)]
    return declaration(f"{out_returns(operation)} {operation.name}_out", results + out_arguments(operation),
                       ";" if defaults else " {", defaults, WIDE)


def by_namespace(pairs):
    """[(namespace, [(family, operation)])], the functions of taeda itself first."""
    spaces = sorted({o.namespace for _, o in pairs})
    return [(space, [(f, o) for f, o in pairs if o.namespace == space]) for space in spaces]


OUT_DOC = """\
// The results of operations written to tensors that exist: `add_out(out, a, b)`.
//
// `out` gets the result's sizes, if it has others. It keeps its dtype and device: throws Error for a result that cannot
// be cast ("result type Float can't be cast to the desired output type Long"), for any other dtype where the operation
// asks for the result's ("Expected out tensor to have dtype float, but got double instead"), for another device, and
// where a gradient would have to be recorded. It may be one of the inputs of most operations, and no part of one."""


def out_h(families):
    """taeda/generated/ops/out.h."""
    pairs = out_operations(families)
    out = [NOTICE] + OUT_DOC.split("\n") + ["#pragma once", ""]
    out += [f'#include "{include}"' for include in sorted({f.include for f, _ in pairs})]
    out += ["", "namespace taeda::inline v0_2 {"]
    for space, members in by_namespace(pairs):
        out += ["", f"namespace {space} {{"] if space else []
        family = None
        for f, o in members:
            if f is not family:
                out += ["", f"// {f.include}"]
                family = f
            out.append(out_head(o, defaults=True))
        out += ["", f"}}  // namespace {space}"] if space else []
    return "\n".join(out + ["", "}  // namespace taeda", ""])


OUT_FORMS_DOC = """\
// The rest of what libtorch makes of an operation that writes its result to a tensor that exists, by the rules of
// ops/out.h. Every operation that returns new tensors has
//
//   name_out(out, self, ...)    as in ops/out.h; operations that make tensors take dtype and device from `out`
//   name_outf(self, ..., out)   the same with `out` behind all arguments, none of which has a default
//
// also under its second names. Exempt are views, tensor() and from_blob()."""


def forward(head, operation, results, last):
    """An inline function that calls name_out: `head` with the results first or `last`."""
    given, taken = [Argument(n, "Tensor&") for n in results], out_arguments(operation)
    plain = [Argument(a.name, a.type) for a in taken] if last else taken
    body = f"return {operation.qualified}_out({', '.join(results + [a.name for a in taken])});"
    listed = plain + given if last else given + plain
    return declaration(f"inline {out_returns(operation)} {head}", listed, f" {{ {body} }}", width=WIDE)


def out_forms_h(families):
    """taeda/generated/ops/out_forms.h."""
    others = other_out_operations(families)
    pairs = out_operations(families) + others
    out = [NOTICE] + OUT_FORMS_DOC.split("\n") + ["#pragma once", "", '#include "taeda/generated/ops/out.h"']
    out += [f'#include "{include}"' for include in sorted({f.include for f, o in others if not o.only_method})]
    out += ["", "namespace taeda::inline v0_2 {"]
    for space, members in by_namespace(pairs):
        out += ["", f"namespace {space} {{"] if space else []
        for pair in members:
            o, results = pair[1], out_names(pair[1])
            out += [out_head(o, defaults=True)] if pair in others else []
            out.append(forward(f"{o.name}_outf", o, results, last=True))
            kinds = {a.name: a.type for a in o.arguments}
            if kinds.get("dim") == "OptionalIntArrayRef" and "keepdim" in kinds:  # libtorch has a form for all dimensions
                out.append(declaration(f"inline Tensor& {o.name}_outf", [o.arguments[0], Argument("out", "Tensor&")],
                                       f" {{ return {o.qualified}_out(out, {o.arguments[0].name}); }}", width=WIDE))
            for second in o.tags.get("also", []):
                out.append(forward(f"{second}_out", o, results, last=False))
                out.append(forward(f"{second}_outf", o, results, last=True))
        out += ["", f"}}  // namespace {space}"] if space else []
    return "\n".join(out + exported_forms(families, pairs) + ["", "}  // namespace taeda", ""])


def exported_forms(families, pairs):
    """The forms of operations that have a name outside of their namespace, too: `using linalg::det`."""
    inner = {f"{o.namespace}::{o.name}" for _, o in pairs if o.namespace}
    named = sorted(name for f in families for name in f.exported if name in inner)
    return [""] * bool(named) + [f"using {name}_out, {name}_outf;" for name in named]


def out_call(operation):
    """The call of the operation whose result `out` gets."""
    results = out_names(operation)
    in_its_dtype = operation.public_name in out_rules.IN_DTYPE_OF_OUT
    arguments = ", ".join(f"{results[0]}.options()" if a.type == "const TensorOptions&" else
                          f"detail::dtype_or({a.name}, {results[0]})" if in_its_dtype and a.type == "OptionalDtype" else
                          a.name for a in operation.arguments)
    call = f"self.{operation.name}({arguments})" if operation.only_method else f"{operation.qualified}({arguments})"
    return f'detail::in_shape_of("{operation.name}", {results[0]}, {call})' if "sequence" in operation.tags else call


def out_inputs(operation):
    """", self, other": the tensors that the form with `out` checks."""
    given = {"const Tensor&": "{0}", "TensorList": "{0}", "const std::optional<Tensor>&": "{0} ? TensorList(*{0}) : TensorList()"}
    return "".join(f", {given[a.type].format(a.name)}" for a in out_arguments(operation) if a.type in given)


def written_out(space, operation, call):
    """What a form with `out` does."""
    o, results = operation, ", ".join(out_names(operation))
    dtype = next((a.name for a in o.arguments if a.type == "OptionalDtype"), None)
    rule = out_rules.written(o, dtype, not o.only_method and not out_inputs(o), called=True)
    out = results if o.outputs == 1 else f"std::tie({results})"
    return f"return {space}to_out({rule}, {out}, [&] {{ return {call}; }}{out_inputs(o)});"


def out_cpp(families):
    """The definitions of the forms with `out`, one in each line."""
    out = [NOTICE, '#include "taeda/generated/ops/out_forms.h"', "", '#include "taeda/ops/write_out.h"', "",
           "namespace taeda::inline v0_2 {", ""]
    for space, members in by_namespace(out_operations(families) + other_out_operations(families)):
        out += [f"namespace {space} {{", ""] if space else []
        for _, o in members:
            out.append(f"{out_head(o, defaults=False)} {written_out('detail::', o, out_call(o))} }}")
        out += ["", f"}}  // namespace {space}", ""] if space else []
    return "\n".join(out + ["}  // namespace taeda", ""])
