#!/usr/bin/env python3
"""What `taeda predict` prints, ONNX Runtime gives from the rows and pictures as they are: predicts_with_onnxruntime.py TAEDA

Trains small runs, exports them, and feeds the files by what stands in them alone: columns, categories, classes, the name of
the output. Exits with 77, which ctest takes for "skipped", where onnxruntime and numpy are not installed.
"""

import csv
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

SKIPPED = 77
TOLERANCE = 1e-5

try:
    import numpy
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)


def tool(*words):
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"taeda {words[0]}: {done.stderr}")
    return done.stdout


def open_model(run, path):
    tool("export", run, "-o", path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session, session.get_modelmeta().custom_metadata_map


def raw_rows(path, metadata):
    """The cells of a table as the file asks for them."""
    words = json.loads(metadata.get("categories", "{}"))
    rows = []
    for row in csv.DictReader(path.open()):
        cells = ((column, row[column]) for column in json.loads(metadata["columns"]))
        rows.append([float("nan") if cell == "" else words[c].index(cell) if c in words else float(cell) for c, cell in cells])
    return numpy.array(rows, dtype="float32")


def same(what, found, expected):
    worst = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found, expected, strict=True))
    print(f"{what}: {len(expected)} numbers, {worst:.1e} apart")
    if not worst <= TOLERANCE:
        sys.exit(f"{what}: ONNX Runtime says {found}, taeda predict {expected}")


def check_table(folder, target, choices):
    path, run = folder / f"{target}.csv", folder / target
    with path.open("w") as file:
        file.write(f"area,city,age,{target}\n")
        for i in range(120):
            area, age, city = 40 + 37 * i % 100, i % 50, ("Berlin", "Ulm", "Bonn")[i % 3]
            price = 3e3 * area - 900 * age + 5e4 * (city == "Berlin") + 0.5
            told = ("low" if price < 2e5 else "high") if target == "kind" else price
            file.write(f"{area if i % 7 else ''},{city if i % 11 else ''},{age},{told}\n")
    tool("train", "csv", "--data", path, "--target", target, "--out", run, "--device", "cpu", "--epochs", 3,
         "--categories", "city", "--missing", "mean", *choices)
    told = json.loads(tool("predict", run, path, "--json"))["predictions"]
    session, metadata = open_model(run, folder / f"{target}.onnx")
    [output], [name] = session.run(None, {"rows": raw_rows(path, metadata)}), [o.name for o in session.get_outputs()]
    if name != target:
        sys.exit(f"the output is called {name}, not {target}")
    if target == "kind":
        classes = json.loads(metadata["classes"])
        expected = [[p["probabilities"][c] for c in classes] for p in told]
        return same(target, output.ravel().tolist(), sum(expected, []))
    same(target, output.tolist(), [p["value"] for p in told])


def png(path, side, pixel):
    """A picture (RFC 2083) whose pixels are pixel(x, y), three bytes each."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(side)) for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def check_pictures(folder):
    side, run = 16, folder / "shapes"
    pictures = []
    for kind in ("bars", "disc"):
        (folder / "photos" / kind).mkdir(parents=True)
        for i in range(12):
            def pixel(x, y, kind=kind, i=i):
                on = (x + i) % 4 < 2 if kind == "bars" else math.hypot(x - 8, y - 8) < 4 + i % 3
                return (220, 40 + i, 90) if on else (15, 10 * i, 30)
            pictures.append((folder / "photos" / kind / f"{i}.png", pixel))
            png(pictures[-1][0], side, pixel)
    tool("train", "folder", "--data", folder / "photos", "--out", run, "--device", "cpu", "--epochs", 4, "--model", "mlp",
         "--image-size", side, "--batch-size", 8)
    told = json.loads(tool("predict", run, *(path for path, _ in pictures), "--json"))["predictions"]
    session, metadata = open_model(run, folder / "shapes.onnx")
    raw = numpy.array([[[[pixel(x, y)[c] for x in range(side)] for y in range(side)] for c in range(3)]
                       for _, pixel in pictures], dtype="uint8")
    [output] = session.run(["class"], {"pictures": raw})
    classes = json.loads(metadata["classes"])
    same("pictures", output.ravel().tolist(), [p["probabilities"][c] for p in told for c in classes])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_table(folder, "price", [])
        check_table(folder, "kind", [])
        check_pictures(folder)


if __name__ == "__main__":
    main()
