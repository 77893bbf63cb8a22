"""PyTorch's names for programs that say `import torch`.

    python -m taeda.compat program.py arguments
    python -m taeda.compat -m package.module arguments
    python -m taeda.compat -c "import torch; print(torch.ones(2))"

Only where it is asked for: a folder with packages named torch and torchvision is put first on the path, and on PYTHONPATH, so
that processes which the program starts see it, too.
"""

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alias")


def install():
    """Puts the packages first on the path of this process and of those that it starts."""
    known = sys.modules.get("torch")
    if known is not None and known is not sys.modules.get("taeda"):
        raise ImportError("taeda.compat: a real torch is already imported in this process")
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    before = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    wanted = folders()
    os.environ["PYTHONPATH"] = os.pathsep.join(wanted + [p for p in before if p not in wanted])


def folders():
    """What has to be on the path: the folder of the names and, where Python does not find it by itself, that of the package."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [FOLDER] if os.path.basename(root) in ("site-packages", "dist-packages") else [FOLDER, root]
