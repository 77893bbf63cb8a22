"""Tracing: a function or module runs once with proxies for its inputs, and what it does becomes a graph."""

import builtins
import collections
import functools
import inspect
import math
import sys
import types

from .. import _C
from .._tensor import Tensor
from ..nn import Module, Parameter, Sequential
from .._core import pytree
from ._codegen import CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate
from .proxy import ParameterProxy, Proxy, TracerBase

__all__ = ["PH", "Tracer", "symbolic_trace", "wrap"]

# (id of a module's dict, name): the dict; what fx.wrap was called for.
_wrapped = {}


class PHBase:
    """In concrete_args: an input of the graph, where the structure around it is given."""

    def __repr__(self):
        return "PH"

    def __reduce__(self):
        return "PH"


PH = PHBase()


def wrap(fn_or_name):
    """Has calls of a function of the caller's module become nodes instead of being looked into: a decorator, or with a name.

    Call it at the top of the module.
    """
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


def _first_proxy(args, kwargs):
    found = []
    map_aggregate((args, kwargs), lambda a: found.append(a) if isinstance(a, Proxy) else None)
    return found[0] if found else None


def _as_node(function):
    """A function that becomes a node where it is called with a proxy."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        proxy = _first_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made
    return wrapped


class _Patches:
    """Entries of dicts and attributes of classes that are other ones for a while."""

    _absent = object()

    def __init__(self):
        self._undo = []
        self._done = set()

    def entry(self, names, name, value):
        if (id(names), name) in self._done:
            return
        self._done.add((id(names), name))
        before = names.get(name, self._absent)
        names[name] = value
        self._undo.append(lambda: names.pop(name) if before is self._absent else names.__setitem__(name, before))

    def method(self, cls, name, value):
        before = cls.__dict__.get(name, self._absent)
        setattr(cls, name, value)
        self._undo.append(lambda: delattr(cls, name) if before is self._absent else setattr(cls, name, before))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        while self._undo:
            self._undo.pop()()


def _restore_look_up(cls=Module):
    """Gives modules the extension's look-up of attributes back, which a `__getattribute__` in Python had replaced."""
    _C.ModuleBase.__dict__["__init_subclass__"].__get__(None, cls)()
    for below in type.__subclasses__(cls):
        _restore_look_up(below)


