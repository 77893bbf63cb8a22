"""The calls that can be compared: every overload of an operation whose arguments can be written in a line.

`table(root)` reads the declarations (tools/ops) and gives a Call for each function, and for its forms in place and with
`out`. `source(calls)` is the C++ that makes them by name.
"""

import dataclasses
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ops"))

import generate  # noqa: E402

# How an argument of a C++ type is read, and which kind of value it takes.
KINDS = {
    "const Tensor&": ("tensor", "Tensor"),
    "const std::optional<Tensor>&": ("tensor", "std::optional<Tensor>"),
    "TensorList": ("tensors", "TensorList"),
    "const Scalar&": ("scalar", "Scalar"),
    "const OptionalScalar&": ("scalar", "OptionalScalar"),
    "OptionalNorm": ("word", "fft::OptionalNorm"),
    "RealArg": ("real", "RealArg"),
    "int64_t": ("integer", "int64_t"),
    "std::optional<int64_t>": ("integer", "std::optional<int64_t>"),
    "OptionalDim": ("integer", "OptionalDim"),
    "double": ("real", "double"),
    "std::optional<double>": ("real", "std::optional<double>"),
    "bool": ("flag", "bool"),
    "std::optional<bool>": ("flag", "std::optional<bool>"),
    "IntArrayRef": ("list", "IntArrayRef"),
    "OptionalIntArrayRef": ("list", "OptionalIntArrayRef"),
    "std::string_view": ("word", "std::string_view"),
    "std::optional<std::string_view>": ("word", "std::optional<std::string_view>"),
    "ScalarType": ("dtype", "ScalarType"),
    "OptionalDtype": ("dtype", "OptionalDtype"),
}


@dataclasses.dataclass
class Argument:
    name: str
    kind: str
    cpp: str
    default: str | None


@dataclasses.dataclass
class Call:
    """One way to call an operation; `form` is "", "_" or "out"."""

    key: str
    name: str  # with its namespace: "linalg.det"
    form: str
    arguments: list
    expression: str


def read_arguments(operation):
    out = []
    for a in operation.arguments:
        if a.type in KINDS:
            kind, cpp = KINDS[a.type]
            out.append(Argument(a.name, kind, cpp, a.default))
        elif a.default is None:
            return None
        else:
            break  # what stands behind it keeps its default, too
    return out


def value(i, a):
    read = f"a.{a.kind}({i})"
    if a.cpp in ("Tensor", "bool", "int64_t", "double", "ScalarType") and a.default is None:
        return read
    if a.default is None:
        return f"{a.cpp}({read})"
    default = a.default if a.default != "{}" else ""
    braces = ("{", "}") if default.startswith("{") else ("(", ")")
    if default.startswith("{"):
        default = default[1:-1]
        return f"(a.has({i}) ? {a.cpp}({read}) : {a.cpp}(std::initializer_list<int64_t>{{{default}}}))"
    if a.cpp in ("IntArrayRef", "OptionalIntArrayRef") and default:
        default = f"int64_t{{{default}}}"
        return f"(a.has({i}) ? {a.cpp}({read}) : {a.cpp}(IntArrayRef({default})))"
    return f"(a.has({i}) ? {a.cpp}({read}) : {a.cpp}{braces[0]}{default}{braces[1]})"


def forms(operation, arguments):
    """(form, expression) of each way to call it."""
    values = [value(i, a) for i, a in enumerate(arguments)]
    at = operation.receiver
    if operation.only_method:
        values = [value(i + 1, a) for i, a in enumerate(arguments)]
        yield ("_" if operation.name.endswith("_") else ""), f"a.tensor(0).{operation.name}({', '.join(values)})"
        return
    yield ("_" if operation.name.endswith("_") else ""), f"{operation.qualified}({', '.join(values)})"
    if at is None:
        return
    rest = ", ".join(v for i, v in enumerate(values) if i != at)
    if "in-place" in operation.tags and not operation.namespace:
        yield "_", f"a.tensor({at}).{operation.name}_({rest})"
    if "out" in operation.tags:
        values = [value(i + 1, a) for i, a in enumerate(arguments)]
        yield "out", f"{operation.qualified}_out({', '.join(['own'] + values)})"


# What draws random numbers, and what the umbrella header does not have.
LEFT_OUT = {"random", "random_forms", "from_file", "dropout"}


def table(root):
    calls, seen = [], {}
    for family in generate.read_declarations(root):
        if family.name in LEFT_OUT:
            continue
        for operation in family.operations:
            arguments = read_arguments(operation)
            if arguments is None or (operation.outputs == 0 and operation.returns not in ("bool", "std::vector<Tensor>")):
                continue
            for form, expression in forms(operation, arguments):
                own = list(arguments)
                if operation.only_method:
                    own.insert(0, Argument("self", "tensor", "Tensor", None))
                if form == "out":
                    if operation.outputs != 1:
                        continue
                    own.insert(0, Argument("out", "tensor", "Tensor", None))
                name = operation.public_name.removesuffix("_")
                key = f"{name}{'_' if form == '_' else '.out' if form == 'out' else ''}"
                seen[key] = seen.get(key, -1) + 1
                calls.append(Call(f"{key}/{seen[key]}", name, form, own, expression))
    return calls


def source(calls):
    lines = []
    for call in calls:
        out = "Tensor own = a.tensor(0); " if call.form == "out" else ""
        lines.append(f'{{"{call.key}", [](Args& a) {{ (void)a; {out}return results({call.expression}); }}}},')
    return "\n".join(lines) + "\n"
