"""Rows for the test of forms: every operation with a form in place or with `out`, called on tensors alone."""

import out_rules
from emit_functions import out_names

# What stands for arguments without a default. Others have no row.
VALUES = {"const Scalar&": "2", "int64_t": "0", "double": "0.5", "RealArg": "0.5", "bool": "false", "IntArrayRef": "0",
          "const OptionalScalar&": "0.25"}


# By the argument's name, or its type and name, where its type's value would be refused.
NAMED = {"k": "1", "groups": "1", "repeats": "2", "size": "t[0].sizes()", "stride": "t[0].strides()", "int64_t p": "1"}

# Given a tensor though they have a default, since the operation wants one of them.
TENSORS = {("clamp", "min")}


def arguments(operation):
    """The call's arguments, from tensors t[0], t[1] ...; None where they cannot be made up."""
    out, tensors = [], 0
    for a in operation.arguments:
        if a.is_tensor and a.default is None or (operation.name, a.name) in TENSORS and "Tensor" in a.type:
            out.append(f"t[{tensors}]")
            tensors += 1
        elif a.type == "TensorList":
            out.append("{t[0], t[1]}")
            tensors = max(tensors, 2)
        elif a.default is not None:
            break
        elif named := NAMED.get(f"{a.type} {a.name}") or NAMED.get(a.name):
            out.append(named)
        elif a.type in VALUES:
            out.append(VALUES[a.type])
        else:
            return None, 0
    return out, tensors


def row(operation):
    o = operation
    given, tensors = arguments(o)
    if given is None or tensors == 0:
        return None
    name = f"{o.public_name}/{o.line}"
    plain = f"[](const Tensors& t) {{ return as_list({o.qualified}({', '.join(given)})); }}"
    in_place = with_out = "nullptr"
    if "in-place" in o.tags:
        rest = [g for i, g in enumerate(given) if i != o.receiver]
        in_place = f"[](const Tensors& t) -> Tensor& {{ return {given[o.receiver]}.{o.name}_({', '.join(rest)}); }}"
    if "out" in o.tags:
        results = ", ".join(f"out[{i}]" for i in range(len(out_names(o))))
        with_out = f"[](Tensors& out, const Tensors& t) {{ {o.qualified}_out({', '.join([results] + given)}); }}"
    own = "true" if o.public_name in out_rules.IN_DTYPE_OF_OUT else "false"
    dtypes = " ".join(o.tags.get("dtypes", []))
    return f'{{"{name}", {tensors}, "{dtypes}", {out_rules.written(o)}, {own}, {plain}, {in_place}, {with_out}}},'


def forms_inc(families):
    """src/forms_table.inc, which tests/ops/forms_test.cpp includes."""
    rows = [row(o) for f in families for o in f.operations
            if not o.only_method and ("out" in o.tags or "in-place" in o.tags)]
    without = [f'    "{o.public_name}",' for f in families for o in f.operations
               if not o.only_method and ("out" in o.tags or "in-place" in o.tags) and row(o) is None]
    return "\n".join(["// Made by tools/ops for tests/ops/forms_test.cpp.", "const Form kForms[] = {"] + [r for r in rows if r]
                     + ["};", "const std::set<std::string> kWithoutRow = {"] + sorted(set(without)) + ["};"]) + "\n"
