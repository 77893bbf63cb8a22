"""What optimizers share: groups of parameters, their state, hooks, and state dicts as PyTorch's."""

import collections
import copy
import functools
import itertools
import typing

from .. import _C
from .._tensor import RemovableHandle, Tensor, called_later
from ..autograd.modes import enable_grad, no_grad
from .._core.warnings import warn

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]

_global_pre_hooks, _global_post_hooks = collections.OrderedDict(), collections.OrderedDict()


_HOOKS = [f"_optimizer_{what}_{when}_hooks" for what in ("step", "state_dict", "load_state_dict") for when in ("pre", "post")]


class _Required:
    """Stands for an option that has no default."""

    def __repr__(self):
        return "<required parameter>"


required = _Required()
ParamsT = typing.Iterable  # of tensors, of pairs of name and tensor, or of dicts of a group


def _add(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = called_later(hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Has hook(optimizer, args, kwargs) called before every optimizer's step; what it returns, a pair, takes the arguments'
    place.

    The argument is a function, the result a handle, whose remove() ends it.

    >>> handle = torch.optim.optimizer.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _add(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Has hook(optimizer, args, kwargs) called after every optimizer's step.

    The argument is a function, the result a handle, whose remove() ends it.

    >>> handle = torch.optim.optimizer.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _add(_global_post_hooks, hook)


def _with_hooks(step):
    """A class's step with hooks around it."""
    @functools.wraps(step)
    def call(self, *args, **kwargs):
        self._opt_called = True
        if not (_global_pre_hooks or _global_post_hooks or self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks):
            return step(self, *args, **kwargs)
        for hook in list(itertools.chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values())):
            replaced = hook(self, args, kwargs)
            if replaced is not None:
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {replaced}.")
                args, kwargs = replaced
        out = step(self, *args, **kwargs)
        for hook in list(itertools.chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values())):
            hook(self, args, kwargs)
        return out
    call.hooked = True
    return call


def _use_grad_for_differentiable(step):
    """A step of an optimizer of a program's own: recorded if its option `differentiable` says so."""
    @functools.wraps(step)
    def call(self, *args, **kwargs):
        with enable_grad() if self.defaults["differentiable"] else no_grad():
            return step(self, *args, **kwargs)
    return call


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """Whether a step is fused, and whether it goes over lists of tensors, unless told: neither, for those of a program's
    own."""
    return False, False


def _get_capturable_supported_devices(supports_xla=True):
    """The types of devices whose steps can be part of a graph."""
    return ["cuda", "sim"]


class Optimizer:
    """The base of optimizers. A class of your own calls Optimizer.__init__ with its options and defines `step`, which changes
    the parameters in `param_groups` by their gradients and keeps what it needs in `state`.

    params: tensors, pairs of name and tensor, or dicts of a group's `params` and of options that are other than `defaults`;
        leaves of the graph, each once, else ValueError
    defaults: a dict of options

    Shapes: parameters of any; none at all are a ValueError.

    >>> class Descent(torch.optim.Optimizer):
    ...     def __init__(self, params, lr=0.1):
    ...         super().__init__(params, {"lr": lr})
    ...     @torch.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = Descent([w])
    >>> (w * 2).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8000])
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, collections.OrderedDict())
        self._hook_step()
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + params.type())
        self.state = collections.defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _hook_step(self):
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = _with_hooks(cls.step)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, collections.OrderedDict())
        self._hook_step()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}\n" + "".join(
                f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"))
        return f"{type(self).__name__} (\n" + "\n".join(lines) + ")"

    # Hooks

    def register_step_pre_hook(self, hook):
        """Has hook(optimizer, args, kwargs) called before step; it may return new ones."""
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Has hook(optimizer, args, kwargs) called after step."""
        return _add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Has hook(optimizer) called before state_dict."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Has hook(optimizer, state_dict) called after state_dict; it may return another one."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Has hook(optimizer, state_dict) called before load_state_dict; it may return another one."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Has hook(optimizer) called after load_state_dict."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # State dicts

    def state_dict(self):
        """State and groups, with parameters as numbers in the order of the groups."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
        groups = [{**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        made = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, made)
            if replaced is not None:
                made = replaced
        return made

    def load_state_dict(self, state_dict):
        """Takes over a state dict; its tensors get each parameter's device and dtype."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = copy.deepcopy(state_dict["param_groups"])
        groups = self.param_groups
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = dict(zip(itertools.chain.from_iterable(s["params"] for s in saved),
                          itertools.chain.from_iterable(g["params"] for g in groups)))
        state = collections.defaultdict(dict)
        for key, value in state_dict["state"].items():
            state[params.get(key, key)] = _cast(params[key], value) if key in params else value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # Training

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients, or sets them to zero."""
        for group in self.param_groups:
            _C._optim.zero_grad(group["params"], set_to_none)

    def step(self, closure=None):
        """Changes the parameters; `closure` computes the loss anew."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Adds a dict of `params` and of options that are not the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in "
                            "sets will change between runs. Please use a list instead.")
        params = list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named) and not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        named = any(named)  # a group without parameters has no names
        if self.param_groups and named != ("param_names" in self.param_groups[0]):
            before, now = ("without", "with") if named else ("with", "without")
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{now} names to the optimizer, whose groups are {before} names")
        if named:
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                from ..nn.modules.module import _C_type_name
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + _C_type_name(param))
            if not self.defaults.get("differentiable", None) and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                 "error")
        known = set(itertools.chain.from_iterable(g["params"] for g in self.param_groups))
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)


def _cast(param, value, key=None):
    """What a state dict holds for a parameter, on the parameter's device and in its dtype; `step` stays as it is."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        return value.to(dtype=param.dtype, device=param.device) if param.is_floating_point() else value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _cast(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(param, v) for v in value)
    return value


def evaluated(closure):
    """The closure's loss, with gradients; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def check_rate(lr, text="Invalid learning rate: {}"):
    """Refuses learning rates of several elements or below zero."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(0.0 <= lr, text, lr)


def check(holds, text, *values):
    if not holds:
        raise ValueError(text.format(*values))
