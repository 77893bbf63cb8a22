"""torchvision.version."""

from . import __version__  # noqa: F401

git_version, cuda = "unknown", None
