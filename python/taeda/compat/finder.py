"""Finds `torch.nn` as `taeda.nn`: one module under two names."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys


class Loader(importlib.abc.Loader):
    """Gives a module under another name."""

    def __init__(self, name):
        self.name = name

    def create_module(self, spec):
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def get_code(self, name):
        """For `python -m`, which runs a module's code as a program."""
        return importlib.util.find_spec(self.name).loader.get_code(self.name)

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has put the other name's there


class Finder(importlib.abc.MetaPathFinder):
    """Everything below `alias` is what is below `package`."""

    def __init__(self, alias, package):
        self.alias, self.package = alias, package

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.alias + "."):
            return None
        real = self.package + name[len(self.alias):]
        if real in sys.modules:  # perhaps made by a program, without a file that could be found
            is_package = hasattr(sys.modules[real], "__path__")
        else:
            try:
                found = importlib.util.find_spec(real)
            except ModuleNotFoundError:
                found = None
            if found is None:
                return None
            is_package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(name, Loader(real), is_package=is_package)


def alias(name, package):
    """Makes `name` another name of a package and of all below it."""
    module = importlib.import_module(package)
    if not any(isinstance(f, Finder) and f.alias == name for f in sys.meta_path):
        sys.meta_path.insert(0, Finder(name, package))
    sys.modules[name] = module
    return module
