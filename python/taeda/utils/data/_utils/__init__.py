"""The names by which programs reach the parts of the loader."""

from . import collate, worker

__all__ = ["collate", "worker"]
