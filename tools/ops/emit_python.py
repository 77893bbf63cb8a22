"""Python's side of the operations: tables of signatures and the calls, as C++ that python/src is compiled with."""

import re

from declarations import Argument
from emit_functions import out_arguments, out_names
from emit_methods import NOTICE
from emit_stubs import ONLY_CPP, RESERVED, given_default, signature, usable as has_stub
from emit_table import is_keyword

SOURCES = 8

# C++ type: (kind, kind where the default is "nothing", what keeps the value, what gives it)
KINDS = {
    "const Tensor&": ("Tensor", "MaybeTensor", "const Tensor&", "tensor"),
    "const std::optional<Tensor>&": ("MaybeTensor", "MaybeTensor", "const std::optional<Tensor>", "maybe_tensor"),
    "TensorList": ("Tensors", "Tensors", "const std::vector<Tensor>", "tensors"),
    "const Scalar&": ("Number", "Number", "const Scalar", "number"),
    "const OptionalScalar&": ("MaybeNumber", "MaybeNumber", "const OptionalScalar", "maybe_number"),
    "ArrayRef<Scalar>": ("Numbers", "Numbers", "const std::vector<Scalar>", "numbers"),
    "double": ("Real", "Real", "const double", "real"),
    "RealArg": ("Real", "Real", "const double", "real"),
    "std::optional<double>": ("MaybeReal", "MaybeReal", "const std::optional<double>", "maybe_real"),
    "std::optional<ArrayRef<double>>": ("MaybeReals", "MaybeReals", "const std::vector<double>", "reals"),
    "ArrayRef<double>": ("Reals", "Reals", "const std::vector<double>", "reals"),
    "int64_t": ("Int", "Int", "const int64_t", "integer"),
    "OptionalDim": ("MaybeInt", "MaybeInt", "const OptionalDim", "maybe_integer"),
    "std::optional<int64_t>": ("MaybeInt", "MaybeInt", "const OptionalDim", "maybe_integer"),
    "IntArrayRef": ("Ints", "MaybeInts", "const Ints", "ints"),
    "OptionalIntArrayRef": ("MaybeInts", "MaybeInts", "const Ints", "ints"),
    "bool": ("Bool", "Bool", "const bool", "boolean"),
    "std::optional<bool>": ("MaybeBool", "MaybeBool", "const std::optional<bool>", "maybe_boolean"),
    "std::string_view": ("Text", "Text", "const std::string_view", "text"),
    "std::optional<std::string_view>": ("MaybeText", "MaybeText", "const std::optional<std::string_view>", "maybe_text"),
    "OptionalNorm": ("MaybeText", "MaybeText", "const std::optional<std::string_view>", "maybe_text"),
    "ScalarType": ("Dtype", "Dtype", "const ScalarType", "dtype"),
    "OptionalDtype": ("MaybeDtype", "MaybeDtype", "const OptionalDtype", "maybe_dtype"),
    "std::optional<MemoryFormat>": ("MaybeFormat", "MaybeFormat", "const std::optional<MemoryFormat>", "maybe_format"),
    "GeneratorArg": ("MaybeGenerator", "MaybeGenerator", "const GeneratorArg", "generator"),
    "ReductionArg": ("Reduction", "Reduction", "const Reduction", "reduction"),
    "const ConvPadding&": ("Padding", "Padding", "const ConvPadding", "padding"),
}
OPTIONS = [("dtype", "MaybeDtype", "None"), ("layout", "MaybeLayout", "None"), ("device", "MaybeDevice", "None"),
           ("pin_memory", "MaybeBool", "False"), ("requires_grad", "MaybeBool", "False")]
# Tensors that PyTorch takes None for although they come without a default, in normalizations.
MAYBE_NONE = {"weight", "bias", "running_mean", "running_var"}
# Lists of ints in whose place one int stands for all of them, or for the only one.
ONE_FOR_ALL = {"bins", "destination", "dim", "indices", "kernel_size", "output_size", "shifts", "source"}
# What the getter knows without being told, so that it is not said again.
UNSAID = ("Maybe", "Tensor", "Padding")


def usable(operation):
    known = all(a.type in KINDS or a.type == "const TensorOptions&" for a in operation.arguments)
    return known and has_stub(operation) and not any(w in a.type for a in operation.arguments for w in ONLY_CPP)


