#!/usr/bin/env python3
"""Tests what tools/configurations hides from a configuration, how it reads summaries, and which sources it checks."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
specification = importlib.util.spec_from_file_location("configuration_sources", ROOT / "tools/configuration_sources.py")
tool = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tool)


def entry(source, *options, output="a.o"):
    return tool.Command({"directory": "/build", "file": str(source),
                         "command": " ".join(["c++", *options, "-O2", "-o", output, "-c", str(source)])})


class Hidden(unittest.TestCase):
    def test_files_are_hidden_and_folders_and_texts_are_not(self):
        listing = "/.\n/usr\n/usr/include\n/usr/include/mpi.h\n/usr/share/doc/mpi/copyright\n/lib/libmpi.so\n/etc/mpi.conf\n"
        self.assertEqual(tool.hidden_files(listing), ["/usr/include/mpi.h", "/usr/lib/libmpi.so"])

    def test_an_absence_takes_its_packages_alone(self):
        absence = tool.Absence("python3-dev", ["libpython3*-dev"], {"PYTHON"})
        installed = {"python3-dev", "libpython3.11-dev", "libpython3.11", "python3"}
        self.assertEqual(tool.packages_of(absence, installed), ["libpython3.11-dev", "python3-dev"])


class Summaries(unittest.TestCase):
    full = {"MPI": "yes", "PNG": "yes", "CUDA": "no, no GPU here (TAEDA_CUDA=ON builds it all the same)"}
    absent = [tool.Absence("libopenmpi-dev", [], {"MPI", "CUDA"})]

    def wrong(self, **changes):
        return tool.wrong_components(self.full, {**self.full, **changes}, self.absent)

    def test_components_are_read_from_what_configuring_says(self):
        self.assertEqual(tool.components("-- Taeda 0.2.0, Release\n--   MPI: yes\n--   PNG: no (TAEDA_PNG=OFF)\n-- Done\n"),
                         {"MPI": "yes", "PNG": "no (TAEDA_PNG=OFF)"})

    def test_what_is_absent_must_be_off_with_its_package_named(self):
        self.assertEqual(self.wrong(MPI="no, not found (needs Debian package libopenmpi-dev)"), [])
        self.assertEqual(len(self.wrong()), 1)
        self.assertEqual(len(self.wrong(MPI="no, not found (needs a package)")), 1)

    def test_nothing_else_may_be_off(self):
        off = "no, not found (needs Debian package libopenmpi-dev)"
        self.assertEqual(len(self.wrong(MPI=off, PNG="no, not found (needs libpng-dev)")), 1)


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="configurations_test.")
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        (self.root / name).write_text(text)
        return self.root / name

    def chosen(self, source, before, here, hidden=()):
        full, now = {"a.o": entry(source, *before)}, {"a.o": entry(source, *here)}
        return len(tool.sources_to_check(full, now, hidden))

    def test_a_macro_matters_to_those_that_mention_it(self):
        mentions = self.write("with.cpp", "#ifdef HAS_PNG\n#endif\n")
        other = self.write("without.cpp", "int HAS_PNG_TOO;\n")
        self.assertEqual(self.chosen(mentions, ["-DHAS_PNG"], []), 1)
        self.assertEqual(self.chosen(mentions, ["-DHAS_PNG"], ["-DHAS_PNG=1"]), 1)
        self.assertEqual(self.chosen(mentions, ["-DHAS_PNG"], ["-DHAS_PNG"]), 0)
        self.assertEqual(self.chosen(other, ["-DHAS_PNG"], []), 0)

    def test_a_string_of_other_words_does_not_matter(self):
        source = self.write("a.cpp", "const char* text = PARTS;\n")
        self.assertEqual(self.chosen(source, ["'-DPARTS=\"a b\"'"], ["'-DPARTS=\"a c\"'"]), 0)
        self.assertEqual(self.chosen(source, ["'-DPARTS=\"a b\"'"], []), 1)

    def test_a_macro_in_a_header_matters_to_those_that_include_it(self):
        self.write("deep.h", "#if defined(HAS_PNG)\n#endif\n")
        self.write("images.h", '  #  include "deep.h"\n')
        source = self.write("a.cpp", "#include <images.h>\n")
        self.assertEqual(self.chosen(source, ["-DHAS_PNG", f"-I{self.root}"], [f"-I{self.root}"]), 1)

    def test_a_hidden_header_matters_without_any_change(self):
        source = self.write("a.cpp", "#include <vector>\n#include <zlib.h>\n")
        self.assertEqual(self.chosen(source, [], [], ["/usr/include/zlib.h"]), 1)
        self.assertEqual(self.chosen(source, [], [], ["/usr/include/png.h"]), 0)
        self.assertEqual(self.chosen(source, ["-isystem", "/usr/x"], [], ["/usr/x/zlib.h"]), 1)

    def test_new_sources_and_other_options_matter_and_folders_alone_do_not(self):
        source = self.write("a.cpp", "int a;\n")
        self.assertEqual(len(tool.sources_to_check({}, {"a.o": entry(source)}, [])), 1)
        self.assertEqual(self.chosen(source, [], ["-fno-exceptions"]), 1)
        self.assertEqual(self.chosen(source, ["-isystem", "/usr/x", "-I/y"], []), 0)

    def test_a_check_makes_nothing_and_does_without_the_precompiled_header(self):
        command = entry("a.cpp", "-DA", "-Winvalid-pch", "-include", "/b/cmake_pch.hxx", "-include", "c.h")
        self.assertEqual(command.syntax_check(),
                         ["c++", "-fsyntax-only", "-O0", "-w", "-DA", "-include", "c.h", "a.cpp"])


if __name__ == "__main__":
    unittest.main()
