"""Finds `torch.nn` as `taeda.nn`: one module under two names."""

import importlib
import importlib.machinery
import sys


class Loader:
    """Gives a module under another name."""

    def __init__(self, name):
        self.name = name

    def create_module(self, spec):
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def get_code(self, name):
        """For `python -m`, which runs a module's code as a program."""
        import importlib.util  # not needed by who has no other name for the package
        return importlib.util.find_spec(self.name).loader.get_code(self.name)

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has put the other name's there


class Finder:
    """Everything below `alias` is what is below `package`."""

    def __init__(self, alias, package):
        self.alias, self.package = alias, package

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.alias + "."):
            return None
        import importlib.util
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


_aliases = set()  # of packages that have another name


def torch_name(name):
    """taeda.nn is torch.nn, taeda.vision.ops torchvision.ops."""
    for ours, theirs in (("taeda.vision", "torchvision"), ("taeda", "torch")):
        if name == ours or name.startswith(ours + "."):
            return theirs + name[len(ours):]
    return name


def name_classes(module):
    """Has the classes that a module defines say that they are torch's, in a process where that is another name of taeda."""
    if _aliases:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                value.__module__ = torch_name(module.__name__)


def alias(name, package):
    """Makes `name` another name of a package and of all below it. The package, and classes in it, say that they are of it."""
    module = importlib.import_module(package)
    if package not in _aliases:
        sys.meta_path.insert(0, Finder(name, package))
        _aliases.add(package)
        for loaded in [found for known, found in sys.modules.items() if known == package or known.startswith(package + ".")]:
            name_classes(loaded)
        module.__name__ = name
    sys.modules[name] = module
    return module
