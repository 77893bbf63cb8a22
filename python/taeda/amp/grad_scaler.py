"""Keeping small float16 gradients alive."""

import collections.abc
import enum

from .. import _C
from .._core.warnings import warn


class OptState(enum.Enum):
    """How far an optimizer's step is."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state():
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Keeps small float16 gradients alive: multiplies the loss by a factor, divides the gradients by it before the step, and
    leaves out steps whose gradients overflowed. The factor falls when one did, and grows after `growth_interval` steps
    without.

    device: where losses are, a device type's name; "cuda" unless given
    init_scale: the first factor; 65536 unless given
    growth_factor, backoff_factor: by what it grows and falls; 2 and 0.5 unless given; above and below 1, else AssertionError
    growth_interval: 2000 unless given
    enabled: whether it does anything; True unless given

    Shapes: a loss of any; parameters of any.

    >>> layer = nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    >>> scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale(layer(torch.ones(3, 2)).mean()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.get_scale()
    1024.0
    """

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        there = device == "cpu" or _C._device.is_available(device)
        if enabled and not there and device == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available. Disabling.")
        self._device, self._enabled = device, enabled and there
        self._init_scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._init_growth_tracker = growth_interval, 0
        self._scale = self._growth_tracker = None  # tensors of one number, from the first loss on
        self._per_optimizer_states = collections.defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname):
        for name in ("_scale", "_growth_tracker"):
            if getattr(self, name) is None:
                raise AssertionError(f"Attempted {funcname} but {name} is None.  This may indicate your script did not use "
                                     "scaler.scale(loss or outputs) earlier in the iteration.")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev):
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = _C.full((), float(self._init_scale), dtype=_C.float32, device=dev)
        self._growth_tracker = _C.full((), int(self._init_growth_tracker), dtype=_C.int32, device=dev)

    def scale(self, outputs):
        """The loss, or nested iterables of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.TensorBase):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            scale = self._scale
            return outputs * (scale if scale.device == outputs.device else scale.to(outputs.device, non_blocking=True))
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        if isinstance(outputs, collections.abc.Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Multiplies the optimizer's gradients by `inv_scale`; {device: a number that is not 0 if one was not finite}."""
        with_grads = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        return {t.device: t for t in _C._amp.unscale(with_grads, inv_scale, found_inf, allow_fp16)}

    def unscale_(self, optimizer):
        """Divides the optimizer's gradients by the scale, in place, and looks for what is not finite."""
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, self._scale.reciprocal(), _C.zeros_like(self._scale),
                                                             False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        for found_inf in optimizer_state["found_inf_per_device"].values():
            if found_inf.item():
                return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer, *args, **kwargs):
        """Steps, unless a gradient is not finite; gives what the optimizer's step gives."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            returned = self._scaled_step(optimizer, state, *args, **kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            returned = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return returned

    def _scaled_step(self, optimizer, state, *args, **kwargs):
        """Of optimizers that unscale for themselves: they find the scale in `grad_scale`, and `found_inf`."""
        unscaled = state["stage"] is OptState.UNSCALED
        if not unscaled:
            self._check_inf_per_device(optimizer)
        optimizer.found_inf = sum(t.to(self._scale.device, non_blocking=True) for t in state["found_inf_per_device"].values())
        optimizer.grad_scale = None if unscaled else self._scale
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale=None):
        """Moves the scale for the next iteration, or sets it."""
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        if new_scale is None:
            found = [t if t.device == scale.device else t.to(scale.device, non_blocking=True)
                     for state in self._per_optimizer_states.values() for t in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            _C._amp.move_scale(scale, growth_tracker, found[0] if len(found) == 1 else sum(found), self._growth_factor,
                               self._backoff_factor, self._growth_interval)
        elif isinstance(new_scale, _C.TensorBase):
            if new_scale.numel() != 1 or new_scale.requires_grad or not new_scale.is_floating_point():
                raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor "
                                     "with requires_grad=False.")
            scale.copy_(new_scale.reshape(()))
        else:
            scale.fill_(float(new_scale))
        self._per_optimizer_states = collections.defaultdict(_refresh_per_optimizer_state)

    def _check_inf_per_device(self, optimizer):
        """Looks for what is not finite and changes no gradient."""
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one, found_inf = (_C.full((), value, dtype=_C.float32, device=scale.device) for value in (1.0, 0.0))
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, found_inf, True)
        return state["found_inf_per_device"]

    def _found_inf_per_device(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """The scale as a number; it waits for the device."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._init_scale, self._growth_factor = state_dict["scale"], state_dict["growth_factor"]
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        """Numbers take the place of the tensors, so that a copy begins on any device."""
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at the "
                                     "end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None,
                         _growth_tracker=None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
