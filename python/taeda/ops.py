"""torch.ops: the operations that programs defined by torch.library, by their namespaces."""

from . import library as _library


class _Namespace:
    """What is called namespace::name."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        found = _library._operations.get(f"{self.name}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}': Taeda has in torch.ops what "
                                 "torch.library defined")
        return found

    def __dir__(self):
        return [op._name for op in _library._operations.values() if op._namespace == self.name]

    def __repr__(self):
        return f"<module 'torch.ops.{self.name}'>"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    return _Namespace(name)
