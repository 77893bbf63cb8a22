"""What programs are written with beside tensors and modules: data, checkpoints, TensorBoard."""

import importlib

_SUBMODULES = {"benchmark", "collect_env", "data", "checkpoint", "dlpack", "hooks", "model_zoo", "tensorboard"}


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"taeda.utils.{name}")
    from .._core.missing import attribute
    return attribute(__name__, name)
