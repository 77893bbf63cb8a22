#!/usr/bin/env python3
"""Writes the arrays of tests/io/data with NumPy: npy_files.py FOLDER. Made with NumPy 1.24 (Debian 12)."""

import pathlib
import sys

import numpy


def main():
    out = pathlib.Path(sys.argv[1])
    six = numpy.arange(6).reshape(2, 3)
    numpy.savez_compressed(out / "arrays.npz", **{d: six.astype(d) for d in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64",
        "complex128")}, scalar=numpy.float32(2.5), empty=numpy.zeros((0, 4)), big_endian=six.astype(">i4"),
        fortran=numpy.asfortranarray(six.astype("float32")))
    numpy.save(out / "words.npy", numpy.array(["a", "bc"]))


if __name__ == "__main__":
    main()
