"""torch.__config__: what the library is and what runs operations, for programs that print it."""

from . import _C
from .torch_version import __version__


def show():
    """The version and the threads, in lines."""
    return (f"Taeda, under the names of PyTorch {__version__}, built with:\n  - C++ Version: 202002\n"
            f"  - OpenMP, {_C.get_num_threads()} threads\n")


def parallel_info():
    """How many threads operations take."""
    return f"Taeda parallel backend: OpenMP\n\tat::get_num_threads() : {_C.get_num_threads()}\n"
