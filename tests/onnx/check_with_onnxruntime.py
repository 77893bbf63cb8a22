#!/usr/bin/env python3
"""Checks exported models with what others made: check_with_onnxruntime.py FOLDER, or check_with_onnxruntime.py test_onnx,
which makes them first.

FOLDER holds NAME.onnx and, for each batch B, NAME.B.in0.npy ... and NAME.B.out0.npy ..., as test_onnx leaves them where
TAEDA_ONNX_FILES names it. Each file goes through ONNX's checker (with its inference of types and shapes) and ONNX Runtime,
whose outputs must be ours to 1e-5 of the largest number. Exits with 77, which ctest takes for "skipped", where the packages
onnx, onnxruntime and numpy are not installed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
TOLERANCE = 1e-5

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)


def numbered(folder, stem, kind):
    """The arrays stem.kind0.npy, stem.kind1.npy, ..."""
    out = []
    while (path := folder / f"{stem}.{kind}{len(out)}.npy").exists():
        out.append(numpy.load(path))
    return out


def difference(expected, found):
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return float("inf")
    if expected.size == 0:
        return 0.0
    a, b = expected.astype("float64"), found.astype("float64")
    if not (numpy.isnan(a) == numpy.isnan(b)).all():
        return float("inf")
    a, b = numpy.nan_to_num(a), numpy.nan_to_num(b)
    return float(abs(a - b).max() / max(1.0, abs(a).max()))


def check(path):
    """The largest difference over all batches of a model."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    worst, batch = 0.0, 0
    while inputs := numbered(path.parent, f"{path.stem}.{batch}", "in"):
        found = session.run(None, dict(zip(names, inputs)))
        for expected, got in zip(numbered(path.parent, f"{path.stem}.{batch}", "out"), found, strict=True):
            worst = max(worst, difference(expected, got))
        batch += 1
    return worst, batch


def check_all(folder):
    """How many models there are, and how many are not good."""
    paths = sorted(folder.glob("*.onnx"))
    onnxruntime.set_default_logger_severity(3)
    failed = 0
    for path in paths:
        try:
            worst, batches = check(path)
            good = worst <= TOLERANCE and batches > 0
            text = f"{worst:.1e} over {batches} batches"
        except Exception as error:  # whatever the two packages throw
            good, text = False, f"{type(error).__name__}: {str(error).splitlines()[0]}"
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {path.stem}: {text}")
    print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}: {len(paths) - failed} of {len(paths)} models")
    return len(paths), failed


def main():
    given = pathlib.Path(sys.argv[1]).resolve()
    if given.is_dir():
        models, failed = check_all(given)
    else:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([given, "--gtest_filter=Models.*:Operations.*", "--gtest_brief=1"], check=True,
                           env={**os.environ, "TAEDA_ONNX_FILES": folder})
            models, failed = check_all(pathlib.Path(folder))
    sys.exit(1 if failed or models == 0 else 0)


if __name__ == "__main__":
    main()
