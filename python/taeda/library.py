"""torch.library: operations of programs' own, under names, with derivatives.

    @torch.library.custom_op("mylib::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: float) -> torch.Tensor: ...

    scaled.register_autograd(backward, setup_context=setup_context)
    torch.ops.mylib.scaled(x, 2.0)
"""

import functools
import inspect

from . import _C
from .autograd.function import Function

__all__ = ["Library", "custom_op", "define", "impl", "register_autograd", "register_fake", "register_kernel"]

_operations = {}  # by qualified names


def _parted(name):
    space, found, last = name.partition("::")
    if not found or not space.isidentifier() or not last.isidentifier():
        raise ValueError(f"the name of an operation is \"namespace::name\", but got {name!r}")
    return space, last


def _recorded(operation):
    """The class of nodes that calls of an operation make."""
    def forward(ctx, *inputs):
        out = operation._run(inputs)
        if operation._setup is not None:
            operation._setup(ctx, inputs=inputs, output=out)
        return out

    def backward(ctx, *grads):
        if operation._backward is None:
            raise RuntimeError(f"Trying to backward through {operation._qualname} but no autograd formula was registered. "
                               "Please use register_autograd to add one.")
        return operation._backward(ctx, *grads)
    return type(f"{operation._namespace}_{operation._name}", (Function,),
                {"forward": staticmethod(forward), "backward": staticmethod(backward)})


class CustomOpDef:
    """An operation that a program defined; called as the function is."""

    def __init__(self, name, fn=None, parameters=None):
        self._qualname = name
        self._namespace, self._name = _parted(name)
        self._default, self._kernels = fn, {}
        self._backward = self._setup = self._fake = None
        self._signature = None if fn is None else inspect.signature(fn)
        self._parameters = list(self._signature.parameters) if fn is not None else parameters or []
        self._keywords = [] if fn is None else [p.name for p in self._signature.parameters.values() if p.kind == p.KEYWORD_ONLY]
        self._recorded = _recorded(self)
        if fn is not None:
            functools.update_wrapper(self, fn)
        _operations[name] = self

    def _inputs(self, args, kwargs):
        """All arguments in the order of the parameters, defaults included."""
        if self._signature is not None:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return tuple(bound.arguments.values())
        if wrong := set(kwargs) - set(self._parameters[len(args):]):
            raise TypeError(f"{self._qualname}() got unexpected arguments: {', '.join(sorted(wrong))}")
        return (*args, *(kwargs[name] for name in self._parameters[len(args):] if name in kwargs))

    def _run(self, inputs):
        kind = next((x.device.type for x in inputs if isinstance(x, _C.TensorBase)), "cpu")
        kernel = self._fake if kind == "meta" and self._fake is not None else self._kernels.get(kind, self._default)
        if kernel is None:
            raise NotImplementedError(f"{self._qualname}: no kernel was registered for device type {kind}")
        positional = len(inputs) - len(self._keywords)
        return kernel(*inputs[:positional], **dict(zip(self._keywords, inputs[positional:])))

    def __call__(self, *args, **kwargs):
        inputs = self._inputs(args, kwargs)
        if _C.is_grad_enabled() and any(isinstance(x, _C.TensorBase) and x.requires_grad for x in inputs):
            return self._recorded.apply(*inputs)
        return self._run(inputs)

    default = property(lambda self: self)

    def register_kernel(self, device_types, func=None, /):
        """Another function for tensors on some types of devices."""
        kinds = [device_types] if isinstance(device_types, str) else device_types

        def register(function):
            if kinds is None:
                self._default = function
            else:
                self._kernels.update((kind, function) for kind in kinds)
            return function
        return register if func is None else register(func)

    def register_fake(self, fn, /):
        """What gives results without values, for tensors on the meta device."""
        self._fake = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """The derivatives: backward(ctx, *grads) gives one for each argument, setup_context(ctx, inputs, output) saves for
        it."""
        self._backward, self._setup = backward, setup_context

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"


def _check_annotations(function):
    """Refuses a function of whose parameters one has no type: the operation's schema is made of them."""
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():
        if parameter.annotation is inspect.Parameter.empty:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature "
                             f"{signature})")


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """A function as an operation called "namespace::name", for all types of devices or those of `device_types`."""
    def made(function):
        if schema is None:
            _check_annotations(function)
        operation = CustomOpDef(name, function)
        if device_types is not None:
            operation._default = None
            operation.register_kernel(device_types, function)
        return operation
    _parted(name)
    return made if fn is None else made(fn)


def _operation(op):
    if isinstance(op, CustomOpDef):
        return op
    if op not in _operations:
        raise RuntimeError(f"there is no operation {op}: torch.library.custom_op or define makes one")
    return _operations[op]


def register_kernel(op, device_types, func=None, /, *, lib=None):
    return _operation(op).register_kernel(device_types, func)


def register_fake(op, func=None, /, *, lib=None):
    return _operation(op).register_fake if func is None else _operation(op).register_fake(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    _operation(op).register_autograd(backward, setup_context=setup_context)


def _declared(name, schema):
    """An operation of a schema as "(Tensor x, float k) -> Tensor"."""
    inside = schema[schema.index("(") + 1:schema.rindex(")", 0, schema.index("->"))]
    names = [part.split("=")[0].split()[-1] for part in inside.split(",") if part.strip() and part.strip() != "*"]
    return CustomOpDef(name, None, names)


def define(qualname, schema, *, lib=None, tags=()):
    """An operation whose kernels come later."""
    if "->" not in schema or "(" not in schema:
        raise RuntimeError(f"a schema is \"(Tensor x, ...) -> Tensor\", but got {schema!r}")
    return _declared(qualname, schema)


def impl(qualname, types, func=None, *, lib=None):
    """A kernel of an operation: `types` "default", or types of devices."""
    return _operation(qualname).register_kernel(None if types == "default" else types, func)


def _kinds_of(key):
    """The type of devices whose dispatch key it is, in a list; None for a key that stands for all."""
    try:
        return [_C.device(key.lower()).type]
    except RuntimeError:
        return None


class Library:
    """Operations of one namespace, by their schemas."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        """An operation of a schema as "name(Tensor x) -> Tensor"; gives its name."""
        name = schema[:schema.index("(")].strip()
        define(f"{self.ns}::{name}", schema[schema.index("("):])
        return name

    def impl(self, op_name, fn, dispatch_key="", **options):
        """A kernel for a dispatch key: "CPU", "CUDA", "Meta", "Autograd" or a key that stands for all of them."""
        operation = _operation(op_name if "::" in op_name else f"{self.ns}::{op_name}")
        key = dispatch_key or self.dispatch_key
        operation.register_kernel(_kinds_of(key), fn)
