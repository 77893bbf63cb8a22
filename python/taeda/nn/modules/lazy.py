"""Modules whose parameters get their shapes from the first input."""

from ..._tensors.parameter import is_lazy


class LazyModuleMixin:
    """Comes before the module in the bases; `initialize_parameters(*args)` materializes, `cls_to_become` is the class after."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for registry in (self._parameters, self._buffers):
            for name, tensor in registry.items():
                if tensor is not None and name not in self._non_persistent_buffers_set:
                    destination[prefix + name] = tensor if is_lazy(tensor) or keep_vars else tensor.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        from ...autograd.modes import no_grad
        for registry in (self._parameters, self._buffers):
            for name, tensor in registry.items():
                given = state_dict.get(prefix + name)
                if given is not None and tensor is not None and is_lazy(tensor) and not is_lazy(given):
                    with no_grad():
                        tensor.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        return any(is_lazy(t) for registry in (self._parameters, self._buffers) for t in registry.values())

    def _infer_parameters(self, module, args, kwargs=None):
        from ...autograd.modes import no_grad
        with no_grad():
            self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become
