"""functorch, the former name of torch.func, as Taeda has it."""

from taeda import func
from taeda._core.stand_ins import stand_in


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'functorch' has no attribute '{name}'")
    return getattr(func, name, None) or stand_in(f"functorch.{name}", "Taeda has what torch.func has of it")
