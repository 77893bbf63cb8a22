"""Modules under two names: one that has another here, and all of taeda where it is torch."""

import importlib
import sys


class SecondName:
    """Gives a module under another name."""

    def __init__(self, name):
        self.name = name

    def create_module(self, spec):
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def get_code(self, name):
        """For `python -m`, which runs a module's code as a program."""
        import importlib.util
        return importlib.util.find_spec(self.name).loader.get_code(self.name)

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has put the other name's there


aliases = set()  # of packages that have another name


def torch_name(name):
    """taeda.nn is torch.nn, taeda.vision.ops torchvision.ops."""
    for ours, theirs in (("taeda.vision", "torchvision"), ("taeda", "torch")):
        if name == ours or name.startswith(ours + "."):
            return theirs + name[len(ours):]
    return name


def name_classes(module):
    """Has the classes that a module defines say that they are torch's, in a process where that is another name of taeda."""
    if aliases:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                value.__module__ = torch_name(module.__name__)
