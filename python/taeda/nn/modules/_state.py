"""Modules' parameters and buffers as dicts that files hold: nn.Module's part for state_dict and load_state_dict."""

import collections
import functools
import itertools
import typing

from ... import _C
from . import _hooks
from ..._core.warnings import warn


class _IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class StateMixin:
    """state_dict, load_state_dict, their hooks, and what subclasses override of them."""

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered "
                               "via register_state_dict_post_hook")
        return _hooks.add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Has hook(module, state_dict, prefix, local_metadata) called after state_dict."""
        hook._from_public_api = True
        return _hooks.add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Has hook(module, prefix, keep_vars) called before state_dict."""
        return _hooks.add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _hooks.add(self._load_state_dict_pre_hooks, functools.partial(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Has hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) called
        before a module takes its part of a state dict."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Has hook(module, incompatible_keys) called after load_state_dict; it may change the lists in place."""
        return _hooks.add(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._has_extra_state():
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def _has_extra_state(self, method="get_extra_state"):
        return getattr(type(self), method) is not getattr(StateMixin, method)

    def get_extra_state(self):
        """Override it, with set_extra_state, for what a state dict shall hold beside tensors."""
        raise RuntimeError(f"{type(self).__name__}.get_extra_state(): this module has no extra state; override the method")

    def set_extra_state(self, state):
        raise RuntimeError(f"{type(self).__name__}.set_extra_state(): this module has no extra state; override the method")

    def state_dict(self, *args, destination=None, prefix: str = "", keep_vars: bool = False) -> typing.Dict[str, typing.Any]:
        """Parameters and persistent buffers of this module and those below, by dotted names; detached unless `keep_vars`."""
        if args:
            warn("Positional args are being deprecated, use kwargs instead. Refer to "
                 "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
                 "details.", FutureWarning)
            destination = destination if destination is not None else args[0]
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = collections.OrderedDict()
            destination._metadata = collections.OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif replaced is not None:
                destination = replaced
        return destination

    def _take(self, key, name, own, given, assign, error_msgs):
        """Lets one of this module's tensors have the values of an entry of a state dict, or says what is wrong with it."""
        if not isinstance(given, _C.TensorBase):
            error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                              f"checkpoint but received {type(given)}")
            return
        from ..._tensors.parameter import is_lazy
        if not is_lazy(own) and own.dim() == 0 and given.dim() == 1:
            given = given[0]  # files of PyTorch before 0.4
        if not is_lazy(own) and given.shape != own.shape:
            error_msgs.append(f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape "
                              f"in current model is {own.shape}.")
            return
        if own.is_meta and not given.is_meta and not assign:
            warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                 "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state "
                 "dictionary to their corresponding key in the module instead of copying them in place?)")
        try:
            with _C_no_grad():
                if assign:
                    from ..._tensors.parameter import Parameter
                    if isinstance(own, Parameter):
                        given = (Parameter(given, own.requires_grad) if not isinstance(given, Parameter) else
                                 given.requires_grad_(own.requires_grad))
                    setattr(self, name, given)
                else:
                    own.copy_(given)
        except Exception as error:
            action = "swapping" if assign else "copying"
            error_msgs.append(f'While {action} the parameter named "{key}", whose dimensions in the model are {own.size()} and '
                              f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}.")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own_tensors = {n: t for n, t in itertools.chain(self._parameters.items(), self._buffers.items())
                       if t is not None and n not in self._non_persistent_buffers_set}
        for name, own in own_tensors.items():
            key = prefix + name
            if key in state_dict:
                self._take(key, name, own, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE
        if self._has_extra_state("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, *below = key[len(prefix):].split(".", 1)
                    if name not in self._modules if below else name not in own_tensors:
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict: typing.Mapping[str, typing.Any], strict: bool = True, assign: bool = False):
        """Copies the tensors of a state dict into this module's parameters and buffers of the same names.

        With `strict` the names must be the same; with `assign` the tensors take the places of the module's instead of being
        copied. Returns the names that are missing and those that are unexpected.
        """
        if not isinstance(state_dict, collections.abc.Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys, unexpected_keys, error_msgs = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = collections.OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, some, prefix=""):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(some, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
            for name, child in module._modules.items():
                if child is not None:
                    below = prefix + name + "."
                    load(child, {k: v for k, v in some.items() if k.startswith(below)}, below)
            keys = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                                         "return new values, if incompatible_keys need to be modified, it should be done "
                                         "inplace.")
        load(self, state_dict)
        if strict:
            for kind, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
                if keys:
                    error_msgs.insert(0, f"{kind} key(s) in state_dict: {', '.join(map(_quoted, keys))}. ")
        if error_msgs:
            text = "\n\t".join(error_msgs)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return _IncompatibleKeys(missing_keys, unexpected_keys)


_EXTRA_STATE = "_extra_state"


def _quoted(key):
    return f'"{key}"'


def _C_no_grad():
    from ...autograd.modes import no_grad
    return no_grad()
