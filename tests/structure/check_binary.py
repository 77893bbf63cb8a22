#!/usr/bin/env python3
"""Checks what the build made: check_binary.py CHECK ARGUMENTS.

    exports LIBRARY          exports nothing but namespace taeda
    isolated LEVEL OBJECT    the kernels of an instruction set define no function that others could use
    quiet OBJECT             the kernels of an instruction set need no dynamic initialisation
    thread_local LIBRARY     the library's thread-local block is small
    loads LIBRARY            a running program can load the library
    no_cuda LIBRARY          needs no library of CUDA or of its driver to be loaded
    hardened FILE            has a stack protector, and tables that are read-only once it is loaded
"""

import ctypes
import re
import subprocess
import sys

# A library that a running program loads gets its thread-local block from a reserve of the C library,
# which every such library shares: about 1.6 KiB.
MAX_THREAD_LOCAL_BYTES = 1024


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path, *options):
    """(type letter, mangled name) of every symbol, as nm tells them."""
    for line in run("nm", "--format=posix", *options, path).splitlines():
        name, letter = line.split()[:2]
        yield letter, name


def exports(library):
    """libtaeda exports nothing but namespace taeda."""
    # Functions and variables, tables and type information, thunks, local statics and their guards.
    ours = re.compile(r"_Z(N[KRO]*|T[VISTCWH]N|T[hv].*_NK?|ZNK?|GVN|GVZNK?)5taeda")
    names = [name for letter, name in symbols(library, "-D", "--defined-only")]
    if not any(ours.match(name) for name in names):
        yield f"{library}: exports nothing of namespace taeda"
    for name in names:
        if not ours.match(name):
            yield f"{library}: exports {name}"


def isolated(level, path):
    """Kernels of one instruction set define no function that others could use."""
    namespace = re.compile(rf"5taeda4v[0-9]_[0-9]3cpu{len(level)}{level}")
    found = False
    for letter, name in symbols(path, "--defined-only", "--extern-only"):
        is_function = letter in "TtWi"
        is_table = re.match(r"_ZT[VTC]", name)
        if namespace.search(name):
            found = True
        elif is_function or is_table:
            yield f"{path}: {name} is visible outside, and would be used on machines without {level}"
    if not found:
        yield f"{path}: defines nothing in namespace taeda::cpu::{level}"


def quiet(path):
    """Kernels of one instruction set need no dynamic initialisation."""
    for section in re.findall(r"(?<!\w)\.(?:init_array|ctors|preinit_array)\S*", run("readelf", "-SW", path)):
        yield f"{path}: {section} would run when the library is loaded, on any machine"


def thread_local(library):
    """The library's thread-local block is small enough for a program to load it while running."""
    for line in run("readelf", "-lW", library).splitlines():
        if line.split()[:1] == ["TLS"]:
            size = int(line.split()[5], 16)
            if size > MAX_THREAD_LOCAL_BYTES:
                yield f"{library}: {size} bytes of thread-local data, at most {MAX_THREAD_LOCAL_BYTES}"


def loads(library):
    """A running program can load the library."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        yield str(error)


def needed(library):
    """The names of the libraries that are loaded with a library."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", library))


def no_cuda(library):
    """Machines without CUDA, or without its driver, can load the library."""
    names = needed(library)
    if not names:
        yield f"{library}: readelf finds nothing that it needs"
    for name in names:
        if re.match(r"lib(cuda|cudart|cublas|cudnn|cufft|cusolver|cusparse|curand|cupti|nccl|nvrtc|nvidia|nvJitLink)",
                    name):
            yield f"{library}: needs {name}"


def hardened(path):
    """What is given to others has a stack protector, and tables that are read-only once it is loaded."""
    if not any(name.split("@")[0] == "__stack_chk_fail" for _, name in symbols(path, "-D", "--undefined-only")):
        yield f"{path}: no function has a stack protector"
    if "GNU_RELRO" not in run("readelf", "-lW", path):
        yield f"{path}: its tables stay writable (no -z relro)"
    if not re.search(r"\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", run("readelf", "-dW", path)):
        yield f"{path}: symbols are bound when they are first used (no -z now)"


CHECKS = {check.__name__: check
          for check in [exports, isolated, quiet, thread_local, loads, no_cuda, hardened]}


def main(arguments):
    if not arguments or arguments[0] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    check = CHECKS[arguments[0]]
    violations = list(check(*arguments[1:]))
    for violation in violations:
        print(violation)
    print(f"{arguments[0]}: {check.__doc__} {len(violations)} violation(s).")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
