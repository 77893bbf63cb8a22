"""Files that replace others whole or not at all."""

import contextlib
import os

from .. import _C


@contextlib.contextmanager
def replacing(path):
    """A file for writing, which takes the place of `path` - its mode, and what a symbolic link leads to - at the end. A device
    or a pipe takes what is written and stays."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
    else:
        with _C._Replacing(os.fsencode(path)) as descriptor, open(descriptor, "wb", closefd=False) as file:
            yield file
