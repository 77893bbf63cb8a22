"""Keeping small float16 gradients alive."""

import enum

from .. import _C
from .._warnings import warn


class OptState(enum.Enum):
    """How far an optimizer's step is."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Multiplies the loss by a factor, divides the gradients by it before the step, and leaves out steps that overflowed.

        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)      # only to clip
        scaler.step(optimizer)
        scaler.update()
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
        self._scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._scaled = False  # whether `scale` was ever called: without it there is nothing to take back
        self._stages, self._found = {}, {}  # of optimizers, by id

    def _check_scaled(self, name):
        if not self._scaled:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")

    def scale(self, outputs):
        """The loss, or nested lists of tensors, times the scale."""
        if not self._enabled:
            return outputs
        self._scaled = True
        if isinstance(outputs, _C.TensorBase):
            wide = outputs.float() if outputs.dtype in (_C.float16, _C.bfloat16) else outputs
            return wide * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divides the optimizer's gradients by the scale, in place, and looks for what is not finite."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer))
        if stage == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        self._check_scaled("unscale_")
        finite = True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if p.grad.dtype == _C.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                grad = p.grad.detach()
                values = grad._values() if grad.is_sparse else grad
                values.mul_(1.0 / self._scale)
                finite = finite and bool(_C.isfinite(values).all())
        self._stages[id(optimizer)], self._found[id(optimizer)] = "unscaled", not finite

    def step(self, optimizer, *args, **kwargs):
        """Steps, unless a gradient is not finite; gives what the optimizer's step gives."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._stages.get(id(optimizer)) == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        self._check_scaled("step")
        if id(optimizer) not in self._stages:
            self.unscale_(optimizer)
        self._stages[id(optimizer)] = "stepped"
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Moves the scale for the next iteration, or sets it."""
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._stages, self._found = {}, {}

    def get_scale(self):
        return self._scale if self._enabled else 1.0

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

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        if not self._enabled:
            return {}
        return {"scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._scale, self._growth_factor = state_dict["scale"], state_dict["growth_factor"]
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
