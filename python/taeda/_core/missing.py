"""What is said of names that PyTorch has and Taeda has not.

`absent.txt` holds these names, a module on each line; tools/python/absent.py makes it by asking an installed PyTorch. Each
module of the package that has no `__getattr__` of its own is given `attribute`, and others end theirs with it; `Absent` answers
for modules. What they give are stand-ins (stand_ins.py): importing one is no error, calling it is.
"""

import functools
import importlib
import importlib.machinery
import os
import sys
import types

from . import second_names
from .stand_ins import MissingModule, stand_in

# Modules that are imported when they are first asked for, as `torch.cuda` without an import of its own, by their packages.
LAZY = {
    "taeda": """nn optim utils testing cuda accelerator sim amp backends distributed distributions multiprocessing profiler jit
        futures hub version overrides mps xpu mtia compiler library ops _dynamo _inductor __config__ fx func cpu return_types
        signal storage functional quasirandom serialization _utils""".split(),
    "taeda.autograd": ["forward_ad", "functional", "profiler", "variable"],
    "taeda.cuda": ["amp", "nvtx", "memory", "random", "streams", "graphs", "profiler"],
    "taeda.cpu": ["amp"],
    "taeda.utils": ["benchmark", "collect_env", "data", "checkpoint", "deterministic", "dlpack", "hooks", "model_zoo",
                    "tensorboard", "weak", "_contextlib", "_pytree"],
    "taeda.vision.transforms": ["v2"],
}

# Names that few programs need, and names of rooms that the module which has them must not import, with where they are.
NAMES = {
    "taeda": {"lobpcg": "_operations.lobpcg", "cond": "_operations.control_flow", "while_loop": "_operations.control_flow",
              "vmap": "_operations.vmap", "load": "serialization", "save": "serialization", "compile": "_dynamo",
              "get_device_module": "_devices.modules", "ScriptModule": "jit", "ScriptFunction": "jit",
              "_convert_indices_from_coo_to_csr": "sparse", "_convert_indices_from_csr_to_coo": "sparse"},
    "taeda._utils": {"_get_available_device_type": "_devices.modules", "_get_device_module": "_devices.modules"},
    "taeda.autograd": {"DeviceType": "profiler.profiler"},
    "taeda.storage": {"_from_bytes": "serialization"},
}

# Where names of torch and torch._C are that begin with "_".
_INTERNALS = "compat.internals"

# Modules of PyTorch's whose names other modules here hold.
_SECOND_NAMES = {"taeda.torch": "taeda", **{f"taeda.{second}": f"taeda.{first}" for second, first in {
    "_ops": "ops", "accelerator.memory": "accelerator", "amp.autocast_mode": "amp", "autograd.anomaly_mode": "autograd",
    "autograd.grad_mode": "autograd.modes", "cuda.amp.autocast_mode": "cuda.amp", "cuda.amp.grad_scaler": "cuda.amp",
    "cpu.amp.autocast_mode": "cpu.amp", "cpu.amp.grad_scaler": "cpu.amp", "cuda.comm": "nn.parallel.comm",
    "distributed.rpc.api": "distributed.rpc", "utils._pytree": "_core.pytree", "utils.benchmark.utils.timer": "utils.benchmark",
    "vision.io.image": "vision.io", "vision.models.mobilenetv2": "vision.models.mobilenet",
    "vision.ops.ciou_loss": "vision.ops.losses", "vision.ops.diou_loss": "vision.ops.losses",
    "vision.ops.drop_block": "vision.ops.drops", "vision.ops.focal_loss": "vision.ops.losses",
    "vision.ops.giou_loss": "vision.ops.losses",
    "vision.transforms.v2.functional": "vision.transforms.sample_functional"}.items()}}

# Words at the start of a module's or a name's path, and what is missing there; the first that fits is said.
_FEATURES = {
    "quantized tensors": (
        "ao", "quantization", "nn.quantized", "nn.quantizable", "nn.intrinsic", "nn.qat", "backends.quantized", "quant", "qint",
        "quint", "qscheme", "q_", "per_channel", "per_tensor", "dequantize", "int_repr", "fake_quant", "fbgemm", "empty_quant",
        "QInt", "QUInt", "fused_moving_avg", "choose_qparams", "utils.mobile_optimizer"),
    "nested tensors": ("nested", "jagged"),
    "compressed sparse layouts": (
        "sparse_csc", "sparse_bsr", "sparse_bsc", "ccol_", "row_ind",
        "sparse.semi_structured", "sparse.SparseSemi", "sparse.to_sparse_semi"),
    "4-bit floating-point numbers": ("float4",),
    "integers of less than 8 bits": ("bits", *(f"{kind}{n}" for kind in ("int", "uint") for n in range(1, 8))),
    "complex numbers of 16-bit parts": ("complex32", "chalf", "bcomplex32"),
    "compiler of TorchScript": ("jit", "utils.jit", "ScriptModule", "ScriptFunction", "classes"),
    "exporter to ONNX in Python (the command `taeda export` and the C++ library have one)": ("onnx",),
    "exporter of programs": ("export", "nativert"),
    "packages of code (torch.package)": ("package",),
    "masked tensors": ("masked",),
    "distributed tensors (DTensor)": ("distributed.tensor",),
    "training of sharded parameters (FSDP)": ("distributed.fsdp",),
    "checkpoint files of several processes (torch.distributed.checkpoint)": ("distributed.checkpoint",),
    "schedules of pipelines; it has torch.distributed.pipeline.sync.Pipe": ("distributed.pipelining",),
    "agents that restart workers (torch.distributed.elastic)": ("distributed.elastic",),
    "symbolic sizes": ("sym_", "Sym", "fx.experimental"),
    "data pipes": ("utils.data.datapipes", "utils.data.IterData", "utils.data.MapData", "utils.data.functional_d",
                   "utils.data.DFIter"),
    "compiler of extensions (torch.utils.cpp_extension)": ("utils.cpp_extension",),
}


