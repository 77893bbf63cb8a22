#!/usr/bin/env python3
"""Builds a small project with cmake/ccache_launcher and checks that what is compiled beside a precompiled header comes from ccache
when nothing has changed, and is never what an earlier state of a header gave: ccache_test.py ROOT CMAKE CCACHE COMPILER."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(Small LANGUAGES CXX)
add_executable(small main.cpp other.cpp)
target_precompile_headers(small PRIVATE ${CMAKE_SOURCE_DIR}/all.h)
"""
SOURCES = {"CMakeLists.txt": PROJECT, "all.h": '#include <string>\n#include "with space.h"\n',
           "with space.h": '#pragma once\n#include "value.h"\n',
           "other.cpp": "int other() { return kValue; }\n",
           "main.cpp": "#include <cstdio>\nint other();\nint main() { std::printf(\"%d %d %d\", kValue, MACRO, other()); }\n"}


class Small:
    def __init__(self, root, cmake, ccache, compiler, folder):
        self.folder, self.cmake, self.ccache = folder, cmake, ccache
        self.environment = {**os.environ, "CCACHE_DIR": str(folder.parent / "cache")}
        for name in ("CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_SLOPPINESS", "CCACHE_PCH_EXTSUM"):
            self.environment.pop(name, None)
        launcher = folder / "cmake/ccache_launcher"
        self.options = [f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher};{ccache}"]
        (folder / "source").mkdir()
        launcher.parent.mkdir()
        shutil.copy(pathlib.Path(root) / "cmake/ccache_launcher", launcher)
        for name, text in SOURCES.items():
            (folder / "source" / name).write_text(text)

    def run(self, *command):
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
        return done.stdout

    def value(self, number):
        """Gives the header this number and builds; what the program prints, and how many compilations came from the cache."""
        header = self.folder / "source" / "value.h"
        header.write_text(f"#pragma once\nconstexpr int kValue = {number};\n#define MACRO {number}\n")
        self.run(self.ccache, "-z")
        build = self.folder / "build"
        self.run(self.cmake, "-S", self.folder / "source", "-B", build, *self.options)
        self.run(self.cmake, "--build", build)
        hits = re.search(r"Hits:\s+(\d+)", self.run(self.ccache, "-s"))
        return self.run(build / "small"), int(hits.group(1)) if hits else 0

    def forget(self):
        self.run(self.cmake, "-E", "rm", "-rf", self.folder / "build")

    def move(self, name):
        """To another folder, as a second clone lies in one."""
        self.forget()
        moved = self.folder.with_name(name)
        self.folder.rename(moved)
        self.options = [option.replace(str(self.folder), str(moved)) for option in self.options]
        self.folder = moved


def main():
    root, cmake, ccache, compiler = sys.argv[1:]
    wrong = []

    def expect(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: {found}, not {wanted}")

    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "clone").mkdir()
        small = Small(root, cmake, ccache, compiler, pathlib.Path(folder) / "clone")
        expect("a first build", small.value(1), ("1 1 1", 0))
        expect("a changed header", small.value(2), ("2 2 2", 0))
        expect("the header as it was", small.value(1), ("1 1 1", 2))
        small.forget()
        expect("a new folder", small.value(1), ("1 1 1", 2))
        small.forget()
        expect("a new folder and another header", small.value(2), ("2 2 2", 2))
        expect("a third header", small.value(3), ("3 3 3", 0))
        small.move("second clone")
        expect("another folder", small.value(3), ("3 3 3", 2))
        expect("another folder and another header", small.value(4), ("4 4 4", 0))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
