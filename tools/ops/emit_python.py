"""Python's side of the operations: tables of signatures and the calls, as C++ that python/src is compiled with."""

import re

from declarations import Argument
from documentation import documentation
from emit_functions import out_arguments, out_names
from emit_methods import NOTICE
from emit_stubs import ONLY_CPP, RESERVED, given_default, usable as has_stub
from emit_table import is_keyword

SOURCES = 8

# C++ type: kind, or (kind, kind where the default is "nothing").
KINDS = {
    "const Tensor&": ("Tensor", "MaybeTensor"),
    "const std::optional<Tensor>&": "MaybeTensor",
    "TensorList": "Tensors",
    "const Scalar&": "Number",
    "const OptionalScalar&": "MaybeNumber",
    "ArrayRef<Scalar>": "Numbers",
    "double": "Real",
    "RealArg": "Real",
    "std::optional<double>": "MaybeReal",
    "std::optional<ArrayRef<double>>": "MaybeReals",
    "ArrayRef<double>": "Reals",
    "int64_t": "Int",
    "OptionalDim": "MaybeInt",
    "std::optional<int64_t>": "MaybeInt",
    "IntArrayRef": ("Ints", "MaybeInts"),
    "OptionalIntArrayRef": "MaybeInts",
    "bool": "Bool",
    "std::optional<bool>": "MaybeBool",
    "std::string_view": "Text",
    "std::optional<std::string_view>": "MaybeText",
    "OptionalNorm": "MaybeText",
    "ScalarType": "Dtype",
    "OptionalDtype": "MaybeDtype",
    "std::optional<MemoryFormat>": "MaybeFormat",
    "GeneratorArg": "MaybeGenerator",
    "ReductionArg": "Reduction",
    "const ConvPadding&": "Padding",
}
OPTIONS = [("dtype", "MaybeDtype", "None"), ("layout", "MaybeLayout", "None"), ("device", "MaybeDevice", "None"),
           ("pin_memory", "MaybeBool", "False"), ("requires_grad", "MaybeBool", "False")]
# Tensors that PyTorch takes None for although they come without a default, in normalizations.
MAYBE_NONE = {"weight", "bias", "running_mean", "running_var"}
# Lists of ints in whose place one int stands for all of them, or for the only one.
ONE_FOR_ALL = {"bins", "destination", "dim", "indices", "kernel_size", "output_size", "shifts", "source"}
# Defaults that are nothing: what takes the argument knows them.
NOTHING = (None, "{}", "nullptr")


def usable(operation):
    known = all(a.type in KINDS or a.type == "const TensorOptions&" for a in operation.arguments)
    return known and has_stub(operation) and not any(w in a.type for a in operation.arguments for w in ONLY_CPP)


def kind_of(operation, argument):
    kinds = KINDS[argument.type]
    plain, absent = (kinds, kinds) if isinstance(kinds, str) else kinds
    if argument.default == "{}":
        return absent
    if argument.type == "IntArrayRef" and argument.default is None and argument.name not in ONE_FOR_ALL:
        return "Sizes"
    return "MaybeTensor" if plain == "Tensor" and argument.name in MAYBE_NONE and "norm" in operation.name else plain


def standard(argument):
    """The default as a signature shows it, or None."""
    return {"...": argument.default}.get(text := given_default(argument), text)