@functools.cache
def _table():
    """The names of each module that PyTorch has and Taeda has not, and all modules of which that is so."""
    names, modules = {}, set()
    with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "absent.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        module, _, rest = line.partition(":")
        if rest:
            names[module] = set(rest.split())
        else:
            modules.add(module)
    return names, modules


def _is_absent_module(name):
    """Whether PyTorch has a module of this name, and Taeda neither it nor, perhaps, the package it is in."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in _table()[1] or ".".join(parts[:n - 1]) + ".*" in _table()[1]
               for n in range(2, len(parts) + 1))


def reason(module, name=None):
    """What is missing, in words, where a module, or a name in it, is PyTorch's and not Taeda's; else nothing."""
    module = "torch" if module == "torch._C" and name else module  # where torch has its classes from
    full = f"{module}.{name}" if name else module
    if not (_is_absent_module(full) or name and name in _table()[0].get(module, ())):
        return ""
    within = full.partition(".")[2]
    for feature, words in _FEATURES.items():
        if within.startswith(words):
            return f"Taeda has no {feature}"
    return f"PyTorch has {full}, Taeda does not"


def attribute(module, name):
    """A submodule, a stand-in for what PyTorch has and Taeda has not, or an AttributeError for what neither has."""
    if name in LAZY.get(module, ()) or f"{module}.{name}" in _SECOND_NAMES:
        return importlib.import_module(f"{module}.{name}")
    if name in NAMES.get(module, ()):
        found = getattr(importlib.import_module(f"taeda.{NAMES[module][name]}"), name)
        setattr(sys.modules[module], name, found)
        return found
    if module in ("taeda", "taeda._C") and name[0] == "_" != name[1:2]:
        internals = vars(importlib.import_module(f"taeda.{_INTERNALS}"))
        if name in internals:
            return internals[name]
    theirs = second_names.torch_name(module)
    if f"{theirs}.{name}" in _table()[1]:
        return importlib.import_module(f"{module}.{name}")
    if not name.startswith("__") and (said := reason(theirs, name)):
        return stand_in(f"{theirs}.{name}", said)
    raise AttributeError(f"module '{theirs}' has no attribute '{name}'", name=name, obj=sys.modules.get(module))


def speak_of_missing(module):
    """Lets a module that has no `__getattr__` of its own name what it lacks, and so those that should be in it."""
    module.__dict__.setdefault("__getattr__", functools.partial(attribute, module.__name__))
    module.__dict__.setdefault("__path__", [])  # else the import system does not ask `Absent`


def modules_of_classes(package, names):
    """Gives classes of a package the modules that PyTorch has them in, for programs that import torch.optim.adam.Adam."""
    for file, classes in names.items():
        made = types.ModuleType(f"{package.__name__}.{file}", f"What torch.{package.__name__[6:]}.{file} gives.")
        vars(made).update({name: getattr(package, name) for name in classes.split()})
        speak_of_missing(made)
        sys.modules[made.__name__] = made
        setattr(package, file, made)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the package."""

    def exec_module(self, module):
        super().exec_module(module)
        speak_of_missing(module)
        second_names.name_classes(module)


class Modules:
    """Asked first, for Taeda's own modules."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("taeda."):
            return None
        if name in _SECOND_NAMES:
            return importlib.machinery.ModuleSpec(name, second_names.SecondName(_SECOND_NAMES[name]))
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader.__class__ = _Loader
        return spec


class Absent:
    """Asked last, when no module of a name was found: modules that PyTorch has and Taeda has not."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        theirs = second_names.torch_name(name)
        if name.startswith("taeda.") and _is_absent_module(theirs):
            return importlib.machinery.ModuleSpec(name, Absent, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        theirs = second_names.torch_name(spec.name)
        return MissingModule(theirs, reason(theirs))

    @staticmethod
    def exec_module(module):
        """Nothing is in it until it is asked for."""


sys.meta_path.insert(0, Modules)
sys.meta_path.append(Absent)
