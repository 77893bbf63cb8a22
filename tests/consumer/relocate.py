#!/usr/bin/env python3
"""No exported file of an installation names a place of this machine: relocate.py shared|static SOURCE BUILD PREFIX COMPILER

shared: the files of PREFIX. static: those of a static library, which is configured in BUILD and installed without being built;
a program is then configured against it, so that each target that it hands on must be found.
"""
import pathlib
import re
import shutil
import subprocess
import sys

PATH = re.compile(r"(?<![\w$}/.-])/(?:usr|opt|home|root|tmp|work|lib|srv)\b[^\s\"';)]*")


def run(*command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")


def paths_of(text, places):
    """Absolute paths outside of comments and of what CMake itself puts into each export (its guards of the prefix)."""
    code = "\n".join(line for line in text.split("\n") if not re.match(r"\s*#", line))
    code = code.replace('if(_IMPORT_PREFIX STREQUAL "/")', "")
    return sorted({m[0] for m in PATH.finditer(code)} | {p for p in places if p in code})


def check(prefix, places):
    wrong, seen = [], 0
    for file in sorted(p for p in prefix.rglob("*") if p.suffix in (".cmake", ".pc") and "device_plugin" not in str(p)):
        seen += 1
        wrong += [f"{file.relative_to(prefix)} names {path}" for path in paths_of(file.read_text(), places)]
    print(f"{seen} files")
    if not seen:
        wrong.append("nothing is exported")
    return wrong


def install_static(source, build, compiler):
    """The prefix of a static library that has no code."""
    shutil.rmtree(build, ignore_errors=True)
    run("cmake", "-S", source, "-B", build / "tree", "-G", "Ninja", "-DBUILD_SHARED_LIBS=OFF", "-DTAEDA_TESTS=OFF",
        "-DTAEDA_TOOL=OFF", f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", build / "tree", "--target", "taeda_operations", "taeda_namespaces")
    found = re.search(r'"([^"]+/libtaeda\.a)"', (build / "tree/taeda/cmake_install.cmake").read_text())
    (build / "empty.o").write_bytes(b"")
    run("ar", "rcs", found[1])
    run("cmake", "--install", build / "tree", "--prefix", build / "prefix")
    return build / "prefix"


def main(kind, source, build, prefix, compiler):
    source, build, prefix = map(pathlib.Path, (source, build, prefix))
    if kind == "static":
        prefix = install_static(source, build, compiler)
        run("cmake", "-S", source / "tests/consumer/find_package", "-B", build / "program", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={prefix}")
        libraries = (build / "program/build.ninja").read_text()
        if "libzip.so" in (build / "tree/build.ninja").read_text() and "libzip.so" not in libraries:
            sys.exit("a program does not get the libraries of the static library")
    sys.exit("\n".join(check(prefix, [str(source), str(build), str(prefix)])) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
