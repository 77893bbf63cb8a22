"""Pictures: data sets, transforms, files, grids and models, under torchvision's names."""

import importlib

__version__ = "0.30.0"
_SUBMODULES = {"tv_tensors", "transforms", "datasets", "models", "ops", "utils", "io", "version", "extension"}


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"taeda.vision.{name}")
    from .._core.missing import attribute
    return attribute(__name__, name)


def _is_tracing():
    """Never: torch.jit.trace gives the function itself."""
    return False


def get_image_backend():
    """What pictures are opened with: PIL where it is installed, else Taeda's own class."""
    return "PIL"


def set_image_backend(backend):
    if backend != "PIL":
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL'")


def disable_beta_transforms_warning():
    """Accepted: transforms.v2 says nothing of the kind."""


def get_video_backend():
    """What videos would be read with; Taeda reads none."""
    return "pyav"
