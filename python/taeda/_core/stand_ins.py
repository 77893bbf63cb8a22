"""What stands in for names that PyTorch has and Taeda has not.

A program may import them, derive from them, name them in annotations and ask whether an object is one. It runs until it calls
one, and that error says what is missing. What asks whether something is of a kind that there is none of is answered: `is_...`
functions say no, and `_MEANINGS` has the few whose answer is another.
"""

import functools
import types


class StandIn(type):
    """The class of a name that is missing. No object is an instance of one."""

    def __call__(cls, *args, **kwargs):
        raise NotImplementedError(cls._said)

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        path, _, said = cls._said.partition(": ")
        return stand_in(f"{path}.{name}", said)

    def __getitem__(cls, parameters):
        return cls


class MissingModule(types.ModuleType):
    """A module that is missing: every name in it is a stand-in."""

    def __init__(self, path, said):
        super().__init__(path, f"PyTorch's {path}. {said}.")
        self._said = said

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return stand_in(f"{self.__name__}.{name}", self._said)


def _same(function=None, *args, **kwargs):
    """A decorator that changes nothing."""
    return function


# Where the answer is known though the feature is missing: there is nothing symbolic, traced, exported or compiled.
_MEANINGS = {
    "torch.utils.cpp_extension.CUDA_HOME": None,
    # registers a class, whose base none can be made of, under a name
    "torch.utils.data.functional_datapipe": lambda name, enable_df_api_tracing=False: lambda cls: cls,
    "torch._jit_internal._copy_to_script_wrapper": _same, "torch._jit_internal._overload": _same,
    "torch._jit_internal._overload_method": _same, "torch._jit_internal.export": _same, "torch._jit_internal.ignore": _same,
    "torch._jit_internal.unused": _same,
    "torch._guards.active_fake_mode": lambda: None,
    "torch.fx.experimental.symbolic_shapes.guard_or_false": bool,
    "torch.fx.experimental.symbolic_shapes.guard_or_true": bool,
    "torch.fx.experimental.symbolic_shapes.guard_size_oblivious": bool,
    "torch.fx.experimental.symbolic_shapes.statically_known_true": bool,
}


def _no(*args, **kwargs):
    """No: there are none."""
    return False


@functools.cache
def stand_in(path, said):
    """What a missing name of PyTorch's gives, always the same for a path."""
    if path in _MEANINGS:
        return _MEANINGS[path]
    module, _, name = path.rpartition(".")
    if name.startswith("is_"):
        return _no
    bases = (Warning,) if name.endswith("Warning") else (RuntimeError,) if name.endswith(("Error", "Exception")) else ()
    return StandIn(name, bases, {"__module__": module, "_said": f"{path}: {said}"})
