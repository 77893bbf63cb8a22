"""The rooms of python/taeda: folders, and modules at the root that have PyTorch's names.

A module imports from its own room and from those of lines above; rooms of one line know nothing of each other.
python/taeda/README.md says what each of them is for.
"""

# Of each room the modules and packages in it; of two that fit a module the longer one counts.
ROOMS = [
    {"core": ["_core", "version", "torch_version", "__config__"]},
    {"tensor": ["_tensors", "_tensor", "storage", "types"]},
    {"autograd": ["autograd"], "processes": ["multiprocessing", "futures"], "devices": ["_devices"]},
    {"operations": ["_operations", "_utils", "functional", "fft", "linalg", "special", "sparse", "random", "return_types",
                    "quasirandom"],
     "amp": ["amp"]},
    {"face": [""]},  # taeda itself: whoever imports a module of the rooms below has it, too
    {"accelerators": ["accelerator", "cuda", "cpu", "mps", "mtia", "xpu", "sim", "backends", "_devices.modules"],
     "files": ["serialization", "_files", "hub"],
     "libraries": ["library", "ops"],
     "distributed": ["distributed"]},
    {"nn": ["nn"], "profiler": ["profiler", "autograd.profiler"]},
    {"optim": ["optim"], "func": ["func", "nn.utils._per_sample_grad"], "distributions": ["distributions"], "overrides": ["overrides"],
     "compiler": ["_dynamo", "_inductor", "compiler"], "jit": ["jit"], "signal": ["signal"],
     "testing": ["testing"], "utils": ["utils"]},
    {"fx": ["fx"], "rpc": ["distributed.rpc", "distributed.checkpoint", "distributed.autograd", "distributed.optim", "distributed.pipeline"]},
    {"vision": ["vision"]},
    {"compat": ["compat", "install_alias"]},
]
