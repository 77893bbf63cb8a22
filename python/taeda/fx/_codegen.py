"""A graph as the text of a Python function."""

import builtins
import dataclasses
import enum
import inspect
import keyword
import math
import re
import typing

from .node import OPERATORS, Node, _qualified_name, map_arg

TORCH = __import__(__name__.split(".")[0])


@dataclasses.dataclass
class PythonCode:
    """The text of a function and the names that it is to be run with."""

    src: str
    globals: dict


# What code may say beside builtins, and therefore no node is called.
_KNOWN = {"inf": math.inf, "nan": math.nan, "NoneType": type(None), "torch": TORCH, "device": TORCH.device}


class Namespace:
    """Names that are taken, each for one object."""

    def __init__(self):
        self._names = {}  # object's id: name
        self._taken = set()
        self._last = {}  # base: the last number given to it

    def __contains__(self, name):
        return name in self._taken

    def create_name(self, candidate, obj=None):
        """A name like the candidate that is not taken; the same one for the same object."""
        if obj is not None and id(obj) in self._names:
            return self._names[id(obj)]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match.group(1), int(match.group(2))) if match and match.group(1) else (candidate, None)
        name = candidate
        if number is None:
            number = self._last.get(base, 0)
        while name in self._taken or self._means_something(name, obj):
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        self._last[base] = max(number, self._last.get(base, 0))
        if obj is not None:
            self._names[id(obj)] = name
        return name

    def rename(self, obj, name):
        self._names[id(obj)] = name

    @staticmethod
    def _means_something(name, obj):
        if keyword.iskeyword(name) or name == "self":
            return True
        if hasattr(builtins, name):
            return obj is not getattr(builtins, name)
        return name in _KNOWN and obj is not _KNOWN[name]


