"""Python's view of the operations: type stubs, with the names and types that PyTorch's have."""

import re

from emit_table import is_keyword

TYPES = {
    "ArrayRef<double>": "Sequence[_float]", "ArrayRef<Scalar>": "Sequence[Number]",
    "const Tensor&": "Tensor", "Tensor": "Tensor", "Tensor&": "Tensor", "TensorList": "Sequence[Tensor]",
    "const Scalar&": "Number", "Scalar": "Number", "double": "_float", "int64_t": "_int", "int": "_int",
    "RealArg": "_float", "bool": "_bool", "const char*": "str", "const std::string&": "str", "std::string": "str",
    "std::string_view": "str", "IntArrayRef": "_size", "ScalarType": "_dtype", "OptionalDim": "Optional[_int]",
    "OptionalDtype": "Optional[_dtype]", "const OptionalScalar&": "Optional[Number]",
    "OptionalNorm": "Optional[str]", "OptionalIntArrayRef": "Optional[_size]", "GeneratorArg": "Optional[Generator]",
    "MemoryFormat": "memory_format", "ReductionArg": "str", "const ConvPadding&": "Union[_size, str]",
    "const TensorLiteral&": "Any", "ArrayRef<TensorIndex>": "Sequence[Any]", "std::vector<Tensor>":
    "Tuple[Tensor, ...]", "void": "None", "Device": "_device",
}
# Written in Python's own way by whoever binds them.
ONLY_CPP = ("void*", "std::initializer_list", "std::function")
RESERVED = {"format": "memory_format", "from": "from_", "lambda": "lambda_", "in": "in_", "is": "is_"}
OPTIONS = ["dtype: Optional[_dtype] = None", "device: Optional[_device] = None", "requires_grad: _bool = False"]

HEAD = '''\
# Made by tools/ops from the declarations in taeda/ops/*.h. Not to be edited.
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union, overload

Number = Union[int, float, bool, complex]
_int = int
_float = float
_bool = bool
_size = Union[int, Sequence[int]]

class _dtype: ...
class _device: ...
class memory_format: ...
class Generator: ...

'''

CLAMPED = {("min", "const OptionalScalar&"), ("min", "const std::optional<Tensor>&")}


def python_type(kind):
    if kind in TYPES:
        return TYPES[kind]
    if match := re.fullmatch(r"(?:const )?std::optional<(.+)>&?", kind):
        return f"Optional[{python_type(match.group(1))}]"
    if match := re.fullmatch(r"std::tuple<(.+)>", kind):
        return "Tuple[" + ", ".join(python_type(k.strip()) for k in match.group(1).split(",")) + "]"
    raise ValueError(f"no type in Python for '{kind}'")


def python_default(argument):
    text, kind = argument.default, python_type(argument.type)
    if text == "{}":
        return "()" if kind == "_size" else "None"
    if text.startswith("{"):
        return "(" + text[1:-1] + ")"
    if text.startswith("Reduction::"):
        return f'"{text[11:].lower()}"'
    return {"nullptr": "None", "true": "True", "false": "False"}.get(
        text, text if re.fullmatch(r'-?[\d.]+(e-?\d+)?|".*"', text) else "...")


def given_default(argument):
    """The default, or None for an argument without one. clamp's `min` has none in C++, where two would be no clamp at all."""
    if argument.default is None:
        return "None" if (argument.name, argument.type) in CLAMPED else None
    return python_default(argument)


def parameter(argument, name=None):
    kind = python_type(argument.type)
    name = name or RESERVED.get(argument.name, argument.name)
    default = given_default(argument)
    if default is None:
        return f"{name}: {kind}"
    if default == "None" and not kind.startswith("Optional"):
        kind = f"Optional[{kind}]"
    return f"{name}: {kind} = {default}"


def signature(operation, method, out=False):
    """The arguments in brackets."""
    arguments = operation.rest if method else operation.arguments
    positional, keyword = ["self"] if method else [], []
    for i, a in enumerate(arguments):
        if a.type == "const TensorOptions&":
            keyword += OPTIONS
        elif is_keyword(operation, a):
            keyword.append(parameter(a))
        else:
            first = not method and i == 0 and a.name == "self"
            positional.append(parameter(a, "input" if first else None))
    if out and operation.outputs == 1:
        keyword.append("out: Optional[Tensor] = None")
    elif out:
        keyword.append(f"out: Optional[{python_type(operation.returns)}] = None")
    return ", ".join(positional + (["*"] + keyword if keyword else []))


def result(operation, tuples):
    """The type returned; several results with names are a class of their own."""
    if names := operation.tags.get("returns"):
        parts = operation.returns.removeprefix("std::tuple<").removesuffix(">").split(", ")
        fields = "\n".join(f"    {n}: {python_type(part)}" for n, part in zip(names, parts))
        key = operation.name.strip("_")
        for suffix in ["", "_2", "_3"]:
            name = f"_{key}{suffix}_result"
            if tuples.setdefault(name, fields) == fields:
                return name
    return python_type(operation.returns)


def usable(operation):
    return not any(word in a.type for a in operation.arguments for word in ONLY_CPP)


def definitions(entries, indent=""):
    """[(name, signature, result)] as `def`s; several of one name are overloads."""
    by_name, out = {}, []
    for name, arguments, returned in entries:
        by_name.setdefault(name, [])
        if (arguments, returned) not in by_name[name]:
            by_name[name].append((arguments, returned))
    for name, overloads in by_name.items():
        for arguments, returned in overloads:
            out += [f"{indent}@overload"] if len(overloads) > 1 else []
            out.append(f"{indent}def {RESERVED.get(name, name)}({arguments}) -> {returned}: ...")
    return out


def stubs(families):
    """The text of a .pyi file."""
    tuples, methods, spaces = {}, [], {}
    for o in (o for f in families for o in f.operations if usable(o)):
        names = [o.name] + o.tags.get("also", [])
        if o.is_method:
            methods += [(n, signature(o, True), result(o, tuples)) for n in names]
            if "in-place" in o.tags:
                methods += [(n + "_", signature(o, True), "Tensor") for n in names]
        if not o.only_method:
            spaces.setdefault(o.namespace, []).extend(
                (n, signature(o, False, "out" in o.tags), result(o, tuples)) for n in names)
    text = [f"class {name}(NamedTuple):\n{fields}\n" for name, fields in tuples.items()]
    text += ["class Tensor:"] + definitions(methods, "    ") + [""]
    text += definitions(spaces.pop("", [])) + [""]
    for space, entries in sorted(spaces.items()):
        text += [f"class {space}:"] + [line.replace("def ", "@staticmethod\n    def ", 1) if "def " in line else line
                                       for line in definitions(entries, "    ")] + [""]
    return HEAD + "\n".join(text)
