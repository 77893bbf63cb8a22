#!/usr/bin/env python3
"""The checkers find what they are meant to find: each rule passes a clean tree and names a violation.

self_test.py [COMPILER LD OBJCOPY READELF CMAKE ISOLATE_SCRIPT] - the programs are for the test of the
kernels' isolation, which is left out without them.
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

import abi
import check_binary
import header_weight
import house_rules
import source

TOOLS = {}


class Tree(unittest.TestCase):
    """A small project in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("taeda/base/error.h", "#pragma once\nint f();\n")
        self.write("taeda/base/README.md", "# base\n")
        self.write("taeda/tensor/tensor.h", '#pragma once\n#include "taeda/base/error.h"\n')
        self.write("taeda/tensor/README.md", "# tensor\n")
        self.write("taeda/taeda.h", '#pragma once\n#include "taeda/tensor/tensor.h"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def violations(self, rule):
        return list(house_rules.RULES[rule](self.root))

    def assert_violation(self, rule, *parts):
        found = self.violations(rule)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])


class HouseRules(Tree):
    def test_clean_tree_passes(self):
        for rule in house_rules.RULES:
            self.assertEqual(self.violations(rule), [], rule)

    def test_include_to_the_right(self):
        self.write("taeda/base/wrong.cpp", '#include "taeda/tensor/tensor.h"\n')
        self.assert_violation("layers", "taeda/base/wrong.cpp", "taeda/tensor/tensor.h")

    def test_include_of_a_sibling(self):
        self.write("taeda/optim/README.md", "")
        self.write("taeda/optim/sgd.cpp", '#include "taeda/nn/module.h"\n')
        self.assert_violation("layers", "optim must not include taeda/nn/module.h")

    def test_include_of_a_backend(self):
        self.write("taeda/ops/create/copy.cpp", '#  include "taeda/cpu/kernels/copy.h"\n')
        self.assert_violation("layers", "ops must not include")

    def test_include_of_the_umbrella(self):
        self.write("taeda/vision/mnist.cpp", '#include "taeda/taeda.h"\n')
        self.assert_violation("layers", "umbrella")

    def test_unknown_room(self):
        self.write("taeda/attic/box.h", "#pragma once\n")
        self.assert_violation("layers", "attic")

    def test_long_file(self):
        self.write("taeda/base/long.cpp", "int x;\n" * 601)
        self.assert_violation("file_length", "taeda/base/long.cpp", "601")

    def test_long_header(self):
        self.write("taeda/base/long.h", "#pragma once\n" + "int x;\n" * 300)
        self.assert_violation("file_length", "taeda/base/long.h", "301")

    def test_longest_allowed_file(self):
        self.write("taeda/base/long.cpp", "int x;\n" * 600)
        self.assertEqual(self.violations("file_length"), [])

    def test_unnamed_names_of_one_namespace(self):
        held = "namespace taeda::io {{\nnamespace {{\n{}\n}}  // namespace\n}}\n"
        self.write("taeda/io/a.cpp", held.format("using Kind = Value::Kind;\nint size(int x) {\n}\nusing std::swap;"))
        self.write("taeda/io/b.cpp", held.format("using Kind = Value::Kind;\nint size(long x) {\n}\nusing std::swap;"))
        self.write("taeda/nn/c.cpp", held.format("using Kind = Hook::Kind;").replace("io", "nn"))
        self.assertEqual(self.violations("unnamed_names"), [])
        self.write("taeda/data/d.cpp", held.format("int size(int x) {\n}"))
        self.assert_violation("unnamed_names", "taeda/io/a.cpp", "size(int x) is in", "taeda/data/d.cpp")
        self.write("taeda/data/d.cpp", held.format(""))
        self.write("taeda/nn/e.cpp", held.format("struct Kind {").replace("io", "nn"))
        self.assert_violation("unnamed_names", "taeda/nn/e.cpp", "Kind is in")

    def test_long_python(self):
        self.write("python/taeda/long.py", "x = 1\n" * 601)
        self.assert_violation("python_length", "python/taeda/long.py", "601 lines")
        self.write("python/taeda/long.py", "\"\"\"A module.\n" + "\n" * 600 + "\"\"\"\nx = 1\n")
        self.assertEqual(self.violations("python_length"), [])

    def test_wide_python(self):
        self.write("examples/python/wide.py", "#" + "x" * 127 + "\n" + "#" + "x" * 128 + "\n")
        self.assert_violation("python_length", "examples/python/wide.py:2", "129 columns")

    def test_long_python_function(self):
        self.write("python/taeda/README.md", "")
        self.write("python/taeda/jit.py", "@f\n@g\ndef long():\n" + "    x = 1\n" * 57)
        self.assertEqual(self.violations("python_functions"), [])
        self.write("python/taeda/jit.py", "@f\n@g\ndef long():\n" + "    x = 1\n" * 58)
        self.assert_violation("python_functions", "python/taeda/jit.py:1", "long has 61 lines")

    def test_import_of_a_room_above(self):
        self.write("python/taeda/storage.py", "")
        self.write("python/taeda/_core/missing.py", "def f():\n    from ..storage import x\n")
        self.assert_violation("python_layers", "_core/missing.py:2", "core must not import taeda.storage")

    def test_import_of_a_room_beside(self):
        self.write("python/taeda/optim/__init__.py", "")
        self.write("python/taeda/jit.py", "import importlib\nimportlib.import_module('taeda.optim')\n")
        self.assert_violation("python_layers", "jit must not import taeda.optim")

    def test_import_below_a_package_imports_the_package(self):
        self.write("python/taeda/nn/__init__.py", "")
        self.write("python/taeda/nn/grad.py", "from . import init\n")
        self.write("python/taeda/nn/init.py", "from .. import _C\n")
        self.write("python/taeda/storage.py", "if TYPE_CHECKING:\n    from . import fx\nfrom .nn.grad import x\n")
        found = self.violations("python_layers")
        self.assertEqual([line.split("import ")[1] for line in found], ["taeda.nn of nn", "taeda.nn.grad of nn"])

    def test_python_module_without_a_room(self):
        self.write("python/taeda/attic.py", "")
        self.assert_violation("python_layers", "taeda.attic has no place in the order")

    def test_circle_of_imports(self):
        self.write("python/taeda/nn/init.py", "from . import grad\n")
        self.write("python/taeda/nn/grad.py", "def f():\n    from .functional import g\n")
        self.write("python/taeda/nn/functional.py", "from taeda.nn import init, utils\n")
        self.assert_violation("python_circles", "taeda.nn.functional, taeda.nn.grad, taeda.nn.init")

    def test_no_readme_in_python(self):
        self.write("python/taeda/nn/init.py", "")
        self.assert_violation("readme", "python/taeda/nn")

    def test_long_function(self):
        self.write("tools/main.cpp", "int main() {\n" + "  f();\n" * 59 + "}\n")
        self.assert_violation("function_length", "tools/main.cpp:1", "61 lines")

    def test_wide_line(self):
        self.write("examples/a.cpp", "// " + "x" * 97 + "\n" + "// " + "x" * 98 + "\n")
        self.assert_violation("line_length", "examples/a.cpp:2", "101")

    def test_columns_are_characters(self):
        self.write("examples/a.cpp", "// " + "\u2192" * 97 + "\n")
        self.assertEqual(self.violations("line_length"), [])

    def test_missing_header(self):
        self.write("tests/a.cpp", '#include "taeda/base/gone.h"\n')
        self.assert_violation("missing_includes", "taeda/base/gone.h")

    def test_no_pragma_once(self):
        self.write("taeda/base/bare.h", "int f();\n")
        self.assert_violation("header_guard", "taeda/base/bare.h")

    def test_no_readme(self):
        self.write("taeda/log/table.h", "#pragma once\n")
        self.assert_violation("readme", "taeda/log")

    def test_folder_without_sources_needs_no_readme(self):
        (self.root / "taeda/amp").mkdir()
        self.assertEqual(self.violations("readme"), [])

    def test_leftover(self):
        self.write("taeda/base/a.cpp", "int x;\n// TO" + "DO: y\n")
        self.assert_violation("no_leftovers", "taeda/base/a.cpp:2")

    def test_variable_without_a_line(self):
        self.write("taeda/base/a.cpp", 'const char* text = std::getenv("TAEDA_COLOUR");\n')
        self.assert_violation("environment", "docs/environment.md: TAEDA_COLOUR is missing")

    def test_variable_that_nothing_reads(self):
        self.write("docs/environment.md", "| `TAEDA_COLOUR` | colours |\n")
        self.assert_violation("environment", "docs/environment.md: nothing reads TAEDA_COLOUR")


