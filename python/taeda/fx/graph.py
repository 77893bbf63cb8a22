"""Graphs: the steps of a function, in order."""

import copy
import importlib
import re

from ._codegen import TORCH, CodeGen, Namespace, PythonCode, python_code  # noqa: F401
from .node import Node, _qualified_name, map_arg
from .._core.warnings import warn

__all__ = ["Graph", "PythonCode", "CodeGen"]


class _NodeList:
    """The nodes of a graph in order, or from the last on; nodes may be erased meanwhile."""

    def __init__(self, graph, backward=False):
        self.graph, self.backward = graph, backward

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root = self.graph._root
        at = root._prev if self.backward else root._next
        while at is not root:
            if not at._erased:
                yield at
            at = at._prev if self.backward else at._next

    def __reversed__(self):
        return _NodeList(self.graph, not self.backward)

    def __repr__(self):
        return repr(list(self))


def _check_target(target):
    if not isinstance(target, str):
        raise AssertionError(f"Expected target to be str, got {type(target)}")


class _Place:
    """Where a graph's new nodes go from now on; as a `with`, until its end."""

    def __init__(self, graph, insert):
        self._graph, self._before = graph, graph._insert
        graph._insert = insert

    def __enter__(self):
        return None

    def __exit__(self, *_):
        self._graph._insert = self._before


class Graph:
    """The steps of a function: a list of nodes, of which each uses only earlier ones.

    New nodes are added at the end, or where `inserting_before` and `inserting_after` say.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._namespace = Namespace()
        self._len = 0
        self._insert = self._root.prepend
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    # What is in it

    @property
    def nodes(self):
        """The nodes in order: iterable, reversible, with a length."""
        return _NodeList(self)

    @property
    def owning_module(self):
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        self._owning_module = module

    def output_node(self):
        """The node "output", the last one."""
        return next(n for n in reversed(self.nodes) if n.op == "output")

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes with an op, and a target if one is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # Adding

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Adds a node where nodes are inserted now."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        node = Node(self, "", op, target, args, kwargs, type_expr)
        node.name = self._namespace.create_name(name or self._target_to_str(target), None)
        if self._owning_module is not None and getattr(self._owning_module, "_create_node_hooks", None):
            for hook in self._owning_module._create_node_hooks:
                hook(node)
        self._insert(node)
        self._len += 1
        return node

    @staticmethod
    def _target_to_str(target):
        name = getattr(target, "__name__", type(target).__name__) if callable(target) else target
        if callable(target) and name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        # CamelCase becomes camel_case
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() if callable(target) else name

    def placeholder(self, name, type_expr=None, default_value=Ellipsis):
        """Adds an input; without a default it must be given."""
        _check_target(name)
        return self.create_node("placeholder", name, () if default_value is Ellipsis else (default_value,),
                                type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Adds the reading of a parameter, buffer or other attribute of the module."""
        if self.owning_module is not None and not _has_attribute(self.owning_module, qualified_name):
            warn("Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                 "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                 "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer")
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a module inside the owning one."""
        _check_target(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        """Adds the end, with what is returned."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """Adds a copy of a node of another graph, whose arguments arg_transform(node) translates."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, dict(kwargs), node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Adds copies of all nodes of another graph but for its output; returns what that returns, in this graph's nodes."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def inserting_before(self, n=None):
        """From here on, or within a `with`, new nodes go before a node, or to the beginning."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _Place(self, n.prepend)

    def inserting_after(self, n=None):
        """From here on, or within a `with`, new nodes go behind a node, one behind the other, or to the end."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        at = [n]

        def insert(node):
            at[0].append(node)
            at[0] = node
        return _Place(self, insert)

    # Taking away

    def erase_node(self, to_erase):
        """Takes a node out that nobody uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                               f"{to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases what nobody uses and what does nothing else; returns whether there was any."""
        self.lint()
        keeps = is_impure_node or (lambda n: n.is_impure())
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not keeps(node):
                self.erase_node(node)
        return self._len < before

    # Code

    def python_code(self, root_module, **options):
        """The graph as the text of a Python function, and the names that it needs."""
        return python_code(self, root_module)

    def set_codegen(self, codegen):
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Has make_transformer(the transformer before, or None) return a function that changes the code's lines.

        Returns a context that takes it away again.
        """
        raise NotImplementedError("Taeda's torch.fx has no transformers of code; subclass torch.fx.graph.CodeGen")

    def process_inputs(self, *args):
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)

    # Checks and texts

    def lint(self):
        """Checks that the graph is sound: names are one node's, nodes use earlier ones of this graph, targets exist."""
        seen, names = set(), set()
        for node in self.nodes:
            if node.op not in ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output"):
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an "
                                       "argument! If you are copying nodes from another graph, make sure to use "
                                       "``arg_transform`` on node_copy() to remap values")
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check "
                                       "that Nodes in the graph are topologically ordered")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module") and not _has_attribute(
                    self.owning_module, node.target):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute of "
                                   f"{type(self.owning_module).__name__}")

    def __str__(self):
        inputs, lines = [], []
        for node in self.nodes:
            lines.append(node.format_node())
        return f"graph({', '.join(inputs)}):" + "".join(f"\n    {line}" for line in lines)

    def print_tabular(self):
        """Prints a line for each node: opcode, name, target, args, kwargs."""
        rows = [["opcode", "name", "target", "args", "kwargs"]] + [
            [n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        rows.insert(1, ["-" * w for w in widths])
        for row in rows:
            print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())

    def __deepcopy__(self, memo=None):
        memo = {} if memo is None else memo
        made = Graph(tracer_cls=self._tracer_cls)
        made._codegen = copy.copy(self._codegen)
        value_of = {}
        for node in self.nodes:
            value_of[node] = made.node_copy(node, lambda n: value_of[n])
        memo[id(self)] = made
        return made

    # Pickles: functions go by name

    def __getstate__(self):
        numbers = {node: i for i, node in enumerate(self.nodes)}
        return {"nodes": [(n.op, _pickled_target(n), n.name, n.type, map_arg(n.args, lambda a: _Number(numbers[a])),
                           map_arg(n.kwargs, lambda a: _Number(numbers[a])), n.meta.get("is_wrapped", False))
                          for n in self.nodes], "codegen": self._codegen}

    def __setstate__(self, state):
        from .node import map_aggregate
        self.__init__()
        self._codegen = state["codegen"]
        made = []
        for op, target, name, kind, args, kwargs, wrapped in state["nodes"]:
            args, kwargs = map_aggregate((args, kwargs), lambda a: made[a.number] if isinstance(a, _Number) else a)
            made.append(self.create_node(op, target.resolve() if isinstance(target, _Named) else target, args, dict(kwargs),
                                         name, kind))
            if wrapped:
                made[-1].meta["is_wrapped"] = True


class _Number:
    """A node in a pickle."""

    def __init__(self, number):
        self.number = number


class _Named:
    """A function in a pickle, by the name that code has for it."""

    def __init__(self, name):
        self.name = name

    def resolve(self):
        module, *rest = self.name.split(".")
        at = TORCH if module == "torch" else importlib.import_module(module)
        for part in rest:
            at = getattr(at, part)
        return at


def _pickled_target(node):
    if node.op != "call_function":
        return node.target
    name = _qualified_name(node.target)
    try:
        return _Named(name) if _Named(name).resolve() is node.target else node.target
    except (ImportError, AttributeError):
        return node.target


def _has_attribute(module, path):
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True
