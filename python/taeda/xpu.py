"""torch.xpu: Intel's GPUs, of which Taeda knows none."""

from ._devices.absent import device_count, is_available, is_initialized  # noqa: F401

__all__ = ["is_available", "device_count"]
