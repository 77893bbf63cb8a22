"""Files from the network: fetched when they are asked for, and checked before they are believed."""

import hashlib
import os
import tarfile
import urllib.request

from .atomic_file import replacing


def md5_of(path):
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_good(path, md5=None):
    """Whether the file is there, and is the one meant."""
    return os.path.isfile(path) and (md5 is None or md5_of(path) == md5)


def fetch(urls, folder, name, md5=None):
    """Fetches `name` from the first address that gives it. RuntimeError, with what each address said, if none does."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    if is_good(path, md5):
        return path
    failures = []
    for url in urls:
        try:
            print(f"Downloading {url} to {path}")
            with urllib.request.urlopen(url, timeout=30) as source, replacing(path) as file:
                digest = hashlib.md5(usedforsecurity=False)
                while block := source.read(1 << 16):
                    digest.update(block)
                    file.write(block)
                if md5 not in (None, digest.hexdigest()):
                    raise OSError("the file that came is not the one meant: its MD5 differs")
            return path
        except OSError as error:
            failures.append(f"{url}: {error}")
    raise RuntimeError(f"Error downloading {name}:\n" + "\n".join(failures))


def unpack(path, folder):
    """Unpacks a tar archive; its members stay within the folder."""
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(
            folder, members=[m for m in archive if m.isreg() and not m.name.startswith(("/", "..")) and ".." not in m.name])