class Tracer(TracerBase):
    """Traces modules and functions. Subclasses say which modules stay calls (is_leaf_module), and how proxies are made.

    `autowrap_modules` are modules whose functions become nodes where they are called with a proxy, `autowrap_functions`
    single ones; with `param_shapes_constant` the shapes of parameters are their numbers instead of nodes.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_functions = {id(value) for module in autowrap_modules for name, value in vars(module).items()
                                    if not name.startswith("_") and callable(value)}
        self._autowrap_functions.update(map(id, autowrap_functions))
        self._autowrap_modules = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.root = self.graph = None
        self.submodule_paths = None
        self.tensor_attrs = {}
        self.module_stack = collections.OrderedDict()
        self.traced_func_name = "forward"

    # What subclasses may change

    def is_leaf_module(self, m, module_qualified_name):
        """Whether calls of a module become nodes: those of torch.nn, but for Sequential."""
        return m.__module__.startswith(("torch.nn", "taeda.nn")) and not isinstance(m, Sequential)

    def call_module(self, m, forward, args, kwargs):
        """What a call of a module gives: a node if it is a leaf, else forward(*args, **kwargs)."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What reading an attribute of a module gives: a proxy for a parameter, and for a buffer if
        `proxy_buffer_attributes`."""
        if isinstance(attr_val, Parameter):
            names = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            names = self.root.named_buffers()
        else:
            return attr_val
        for name, value in names:
            if value is attr_val:
                if name not in parameter_proxy_cache:
                    factory = None
                    if self.param_shapes_constant:
                        def factory(node):
                            return ParameterProxy(self, node, name, attr_val)
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)
                return parameter_proxy_cache[name]
        return attr_val

    def path_of_module(self, mod):
        """The path at which a module is found in the root."""
        path = self.submodule_paths.get(mod)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def get_fresh_qualname(self, prefix):
        """A name for an attribute that the root does not have."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a):
        """As TracerBase's; parameters, buffers and other tensors become the reading of an attribute of the root."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if buffer is a:
                    return self.create_node("get_attr", name, (), {})
            name = self.tensor_attrs.get(id(a), (None,))[0]
            if name is None:
                name = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[id(a)] = (name, a)
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Module) and a in self.submodule_paths:
            return self.create_node("get_attr", self.submodule_paths[a], (), {})
        return super().create_arg(a)

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        return node

    # Tracing

    def trace(self, root, concrete_args=None):
        """The graph of a module's forward or of a function. `concrete_args` are inputs that are fixed to a value."""
        if isinstance(root, Module):
            self.root, fn = root, getattr(type(root), self.traced_func_name)
            self.submodule_paths = {module: name for name, module in root.named_modules(remove_duplicate=False)}
        else:
            self.root, fn, self.submodule_paths = Module(), root, {}
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        self._collect_tensors(self.root, [])
        fn_globals = inspect.unwrap(fn).__globals__ if hasattr(inspect.unwrap(fn), "__globals__") else {}
        fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
        with _Patches() as patches:
            self._patch_modules(patches)
            self._patch_functions(patches, fn_globals)
            result = fn(*args)
            self.create_node("output", "output", (self.create_arg(result),), {},
                             type_expr=getattr(fn, "__annotations__", {}).get("return"))
        self.submodule_paths = None
        return self.graph

    def _collect_tensors(self, module, path):
        for name, value in vars(module).items():
            if isinstance(value, Tensor):
                self.tensor_attrs[id(value)] = (".".join([*path, name]), value)
        for name, child in module.named_children():
            self._collect_tensors(child, [*path, name])

    def _patch_modules(self, patches):
        own_call, own_look_up = Module.__call__, Module.__getattribute__
        parameters = {}

        def call(module, *args, **kwargs):
            def forward(*args, **kwargs):
                return own_call(module, *args, **kwargs)
            path = self.submodule_paths.get(module, "") if self.submodule_paths else ""
            self.module_stack[path] = (path, type(module))
            try:
                return self.call_module(module, forward, args, kwargs)
            finally:
                self.module_stack.pop(path, None)

        def look_up(module, name):
            value = own_look_up(module, name)
            return self.getattr(name, value, parameters) if isinstance(value, Tensor) else value
        patches._undo.append(_restore_look_up)
        patches.method(Module, "__getattribute__", look_up)
        patches.method(Module, "__call__", call)

    def _patch_functions(self, patches, fn_globals):
        spaces = [fn_globals] + [vars(module) for module in self._autowrap_modules]
        for names in spaces:
            for name, value in list(names.items()):
                if id(value) in self._autowrap_functions and callable(value) and not name.startswith("_"):
                    patches.entry(names, name, _as_node(value))
        for (_, name), names in _wrapped.items():
            function = names[name] if name in names else getattr(builtins, name)
            patches.entry(names, name, _as_node(function))

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(function, arguments) with proxies for the inputs; makes their nodes."""
        code = inspect.unwrap(root_fn).__code__
        names = list(code.co_varnames[:code.co_argcount])
        keyword_only = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
        defaults = {p.name: p.default for p in inspect.signature(root_fn).parameters.values()
                    if p.default is not p.empty}
        if isinstance(concrete_args, tuple):
            concrete_args = dict(zip(names[is_module:], concrete_args))
        concrete_args, args = concrete_args or {}, []
        if is_module:
            if not names:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args.append(self.root)
        flattened = any(not isinstance(value, PHBase) and isinstance(value, (tuple, list, dict))
                        for value in concrete_args.values())
        for name in names[is_module:]:
            args.append(self._input(name, defaults, concrete_args, root_fn))
        by_name = {name: self._input(name, defaults, concrete_args, root_fn) for name in keyword_only}
        position = code.co_argcount + code.co_kwonlyargcount
        spread = {}
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag:
                spread[stars] = self.create_proxy("placeholder", stars + code.co_varnames[position], (), {})
                position += 1
        if by_name or spread:
            root_fn = _with_proxies_spread(root_fn, len(args), by_name, spread)
        if flattened:
            return self._flattened(root_fn, args, names[is_module:], is_module)
        return root_fn, args

    def _input(self, name, defaults, concrete_args, fn):
        if name in concrete_args and not isinstance(concrete_args[name], PHBase):
            return self._fixed(name, concrete_args[name])
        given = () if name not in defaults else (self.create_arg(defaults[name]),)
        return self.create_proxy("placeholder", name, given, {},
                                 type_expr=getattr(fn, "__annotations__", {}).get(name))

    def _fixed(self, name, value):
        """An input that has one value, which the graph checks; in a structure those that are PH are inputs."""
        count = [0]

        def each(leaf):
            count[0] += 1
            default = () if isinstance(leaf, PHBase) or isinstance(value, (tuple, list, dict)) or leaf is not None else (None,)
            proxy = self.create_proxy("placeholder", f"{name}_{count[0]}", default, {})
            if isinstance(leaf, PHBase):
                return proxy
            but = f"{name} has been specialized to have value {leaf} but got another value"
            if leaf is None:
                self.create_proxy("call_function", _assert_is_none, (proxy, but), {})
            elif isinstance(leaf, (bool, int, float)) and not isinstance(leaf, Tensor):
                import taeda
                self.create_proxy("call_function", taeda._assert, (proxy == leaf, but), {})
            return leaf
        return pytree.tree_map(each, value)

    def _flattened(self, fn, args, names, is_module):
        """A function of one structure's leaves, where an input is a structure."""
        leaves, in_spec = pytree.tree_flatten(tuple(args[is_module:]))
        out_spec = []

        def flat(*leaves):
            made = fn(*args[:is_module], *pytree.tree_unflatten(list(leaves[is_module:]), in_spec))
            parts, spec = pytree.tree_flatten(made)
            out_spec.append(spec)
            self.graph._codegen = _StructuredCodeGen(names, in_spec, spec)
            return parts
        return flat, [*args[:is_module], *leaves]


