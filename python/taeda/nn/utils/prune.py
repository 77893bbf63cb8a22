"""Pruning: parameters times masks, `name` = `name_orig` * `name_mask`, until `remove` makes that lasting."""

import numbers
from abc import ABC, abstractmethod

from ... import _C

__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
           "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
           "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_count = isinstance(amount, numbers.Integral)
    if amount < 0 or (not is_count and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` are pruned, where amount is a number of them or a part."""
    _check_amount(amount)
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
        return int(amount)
    return round(amount * size)


class BasePruningMethod(ABC):
    """A way to find masks of the shape of a tensor, and the forward pre-hook that applies the mask of one parameter.

    >>> class First(nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask[0] = 0
    ...         return mask
    >>> layer = nn.Linear(2, 2)
    >>> _ = First.apply(layer, "bias")
    >>> layer.bias_mask
    tensor([0., 1.])
    """

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of a tensor that has one already."""

    def apply_mask(self, module):
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a module's parameter; what was pruned before stays so."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = [(k, hook) for k, hook in module._forward_pre_hooks.items()
                   if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        for key, hook in earlier:
            if not isinstance(hook, PruningContainer):
                hook = PruningContainer(hook)
            hook.add_pruning_method(method)
            method = hook
            del module._forward_pre_hooks[key]
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if not earlier:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
            default = _C.ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        with_mask = method.compute_mask(importance_scores, default_mask=default)
        module.register_buffer(name + "_mask", with_mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor, without a module."""
        scores = t if importance_scores is None else importance_scores
        default_mask = _C.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """Leaves the pruned values as the parameter."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods one after the other: each sees what the former ones left of a tensor.

    >>> layer = nn.Linear(4, 1)
    >>> _ = nn.utils.prune.l1_unstructured(layer, "weight", 1)
    >>> _ = nn.utils.prune.l1_unstructured(layer, "weight", 1)
    >>> len(list(layer._forward_pre_hooks.values())[0]), layer.weight_mask.sum()
    (2, tensor(2.))
    """

    def __init__(self, *args):
        self._pruning_methods = ()
        listed = args[0] if len(args) == 1 and not isinstance(args[0], BasePruningMethod) else args
        for method in listed:
            if not self._pruning_methods:
                self._tensor_name = getattr(method, "_tensor_name", None)
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if getattr(method, "_tensor_name", None) != self._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}.")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, i):
        return self._pruning_methods[i]

    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            where = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            kept = [d for d in range(t.dim()) if d != dim]
            left = (mask.sum(dim=kept) if kept else mask) != 0
            where = tuple(left if d == dim else slice(None) for d in range(t.dim()))
        elif method.PRUNING_TYPE == "global":
            where = slice(None)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = mask.clone()
        mask[where] = method.compute_mask(t[where], default_mask=mask[where]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask, ones in the tensor's shape.

    >>> nn.utils.prune.Identity().prune(torch.ones(2))
    tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        n = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            mask.view(-1)[self._chosen(t, n)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random; `amount` is a number of them, or a part.

    >>> nn.utils.prune.RandomUnstructured(2).prune(torch.ones(4)).sum()
    tensor(2.)
    """

    def _chosen(self, t, n):
        return _C.topk(_C.rand_like(t).view(-1), n)[1]


class L1Unstructured(_Unstructured):
    """Prunes the elements that are least in absolute value; `amount` is a number of them, or a part.

    >>> nn.utils.prune.L1Unstructured(1).prune(torch.tensor([-3.0, 1.0, 2.0]))
    tensor([-3.,  0.,  2.])
    """

    def _chosen(self, t, n):
        return _C.topk(t.detach().abs().reshape(-1), n, largest=False)[1]


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                             f"{tuple(t.shape)} with {t.dim()} dims")
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {tuple(t.shape)}")
        size = t.shape[self.dim]
        kept = size - _count(self.amount, size)
        if kept == size:
            return default_mask
        channels = _C.zeros_like(default_mask)
        where = _C.topk(self._scores(t, size), kept)[1]
        channels[(slice(None),) * (self.dim % t.dim()) + (where,)] = 1
        return channels * default_mask


class RandomStructured(_Structured):
    """Prunes whole channels along `dim` at random; `amount` is a number of them, or a part.

    >>> nn.utils.prune.RandomStructured(1, dim=0).prune(torch.ones(3, 2)).sum()
    tensor(4.)
    """

    def _scores(self, t, size):
        return _C.rand(size)


class LnStructured(_Structured):
    """Prunes the channels along `dim` with the least norm of order n; `amount` is a number of them,
    or a part.

    >>> nn.utils.prune.LnStructured(1, n=2, dim=0).prune(torch.tensor([[3.0, 4.0], [1.0, 1.0]]))
    tensor([[3., 4.],
            [0., 0.]])
    """

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t, size):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return t.detach().norm(p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask, of the tensor's shape, says.

    >>> nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.ones(2))
    tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    """A mask of ones for a parameter: it becomes `name_orig` times `name_mask`. Gives the module; shapes stay.

    >>> nn.utils.prune.identity(nn.Linear(2, 1), "weight").weight_mask
    tensor([[1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements at random: the parameter becomes `name_orig` times `name_mask`. Gives the module; shapes stay.

    amount: how many, or which part as a float in [0, 1], else ValueError

    >>> nn.utils.prune.random_unstructured(nn.Linear(4, 1), "weight", 2).weight_mask.sum()
    tensor(2.)
    """
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of least absolute value: the parameter becomes `name_orig` times `name_mask`. Gives the module;
    shapes stay.

    amount: how many, or which part as a float in [0, 1], else ValueError
    importance_scores: of the parameter's shape, in the place of its values

    >>> nn.utils.prune.l1_unstructured(nn.Linear(4, 1), "weight", 0.5).weight_mask.sum()
    tensor(2.)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes whole channels along `dim` at random. Gives the module; shapes stay.

    amount: how many, or which part as a float in [0, 1], else ValueError

    >>> nn.utils.prune.random_structured(nn.Linear(2, 4), "weight", 1, dim=0).weight_mask.sum()
    tensor(6.)
    """
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the channels along `dim` with the least norm of order n. Gives the module; shapes stay.

    amount: how many, or which part as a float in [0, 1], else ValueError
    importance_scores: of the parameter's shape, in the place of its values

    >>> nn.utils.prune.ln_structured(nn.Linear(2, 4), "weight", 1, n=2, dim=0).weight_mask.sum()
    tensor(6.)
    """
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes where the mask, of the parameter's shape, is zero. Gives the module.

    >>> nn.utils.prune.custom_from_mask(nn.Linear(2, 1), "weight", torch.tensor([[1, 0]])).weight_mask
    tensor([[1., 0.]])
    """
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters as if they were one tensor.

    parameters: pairs of module and name, else TypeError
    pruning_method: a class like L1Unstructured, and kwargs its arguments
    importance_scores: {(module, name): scores} in the place of values

    >>> a, b = nn.Linear(2, 1), nn.Linear(2, 1)
    >>> nn.utils.prune.global_unstructured([(a, "weight"), (b, "weight")], nn.utils.prune.L1Unstructured, amount=2)
    >>> int(a.weight_mask.sum() + b.weight_mask.sum())
    2
    """
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    tensors = [scores.get(p, getattr(*p)).detach() for p in parameters]
    flat = _C.cat([t.reshape(-1) for t in tensors])
    masks = _C.cat([getattr(m, name + "_mask", _C.ones_like(t)).reshape(-1) for (m, name), t in zip(parameters, tensors)])
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
                        f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    found = container.compute_mask(flat, masks)
    for (module, name), part, t in zip(parameters, found.split([t.numel() for t in tensors]), tensors):
        custom_from_mask(module, name, mask=part.view_as(t))


def remove(module, name):
    """Makes the pruning of a parameter lasting, and takes mask and hook away. Gives the module; a ValueError where there is
    none. Shapes stay.

    >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 1), "weight", 2)
    >>> nn.utils.prune.is_pruned(nn.utils.prune.remove(layer, "weight"))
    False
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a module or one of its children has a pruned parameter.

    >>> nn.utils.prune.is_pruned(nn.Linear(4, 1))
    False
    """
    return any(isinstance(hook, BasePruningMethod) for _, m in module.named_modules() for hook in m._forward_pre_hooks.values())
