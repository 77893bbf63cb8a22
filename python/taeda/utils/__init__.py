"""What programs are written with beside tensors and modules: data, checkpoints, TensorBoard."""

import importlib

_SUBMODULES = {"_contextlib", "_pytree", "benchmark", "checkpoint", "collect_env", "data", "deterministic", "dlpack", "hooks",
               "model_zoo", "tensorboard", "weak"}


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"taeda.utils.{name}")
    from .._missing import attribute
    return attribute(__name__, name)
