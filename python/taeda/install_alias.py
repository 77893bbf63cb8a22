"""PyTorch's names for every program of an environment, notebooks, pytest, console scripts and pip among them.

    python -m taeda.install_alias           # `import torch` is Taeda from now on, and pip takes torch for installed
    python -m taeda.install_alias --undo

It is one file in the environment's site-packages, taeda_torch.pth, that puts the folder of `taeda.compat` behind its path.
Where a real torch is installed it refuses.
"""

import importlib.util
import os
import sys
import sysconfig

from . import compat

USAGE = "usage: python -m taeda.install_alias [--undo]"


def place():
    """The file that makes the difference."""
    return os.path.join(sysconfig.get_path("purelib"), "taeda_torch.pth")


def install():
    """Writes the file, and says so. ImportError where a torch is that is not Taeda's."""
    for name in ("torch", "torchvision"):
        found = importlib.util.find_spec(name)
        if found is not None and not os.path.dirname(found.origin or "").startswith(compat.FOLDER):
            raise ImportError(f"taeda.install_alias: a real {name} is installed at {found.origin}")
    with open(place(), "w", encoding="utf-8") as file:
        file.write("\n".join(compat.folders()) + "\n")
    print(f"{place()}: torch is Taeda")


def undo():
    """Removes the file, if it is there."""
    if os.path.exists(place()):
        os.remove(place())
        print(f"{place()} is gone")


def main():
    if sys.argv[1:] not in ([], ["--undo"]):
        print(USAGE)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    try:
        undo() if sys.argv[1:] else install()
    except (ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