class HeaderWeight(unittest.TestCase):
    def test_counts_our_lines_alone(self):
        text = '# 1 "/usr/include/a.h" 1\nint a;\n# 1 "/tree/taeda/b.h" 1 3\nint b;\n\nint c;\n# 7 "<stdin>" 2\nint d;\n'
        self.assertEqual(header_weight.weight(text, ["/tree"]), 2)
        self.assertEqual(header_weight.weight(text, ["/tree", "/usr/include"]), 3)


class Functions(unittest.TestCase):
    def spans(self, text):
        return source.functions(text)

    def test_free_function(self):
        self.assertEqual(self.spans("int x;\nint f(int a)\n{\n  return a;\n}\n"), [(2, 4)])

    def test_methods_in_a_class_in_a_namespace(self):
        text = "namespace a {\nclass B : C {\n int f() { return 1; }\n int g() const {\n }\n};\n}\n"
        self.assertEqual(self.spans(text), [(3, 1), (4, 2)])

    def test_braces_in_literals_and_comments(self):
        text = 'int f() {\n  g("}", \'}\');  // }\n  /* } */\n  h(R"(})");\n}\n'
        self.assertEqual(self.spans(text), [(1, 5)])

    def test_digit_separator_is_no_character(self):
        self.assertEqual(self.spans("int f() {\n  return 1'000'000;\n}\n"), [(1, 3)])

    def test_lambda_belongs_to_its_function(self):
        self.assertEqual(self.spans("int f() {\n  auto g = [](int a) {\n };\n}\n"), [(1, 4)])

    def test_control_flow_belongs_to_its_function(self):
        self.assertEqual(self.spans("int f() {\n  if (a) {\n  }\n  for (;;) {\n  }\n}\n"), [(1, 6)])

    def test_table_is_no_function(self):
        self.assertEqual(self.spans("int t[] = {\n 1,\n 2};\nint v{3};\n"), [])

    def test_constructor_with_initialisers(self):
        self.assertEqual(self.spans("A::A(int a) : a_(a) {\n}\n"), [(1, 2)])

    def test_operator_call_and_comparison(self):
        self.assertEqual(self.spans("bool operator==(A a, B b) {\n}\n"), [(1, 2)])

    def test_macro_body_is_no_function(self):
        self.assertEqual(self.spans("#define F(x) \\\n  do { x; } \\\n  while (0)\nint g() {}\n"), [(4, 1)])


