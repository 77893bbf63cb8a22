"""nn.Module: parameters, buffers and modules as attributes, hooks around calls, and everything done to all of them."""

import collections
import itertools
import sys
import typing

from ... import _C
from ..._core.settings import typename
from ..._tensor import Tensor
from ..._tensors.parameter import Buffer, Parameter
from . import _hooks
from ._hooks import (  # noqa: F401
    register_module_backward_hook, register_module_buffer_registration_hook, register_module_forward_hook,
    register_module_forward_pre_hook, register_module_full_backward_hook, register_module_full_backward_pre_hook,
    register_module_module_registration_hook, register_module_parameter_registration_hook)
from ._state import StateMixin, _IncompatibleKeys  # noqa: F401

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"  # the name, in state dicts, of what get_extra_state gives
sys.modules[__name__].__class__ = _hooks.ModuleOfHooks

_DICTS = ("_parameters", "_buffers", "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
          "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
          "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_modules")
_PLAIN_DICTS = {"_parameters", "_buffers", "_modules"}

_Self = typing.TypeVar("_Self", bound="Module")


class Module(StateMixin, _C.ModuleBase):
    """The base of networks and layers. A class of your own calls super().__init__(), assigns parameters, buffers and modules as
    attributes, which registers them, and defines `forward`, which a call of the module runs.

    Shapes: as `forward` takes and gives them. Assigning a parameter before super().__init__() is an AttributeError.

    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(torch.tensor(2.0))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> model = Scale()
    >>> model(torch.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in model.named_parameters()]
    ['factor']
    """

    training: bool
    dump_patches = False
    call_super_init = False
    _version = 1

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own["training"] = True
        for name in _DICTS:
            own[name] = {} if name in _PLAIN_DICTS else collections.OrderedDict()
        own["_is_full_backward_hook"] = None
        own["_non_persistent_buffers_set"] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Attributes

    def _assign(self, name, value):
        """What setting an attribute does with tensors, modules, and what takes their places."""
        own = self.__dict__
        params, modules, buffers = own.get("_parameters"), own.get("_modules"), own.get("_buffers")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _remove_from(name, own, buffers, modules, self._non_persistent_buffers_set)
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{_C_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None "
                                "expected)")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _remove_from(name, own, params, buffers, self._non_persistent_buffers_set)
            modules[name] = _hooks.registered(_hooks.module_registration, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{_C_type_name(value)}' as child module '{name}' (torch.nn.Module or None "
                                "expected)")
            modules[name] = _hooks.registered(_hooks.module_registration, self, name, value)
        elif isinstance(value, Buffer) or buffers is not None and name in buffers:
            if buffers is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_C_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or "
                                "None expected)")
            if isinstance(value, Buffer):
                _remove_from(name, own, params, modules)
                self.register_buffer(name, value, value.persistent)
            else:
                buffers[name] = _hooks.registered(_hooks.buffer_registration, self, name, value)
        else:
            descriptor = getattr(type(self), name, None)
            if hasattr(type(descriptor), "__set__"):
                type(descriptor).__set__(descriptor, self, value)
            else:
                own[name] = value

    def _check_name(self, kind, name, registry):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_C_type_name(name)}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f"{kind} name can't contain \".\"" + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f"{kind} name can't be empty string \"\"")

    def register_buffer(self, name: str, tensor: typing.Optional[Tensor], persistent: bool = True) -> None:
        """Adds a tensor that is part of the module's state and no parameter; in its state dict if `persistent`."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_C_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = _hooks.registered(_hooks.buffer_registration, self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name: str, param: typing.Optional[Parameter]) -> None:
        """Adds a parameter, or None for one that is left out."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{_C_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None "
                            "required)")
        if param is not None and param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                             f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                             "forward() method.")
        self._parameters[name] = _hooks.registered(_hooks.parameter_registration, self, name, param)

    def add_module(self, name: str, module: typing.Optional["Module"]) -> None:
        """Adds a module under a name, as an assignment does."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = _hooks.registered(_hooks.module_registration, self, name, module)

    def register_module(self, name: str, module: typing.Optional["Module"]) -> None:
        self.add_module(name, module)

    def _split(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return getattr(module, name), name

    def get_submodule(self, target: str) -> "Module":
        """The module of a dotted name; "" is this one."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Replaces the module of a dotted name; with `strict` there must be one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        found, name = self._split(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        found, name = self._split(target)
        if name not in self.get_submodule(target.rpartition(".")[0])._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # What is below

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for module_prefix, module in (self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else
                                      [(prefix, self)]):
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield module_prefix + ("." if module_prefix else "") + name, member

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> typing.Iterator[typing.Tuple[str, Parameter]]:
        """Pairs of dotted name and parameter, of this module and, with `recurse`, of those below."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> typing.Iterator[Parameter]:
        """The parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> typing.Iterator[typing.Tuple[str, Tensor]]:
        """Pairs of dotted name and buffer."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> typing.Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_children(self) -> typing.Iterator[typing.Tuple[str, "Module"]]:
        """Pairs of name and module, of those directly below."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> typing.Iterator["Module"]:
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix: str = "",
                      remove_duplicate: bool = True) -> typing.Iterator[typing.Tuple[str, "Module"]]:
        """Pairs of dotted name and module, this one first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self) -> typing.Iterator["Module"]:
        for _, module in self.named_modules():
            yield module

    # What is done to all

    def apply(self: _Self, fn: typing.Callable[["Module"], typing.Any]) -> _Self:
        """Calls fn(module) for every module below and then for this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with _no_grad():
                applied = fn(param)
                grad = None if param.grad is None else fn(param.grad)
            if applied is not param:
                param.grad = None  # of the parameter as it was
                param.data = applied
                if grad is not None:
                    param.grad = grad.requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _to_device(self, kind, device):
        where = _C.device(kind) if device is None else _C.device(kind, device) if isinstance(device, int) else _C.device(device)
        if where.type != kind:
            raise RuntimeError(f"Invalid device, must be {kind} device")
        return self._apply(lambda t: t.to(where))

    def cuda(self: _Self, device=None) -> _Self:
        """Moves parameters and buffers to a GPU."""
        return self._to_device("cuda", device)

    def cpu(self: _Self) -> _Self:
        return self._to_device("cpu", None)

    def type(self: _Self, dst_type) -> _Self:
        """Makes parameters and buffers of another dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def _floating(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: _Self) -> _Self:
        return self._floating(_C.float32)

    def double(self: _Self) -> _Self:
        return self._floating(_C.float64)

    def half(self: _Self) -> _Self:
        return self._floating(_C.float16)

    def bfloat16(self: _Self) -> _Self:
        return self._floating(_C.bfloat16)

    def to_empty(self: _Self, *, device, recurse: bool = True) -> _Self:
        """Moves to a device without the values."""
        return self._apply(lambda t: _C.empty_like(t, device=device), recurse=recurse)

    def to(self: _Self, *args, **kwargs) -> _Self:
        """to(device), to(dtype), to(device, dtype), to(tensor), and memory_format: moves parameters and buffers; only those
        of floating point change their dtype."""
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
            if dtype.is_complex:
                warn("Complex modules are a new feature under active development whose design may change, and some modules "
                     "might not work as expected when using complex tensors as parameters or buffers.")

        def convert(t):
            kind = dtype if t.is_floating_point() or t.is_complex() else None
            if t.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device.")
            options = {"memory_format": memory_format} if memory_format is not None and t.dim() in (4, 5) else {}
            return t.to(device=device or t.device, dtype=kind or t.dtype, non_blocking=non_blocking, **options)
        return self._apply(convert)

    def share_memory(self: _Self) -> _Self:
        """Moves parameters and buffers to memory that other processes can open."""
        return self._apply(lambda t: t.share_memory_())

    def train(self: _Self, mode: bool = True) -> _Self:
        """Sets the mode of training of this module and those below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: _Self) -> _Self:
        return self.train(False)

    def requires_grad_(self: _Self, requires_grad: bool = True) -> _Self:
        """Says whether operations on the parameters are recorded."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets the parameters' gradients, or sets them to zero."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                param.grad = param.grad.detach() if param.grad.grad_fn is not None else param.grad.requires_grad_(False)
                param.grad.zero_()

    def compile(self, *args, **kwargs):
        """Leaves the module as it is: Taeda has no compiler."""

    # Hooks

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Has hook(module, args) called before forward, hook(module, args, kwargs) if `with_kwargs`; what it returns takes
        their place."""
        return _hooks.add(self._forward_pre_hooks, hook, prepend, [(self._forward_pre_hooks_with_kwargs, with_kwargs)])

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Has hook(module, args, output) called after forward, with kwargs before output if `with_kwargs`; after errors, too,
        if `always_call`."""
        return _hooks.add(self._forward_hooks, hook, prepend, [(self._forward_hooks_with_kwargs, with_kwargs),
                                                              (self._forward_hooks_always_called, always_call)])

    def register_full_backward_hook(self, hook, prepend=False):
        """Has hook(module, grad_input, grad_output) called when both are known; what it returns takes grad_input's place."""
        if self._is_full_backward_hook is False:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
                               "only one of them.")
        self._is_full_backward_hook = True
        return _hooks.add(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Has hook(module, grad_output) called before this module's backward; what it returns takes grad_output's place."""
        return _hooks.add(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """As register_full_backward_hook, with the gradients of the last operation only."""
        if self._is_full_backward_hook is True:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
                               "only one of them.")
        self._is_full_backward_hook = False
        return _hooks.add(self._backward_hooks, hook)

    def _call_impl(self, *args, **kwargs):
        """A call with hooks; calls without go to forward directly."""
        return _call.with_hooks(self, args, kwargs)

    _wrapped_call_impl = _call_impl

    # Copies, pickles, printing

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _DICTS:
            self.__dict__.setdefault(name, {} if name in _PLAIN_DICTS else collections.OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _replicate_for_data_parallel(self):
        replica = type(self).__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica.__dict__["_parameters"] = {}
        replica.__dict__["_buffers"] = self._buffers.copy()
        replica.__dict__["_modules"] = self._modules.copy()
        replica.__dict__["_is_replica"] = True
        return replica

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed of this module beside those below."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        inner = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {inner}\n)" if inner else f"{self._get_name()}()"

    def __dir__(self):
        names = itertools.chain(dir(type(self)), self.__dict__, self._parameters, self._modules, self._buffers)
        return sorted({name for name in names if not name[:1].isdigit()})


def _no_grad():
    from ...autograd.modes import no_grad
    return no_grad()


def _C_type_name(value):
    """ "torch.FloatTensor" for a tensor, "list", ... as PyTorch's messages have it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = value if isinstance(value, type) else type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__builtin__", None) else f"{module}.{kind.__qualname__}"


def _remove_from(name, *registries):
    for registry in registries:
        if registry is not None and name in registry:
            registry.discard(name) if isinstance(registry, set) else registry.pop(name)


def _indented(text):
    return text.replace("\n", "\n  ")


def _parse_to(*args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None, tensor=None):
    """What `to` was given: device, dtype, non_blocking, memory format; None for what is to stay."""
    args = list(args)
    if args and isinstance(args[0], Tensor):
        tensor = args.pop(0)
    elif args and isinstance(args[0], _C.dtype):
        dtype = args.pop(0)
    elif args:
        device = args.pop(0)
        if args and (args[0] is None or isinstance(args[0], _C.dtype)):
            dtype = args.pop(0)
    if args:
        non_blocking = args.pop(0)
    if len(args) > 1 or (device is not None and not isinstance(device, (str, int, _C.device))):
        raise TypeError("to() received an invalid combination of arguments - got (" + ", ".join(
            _C_type_name(a) for a in [device, *args]) + "), but expected one of:\n * (torch.device device = None, torch.dtype "
            "dtype = None, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n * "
            "(torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n "
            "* (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if isinstance(device, int):
        device = _C.device("cuda", device)
    return None if device is None else _C.device(device), dtype, non_blocking, memory_format


_C._nn._parse_to = _parse_to  # where some programs look for it

from . import _call  # noqa: E402  needs Module's names
from ..._core.warnings import warn