def _with_proxies_spread(fn, positional, by_name, spread):
    """The function called with proxies in the place of what *args and **kwargs would collect."""
    function = inspect.unwrap(fn)
    code = function.__code__
    plain = types.FunctionType(
        code.replace(co_flags=code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
                     co_argcount=code.co_argcount + code.co_kwonlyargcount + len(spread), co_kwonlyargcount=0),
        function.__globals__, function.__name__, None, function.__closure__)
    plain.__annotations__ = getattr(fn, "__annotations__", {})

    @functools.wraps(plain)
    def call(*args):
        return plain(*args[:positional], *by_name.values(), *spread.values())
    return call


class _StructuredCodeGen(CodeGen):
    """The code of a graph whose inputs are taken out of structures and whose results are put into one."""

    def __init__(self, names, in_spec, out_spec):
        self.names, self.in_spec, self.out_spec = names, in_spec, out_spec

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        parts = ", ".join(part.split(" = ")[0].split(" : ")[0] for part in free_vars)
        return (f"def forward(self, {', '.join(self.names)}){maybe_return_annotation}:\n"
                f"    {parts}, = pytree.tree_flatten_spec(({', '.join(self.names)},), _in_spec)")

    def generate_output(self, output_args):
        return f"return pytree.tree_unflatten({output_args}, _out_spec)"

    def process_inputs(self, *args):
        return pytree.tree_flatten_spec(args, self.in_spec)

    def process_outputs(self, outputs):
        return pytree.tree_unflatten(outputs, self.out_spec)

    def additional_globals(self):
        return [("pytree", pytree), ("_in_spec", self.in_spec), ("_out_spec", self.out_spec)]


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what a module or function does, as Tracer().trace finds it."""
    if not callable(root):
        raise AssertionError(f"Expected FunctionType, got {type(root)}")
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