class Abi(unittest.TestCase):
    """What is taken for part of the ABI, and what a change of it is taken for."""

    HEADER = """
    namespace taeda { namespace detail { struct Hidden { int a; }; }
    class Forward;  template <class T> struct Box { T t; };
    enum class Kind : int { A, B };
    inline namespace v0_2 {
    /// struct Comment { int no; };
    class Shape final : public Base {
     public:
      virtual ~Shape() = default;
      virtual int area(int scale) const = 0;
      int get() const { int local; return local; }
      struct Inner { int deep; };
     private:
      int width_ = 3, height_;
      std::vector<int> sides_;
    };
    } }
    """

    def test_classes_and_their_members(self):
        [(name, body)] = list(abi.classes_of(self.HEADER))
        self.assertEqual(name, "taeda::Shape")
        self.assertEqual(abi.virtuals(body), ["~Shape", "area"])
        self.assertTrue({"width_", "height_", "sides_"} <= set(abi.members(body)))
        self.assertNotIn("local", abi.members(body))

    def test_names_do_not_depend_on_compiler_or_inline_namespace(self):
        for name in ["taeda::v0_2::f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
                     "taeda::f[abi:cxx11](std::__1::basic_string<char, std::char_traits<char>, std::allocator<char>> const&)"]:
            self.assertEqual(abi.plain(name), "taeda::f(std::string const&)")
        self.assertEqual(abi.own_name("taeda::T::operator()(int) const"), "taeda::T::operator_call")
        self.assertEqual(abi.own_name("taeda::Tensor::dim() const"), "taeda::Tensor::dim")

    def test_overloads_and_members_share_a_row(self):
        found = ["taeda::Event::Event(int)", "taeda::Event::operator bool() const", "taeda::f()", "taeda::f(int)", "taeda::g()",
                 "taeda::h()"]
        rows = abi.folded(found)
        self.assertEqual(rows, ["taeda::Event:: { Event(int) | operator bool() const }", "taeda::f { () | (int) }", "taeda::[g | h]()"])
        self.assertEqual(list(abi.unfolded(rows)), found)

    def test_what_is_gone_breaks_and_what_is_new_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            listed = pathlib.Path(folder) / "symbols.txt"
            listed.write_text("# made\ntaeda::f()\ntaeda::g()\n", encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(abi.compare(listed, ["taeda::f()", "taeda::g()", "taeda::h()"]), [])
                self.assertEqual(abi.compare(listed, ["taeda::f()", "taeda::g(int)"]), ["taeda::g()"])
            self.assertIn("new: taeda::h()", said.getvalue())


KERNEL = """
#include <vector>
{extra}
namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {{
int grow(std::vector<int>& v, int n) {{ v.push_back(n); return static_cast<int>(v.size()); }}
}}
"""


class Isolation(unittest.TestCase):
    """Objects as the build makes them, before and after their isolation."""

    def setUp(self):
        if not TOOLS:
            self.skipTest("no compiler named")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, extra=""):
        text, path = self.folder / "kernel.cpp", self.folder / "kernel.o"
        text.write_text(KERNEL.format(extra=extra), encoding="utf-8")
        subprocess.run([TOOLS["compiler"], "-std=c++20", "-O0", "-fPIC", "-fno-gnu-unique",
                        "-DTAEDA_CPU_NAMESPACE=avx2", "-c", text, "-o", path], check=True)
        return path

    def isolate(self, path):
        result = self.folder / "isolated.o"
        subprocess.run([TOOLS["cmake"], f"-DOBJECTS={path}", f"-DOUTPUT={result}", "-DLEVEL=avx2",
                        f"-DLD={TOOLS['ld']}", f"-DREADELF={TOOLS['readelf']}",
                        f"-DOBJCOPY={TOOLS['objcopy']}", "-P", TOOLS["script"]], check=True)
        return result

    def test_shared_inline_functions_are_found(self):
        found = list(check_binary.isolated("avx2", self.compile()))
        self.assertTrue(any("vector" in line for line in found), found)

    def test_isolation_removes_them(self):
        isolated = self.isolate(self.compile())
        self.assertEqual(list(check_binary.isolated("avx2", isolated)), [])
        self.assertEqual(list(check_binary.quiet(isolated)), [])

    def test_kernels_of_another_level_are_found(self):
        found = list(check_binary.isolated("avx512", self.isolate(self.compile())))
        self.assertTrue(any("defines nothing" in line for line in found), found)

    def test_dynamic_initialisation_is_found(self):
        path = self.isolate(self.compile("int seed(); static int global = seed();"))
        self.assertEqual(len(list(check_binary.quiet(path))), 1)


