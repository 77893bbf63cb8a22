"""Finds `torch.nn` as `taeda.nn`: one module under two names."""

import importlib
import importlib.machinery
import sys

from .._core.second_names import SecondName, aliases, name_classes


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
        return importlib.machinery.ModuleSpec(name, SecondName(real), is_package=is_package)


def alias(name, package):
    """Makes `name` another name of a package and of all below it. The package, and classes in it, say that they are of it."""
    module = importlib.import_module(package)
    if package not in aliases:
        sys.meta_path.insert(0, Finder(name, package))
        aliases.add(package)
        for loaded in [found for known, found in sys.modules.items() if known == package or known.startswith(package + ".")]:
            name_classes(loaded)
        module.__name__ = name
    sys.modules[name] = module
    return module