class CodeGen:
    """Makes the code of a graph. Subclasses may give the function other inputs and outputs."""

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The line that begins the function."""
        parameters = free_vars if free_vars and free_vars[0] == "self" else ["self", *free_vars]
        return f"def forward({', '.join(parameters)}){maybe_return_annotation}:"

    def generate_output(self, output_args):
        return f"return {output_args}"

    def process_inputs(self, *args):
        """The inputs of the graph from those of the function."""
        return args

    def process_outputs(self, outputs):
        return outputs

    def additional_globals(self):
        """[(name, value)] that the code needs beside what it names."""
        return []


class _Writer:
    """Writes the code of one graph."""

    def __init__(self, graph, root_module):
        self.graph, self.root = graph, root_module
        self.names = Namespace()
        self.globals = {}
        self.wrapped = {}  # functions that tracing the code again must keep as calls
        self.inputs, self.lines = [], []
        self.return_annotation = ""

    def global_name(self, hint, obj):
        """The name by which the code knows an object."""
        if hint.startswith("torch."):
            if _reaches(hint, obj):
                self.globals.setdefault("torch", TORCH)
                return hint
        if getattr(builtins, getattr(obj, "__name__", ""), None) is obj:
            return obj.__name__
        name = self.names.create_name(hint.replace(".", "_"), obj)
        self.globals[name] = obj
        return name

    def text(self, arg):
        """An argument as the code writes it."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.global_name(_qualified_name(type(arg)), type(arg))}({', '.join(map(self.text, arg))})"
        if isinstance(arg, tuple):
            return "(" + ", ".join(map(self.text, arg)) + ("," if len(arg) == 1 else "") + ")"
        if isinstance(arg, list):
            return "[" + ", ".join(map(self.text, arg)) + "]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{k!r}: {self.text(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self.text(arg.start)}, {self.text(arg.stop)}, {self.text(arg.step)})"
        if isinstance(arg, enum.Enum):
            return f"{self.global_name(_qualified_name(type(arg)), type(arg))}.{arg.name}"
        if isinstance(arg, type) or inspect.isroutine(arg):
            return self.global_name(_qualified_name(arg), arg)
        shown = repr(arg)
        for name in _KNOWN:
            if re.search(rf"\b{name}\b", shown):
                self.globals[name] = _KNOWN[name]
        if shown.startswith("<"):  # says nothing of the value
            return self.global_name(f"_{type(arg).__name__}", arg)
        return shown

    def annotation(self, kind):
        if kind is None:
            return ""
        return f" : {self.type_text(kind)}" if self.type_text(kind) else ""

    def type_text(self, kind):
        if kind is type(None) or kind is None:
            return "None"
        if isinstance(kind, str):
            return repr(kind)
        arguments = typing.get_args(kind)
        if arguments and hasattr(typing, getattr(kind, "_name", None) or "?"):
            name = self.global_name(f"typing.{kind._name}", getattr(typing, kind._name))
            if kind._name == "Optional":
                arguments = [a for a in arguments if a is not type(None)]
            return f"{name}[{', '.join(map(self.type_text, arguments))}]"
        if isinstance(kind, type) and not arguments:
            return self.global_name(_qualified_name(kind), kind)
        return "..." if kind is Ellipsis else self.global_name("_annotation", kind)

    def arguments(self, args, kwargs):
        return ", ".join([self.text(a) for a in args] + [f"{k} = {self.text(v)}" for k, v in kwargs.items()])

    def node(self, node):
        """The line of a node, or nothing for an input of the same name."""
        name = f"{node!r}{self.annotation(node.type) if node.op != 'placeholder' else ''}"
        if node.op == "placeholder":
            default = f" = {self.text(node.args[0])}" if node.args else ""
            self.inputs.append(f"{node.target}{self.annotation(node.type)}{default}")
            plain = node.target.replace("*", "")
            return "" if plain == repr(node) else f"{node!r} = {plain}\n"
        if node.op == "call_method":
            return f"{name} = {_attribute(self.text(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_function":
            return f"{name} = {self.call(node)}"
        if node.op == "call_module":
            return f"{name} = {_attribute(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "get_attr":
            return f"{name} = {_attribute(self.root, node.target)}"
        if node.type is not None:
            self.return_annotation = f" -> {self.type_text(node.type)}"
        return self.graph._codegen.generate_output(self.text(node.args[0]))

    def call(self, node):
        form = OPERATORS.get(node.target)
        if form and not node.kwargs and len(node.args) == form.count("{}"):
            return form.format(*map(self.text, node.args))
        if node.target is getattr and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            return f"{self.text(node.args[0])}.{node.args[1]}"
        name = self.global_name(_qualified_name(node.target), node.target)
        if node.meta.get("is_wrapped"):
            self.wrapped[name] = None
        return f"{name}({self.arguments(node.args, node.kwargs)})"

    def write(self):
        last_uses, known = {}, set()
        for node in reversed(self.graph.nodes):
            def use(n, node=node):
                if n not in known:
                    known.add(n)
                    last_uses.setdefault(node, []).append(n)
            map_arg((node.args, node.kwargs), use)
        for node in self.graph.nodes:
            line = self.node(node)
            if node.op == "placeholder":
                self.lines.append(line)
                continue
            if node.op != "output":
                done = last_uses.get(node, []) + ([node] if not node.users else [])
                line += f";  {' = '.join(map(repr, done))} = None" if done else ""
            self.lines.append(line + "\n")
        body = "".join(self.lines).lstrip("\n") or "pass\n"
        for name, value in self.graph._codegen.additional_globals():
            self.globals[name] = value
        begin = self.graph._codegen.gen_fn_def(self.inputs, self.return_annotation)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        if wraps:
            self.globals.setdefault("torch", TORCH)
        text = "\n".join("    " + line for line in body.split("\n"))
        return PythonCode(f"\n{wraps}\n\n{begin}\n{text}", self.globals)


def python_code(graph, root_module):
    """The code of a graph whose attributes and modules are those of `root_module`, a name."""
    writer = _Writer(graph, root_module)
    before = {node: node._repr_fn for node in graph.nodes}
    names = writer.names
    for name in _KNOWN:
        names._taken.add(name)
        names.rename(_KNOWN[name], name)
    try:
        for node in graph.nodes:
            node._repr_fn = lambda n: names.create_name(n.name, n)
        return writer.write()
    finally:
        for node, function in before.items():
            node._repr_fn = function


def _attribute(base, target):
    """The code that reads a path of attributes, which need not be identifiers."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def _reaches(path, obj):
    at = TORCH
    for part in path.split(".")[1:]:
        at = getattr(at, part, None)
    return at is obj