class Overload:
    """One signature: its parameters in Python's order and the call."""

    def __init__(self, operation, number):
        self.operation, self.number = operation, number
        arguments = operation.arguments
        if operation.only_method:
            arguments = [Argument("self", "const Tensor&")] + arguments
        self.arguments = arguments
        self.place_of = {}  # argument's position in C++: parameter's number
        positional = [i for i, a in enumerate(arguments) if not is_keyword(operation, a)]
        keyword = [i for i, a in enumerate(arguments) if is_keyword(operation, a)]
        self.parameters = []
        for i in positional + keyword:
            a = arguments[i]
            self.place_of[i] = len(self.parameters)
            if a.type == "const TensorOptions&":
                self.parameters += [(n, k, d, True) for n, k, d in OPTIONS]
            else:
                name = "input" if i == 0 and a.name == "self" else RESERVED.get(a.name, a.name).rstrip("_") or a.name
                self.parameters.append((name, kind_of(operation, a), standard(a), i in keyword))
        self.positional = len(positional)
        self.has_out = "out" in operation.tags and not operation.only_method
        if self.has_out:
            self.parameters.append(("out", "Out" if operation.outputs == 1 else "Outs", "None", True))
        receiver = 0 if operation.only_method else operation.receiver
        self.receiver = self.place_of.get(receiver, -1) if receiver is not None else -1

    def spread(self, method):
        rest = [p for i, p in enumerate(self.parameters[:self.positional]) if not (method and i == self.receiver)]
        return len(rest) == 1 and rest[0][1] in ("Ints", "MaybeInts", "Sizes")

    def table(self):
        rows = []
        for name, kind, default, keyword in self.parameters:
            row = f'{{"{name}", Kind::{kind}'
            if default is not None or keyword:
                quoted = "nullptr" if default is None else '"' + default.replace('"', "'") + '"'
                row += f", {quoted}"
            rows.append(row + (", true}" if keyword else "}"))
        return "{" + ", ".join(rows) + "}"

    def function(self, in_place=False):
        """The C++ function to call, as an expression."""
        o = self.operation
        if not o.only_method and not in_place:
            return f"fn<{o.returns}({', '.join(a.type for a in o.arguments)})>({o.qualified})"
        at = 0 if o.only_method else o.receiver
        taken = ", ".join(f"{a.type} {a.name}" for a in self.arguments)
        rest = ", ".join(a.name for i, a in enumerate(self.arguments) if i != at)
        return f"[]({taken}) {{ return {self.arguments[at].name}.{o.name}{'_' if in_place else ''}({rest}); }}"

    def places(self):
        """Which parameter gives each argument, and what it is otherwise."""
        for i, a in enumerate(self.arguments):
            values = [] if a.default in NOTHING or a.type == "const ConvPadding&" else re.split(", *", a.default.strip("{}"))
            values = [f"Word({v})" if v.startswith('"') else v for v in values]
            yield f"At<{', '.join([str(self.place_of[i])] + values)}>"

    def form(self):
        """How the result goes to Python."""
        o, form = self.operation, "Plain"
        if fields := o.tags.get("returns"):
            form = f'Named<"torch.return_types.{o.namespace + "_" if o.namespace else ""}{o.name}", "{" ".join(fields)}">'
        if not self.has_out:
            return form
        place, rest = len(self.parameters) - 1, "" if form == "Plain" else f", {form}"
        names = {a.name for a in out_arguments(o)}
        left_out = [a for a in self.arguments if a.name not in names]
        write = f"[](auto&... all) {{ {o.qualified}_out(all...); }}"
        if left_out:
            taken = ", ".join(f"auto&{'' if a in left_out else ' ' + a.name}" for a in self.arguments)
            given = ", ".join(a.name for a in self.arguments if a not in left_out)
            write = f"[](auto& out, {taken}) {{ {o.qualified}_out(out, {given}); }}"
        if o.outputs == 1:
            return f"WithOut<{place}, {write}{rest}>"
        return f'WithOuts<{place}, {o.outputs}, "{o.name}", {write}{rest}>'

    def call(self, in_place=False):
        return f"bound<{', '.join([self.function(in_place), 'Plain' if in_place else self.form(), *self.places()])}>"


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Source:
    """One generated source: for each overload its parameters and its call, for each name what it can be called with."""

    def __init__(self, families):
        self.lines, self.entries, self.families = [], [], families

    def said(self, name, overloads, method):
        family = self.families.get(overloads[0].operation.path, "")
        return documentation(name, [(o.operation, o.has_out) for o in overloads], method, family)

    def add(self, operations):
        """All overloads of one name in one namespace."""
        space, name = operations[0].namespace, operations[0].name
        overloads = [Overload(o, i) for i, o in enumerate(operations)]
        key = f"{space}_{name}" if space else name
        for o in overloads:
            self.lines.append(f"constexpr Parameter kParameters_{key}_{o.number}[] = {o.table()};")
            self.lines.append(f"constexpr auto call_{key}_{o.number} = {o.call()};")
            if "in-place" in o.operation.tags:
                self.lines.append(f"constexpr auto call_{key}_{o.number}_in_place = {o.call(in_place=True)};")
        self.forms(space, name, key, overloads)

    def signature(self, o, key, form):
        name, method = f"{key}_{o.number}", form != "function"
        count = len(o.parameters) - (o.has_out and method)
        return (f"{{kParameters_{name}, {count}, {o.positional}, {o.receiver if method else -1}, "
                f"{'true' if o.spread(method) else 'false'}, call_{name}{'_in_place' if form == 'in_place' else ''}}}")

    def forms(self, space, name, key, overloads):
        forms = [("function", [o for o in overloads if not o.operation.only_method]),
                 ("method", [o for o in overloads if o.operation.is_method]),
                 ("in_place", [o for o in overloads if "in-place" in o.operation.tags])]
        for form, some in forms:
            if not some:
                continue
            signatures = ", ".join(self.signature(o, key, form) for o in some)
            self.lines.append(f"constexpr Signature kSignatures_{key}_{form}[] = {{{signatures}}};")
            ending, method = "_" if form == "in_place" else "", form != "function"
            for n in dict.fromkeys([name] + [n for o in some for n in o.operation.tags.get("also", [])]):
                called, python_name = f"{space + '_' if space else ''}{n}{ending}", RESERVED.get(n, n) + ending
                self.entries.append(
                    f'{{"{"Tensor" if method else space}", "{python_name}", {str(method).lower()}, '
                    f'{{"{called}", kSignatures_{key}_{form}, {len(some)}}}, {literal(self.said(python_name, some, method))}}}')

    def text(self, number, includes, spaces):
        return "\n".join([
            NOTICE, '#include "binding.h"', '#include "generated_methods.h"', *includes, "", "namespace taeda::python {", "",
            "namespace {", "", *(f"using namespace taeda::{space};  // its types" for space in spaces), "", *self.lines, "",
            "constexpr Entry kEntries[] = {", *(f"    {e}," for e in self.entries), "};", "", "}  // namespace", "",
            f"std::vector<Method> operations_{number}() {{ return methods<kEntries>(); }}", "", "}  // namespace taeda::python", ""])


