"""Modules that run a graph."""

import copy
import linecache
import os
import sys
import traceback

from .. import nn
from .._tensor import Tensor
from .graph import Graph, _has_attribute

__all__ = ["GraphModule"]

_count = [0]


def _forward_from(code):
    """The function that code defines; its lines are there for tracebacks."""
    _count[0] += 1
    name = f"<eval_with_key>.{_count[0]}"
    lines = code.src.splitlines(keepends=True)
    linecache.cache[name] = (len(code.src), None, lines, name)
    names = dict(code.globals)
    names["__name__"] = "taeda.fx.generated"
    exec(compile(code.src, name, "exec"), names)
    return names["forward"]


def _copy_attribute(source, target, path):
    """Puts what `path` leads to in one module at the same place of another."""
    *parents, name = path.split(".")
    for part in parents:
        inner = getattr(target, part, None)
        source = getattr(source, part)
        if inner is source:
            return  # the whole module is there
        if inner is None:
            inner = nn.Module()
            setattr(target, part, inner)
        target = inner
    _assign(getattr(source, name), target, name)


def _assign(value, target, name):
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        target.register_buffer(name, value)
    else:
        setattr(target, name, value)


class GraphModule(nn.Module):
    """A module whose forward is the code of a graph.

    `root` is a module, or a dict of what the graph's targets name; what the graph uses of it becomes part of this module.
    Assign `graph`, or call recompile() after changing it.
    """

    def __new__(cls, *args, **kwargs):
        # A class for each, so that forward can be a method.
        for base in cls.__mro__:
            own = base.__qualname__ == "GraphModule" and base.__module__.endswith(".fx.graph_module")
            if own and "_made_for_one" not in vars(base):
                base_class = cls if "_made_for_one" not in vars(cls) else cls.__bases__[0]
                break
        # The qualified name is what programs (accelerate) tell such classes by.
        made = type(base_class.__name__, (base_class,), {"_made_for_one": True, "__module__": base_class.__module__,
                                                         "__qualname__": "GraphModule.__new__.<locals>.GraphModuleImpl"})
        return super().__new__(made)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        used = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, nn.Module):
            self.training = root.training
            for target in sorted(used, key=lambda t: t.count(".")):
                if not _has_attribute(root, target):
                    continue
                if not _has_attribute(self, target):
                    _copy_attribute(root, self, target)
        elif isinstance(root, dict):
            for target in used:
                if target not in root:
                    raise RuntimeError(f"Node in graph referenced target {target} but that target was not provided in `root`!")
            for target in sorted(set(used), key=lambda t: t.count(".")):
                *parents, name = target.split(".")
                at = self
                for part in parents:
                    if not hasattr(at, part):
                        setattr(at, part, nn.Module())
                    at = getattr(at, part)
                _assign(root[target], at, name)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        self.meta = {}

    # The graph and its code

    @property
    def graph(self):
        """The graph; assigning another one makes its code this module's."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        if g.owning_module is not None and g.owning_module is not self:
            g = copy.deepcopy(g)
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    def recompile(self):
        """Makes the code from the graph anew; returns it."""
        code = self._graph.python_code("self")
        self.__dict__["_code"] = code.src
        type(self).forward = _forward_from(code)
        return code

    @property
    def code(self):
        """The text of forward."""
        if "_code" not in self.__dict__:
            raise RuntimeError("the module has no code yet: recompile() makes it")
        return self._code

    def __call__(self, *args, **kwargs):
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            if frames and frames[-1].filename.startswith("<eval_with_key>"):
                print(f"Call using a GraphModule failed in line {frames[-1].lineno} of its code:\n{self.code}", file=sys.stderr)
            raise

    def print_readable(self, print_output=True, **options):
        """The code as the text of a class; printed, too, unless `print_output` is False."""
        body = "\n".join("    " + line if line.strip() else "" for line in self.code.strip("\n").split("\n"))
        lines = [line for line in body.split("\n") if not line.lstrip().startswith("torch.fx._symbolic_trace.wrap")]
        text = f"class {self._get_name()}(torch.nn.Module):\n" + "\n".join(lines).strip("\n") + "\n"
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([nn.Module.__repr__(self), self.code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    # Modules in it

    def add_submodule(self, target, m):
        """Puts a module at a path, with empty modules on the way; False if something else is there."""
        *parents, name = target.split(".")
        at = self
        for part in parents:
            if not hasattr(at, part):
                at.add_module(part, nn.Module())
            at = getattr(at, part)
            if not isinstance(at, nn.Module):
                return False
        at.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Takes the module at a path away; False if there is none."""
        parent, _, name = target.rpartition(".")
        try:
            at = self.get_submodule(parent)
        except AttributeError:
            return False
        if not isinstance(getattr(at, name, None), nn.Module):
            return False
        delattr(at, name)
        return True

    def delete_all_unused_submodules(self):
        """Takes away modules that the graph does not use, nor any that they hold."""
        used = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            path = node.target.split(".")
            used.update(".".join(path[:i]) for i in range(1, len(path) + 1))
            if node.op == "call_module":
                used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def to_folder(self, folder, module_name="FxModule"):
        """Writes the module to a folder as a package: its code, and its state dict in a file beside it."""
        from .. import save
        os.makedirs(folder, exist_ok=True)
        save(self, os.path.join(folder, "module.pt"))
        with open(os.path.join(folder, "__init__.py"), "w", encoding="utf-8") as file:
            file.write("import os\n\nimport torch\n\n\n"
                       f"def {module_name}():\n"
                       "    return torch.load(os.path.join(os.path.dirname(__file__), 'module.pt'), weights_only=False)\n")

    # Copies and pickles

    def _state_without_graph(self):
        return {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_code")}

    def __deepcopy__(self, memo):
        return _restored(_base_of(self), type(self).__name__, copy.deepcopy(self._state_without_graph(), memo),
                         copy.deepcopy(self._graph, memo))

    def __copy__(self):
        return _restored(_base_of(self), type(self).__name__, dict(self._state_without_graph()), copy.deepcopy(self._graph))

    def __reduce__(self):
        return _restored, (_base_of(self), type(self).__name__, self._state_without_graph(), self._graph)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


def _base_of(module):
    return type(module).__bases__[0]


def _restored(cls, class_name, state, graph):
    made = cls.__new__(cls)
    made.__dict__.update(state)
    type(made).__name__ = class_name
    made.graph = graph
    return made