def kind_of(operation, argument):
    plain, absent, *_ = KINDS[argument.type]
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
        self.places = {}  # argument's position in C++: parameter's number
        positional = [i for i, a in enumerate(arguments) if not is_keyword(operation, a)]
        keyword = [i for i, a in enumerate(arguments) if is_keyword(operation, a)]
        self.parameters = []
        for i in positional + keyword:
            a = arguments[i]
            self.places[i] = len(self.parameters)
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
        self.receiver = self.places.get(receiver, -1) if receiver is not None else -1

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

    def locals(self):
        lines = []
        for i, a in enumerate(self.arguments):
            place = self.places[i]
            if a.type == "const TensorOptions&":
                lines.append(f"const TensorOptions {a.name}_ = a.options({place});")
                continue
            _, _, keep, getter = KINDS[a.type]
            default = ""
            if a.default not in (None, "{}", "nullptr") and getter != "padding":
                default = f", {keep.replace('const ', '')}({a.default})" if not a.default.startswith("{") else f", {a.default}"
            lines.append(f"{keep} {a.name}_ = a.{getter}({place}{default});")
        return lines

    def values(self):
        """The arguments as C++ takes them."""
        optional = {"std::optional<ArrayRef<double>>", "OptionalIntArrayRef"}  # their lists are kept in another type
        return [f"a.present({self.places[i]}) ? {a.type}({a.name}_) : {a.type}()" if a.type in optional else f"{a.name}_"
                for i, a in enumerate(self.arguments)]

    def call(self, in_place=False):
        o, values = self.operation, self.values()
        if o.only_method or in_place:
            at = 0 if o.only_method else o.receiver
            rest = ", ".join(v for i, v in enumerate(values) if i != at)
            return f"{values[at]}.{o.name}{'_' if in_place else ''}({rest})"
        returns = o.returns
        types = ", ".join(a.type for a in o.arguments)
        return f"static_cast<{returns} (*)({types})>({o.qualified})({', '.join(values)})"

    def out_call(self):
        o = self.operation
        types = {a.name for a in out_arguments(o)}
        taken = [v for a, v in zip(self.arguments, self.values()) if a.name in types]
        n = len(out_names(o))
        results = ["out"] if n == 1 else [f"all[{k}]" for k in range(n)]
        return f"{o.qualified}_out({', '.join(results + taken)})"

    def body(self, name, in_place=False):
        o, out = self.operation, []
        out.append(f"PyObject* {name}(Arguments& a) {{")
        if o.namespace:
            out.append(f"  using namespace taeda::{o.namespace};  // its types")
        out += ["  " + line for line in self.locals()]
        if self.has_out and not in_place:
            place = len(self.parameters) - 1
            if o.outputs == 1:
                out.append(f"  if (a.given({place})) return into(a.object({place}), [&](Tensor& out) {{ {self.out_call()}; }});")
            else:
                out += [f"  if (a.given({place})) {{",
                        f'    std::vector<Tensor> all = outs(a.object({place}), {o.outputs}, "{o.name}");',
                        f"    {self.out_call()};",
                        f"    return named_{name}(std::move(all));" if o.tags.get("returns") else
                        "    return from_tensors(std::move(all));", "  }"]
        returns = "Tensor" if in_place or o.returns in ("Tensor&", "const Tensor&") else o.returns
        out += [f"  auto made = [&]() -> {returns} {{",
                "    const ReleaseGil released(a.is_heavy());", f"    return {self.call(in_place)};", "  }();"]
        if o.tags.get("returns") and not in_place:
            out.append(f"  return named_{name}(as_vector(std::move(made)));")
        else:
            out.append("  return result(std::move(made));")
        return out + ["}"]


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def documentation(name, overloads, method):
    first = overloads[0].operation
    lines = [f"{name}({signature(o.operation, method, o.has_out and not method)})".replace("(self, ", "(").replace("(self)", "()")
             for o in overloads]
    return literal("\n".join(lines) + "\n\n" + first.doc)