def sources(families):
    """{name: text} of the sources that bind every operation."""
    groups = {}
    for f in families:
        for o in f.operations:
            if usable(o):
                groups.setdefault((o.namespace, o.name), []).append(o)
    said = {f.include: f.doc for f in families if f.include.endswith(".h")}
    made = [Source(said) for _ in range(SOURCES)]
    for i, group in enumerate(groups.values()):
        made[i * SOURCES // len(groups)].add(group)
    includes = [f'#include "{f.include}"' for f in families if f.include.endswith(".h")]
    includes += ['#include "taeda/generated/ops/out_forms.h"', '#include "taeda/taeda.h"']
    spaces = sorted({space for space, _ in groups if space})
    files = {f"python/operations_{i}.cpp": s.text(i, includes, spaces) for i, s in enumerate(made)}
    files["python/operations.cpp"] = "\n".join([
        NOTICE, '#include "generated_methods.h"', "", "namespace taeda::python {", "",
        *(f"std::vector<Method> operations_{i}();" for i in range(SOURCES)), "", "std::vector<Method> generated_methods() {",
        "  std::vector<Method> all;", f"  for (const auto part : {{{', '.join(f'operations_{i}' for i in range(SOURCES))}}})",
        "    for (const Method& method : part()) all.push_back(method);", "  return all;", "}", "",
        "}  // namespace taeda::python", ""])
    return files