class Hardening(unittest.TestCase):
    """Libraries with and without what TAEDA_HARDENING adds."""

    def found(self, *flags):
        if not TOOLS:
            self.skipTest("no compiler named")
        with tempfile.TemporaryDirectory() as folder:
            text, path = pathlib.Path(folder) / "text.cpp", pathlib.Path(folder) / "text.so"
            text.write_text("void fill(char*);\nint f(int i) { char text[64]; fill(text); return text[i]; }\n",
                            encoding="utf-8")
            subprocess.run([TOOLS["compiler"], "-O1", "-fPIC", "-shared", *flags, text, "-o", path], check=True)
            return [line.split(": ", 1)[1] for line in check_binary.hardened(str(path))]

    def test_what_is_hardened_is_let_through(self):
        self.assertEqual(self.found("-fstack-protector-strong", "-Wl,-z,relro,-z,now"), [])

    def test_what_is_missing_is_found(self):
        found = self.found("-fno-stack-protector", "-Wl,-z,norelro,-z,lazy")
        self.assertEqual(len(found), 3, found)


if __name__ == "__main__":
    names = ["compiler", "ld", "objcopy", "readelf", "cmake", "script"]
    if len(sys.argv) == len(names) + 1:
        TOOLS = dict(zip(names, sys.argv[1:]))
    unittest.main(argv=sys.argv[:1])