class Source:
    """One generated source: bodies, tables of signatures and tables for Python."""

    def __init__(self):
        self.lines, self.entries, self.listed, self.count = [], {}, [], 0

    def add(self, operations):
        """All overloads of one name in one namespace."""
        space, name = operations[0].namespace, operations[0].name
        overloads = [Overload(o, i) for i, o in enumerate(operations)]
        key = f"{space}_{name}" if space else name
        for o in overloads:
            self.overload(o, f"{key}_{o.number}")
        self.callables(space, name, key, overloads)

    def overload(self, o, name):
        if fields := o.operation.tags.get("returns"):
            title = f"torch.return_types.{(o.operation.namespace + '_' if o.operation.namespace else '') + o.operation.name}"
            self.lines.append(f'NamedResult named_{name}("{title}", "{" ".join(fields)}");')
        self.lines.append(f"constexpr Parameter kParameters_{name}[] = {o.table()};")
        self.lines += o.body(name)
        if "in-place" in o.operation.tags:
            self.lines += o.body(f"{name}_in_place", in_place=True)
        self.lines.append("")

    def signature(self, o, key, form):
        name = f"{key}_{o.number}"
        method = form != "function"
        count = len(o.parameters) - (o.has_out and method)
        call = f"{name}_in_place" if form == "in_place" else name
        return (f"{{kParameters_{name}, {count}, {o.positional}, {o.receiver if method else -1}, "
                f"{'true' if o.spread(method) else 'false'}, {call}}}")

    def callables(self, space, name, key, overloads):
        forms = [("function", [o for o in overloads if not o.operation.only_method], space, "function"),
                 ("method", [o for o in overloads if o.operation.is_method], "Tensor", "method"),
                 ("in_place", [o for o in overloads if "in-place" in o.operation.tags], "Tensor", "method")]
        for form, some, table, how in forms:
            if not some:
                continue
            signatures = ", ".join(self.signature(o, key, form) for o in some)
            self.lines.append(f"constexpr Signature kSignatures_{key}_{form}[] = {{{signatures}}};")
            ending = "_" if form == "in_place" else ""
            names = dict.fromkeys([name] + [n for o in some for n in o.operation.tags.get("also", [])])
            for n in names:
                self.lines.append(f'constexpr Callable kCall_{space}_{n}_{form}_{self.count}{{"{space + "_" if space else ""}{n}{ending}", '
                                  f"kSignatures_{key}_{form}, {len(some)}}};")
                python_name = RESERVED.get(n, n) + ending
                self.entries.setdefault(table, []).append(
                    f'{{"{python_name}", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_{how}<kCall_{space}_{n}_{form}_{self.count}>)), '
                    f"METH_FASTCALL | METH_KEYWORDS,\n     {documentation(python_name, some, how == 'method')}}}")
                self.listed.append(f'{{"{table}", "{python_name}", {str(how == "method").lower()}, '
                                   f"&kCall_{space}_{n}_{form}_{self.count}}}")
                self.count += 1
        self.lines.append("")

    def text(self, number, includes):
        out = [NOTICE, '#include "generated_methods.h"', "", '#include "arguments.h"', *includes, "",
               "namespace taeda::python {", "", "namespace {", ""] + self.lines
        for table, entries in sorted(self.entries.items()):
            out += [f"const PyMethodDef kTable_{table}[] = {{"] + [f"    {e}," for e in entries] + ["};"]
        out += ["constexpr Listed kListed[] = {"] + [f"    {e}," for e in self.listed] + ["};"]
        out += ["", "}  // namespace", "", f"void list_operations_{number}(std::vector<Listed>& all) {{",
                "  all.insert(all.end(), std::begin(kListed), std::end(kListed));", "}", "",
                f"void add_operations_{number}(MethodTables& tables) {{"]
        out += [f'  tables["{table}"].insert(tables["{table}"].end(), std::begin(kTable_{table}), std::end(kTable_{table}));'
                for table in sorted(self.entries)]
        return "\n".join(out + ["}", "", "}  // namespace taeda::python", ""])


def sources(families):
    """{name: text} of the sources that bind every operation."""
    groups = {}
    for f in families:
        for o in f.operations:
            if usable(o):
                groups.setdefault((o.namespace, o.name), []).append(o)
    made = [Source() for _ in range(SOURCES)]
    for i, group in enumerate(groups.values()):
        made[i * SOURCES // len(groups)].add(group)
    includes = [f'#include "{f.include}"' for f in families if f.include.endswith(".h")]
    includes += ['#include "taeda/generated/ops/out_forms.h"', '#include "taeda/taeda.h"']
    files = {f"python/operations_{i}.cpp": s.text(i, includes) for i, s in enumerate(made)}
    calls = "\n".join(f"  add_operations_{i}(tables);" for i in range(SOURCES))
    lists = "\n".join(f"  list_operations_{i}(all);" for i in range(SOURCES))
    declared = "\n".join(f"void add_operations_{i}(MethodTables& tables);\nvoid list_operations_{i}(std::vector<Listed>& all);"
                         for i in range(SOURCES))
    files["python/operations.cpp"] = "\n".join([
        NOTICE, '#include "generated_methods.h"', "", "namespace taeda::python {", "", declared, "",
        "MethodTables generated_methods() {", "  MethodTables tables;", calls, "  return tables;", "}", "",
        "std::vector<Listed> generated_callables() {", "  std::vector<Listed> all;", lists, "  return all;", "}", "",
        "}  // namespace taeda::python", ""])
    return files
