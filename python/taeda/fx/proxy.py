"""Proxies: stand for values while a function is traced, and note what is done with them."""

import dis
import operator
import sys
import traceback

from .. import _C
from .graph import Graph
from .node import MAGIC, REFLECTABLE, Node, map_aggregate

_C._have_functions_look()

__all__ = ["TracerBase", "GraphAppendingTracer", "TraceError", "Proxy", "Attribute", "ParameterProxy"]


class TraceError(ValueError):
    """What was done with a proxy cannot be noted in a graph."""


class TracerBase:
    """Makes proxies and the nodes behind them."""

    graph = None
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Adds a node to the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        """The proxy for a node's value."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """Notes a step whose arguments may hold proxies; the proxy for its value."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, dict(kwargs), name, type_expr)
        if self.record_stack_traces:
            frames = [f for f in traceback.extract_stack()[:-1] if "/fx/" not in f.filename]
            node.stack_trace = "".join(traceback.format_list(frames))
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """An argument as nodes have it: proxies become nodes, containers are taken apart, the rest must be plain values."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, Node):
            return a
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*(self.create_arg(part) for part in a))
        if isinstance(a, (tuple, list)):
            made = [self.create_arg(part) for part in a]
            return tuple(made) if isinstance(a, tuple) else made
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy):
                    raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")
            return {k: self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(a.start, a.stop, a.step)
        if a is None or a is Ellipsis or isinstance(a, (str, int, float, bool, complex, type)) or callable(a) or isinstance(
                a, (_C.dtype, _C.device, _C.layout, _C.memory_format)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        """Called when a proxy decides where the program goes on; a tracer may know the answer."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Called when a proxy is iterated over; a tracer may know how."""
        raise TraceError("Proxy object cannot be iterated: how often a loop runs, or how many arguments *args and **kwargs "
                         "are, would depend on its value. Index it, or unpack it to a fixed number of names")

    def keys(self, obj):
        """Called for `**proxy`."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds what is done with its proxies to a graph that exists: Proxy(node) without a tracer has one."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph


class Proxy:
    """Stands for the value of a node: operators, functions and methods make nodes, and give proxies for their values.

    `if`, `while`, `len` and loops need a value and raise TraceError.
    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name in ("tracer", "node"):  # not set yet: copies and pickles ask
            raise AttributeError(name)
        return Attribute(self, name)

    def __deepcopy__(self, memo):
        made = Proxy.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__ = state

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        count = _names_unpacked(sys._getframe(1))
        return self.tracer.iter(self) if count is None else (self[i] for i in range(count))

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        if self.tracer.trace_asserts and _decides_an_assert(sys._getframe(1)):
            import taeda
            self.tracer.create_proxy("call_function", taeda._assert, (self, ""), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
                           "please call torch.fx.wrap('len') at module scope")

    def __contains__(self, item):
        raise TraceError("'in' needs the value of a Proxy, which is not known while a function is traced")

    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, orig_method, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tracers = {}

        def look(a):
            if isinstance(a, Proxy):
                tracers[a.tracer] = None
        map_aggregate((args, kwargs), look)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations "
                               f"{orig_method}")
        tracer, = tracers
        from ..overrides import is_tensor_method_or_property
        name = orig_method.__name__
        if name == "__get__":
            return tracer.create_proxy("call_function", getattr, (args[0], orig_method.__self__.__name__), {})
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=Graph._target_to_str(orig_method))


class Attribute(Proxy):
    """An attribute of a proxy's value. Called it is a method, else it is read."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        """The node that reads the attribute, which is made when it is needed."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __getattr__(self, name):
        if name in ("root", "attr", "tracer", "_node"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter, whose shape is known."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    def size(self, *dim):
        return self.param.size(*dim)

    def dim(self):
        return self.param.dim()

    @property
    def ndim(self):
        return self.param.ndim

    def numel(self):
        return self.param.numel()

    def nelement(self):
        return self.param.nelement()


def _instruction(frame):
    return next(i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti)


def _names_unpacked(frame):
    """Over how many names the caller spreads what it iterates over; None if it does something else."""
    instruction = _instruction(frame)
    return instruction.argval if instruction.opname == "UNPACK_SEQUENCE" else None


def _decides_an_assert(frame):
    """Whether the caller asks for a truth value to raise AssertionError without it."""
    following = [i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti]
    return bool(following) and following[0].opname in ("LOAD_ASSERTION_ERROR", "NOP") or (
        _instruction(frame).opname.startswith("POP_JUMP") and following[0].opname == "LOAD_ASSERTION_ERROR")


def _define_operators():
    def operation(function):
        def method(self, *args, **kwargs):
            return self.tracer.create_proxy("call_function", function, (self, *args), kwargs)
        return method

    def reflected(function):
        def method(self, other):
            return self.tracer.create_proxy("call_function", function, (other, self), {})
        return method
    for name in [*MAGIC, *REFLECTABLE]:
        method = operation(getattr(operator, name))
        method.__name__ = f"__{name.strip('_')}__"
        setattr(Proxy, method.__name__, method)
    for name in REFLECTABLE:
        method = reflected(getattr(operator, name))
        method.__name__ = f"__r{name.strip('_')}__"
        setattr(Proxy, method.__name__, method)


_define_operators()
