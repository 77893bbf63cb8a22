"""The doors of operations: the public functions and methods, which let in who is interested in calls, and call the bodies.

A source of ops/ defines the body of `f` as `do_f`, of a method with the tensor as first argument, and its `composition`, if
it has that tag, as `compose_f`. A name of its own rather than a namespace: within one, a body that calls `f` would find the
body of `f` beside its door.
"""

from declarations import Argument
from emit_methods import NOTICE, WIDE, declaration, in_place_body, method, methods_of

# Composites that maps over samples see whole, because they ask for values or memory, or have a derivative of their own.
WHOLE_IN_MAPS = {"angle", "as_strided_scatter", "diag_embed", "gaussian_nll_loss", "histc", "istft", "linalg_matrix_exp", "logdet",
                 "masked_scatter", "special_entr", "special_xlog1py", "stft"}
# Arguments that are handed on rather than copied.
MOVED = ("std::function<",)


class Door:
    """A function or a method with a door: `head` is what is defined, `body` what it calls with `arguments`."""

    def __init__(self, operation, name, returns, method=False, made=None):
        o = operation
        self.operation, self.name, self.returns, self.method, self.made = o, name, returns, method, made
        rest = [Argument(a.name, a.type) for a in (o.rest if method else o.arguments)]
        self.taken = rest
        self.arguments = ([Argument("self", "const Tensor&")] if method else []) + rest
        self.namespace = "" if method else o.namespace

    @property
    def policy(self):
        """The casts of autocast; a form in place leaves them to what it calls."""
        in_place = self.method and not self.operation.only_method
        return [] if in_place or "inside" in self.operation.tags.get("autocast", []) else self.operation.casts

    def traits(self):
        """OperationTraits of ops/door.h."""
        o, casts = self.operation, self.policy
        fields = [f'.name = "{o.namespace + "_" if o.namespace else ""}{self.name}"']
        if self.made is None and "composite" in o.tags:
            fields.append(".observed = false")
        if casts:
            fields.append(".casts = {" + ", ".join(f"policy::Cast::{one}" for one in casts) + "}")
        return "{" + ", ".join(fields) + "}"

    @property
    def composed(self):
        return "composition" in self.operation.tags and self.name == self.operation.name

    def body_head(self, tail, prefix="do"):
        return declaration(f"{self.returns} {prefix}_{self.name}", self.arguments, tail, defaults=False, width=WIDE)

    def head(self):
        name = f"Tensor::{self.name}" if self.method else self.name
        return declaration(f"{self.returns} {name}", self.taken, " const {" if self.method else " {", defaults=False, width=WIDE)

    def definition(self):
        given = ["*this"] if self.method else []
        given += [f"std::move({a.name})" if a.type.startswith(MOVED) else a.name for a in self.taken]
        types = ", ".join(a.type for a in self.arguments)
        call = ", ".join(given)
        bodies, way = [f"do_{self.name}"], "pass"
        if self.composed:
            bodies, way = bodies + [f"compose_{self.name}"], "pass_by_parts"
        passed = f"Door<{self.returns}({types})>::{way}({', '.join(['traits'] + bodies + given)})"
        return (f"{self.head()}\n  static constexpr OperationTraits traits{self.traits()};\n  if (Interceptors::any()) return {passed};\n"
                f"  return do_{self.name}({call});\n}}")


def has_door(operation):
    """Whether its call goes through a door: not if it has its body in the header, or is made of others and no more."""
    o = operation
    parts = "composite" in o.tags and "autocast" not in o.tags and seen_name(o) not in WHOLE_IN_MAPS
    return not o.has_body and not parts


def seen_name(operation):
    """Its name for whoever sees its calls."""
    return operation.namespace + "_" * bool(operation.namespace) + operation.name


def doors(family):
    """Every door of a family: functions, methods without a function, forms in place."""
    out = []
    for o in family.operations:
        if has_door(o):
            out.append(Door(o, o.name, o.returns, method=o.only_method))
        for name, kind in methods_of(o):
            own_parts = o.tags.get("in-place") == ["own"] and (o.has_body or "composite" in o.tags)
            if kind == "in-place" and not own_parts:
                out.append(Door(o, name, "Tensor&", method=True, made=in_place_body(o, name)))
    return out


def bodies_h(family):
    """bodies/FAMILY.h: what the sources of ops/ define, hidden outside of the library."""
    out = [NOTICE, f"// The bodies of operations of {family.include}: their doors call them, nobody else does.", "#pragma once", "",
           f'#include "{family.include if family.include.endswith(".h") else "taeda/tensor/tensor.h"}"', "",
           "#pragma GCC visibility push(hidden)", "namespace taeda::inline v0_2 {"]
    made = [d for d in doors(family) if d.made is None]
    for space in sorted({d.namespace for d in made}):
        out += [f"namespace {space} {{"] if space else []
        out += [d.body_head(";") for d in made if d.namespace == space]
        out += [d.body_head(";", "compose") for d in made if d.namespace == space and d.composed]
        out += ["}"] if space else []
    return "\n".join(out + ["}  // namespace taeda", "#pragma GCC visibility pop", ""])


def definitions(family):
    """The doors of a family, and the bodies of forms in place that their tags tell."""
    out, all_doors = [], doors(family)
    for space in sorted({d.namespace for d in all_doors}):
        out += [f"namespace {space} {{", ""] if space else []
        for d in all_doors:
            if d.namespace == space:
                out += [f"static {d.body_head(' {')}\n{d.made}\n}}"] if d.made else []
                out.append(d.definition())
        out += ["", f"}}  // namespace {space}", ""] if space else []
    return out


def doors_cpp(families):
    """The definitions of these families' doors, and of the methods that call them."""
    text, headers = [], []
    for family in families:
        methods = [method(o, name) for o in family.operations for name, kind in methods_of(o) if kind == "plain"]
        found = definitions(family) + methods
        if found:
            headers += [f"bodies/{family.name}.h"] if doors(family) and family.include != "taeda/tensor/tensor_bodies.h" else []
            headers += [family.include] if family.include.endswith(".h") else []
            text += [f"// ---- {family.include} ----", ""] + found + [""]
    includes = ["taeda/device/generator.h", "taeda/ops/assign.h", "taeda/ops/door.h", "taeda/ops/elementwise/formulas.h", "taeda/tensor/iter.h"]
    return "\n".join([NOTICE] + [f'#include "{h}"' for h in sorted(set(includes + headers))] +
                     ["", "namespace taeda::inline v0_2 {", ""] + text + ["}  // namespace taeda", ""])


def groups(families, count):
    """The families in `count` groups of about as many doors and methods each."""
    sizes = [(len(doors(f)) + sum(len(methods_of(o)) for o in f.operations), f) for f in families]
    total, out, filled = sum(size for size, _ in sizes), [[] for _ in range(count)], 0
    for size, family in sizes:
        out[min(count - 1, filled * count // max(total, 1))].append(family)
        filled += size
    return out
