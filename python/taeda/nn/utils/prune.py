"""Pruning: a parameter becomes `name_orig` times the mask `name_mask`, set anew before every forward."""

import abc
import numbers

from ... import _C
from ..parameter import Parameter

__all__ = ["BasePruningMethod", "PruningContainer", "Identity", "RandomUnstructured", "L1Unstructured", "RandomStructured",
           "LnStructured", "CustomFromMask", "identity", "random_unstructured", "l1_unstructured", "random_structured",
           "ln_structured", "global_unstructured", "custom_from_mask", "remove", "is_pruned"]


class BasePruningMethod(abc.ABC):
    """A way to choose what is pruned: compute_mask gives a mask that is 0 there, PRUNING_TYPE what it may choose."""

    _tensor_name = None
    PRUNING_TYPE = "unstructured"

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of `t`, zero wherever `default_mask` is."""

    def apply_mask(self, module):
        """The parameter as it is used: what it was, times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes module.name; a parameter that is pruned already is pruned further."""
        method, before = cls(*args, **kwargs), _method_of(module, name)
        original = getattr(module, name if before is None else name + "_orig")
        method._tensor_name = name
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        mask = _C.ones_like(original) if before is None else getattr(module, name + "_mask")
        if before is not None:
            hook, former = before
            del module._forward_pre_hooks[hook]
            container = former if isinstance(former, PruningContainer) else PruningContainer(former)
            container.add_pruning_method(method)
            method = container
        else:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
        mask = method.compute_mask(importance_scores, mask)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """`t` with what this method chooses set to zero."""
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask if default_mask is not None else _C.ones_like(t))

    def remove(self, module):
        """Makes the pruned values the parameter itself."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        module.__dict__.pop(name, None)
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other on one parameter."""

    def __init__(self, *args):
        self._methods = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """One more for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._methods and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                             f"PruningContainer {self}. Found '{method._tensor_name}'")
        self._tensor_name = method._tensor_name
        self._methods += (method,)

    def __len__(self):
        return len(self._methods)

    def __iter__(self):
        return iter(self._methods)

    def __getitem__(self, index):
        return self._methods[index]

    def compute_mask(self, t, default_mask):
        """What the last method chooses of that which the ones before left."""
        method, mask = self._methods[-1], default_mask.clone()
        if method.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
            mask[left] = method.compute_mask(t[left], _C.ones_like(t[left]))
        elif method.PRUNING_TYPE == "structured":
            others = tuple(d for d in range(t.dim()) if d != method.dim % t.dim())
            left = (default_mask.sum(others) != 0).nonzero().flatten()
            mask = mask.index_copy(method.dim, left, method.compute_mask(
                t.index_select(method.dim, left), default_mask.index_select(method.dim, left)))
        elif method.PRUNING_TYPE == "global":
            mask = method.compute_mask(t, default_mask)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but has the parameter look as if it were pruned."""

    def compute_mask(self, t, default_mask):
        return default_mask


class _Counted(BasePruningMethod):
    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_Counted):
    """`amount` elements - a number, or a fraction - at random."""

    def compute_mask(self, t, default_mask):
        count, mask = _number(self.amount, t.nelement()), default_mask.clone()
        if count:
            mask.view(-1)[_C.rand_like(t).view(-1).topk(count).indices] = 0
        return mask


class L1Unstructured(_Counted):
    """The `amount` elements of the smallest absolute values."""

    def compute_mask(self, t, default_mask):
        count, mask = _number(self.amount, t.nelement()), default_mask.clone()
        if count:
            mask.view(-1)[t.abs().view(-1).topk(count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """Prunes module.name by the sizes of its elements, or of importance_scores."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Channels(_Counted):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t, default_mask, scores):
        """The mask that keeps the channels whose scores are highest."""
        if t.dim() <= 1:
            raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                             f"{t.shape} with {t.dim()} dims")
        channels = t.size(self.dim)
        count = _number(self.amount, channels)
        if count == 0:
            return default_mask
        mask = _C.zeros_like(t)
        place = [slice(None)] * t.dim()
        place[self.dim] = scores(channels).topk(channels - count).indices
        mask[tuple(place)] = 1
        return mask * default_mask


class RandomStructured(_Channels):
    """`amount` channels along `dim`, at random."""

    def compute_mask(self, t, default_mask):
        return self._kept(t, default_mask, _C.rand)


class LnStructured(_Channels):
    """The `amount` channels along `dim` of the smallest norms of order `n`."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t, default_mask):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return self._kept(t, default_mask, lambda channels: t.norm(p=self.n, dim=others))


class CustomFromMask(BasePruningMethod):
    """What is zero in a mask of the program's own."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask shape {tuple(self.mask.shape)} must match {tuple(default_mask.shape)}")
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module, name):
    """Has module.name look as if it were pruned."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes `amount` elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the `amount` elements of the smallest absolute values."""
    L1Unstructured.apply(module, name, amount, importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes `amount` channels along `dim` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the `amount` channels along `dim` of the smallest norms of order `n`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes what is zero in `mask`."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters - pairs (module, name) - as if they were one."""
    parameters, scores = list(parameters), importance_scores or {}
    if not issubclass(pruning_method, BasePruningMethod) or pruning_method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`')
    tensors = [scores.get(pair, getattr(*pair)) for pair in parameters]
    masks = [getattr(module, name + "_mask", _C.ones_like(getattr(module, name))) for module, name in parameters]
    method = PruningContainer()
    method._tensor_name, single = "temp", pruning_method(**kwargs)
    single._tensor_name = "temp"
    method.add_pruning_method(single)
    flat = method.compute_mask(_C.cat([t.detach().reshape(-1) for t in tensors]), _C.cat([m.reshape(-1) for m in masks]))
    for (module, name), part in zip(parameters, flat.split([t.numel() for t in tensors])):
        custom_from_mask(module, name, part.view_as(getattr(module, name)))


def remove(module, name):
    """Makes pruning of module.name final: the parameter has its own name again."""
    found = _method_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    found[1].remove(module)
    del module._forward_pre_hooks[found[0]]
    return module


def is_pruned(module):
    """Whether a parameter in this module is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


def _method_of(module, name):
    """The hook's key and the method that prunes module.name, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative integer")


def _number(amount, size):
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount
