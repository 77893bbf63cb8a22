"""Parameters that are functions of others: `module.weight` is computed from `module.parametrizations.weight`."""

import collections
import contextlib
import copy

from ... import _C
from ...autograd.modes import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..._tensors.parameter import Parameter

_cache, _cache_depth = {}, 0


@contextlib.contextmanager
def cached():
    """Computes each parametrized tensor once in the block, where modules ask for it often. Takes no arguments; shapes stay.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    >>> with nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions of one tensor and what they start from: `original`, or `original0`, `original1`, ...

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
    >>> type(layer.parametrizations.weight).__name__, layer.parametrizations.weight.original1.shape
    ('ParametrizationList', torch.Size([3, 2]))
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, _C.TensorBase) and not isinstance(new, collections.abc.Sequence):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             f"{type(new).__name__}")
        self.is_tensor = isinstance(new, _C.TensorBase)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                                 f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}")
            if new is not original:  # optimizers that know the parameter keep it
                original.data = new.detach()
            self._register("original", original, original)
        else:
            for i, tensor in enumerate(new):
                self._register(f"original{i}", tensor, original)

    def _register(self, name, tensor, like):
        if isinstance(like, Parameter):
            self.register_parameter(name, tensor if isinstance(tensor, Parameter) else Parameter(tensor, like.requires_grad))
        else:
            self.register_buffer(name, tensor)

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the functions give `value`."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for own, new in zip(self._originals(), [value] if self.is_tensor else value):
                own.data = new.detach().clone()

    def forward(self):
        out = self[0](*self._originals())
        for module in list(self)[1:]:
            out = module(out)
        return out


def _inject_class(module):
    """Gives a module a class of its own, whose properties are the parametrized tensors."""
    base = type(module)

    def __getstate__(self):
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                           "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                           "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            made = memo[id(self)] = type(self).__new__(type(self))
            made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return memo[id(self)]
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), {
        "__getstate__": __getstate__, "__deepcopy__": __deepcopy__, "__module__": base.__module__, "_base_class": base})


def _inject_property(module, name):
    def get(self):
        if not _cache_depth:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)
    setattr(type(module), name, property(get, set))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Makes a parameter or buffer parametrization(original), where the original starts at `right_inverse` of its value. Gives
    the module.

    module, tensor_name: whose
    parametrization: a module; with `right_inverse` a method of it, several originals where that gives several
    unsafe: whether shape and dtype may change; False unless given

    Shapes: the tensor's stays, else ValueError.

    >>> class Positive(nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    ...     def right_inverse(self, y):
    ...         return y.log()
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> with torch.no_grad():
    ...     layer.weight.fill_(2.0)
    Parameter containing:
    tensor([[2., 2.]], requires_grad=True)
    >>> nn.utils.parametrize.register_parametrization(layer, "weight", Positive()).weight.detach()
    tensor([[2., 2.]])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    original = getattr(module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe=unsafe)
    if not unsafe:
        with no_grad():
            value = made()
        if not isinstance(value, _C.TensorBase):
            raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
        if value.dtype != original.dtype or value.shape != original.shape:
            what = "dtype" if value.dtype != original.dtype else "shape"
            raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                             f"enabled.\nmodule.{tensor_name}.{what}: {getattr(original, what)}\n"
                             f"parametrization(module.{tensor_name}).{what}: {getattr(value, what)}")
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _inject_class(module)
        module.parametrizations = ModuleDict()
    _inject_property(module, tensor_name)
    module.parametrizations[tensor_name] = made
    return module


def is_parametrized(module, tensor_name=None):
    """Whether the tensor of that name (a text), or any of the module's, is parametrized.

    >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 1))
    False
    """
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes a tensor a plain one again, with the value it has or, without `leave_parametrized`, its original's. Gives the
    module.

    Shapes: the tensor's stays; one that is not parametrized is a ValueError.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    >>> nn.utils.parametrize.is_parametrized(nn.utils.parametrize.remove_parametrizations(layer, "weight"))
    False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    made = module.parametrizations[tensor_name]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach().clone()
        first = made._originals()[0]
        original = Parameter(value, first.requires_grad) if isinstance(first, Parameter) else value
        if made.is_tensor and isinstance(first, Parameter):
            first.data, original = value, first
    elif made.is_tensor:
        original = made.original
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
                         "sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    (module.register_parameter if isinstance(original, Parameter) else module.register_buffer)(tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module)._base_class
    return module


def type_before_parametrizations(module):
    """The module's class as it was before it had parametrizations; shapes stay.

    >>> nn.utils.parametrize.type_before_parametrizations(nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))).__name__
    'Linear'
    """
    return type(module)._base_class if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives another module, with tensors of the same shapes, the same functions and originals.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
    >>> other = nn.utils.parametrize.transfer_parametrizations_and_params(layer, nn.Linear(2, 3))
    >>> nn.utils.parametrize.is_parametrized(other, "weight")
    True
    """
    if not is_parametrized(from_module):
        return to_module
    for name in [tensor_name] if tensor_name is not None else list(from_module.parametrizations):
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for function in from_module.parametrizations[name]:
            register_parametrization(to_module, name, function)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        for own, other in zip(target._originals(), source._originals()):
            own.data = other.detach().clone()
    return to_module
