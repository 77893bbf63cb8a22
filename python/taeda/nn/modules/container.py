"""Modules that hold modules or parameters as sequences and dicts do."""

import collections
import itertools
import operator

from ... import _C
from ..._core.warnings import deprecated
from ..._tensors.parameter import Parameter
from .module import Module, _indented
from .utils import check_copies


def _index(container, index):
    """An index as a key of `_modules`; negative ones count from the end."""
    index = operator.index(index)
    if not -len(container) <= index < len(container):
        raise IndexError(f"index {index} is out of range")
    return str(index % len(container))


@deprecated("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.")
class Container(Module):
    """A module made of modules given by keyword, under an old name; making one warns.

    Shapes: none; it is not called.

    >>> issubclass(nn.Container, nn.Module)
    True
    """

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Modules called one after another, each with the result of the one before.

    args: the modules, or one OrderedDict that gives them names

    Shapes: input and result as the first and the last module's. It can be indexed, sliced, added to and multiplied like a
    list; an index that is not there is an IndexError.

    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> model(torch.ones(3, 4)).shape
    torch.Size([3, 2])
    >>> len(model[:2])
    2
    """

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], collections.OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _key(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return next(itertools.islice(self._modules, index % len(self), None))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(collections.OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        for key in list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def __mul__(self, other):
        return Sequential(*(copied for copied in _repeated(self, other)))

    __rmul__ = __mul__

    def __imul__(self, other):
        times = list(self)
        for _ in range(_count(other) - 1):
            self.extend(times)
        return self

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Adds a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index if index >= 0 else index + len(self), module)
        for i, each in enumerate(modules):
            self._modules[str(i)] = each
        return self

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self


def _count(other):
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(Sequential())} and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {type(Sequential())}")
    check_copies("factor", other, ())
    return other


def _repeated(sequential, times):
    return itertools.chain.from_iterable(itertools.repeat(list(sequential), _count(times)))


class ModuleList(Module):
    """A list of modules, all of them registered, so that their parameters are found. It is not called.

    modules: those to begin with; none unless given

    Shapes: none; an index that is not there is an IndexError.

    >>> layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[_index(self, index)]

    def __setitem__(self, index, module):
        setattr(self, _index(self, index), module)

    def __delitem__(self, index):
        for key in [str(i) for i in range(len(self))[index]] if isinstance(index, slice) else [_index(self, index)]:
            delattr(self, key)
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return type(self)([*self, *other])

    def __repr__(self):
        """Neighbours that print alike are one line."""
        lines, first = [], 0
        for text, some in itertools.groupby(map(repr, self)):
            count = len(list(some))
            where = str(first) if count == 1 else f"{first}-{first + count - 1}"
            lines.append(f"({where}): " + _indented(text if count == 1 else f"{count} x {text}"))
            first += count
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)" if lines else f"{self._get_name()}()"

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def insert(self, index, module):
        """Adds a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        for i, each in enumerate(modules):
            self._modules[str(i)] = each

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def extend(self, modules):
        if not isinstance(modules, collections.abc.Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    # forward is left out: a list is not called


class ModuleDict(Module):
    """A dict of modules in the order of their insertion, all of them registered, so that their parameters are found. It is not
    called.

    modules: a mapping or pairs of key and module to begin with; none unless given

    Shapes: none; a key that is not there is a KeyError.

    >>> heads = nn.ModuleDict({"a": nn.Linear(4, 1), "b": nn.Linear(4, 2)})
    >>> heads["b"](torch.ones(4)).shape
    torch.Size([2])
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules):
        """Adds the modules of a mapping or of pairs of key and module."""
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module

    # forward is left out: a dict is not called


def _pairs(name, given):
    if not isinstance(given, collections.abc.Iterable):
        raise TypeError(f"{name}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}")
    if hasattr(given, "items"):
        return list(given.items())
    pairs = list(given)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, collections.abc.Iterable):
            raise TypeError(f"{name} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{i} has length {len(pair)}; 2 is required")
    return pairs


def _shown(value, dtype=None):
    if not isinstance(value, _C.TensorBase):
        return "Object of type: " + type(value).__name__
    where = "" if value.device.type == "cpu" else f" ({value.device})"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{dtype or value.type()} of size {'x'.join(map(str, value.size()))}{where}]"


def _as_parameter(value):
    return Parameter(value) if isinstance(value, _C.TensorBase) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters, all of them registered; other tensors become parameters, anything else stays as it is.

    values: those to begin with; none unless given

    Shapes: any; calling it is a RuntimeError.

    >>> weights = nn.ParameterList([torch.ones(2), torch.zeros(3)])
    >>> weights[1].requires_grad, len(weights)
    (True, 2)
    """

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(getattr(self, str(i)) for i in range(len(self))[index])
        return getattr(self, _index(self, index))

    def __setitem__(self, index, value):
        setattr(self, _index(self, index), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value):
        """Adds a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not isinstance(values, collections.abc.Iterable) or isinstance(values, _C.TensorBase):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({i}): {_shown(v, v.dtype if isinstance(v, Parameter) else None)}" for i, v in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters in the order of their insertion; other tensors become parameters, anything else stays as it is.

    parameters: a mapping or pairs of key and value to begin with; none unless given

    Shapes: any; a key that is no str is a TypeError, calling it a RuntimeError.

    >>> weights = nn.ParameterDict({"scale": torch.ones(2)})
    >>> weights["scale"].requires_grad
    True
    """

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}').")
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        attribute = self._key_to_attr(key)
        self._keys[key] = None
        setattr(self, attribute, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """A dict of its own with the same parameters."""
        return ParameterDict(dict(self.items()))

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def values(self):
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Adds the values of a mapping or of pairs of key and value."""
        pairs = _pairs("ParameterDict", parameters)
        in_order = isinstance(parameters, (collections.OrderedDict, ParameterDict))
        if isinstance(parameters, collections.abc.Mapping) and not in_order:
            pairs.sort(key=lambda pair: pair[0])  # as PyTorch does, whose state dicts have this order
        for key, value in pairs:
            self[key] = value

    def extra_repr(self):
        return "\n".join(f"  ({key}): {_shown(value)}" for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self


__all__ = ["Container", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]
