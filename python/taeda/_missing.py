"""What is said of names that PyTorch has and Taeda has not."""

import importlib

# Modules that are imported when they are first asked for, as `torch.cuda` without an import of its own.
_LAZY = {"nn", "optim", "utils", "testing", "cuda", "accelerator", "sim", "amp", "backends", "distributed", "distributions",
         "multiprocessing", "profiler", "jit", "futures", "hub", "onnx", "version", "overrides", "mps", "xpu", "compiler",
         "library", "fx", "nested", "func", "cpu", "return_types", "storage", "functional", "masked", "package",
         "quantization", "ao", "export"}

_REASONS = {
    "nested": "nested tensors",
    "jagged": "nested tensors",
    "quantize_per_tensor": "quantized tensors",
    "quantize_per_channel": "quantized tensors",
    "qint8": "quantized tensors",
    "quint8": "quantized tensors",
    "sparse_csr": "compressed sparse layouts",
    "sparse_csr_tensor": "compressed sparse layouts",
    "float8_e4m3fn": "8-bit floating-point numbers",
    "float8_e5m2": "8-bit floating-point numbers",
    "uint16": "unsigned integers of 16 bits",
    "uint32": "unsigned integers of 32 bits",
    "uint64": "unsigned integers of 64 bits",
}


def attribute(module, name):
    """A submodule, or an AttributeError that names the feature that is missing."""
    if module == "taeda" and name in _LAZY:
        try:
            return importlib.import_module(f"taeda.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"taeda.{name}":
                raise
    if name.startswith("__"):
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    what = f": Taeda has no {_REASONS[name]}" if name in _REASONS else ""
    raise AttributeError(f"module 'torch{module[5:]}' has no attribute '{name}'{what}")
