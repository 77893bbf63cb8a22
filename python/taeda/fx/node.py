"""Nodes of a graph: what is called with what."""

import builtins
import operator
import sys
import types
import typing

from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "map_arg", "map_aggregate", "has_side_effect"]

Target = typing.Union[typing.Callable, str]
Argument = typing.Any

# Functions that are called for what they do: such a node stays although nobody uses its result.
_side_effectful_functions = set()


def has_side_effect(fn):
    """Has eliminate_dead_code keep calls of the function."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """The same structure of tuples, lists, dicts and slices with fn(leaf) for each leaf."""
    if isinstance(a, tuple):
        made = [map_aggregate(part, fn) for part in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return immutable_list(map_aggregate(part, fn) for part in a)
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """The same structure with fn(node) for each node in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _qualified_name(function):
    """The name by which code reaches a function: "torch.add", "operator.add", "package.module.function"."""
    if getattr(builtins, getattr(function, "__name__", ""), None) is function:
        return f"builtins.{function.__name__}"
    from .. import __name__ as package
    from ..overrides import resolve_name
    name = function.__name__
    if getattr(sys.modules[package], name, None) is function and f"torch.{name}" not in _OF_NN:
        return f"torch.{name}"
    try:
        known = resolve_name(function)
    except TypeError:  # not hashable
        known = None
    if known and not known.startswith("torch.Tensor."):
        return f"torch._C._nn.{name}" if known in _OF_NN else known
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"torch.Tensor.{name}"
    module = _module_of(function)
    if name == "<lambda>":
        name = getattr(function, "__qualname__", name)
    return f"{module}.{name}".replace("taeda.", "torch.", 1) if module.startswith("taeda.") else f"{module}.{name}"


# What torch has in nn.functional alone.
_OF_NN = {f"torch.{name}" for name in ("linear", "gelu", "one_hot", "softplus", "softshrink", "scaled_dot_product_attention",
                                       "log_sigmoid", "hardtanh_", "elu_", "leaky_relu_", "avg_pool2d", "avg_pool3d")}


def _module_of(function):
    module = getattr(function, "__module__", None) or getattr(type(getattr(function, "__self__", None)), "__module__", "")
    return {"_operator": "operator"}.get(module, module)


class Node:
    """One step of a graph.

    `op` is "placeholder" (an input), "get_attr" (an attribute of the module), "call_function", "call_module", "call_method"
    or "output"; `target` what is called or read; `args` and `kwargs` what with, in which other nodes stand for their values.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a "
                                 "Callable is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a str is "
                             "expected")
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self._args, self._kwargs, self._input_nodes = (), {}, {}
        self.users = {}
        self.type = return_type
        self.meta = {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn = None
        self._set_arguments(args, kwargs)

    # Order

    @property
    def next(self):
        """The node after this one; the graph's root behind the last."""
        return self._next

    @property
    def prev(self):
        return self._prev

    def prepend(self, x):
        """Moves x before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x):
        """Moves x behind this node."""
        if x is not self._next:
            self._next.prepend(x)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def _place(self):
        return next(i for i, n in enumerate(self.graph.nodes) if n is self)

    def __lt__(self, other):
        return self._place() < other._place()

    def __gt__(self, other):
        return other < self

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return other <= self

    # Arguments

    @property
    def args(self):
        """The arguments by position; assign a new tuple to change them."""
        return self._args

    @args.setter
    def args(self, a):
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self):
        """The arguments by name; assign a new dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._set_arguments(self._args, k)

    def _set_arguments(self, args, kwargs):
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def use(n):
            self._input_nodes.setdefault(n)
            n.users.setdefault(self)
            return n
        self._args, self._kwargs = map_arg(tuple(args), use), map_arg(dict(kwargs), use)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once, in order."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Replaces one argument by position."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Inserts an argument before the one at a position."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Replaces one argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Puts another node in the place of one among the arguments."""
        self._set_arguments(*map_arg((self.args, self.kwargs), lambda n: new_input if n is old_input else n))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Has all users of this node use another one; returns those users for which delete_user_cb(user) was true."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def is_impure(self, impure_random=True):
        """Whether it does something besides giving a result, so that it must stay."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions
        if self.op == "call_method":  # x.add_(1) changes x
            return self.target.endswith("_") and not self.target.endswith("__")
        if self.op == "call_module" and self.graph.owning_module is not None:
            module = self.graph.owning_module.get_submodule(self.target)
            return getattr(module, "_is_impure", False)
        return False

    @property
    def stack_trace(self):
        """Where the step was traced, if the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    # Texts

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    def _pretty_print_target(self, target):
        if isinstance(target, str):
            return target
        return _qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """The node as a graph's text shows it."""
        shown = " :" if self.type is None else f" : {type_text(self.type)}"
        uses = f"[num_users={len(self.users)}]"
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name}{shown} {uses} = placeholder[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"%{self.name}{shown} {uses} = get_attr[target={self.target}]"
        if self.op == "output":
            return f"return {self.args[0]}"
        return (f"%{self.name}{shown} {uses} = {self.op}[target={self._pretty_print_target(self.target)}]"
                f"(args = {_marked(self.args)}, kwargs = {_marked(self.kwargs)})")


def _marked(arg):
    """Arguments as text with % before nodes."""
    if isinstance(arg, list):
        return "[" + ", ".join(map(_marked, arg)) + "]"
    if isinstance(arg, tuple) and not hasattr(arg, "_fields"):
        return "(" + ", ".join(map(_marked, arg)) + ("," if len(arg) == 1 else "") + ")"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_marked(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def type_text(annotation):
    """An annotation as code shows it."""
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type) and not typing.get_args(annotation):
        name = annotation.__qualname__
        return name if annotation.__module__ == "builtins" else f"{annotation.__module__}.{name}".replace("taeda.", "torch.", 1)
    return repr(annotation).replace("taeda.", "torch.")


# How operators are written: {name: form}, and those whose operands may come the other way round.
MAGIC = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
         "pos": "+{}", "neg": "-{}", "invert": "~{}", "getitem": "{}[{}]"}
REFLECTABLE = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
               "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}",
               "or_": "{} | {}", "xor": "{} ^ {}", "matmul": "{} @ {}"}
OPERATORS = {getattr(operator, name): form for name, form in {**MAGIC, **REFLECTABLE}.items()}
