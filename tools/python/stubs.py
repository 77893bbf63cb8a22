#!/usr/bin/env python3
"""Makes the type stubs of the Python package: stubs.py OPERATIONS.pyi STUBS PACKAGE OUT.

`_C.pyi` is the head in STUBS, the class of tensors and the operations that tools/ops has found in the declarations. Every
module of PACKAGE gets a stub with its functions, classes and names; what says nothing of types is Any.
"""

import ast
import pathlib
import re
import sys

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"]
IN_PLACE = [o for o in OPERATORS if o != "matmul"]
# Methods that Python has in another form than the declarations.
WRITTEN = {"to", "size", "stride", "item", "tolist", "split", "unique", "nonzero", "norm", "unique_consecutive", "clip",
           "clip_", "index_put", "index_put_", "unflatten", "type", "numpy"}


def without(text, names):
    """The lines of a class or module but for the definitions of some names, with their decorators."""
    out, held = [], []
    for line in text.split("\n"):
        if line.strip().startswith("@"):
            held.append(line)
            continue
        match = re.match(r"\s*def (\w+)\(", line)
        if not (match and match.group(1) in names):
            out += held + [line]
        held = []
    return "\n".join(out)


def extension(operations, stubs):
    """The text of _C.pyi."""
    body = operations.split("class Generator: ...\n", 1)[1]
    head, rest = body.split("class Tensor:\n", 1)
    methods, functions = re.split(r"\n(?=@overload|def |class )", rest, maxsplit=1)
    written = (stubs / "_C.tensor.pyi").read_text(encoding="utf-8")
    names = set(re.findall(r"^    (?:def )?(\w+)(?:\(|:)", written, re.MULTILINE)) | WRITTEN
    lines = ["class TensorBase:", written.rstrip()]
    for o in OPERATORS:
        lines += [f"    def __{o}__(self, other: Any) -> Tensor: ...", f"    def __r{o}__(self, other: Any) -> Tensor: ..."]
    lines += [f"    def __i{o}__(self, other: Any) -> Tensor: ...  # type: ignore[misc, unused-ignore]" for o in IN_PLACE]
    head_text = (stubs / "_C.head.pyi").read_text(encoding="utf-8")
    known = set(re.findall(r"^def (\w+)\(", head_text, re.MULTILINE))
    functions = without(functions, known).replace("\nclass ", "\nclass _")
    ignore = "# mypy: disable-error-code=\"overload-overlap, overload-cannot-match, misc, valid-type, override, assignment\"\n"
    comments = "# pyright: basic, reportOverlappingOverload=false, reportInconsistentOverload=false\n"
    # zeros(2, 3) and zeros((2, 3)); where a method takes nothing but sizes, too.
    functions = re.sub(r"\((size: _size), \*", r"(*\1", functions)
    methods = re.sub(r"\(self, (\w+): _size\)", r"(self, *\1: _size)", without(methods, names))
    lines.append(methods)
    return ignore + comments + head_text + head + "\n".join(lines) + "\n\n" + functions


def argument_list(arguments, method):
    def shown(a, default):
        return f"{a.arg}: {ast.unparse(a.annotation) if a.annotation else 'Any'}" + (" = ..." if default is not None else "")

    parts, defaults = [], [None] * (len(arguments.posonlyargs + arguments.args) - len(arguments.defaults)) + arguments.defaults
    for i, (a, default) in enumerate(zip(arguments.posonlyargs + arguments.args, defaults)):
        parts.append(a.arg if method and i == 0 and not a.annotation else shown(a, default))
        if arguments.posonlyargs and i == len(arguments.posonlyargs) - 1:
            parts.append("/")
    if arguments.vararg:
        parts.append("*" + shown(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parts.append("*")
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        parts.append(shown(a, default))
    if arguments.kwarg:
        parts.append("**" + shown(arguments.kwarg, None))
    return ", ".join(parts)


# What functions return, where everybody relies on it and their modules do not say it.
RETURNS = {"__init__": "None", "__len__": "builtins.int", "__repr__": "str", "__exit__": "None",
           "is_available": "builtins.bool", "device_count": "builtins.int", "tensor": "Tensor", "as_tensor": "Tensor",
           "full": "Tensor", "where": "Tensor | Any",
           "einsum": "Tensor", "zero_grad": "None", "manual_seed": "Any", "save": "None", "synchronize": "None",
           "backward": "None", "__bool__": "builtins.bool", "is_tensor": "builtins.bool", "grad": "Tuple[Tensor, ...]",
           **dict.fromkeys(["sample", "rsample", "log_prob", "cdf", "icdf", "entropy"], "Tensor")}
# What programs define with arguments of their own.
OWN = {("Function", "backward")}


# Modules whose public functions give a tensor each.
OF_TENSORS = ("nn/functional.py", "nn/_losses.py")


def function(node, indent, in_class):
    own = node.name == "forward" or (in_class, node.name) in OWN
    if in_class and node.args.vararg and own:  # what each module has with arguments of its own
        return [f"{indent}{node.name}: Callable[..., Any]"]
    decorators = [d.id for d in node.decorator_list if isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod",
                                                                                          "property")]
    setter = any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)
    if setter:
        return []
    if "property" in decorators:
        return [f"{indent}{node.name}: Any"]
    method = in_class and "staticmethod" not in decorators
    returned = ast.unparse(node.returns) if node.returns else RETURNS.get(node.name, "Any")
    return [f"{indent}@{d}" for d in decorators] + [
        f"{indent}def {node.name}({argument_list(node.args, method)}) -> {returned}: ..."]


