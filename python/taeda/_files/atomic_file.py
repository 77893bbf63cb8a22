"""Files that replace others whole or not at all, as the library's own (taeda/io/atomic_file.h)."""

import contextlib
import fcntl
import os
import re
import secrets
import stat

_TEMPORARY = re.compile(r"\..*\.[0-9a-f]{16}\.taeda~")
_LONGEST_STEM = 200
_ATTEMPTS = 100
_swept = set()


def _sweep(folder):
    """Removes what killed processes left: temporary files that nobody has locked. Once for each folder."""
    if folder in _swept:
        return
    _swept.add(folder)
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if not _TEMPORARY.fullmatch(name):
                continue
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    if stat.S_ISREG(os.fstat(descriptor).st_mode):
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        os.unlink(path)
                finally:
                    os.close(descriptor)


def _claimed(descriptor):
    """Whether the file is locked by us and still has its name. A file system without locks has nobody that sweeps either."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return os.fstat(descriptor).st_nlink > 0


def _made(folder, name, mode):
    """A new file that sweepers leave alone, and its path."""
    for _ in range(_ATTEMPTS):
        path = os.path.join(folder, f".{name[:_LONGEST_STEM]}.{secrets.token_hex(8)}.taeda~")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:
            continue
        if _claimed(descriptor):
            return descriptor, path
        os.close(descriptor)
    raise FileExistsError(f"no name for a temporary file in {folder}")


@contextlib.contextmanager
def replacing(path):
    """A file for writing, which takes the place of `path` - its mode, and what a symbolic link leads to - at the end."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a device or a pipe, which takes what is written and stays
        with open(target, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target)
    _sweep(folder)
    old = os.stat(target).st_mode & 0o777 if os.path.exists(target) else None
    descriptor, temporary = _made(folder, os.path.basename(target), 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if old is not None:
                os.fchmod(descriptor, old)
            os.fsync(descriptor)
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)