def targets(node):
    for target in getattr(node, "targets", [getattr(node, "target", None)]):
        for name in ast.walk(target):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                yield name.id


NAMESPACES = {}  # the operations of linalg, fft and special, of what tools/ops has found


def of_the_extension(node):
    """Names and values of `globals().update({name: getattr(_C._linalg, name) ...})`: operations of a namespace."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "globals().update"
            and isinstance(node.args[0], ast.DictComp)):
        return []
    source = node.args[0].generators[0].iter
    if ast.unparse(source).endswith(".items()"):
        return [(name, f"_C.{other}") for name, other in ast.literal_eval(source.func.value).items()]
    if not ast.unparse(source).startswith("dir(_C._"):
        return []
    owner = ast.unparse(source.args[0])
    return [(name, f"{owner}.{name}") for name in NAMESPACES.get(owner.removeprefix("_C._"), [])]


def members(body, indent, in_class):
    """Stub lines of what a module or a class, `in_class`, defines, each name once."""
    out, seen = [], set()

    def once(name, lines):
        if name not in seen:
            seen.add(name)
            out.extend(lines)

    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            once(node.name, function(node, indent, in_class))
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(b) for b in node.bases if not isinstance(b, ast.Starred))
            inner = members(node.body, indent + "    ", node.name)
            attributes = {t.attr for f in ast.walk(node) if isinstance(f, (ast.Assign, ast.AnnAssign))
                          for target in getattr(f, "targets", [getattr(f, "target", None)]) for t in ast.walk(target)
                          if isinstance(t, ast.Attribute) and isinstance(t.ctx, ast.Store)
                          and isinstance(t.value, ast.Name) and t.value.id == "self"}
            known = {m.split("def ")[-1].split("(")[0].split(":")[0].strip() for m in inner}
            inner += [f"{indent}    {a}: Any" for a in sorted(attributes - known)]
            once(node.name, [f"{indent}class {node.name}{f'({bases})' if bases else ''}:"] + (inner or [f"{indent}    ..."]))
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("typing.TypeVar("):
            once(node.targets[0].id, [ast.unparse(node)])
        elif isinstance(node, ast.Expr) and not in_class:
            for name, value in of_the_extension(node.value):
                once(name, [f"{name} = {value}"])
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            same = {n.attr for n in ast.walk(node.value) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
                    and n.value.id == "_C"} if node.value is not None and not in_class else set()
            for name in targets(node):
                if name in same:
                    once(name, [f"from taeda._C import {name} as {name}"])
                elif name not in ("__all__", "__slots__", "__getattr__"):
                    once(name, [f"{indent}{name}: Any"])
        elif isinstance(node, (ast.If, ast.Try, ast.With)) and not in_class:
            for line in members(node.body, indent, in_class):
                out.append(line)
    return out


def imports(tree, package):
    """Imports of a module's top, with names that are imported made its own; those for type checkers alone, too."""
    out, body = [], []
    for node in tree.body:
        only_checked = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        body += node.body if only_checked else [node]
    for node in body:
        if isinstance(node, ast.Import):
            out.append(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                shown = package or alias.name[0] != "_"
                alias.asname = alias.asname or (alias.name if shown and alias.name != "*" else None)
            out.append(ast.unparse(node))
    return out


def public_names(path):
    """What `import *` brings of a module or stub: its `__all__`, or what its top defines."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            names = list(targets(node))
            if names == ["__all__"] and isinstance(node.value, ast.List):
                return ast.literal_eval(node.value)
            found += names
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
    return [name for name in dict.fromkeys(found) if name[0] != "_"]


def spell_out(tree, folder, out):
    """Puts names in the place of `from .module import *`, each from the last module that has it: of two such imports checkers
    keep one or the other, Python the last."""
    stars = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.level == 1 and n.names[0].name == "*"]
    taken = set()
    for node in reversed(stars):
        name = node.module.replace(".", "/")
        path = next((p for p in (folder / f"{name}.py", out / f"{name}.pyi") if p.exists()), None)
        if path is not None:
            names = [name for name in public_names(path) if name not in taken]
            taken.update(names)
            node.names = [ast.alias(name) for name in names]
            if not names:
                tree.body.remove(node)


def families(tree, folder):
    """Imports of the public classes of the modules that `_FAMILIES` lists: a package that collects them when it is imported."""
    out = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and "_FAMILIES" in targets(node):
            for name in ast.literal_eval(node.value):
                inside = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")).body
                out += [f"from .{name} import {c.name} as {c.name}" for c in inside
                        if isinstance(c, ast.ClassDef) and c.name[0] != "_"]
    return out


def module(text, package, dynamic, folder, out, gives_tensors):
    tree = ast.parse(text)
    if package:
        spell_out(tree, folder, out)
    ignore = '# mypy: ignore-errors\n# pyright: basic\n'
    lines = imports(tree, package) + families(tree, folder) + ["import builtins", "from typing import Any, Callable, Tuple"]
    body = members(tree.body, "", "")
    if gives_tensors:
        body = [re.sub(r"^(def (?!legacy_reduction)[a-z]\w*\(.*\)) -> Any:", r"\1 -> Tensor:", line) for line in body]
    if re.search(r"-> .*\bTensor\b", "\n".join(body)) and not re.search(r"class Tensor\b|import .*\bTensor\b", text):
        lines.append("from taeda._tensor import Tensor")
    if dynamic and not any(line.startswith("def __getattr__") for line in body):
        body.append("def __getattr__(name: str) -> Any: ...")
    return ignore + "\n".join(lines + [""] + body) + "\n"


def second_names(out):
    """Stubs of the packages that stand for torch and torchvision: what is below taeda, and the same types."""
    for path in sorted(p for p in out.rglob("*.pyi") if "alias" not in p.parts):
        name = path.relative_to(out)
        module = ".".join(("taeda", *name.with_suffix("").parts)).removesuffix(".__init__")
        inside = name.parts[0] == "vision"
        folder = out / "compat" / "alias" / ("torchvision" if inside else "torch")
        made = folder / (name.relative_to("vision") if inside else name)
        made.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        lines = ["# mypy: ignore-errors", f"from {module} import *"]
        if name.name == "__init__.pyi":
            below = [p.stem for p in path.parent.iterdir() if p.is_dir() and p.name != "compat" or p.suffix == ".pyi"]
            lines += [f"from . import {child} as {child}" for child in sorted(below) if child[0] != "_"
                      and not (module == "taeda" and child == "vision") and not re.search(rf"\b(as|def|class) {child}\b", text)]
        if name.name == "__init__.pyi" or "def __getattr__" in text:  # packages make some of their names
            lines += ["from typing import Any", "def __getattr__(name: str) -> Any: ..."]
        made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for package in ("torch", "torchvision"):
        (out / "compat" / "alias" / package / "py.typed").touch()


def main(operations, stubs, package, out):
    stubs, package, out = map(pathlib.Path, (stubs, package, out))
    out.mkdir(parents=True, exist_ok=True)
    found = pathlib.Path(operations).read_text(encoding="utf-8")
    for name, body in re.findall(r"^class (\w+):\n((?:    .*\n|\n)+)", found, re.MULTILINE):
        NAMESPACES[name] = list(dict.fromkeys(re.findall(r"^    def (\w+)\(", body, re.MULTILINE)))
    (out / "_C.pyi").write_text(extension(found, stubs), encoding="utf-8")
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if "compat" in name.parts or "_alias" in name.parts:
            continue
        text = path.read_text(encoding="utf-8")
        dynamic = "globals()" in text or "__getattr__" in text
        made = out / name.with_suffix(".pyi")
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(module(text, name.name == "__init__.py", dynamic, path.parent, out,
                               name.as_posix() in OF_TENSORS), encoding="utf-8")
    second_names(out)
    (out / "py.typed").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
