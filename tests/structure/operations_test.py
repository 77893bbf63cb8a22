#!/usr/bin/env python3
"""Tests tools/ops, which reads the declarations of operations: operations_test.py ROOT."""

import ast
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "tools/ops"))

import declarations  # noqa: E402
import documentation  # noqa: E402
import emit_compat  # noqa: E402
import emit_docs  # noqa: E402
import emit_doors  # noqa: E402
import emit_functions  # noqa: E402
import emit_methods  # noqa: E402
import emit_stubs  # noqa: E402
import emit_table  # noqa: E402
import generate  # noqa: E402
import out_rules  # noqa: E402

HEADER = """\
// A family. More about it.
// [operations, method]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

"""


def read(body, head=HEADER, path="taeda/ops/family.h"):
    return declarations.read_files([(path, head + body + "\n}  // namespace taeda\n")])


def only(body):
    return read(body)[0].operations[0]


class Documentation(unittest.TestCase):
    def test_shapes_are_one_of_the_rules(self):
        self.assertEqual(only("/// D.\n/// [shape: same]\nTensor f(const Tensor& self);").tags["shape"], ["same"])
        for tag in ("shape", "shape: what", "shape: same loss"):
            with self.assertRaises(declarations.DeclarationError):
                read(f"/// D.\n/// [{tag}]\nTensor f(const Tensor& self);")

    def test_a_docstring_is_the_comment_in_python(self):
        o = only("/// Twice self. Throws Error for bool, ValueError else.\n/// [shape: same]\nTensor f(const Tensor& self);")
        text = documentation.documentation("f", [(o, False)], False, "All of it. See ops/x.h for more.")
        self.assertEqual(text, "f(input: Tensor)\n\nTwice input. Raises RuntimeError for bool, ValueError else.\n\n"
                         + declarations.SHAPES["same"] + "\n\nAll of it.")

    def test_examples_are_of_operations(self):
        known = {documentation.key(o) for f in generate.read_declarations(ROOT) for o in f.operations}
        self.assertEqual(set(documentation._examples) - known, set())


class Reading(unittest.TestCase):
    def test_a_header_without_tags_declares_no_operations(self):
        self.assertEqual(declarations.read_files([("x.h", "// A header.\n#pragma once\nint f();\n")]), [])

    def test_arguments_with_defaults_brackets_and_lines(self):
        o = only("/// Doc.\nstd::tuple<Tensor, Tensor> f(const Tensor& self, IntArrayRef dims = {0, 1},\n"
                 "                             std::function<void(void*)> g = nullptr,\n"
                 "                             std::optional<bool> /*stable*/ = {});")
        self.assertEqual([(a.name, a.type, a.default) for a in o.arguments],
                         [("self", "const Tensor&", None), ("dims", "IntArrayRef", "{0, 1}"),
                          ("g", "std::function<void(void*)>", "nullptr"), ("stable", "std::optional<bool>", "{}")])
        self.assertEqual((o.outputs, o.receiver, o.line), (2, 0, 10))

    def test_bodies_classes_and_operators_are_passed_over(self):
        f = read("class X {\n public:\n  X(int x) : x_{x} {}\n\n private:\n  int x_;\n};\n"
                 "/// Doc.\ninline Tensor f(const Tensor& self) {\n  return g(self, {1});\n}\n"
                 "inline Tensor operator+(const Tensor& a, const Tensor& b) { return f(a); }\n")[0]
        self.assertEqual([o.name for o in f.operations], ["f"])
        self.assertEqual([a.name for a in f.operations[0].arguments], ["self"])

    def test_a_comment_holds_until_a_blank_line(self):
        f = read("/// Doc.\n/// [out]\nTensor f(const Tensor& self);\nTensor g(const Tensor& self);\n\n"
                 "/// Other.\nTensor h(const Tensor& self);\n")[0]
        self.assertEqual([("out" in o.tags, o.doc) for o in f.operations],
                         [(True, "Doc."), (True, "Doc."), (False, "Other.")])

    def test_tags_alone_keep_the_documentation(self):
        f = read("/// Doc.\n/// [out]\nTensor f(const Tensor& self);\n/// [not method]\nTensor f(double self);\n")[0]
        self.assertEqual([(o.is_method, "out" in o.tags, o.doc) for o in f.operations],
                         [(True, True, "Doc."), (False, False, "Doc.")])

    def test_the_receiver_is_self_or_the_first_tensor(self):
        self.assertEqual(only("/// D.\nTensor f(const Tensor& c, const Tensor& self);").receiver, 1)
        self.assertEqual(only("/// D.\nTensor f(int64_t n, const Tensor& A);").receiver, 1)
        self.assertIsNone(only("/// D.\nTensor f(const Scalar& self, const Tensor& b);").receiver)

    def test_namespaces_inside(self):
        o = only("namespace linalg {\n/// D.\nTensor det(const Tensor& A);\n}  // namespace linalg")
        self.assertEqual((o.qualified, o.public_name), ("taeda::linalg::det", "linalg.det"))


class Mistakes(unittest.TestCase):
    def expect(self, message, body, head=HEADER):
        with self.assertRaises(declarations.DeclarationError) as caught:
            read(body, head)
        self.assertIn(message, str(caught.exception))
        self.assertRegex(str(caught.exception), r"^taeda/ops/family\.h:\d+: ")

    def test_unknown_tag(self):
        self.expect(":10: unknown tag 'inplace'; there are also, autocast",
                    "/// Doc.\n/// [inplace, method]\nTensor f(const Tensor& self);")

    def test_values(self):
        f = "\nTensor f(const Tensor& self);"
        self.expect("tag 'out' takes no value, got 'x'", "/// D.\n/// [out: x]" + f)
        self.expect("tag 'also' takes values", "/// D.\n/// [also]" + f)
        self.expect("tag 'in-place' takes at most one value", "/// D.\n/// [in-place: A B]" + f)
        self.expect("takes accelerators, float32, host, inside, lower, promote, unsafe, got 'gpu'", "/// D.\n/// [autocast: lower gpu]" + f)
        self.expect("the policy comes first", "/// D.\n/// [autocast: host lower]" + f)
        self.expect("tag 'out' appears twice", "/// D.\n/// [out, out]" + f)
        self.expect("it has no argument 'alpha'", "/// D.\n/// [keyword: alpha]" + f)

    def test_places(self):
        self.expect("tags without a declaration below them", "/// D.\n/// [out]\n\nTensor f(const Tensor& self);")
        self.expect("tags stand on a line of their own", "/// Doc. [out]\nTensor f(const Tensor& self);")
        self.expect("tags stand in a /// comment", "// [out]\nTensor f(const Tensor& self);")
        self.expect("the tags of a file begin with 'operations'", "", "// A file.\n// [method]\n\n")
        self.expect("on something that is not an operation", "/// D.\n/// [out]\nstruct X {};")

    def test_what_cannot_be(self):
        self.expect("no argument is a tensor", "/// D.\n/// [method]\nTensor f(double x);")
        self.expect("it returns no new tensor", "/// D.\n/// [out]\nbool f(const Tensor& self);")
        self.expect("it does not return one new tensor",
                    "/// D.\n/// [in-place]\nstd::tuple<Tensor, Tensor> f(const Tensor& self);")
        self.expect("it is not a method", "/// D.\n/// [not method, in-place]\nTensor f(const Tensor& self);")
        self.expect("it names 1 results of 2",
                    "/// D.\n/// [returns: a]\nstd::tuple<Tensor, Tensor> f(const Tensor& self);")

    def test_declarations(self):
        self.expect("f has no documentation", "Tensor f(const Tensor& self);")
        self.expect("argument 'Tensor' has no name", "/// D.\nTensor f(Tensor);")
        self.expect("f is declared at taeda/ops/family.h:10, too",
                    "/// D.\nTensor f(const Tensor& a);\n/// D.\nTensor f(const Tensor& b);")
        self.expect("the second name 'g' is an operation's",
                    "/// D.\n/// [also: g]\nTensor f(const Tensor& a);\n/// D.\nTensor g(const Tensor& a);")
        self.expect("a declaration without an end", "/// D.\nTensor f(const Tensor& a")

    def test_file_tags_are_dropped_where_they_are_impossible(self):
        self.assertFalse(only("/// D.\nTensor f(double x);").is_method)


class Making(unittest.TestCase):
    def test_methods_and_forms(self):
        families = read("/// Doc.\n/// [in-place: Floor, out, also: lower]\n"
                        "Tensor floor(const Tensor& self, int64_t n = 1);")
        text = emit_methods.operations_inc(families)
        for line in ["/// Doc.", "Tensor floor(int64_t n = 1) const;", "Tensor& floor_(int64_t n = 1) const;",
                     "Tensor lower(int64_t n = 1) const { return floor(n); }",
                     "Tensor& lower_(int64_t n = 1) const { return floor_(n); }"]:
            self.assertIn("\n" + line + "\n", text)
        self.assertIn("return taeda::floor(*this, n);", emit_doors.doors_cpp(families))
        self.assertIn('pointwise_in_place(Floor{}, "floor_"', emit_doors.doors_cpp(families))
        self.assertIn("Tensor& floor_out(Tensor& out, const Tensor& self, int64_t n = 1);",
                      emit_functions.out_h(families))
        self.assertIn("inline Tensor lower(const Tensor& self, int64_t n = 1) {", emit_functions.names_h(families))

    def test_doors_stand_before_bodies_and_know_the_tags(self):
        families = read("/// D.\n/// [in-place: own, autocast: lower host]\nTensor f(const Tensor& self, int64_t n = 1);\n"
                        "/// D.\n/// [not method, composition]\nTensor g(const Tensor& x);\n"
                        "namespace linalg {\n/// D.\n/// [not method, autocast: lower inside]\nTensor h(const Tensor& x);\n}\n"
                        "/// D.\n/// [not method, autocast: float32 host unsafe accelerators]\nTensor k(const Tensor& x);\n")
        text = emit_doors.doors_cpp(families)
        self.assertIn('.casts = {policy::Cast::float32, policy::Cast::unsafe}', text)
        self.assertIn('Tensor f(const Tensor& self, int64_t n) {\n  static constexpr OperationTraits traits{.name = "f", '
                      '.casts = {policy::Cast::lower, policy::Cast::none}};\n  if (Interceptors::any()) return '
                      'Door<Tensor(const Tensor&, int64_t)>::pass(traits, do_f, self, n);\n  return do_f(self, n);\n}', text)
        for line in ['Tensor& Tensor::f_(int64_t n) const {', 'traits{.name = "f_"};', "pass(traits, do_f_, *this, n);",
                     "pass_by_parts(traits, do_g, compose_g, x)", 'traits{.name = "linalg_h"};']:
            self.assertIn(line, text)
        bodies = emit_doors.bodies_h(families[0])
        for line in ["Tensor do_f(const Tensor& self, int64_t n);", "Tensor& do_f_(const Tensor& self, int64_t n);",
                     "Tensor compose_g(const Tensor& x);", "Tensor do_h(const Tensor& x);"]:
            self.assertIn("\n" + line + "\n", bodies)

    def test_doors_of_families_apart_stand_in_sources_of_their_own(self):
        families = (read("/// D.\nTensor near(const Tensor& self);", path="taeda/ops/shape/near.h") +
                    read("/// D.\nTensor far(const Tensor& self);", path="taeda/ops/spectral/far.h"))
        made = generate.door_sources(families, "taeda/(ops/spectral/|ops/other)")
        for name, here, elsewhere in (("doors_", "near", "far"), ("doors_apart_", "far", "near")):
            text = "".join(text for path, text in made.items() if path.startswith(f"src/{name}") and (name != "doors_" or "apart" not in path))
            self.assertIn(f"Tensor {here}(const Tensor& self) {{", text)
            self.assertNotIn(f"Tensor {elsewhere}(", text)
        self.assertEqual(made.keys(), generate.door_sources(families, None).keys())

    def test_composites_have_no_door_but_for_autocast(self):
        families = read("/// D.\n/// [not method, composite]\nTensor f(const Tensor& x);\n"
                        "/// D.\n/// [not method, composite, autocast: float32]\nTensor g(const Tensor& x);\n"
                        "/// D.\ninline Tensor h(const Tensor& x) { return f(x); }\n")
        text = emit_doors.doors_cpp(families)
        self.assertNotIn("f(const Tensor& x) {", text)
        self.assertNotIn("Tensor h(const Tensor& x) {", text)
        self.assertIn('traits{.name = "g", .observed = false, .casts = {policy::Cast::float32, policy::Cast::float32}};', text)

    def test_several_results(self):
        families = read("/// D.\n/// [out, returns: values indices]\n"
                        "std::tuple<Tensor, Tensor> f(const Tensor& values, int64_t dim);")
        self.assertIn("std::tuple<Tensor&, Tensor&> f_out(Tensor& values_out, Tensor& indices,",
                      emit_functions.out_h(families))

    def test_forms_with_out(self):
        families = read("/// Doc.\nTensor w(int64_t n, bool b = true, const TensorOptions& options = {});\n"
                        "Tensor w(int64_t n, const TensorOptions& options = {});\n"
                        "namespace linalg {\n/// Doc.\nTensor det(const Tensor& A);\n}\nusing linalg::det;\n",
                        HEADER.replace(", method", ""))
        text = emit_functions.out_forms_h(families)
        self.assertIn("Tensor& w_out(Tensor& out, int64_t n, bool b = true);", text)
        self.assertNotIn("w_out(Tensor& out, int64_t n);", text)  # its default covers that call
        self.assertIn("using linalg::det_out, linalg::det_outf;", text)

    def test_rules_of_forms_with_out(self):
        families = read("/// D.\n/// [out]\nTensor relu(const Tensor& self);\n/// D.\n/// [out]\n"
                        "Tensor mean(const Tensor& self, OptionalDtype dtype = {});\n/// D.\n/// [out, method, in-place]\n"
                        "Tensor put(const Tensor& self, const Tensor& index);")
        text = emit_functions.out_cpp(families)
        self.assertIn('to_out({"relu", detail::OutRule::Dtype::Same, detail::OutRule::Memory::Whole}, out,', text)
        self.assertIn('to_out({"mean", dtype ? detail::OutRule::Dtype::Same : detail::OutRule::Dtype::Castable,', text)
        self.assertIn("check_no_overlap(self, {&index});", emit_doors.doors_cpp(families))
        self.assertIn("sum", out_rules.unknown(families))
        self.assertNotIn("relu", out_rules.unknown(families))

    def test_methods_alone_have_the_form_by_their_tag(self):
        family = declarations.read_file("taeda/tensor/x.inc", "// Methods.\n// [operations]\n\n/// Doc.\n/// [out]\n"
                                        "Tensor made(IntArrayRef size, const TensorOptions& options = {}) const;\n"
                                        "/// Doc.\nTensor other() const;\n")
        text = emit_functions.out_cpp([family])
        self.assertIn("Tensor& made_out(Tensor& out, const Tensor& self, IntArrayRef size) {", text)
        self.assertIn("self.made(size, out.options())", text)
        self.assertNotIn("other_out", text)

    def test_forms_of_what_libtorchs_programs_alone_have(self):
        head = "// A family.\n// [operations]\n\nnamespace taeda_compat {\n\n"
        compat = read("namespace inner_detail {\nTensor h(int x);\n}\n"
                      "/// Doc.\ninline Tensor f(const Tensor& self, int64_t n = 1) { return g(self, n); }\n"
                      "/// Doc.\ninline Tensor resize(const Tensor& self) { return self; }\n", head,
                      "include/compat/taeda_compat/x.h")
        text = emit_compat.out_forms_h(read("/// Doc.\nTensor f(const Tensor& self);"), compat)
        self.assertIn("#include <taeda_compat/x.h>", text)
        self.assertIn("inline Tensor& f_out(Tensor& out, const Tensor& self, int64_t n = 1) {", text)
        self.assertIn("using taeda::f_out, taeda::f_outf;", text)
        self.assertIn("inline const Tensor& resize_out(const Tensor& out, const Tensor& self) {", text)
        self.assertNotIn("h_out", text)

    def test_names_that_operations_have_for_libtorchs_programs(self):
        families = read("namespace fft {\n/// Doc.\nTensor rfft(const Tensor& self, OptionalNorm norm = {});\n}  // namespace fft\n"
                        "/// Doc.\n/// [method, in-place: own]\nTensor clamp(const Tensor& self, const OptionalScalar& min);\n"
                        "/// Doc.\n/// [method, in-place: own]\nTensor other(const Tensor& self);\n")
        text = emit_compat.second_names_h(families)
        self.assertIn("inline Tensor fft_rfft(const Tensor& self, fft::OptionalNorm norm = {}) { return taeda::fft::rfft(self, norm); }",
                      text)
        self.assertIn("inline Tensor& fft_rfft_out(Tensor& out, const Tensor& self, fft::OptionalNorm norm = {}) {", text)
        self.assertIn("inline Tensor& clamp_(const Tensor& self, const OptionalScalar& min) { return self.clamp_(min); }", text)
        self.assertNotIn("other", text)

    def test_table_and_page(self):
        families = read("/// Doc a.\n/// [out, view: maybe, keyword: b]\nTensor f(const Tensor& self, bool b = true);")
        self.assertIn("O\tf\t\tfamily\tTensor\tfmo\tmaybe\t\t\t\t\t1\tDoc a.\tself\tconst Tensor&\t0\t\t0\t"
                      "b\tbool\t1\ttrue\t1\n", emit_table.table_text(families))
        self.assertIn("Tensor f(const Tensor& self, bool b = true);", emit_docs.page(families))

    def test_stubs(self):
        text = emit_stubs.stubs(read("/// D.\n/// [out, keyword: alpha]\n"
                                     "Tensor f(const Tensor& self, const Scalar& alpha = 1);"))
        self.assertIn("def f(input: Tensor, *, alpha: Number = 1, out: Optional[Tensor] = None) -> Tensor: ...", text)
        self.assertIn("    def f(self, *, alpha: Number = 1) -> Tensor: ...", text)

    def test_what_does_not_change_is_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            generate.write(folder, {"a/b.txt": "one"})
            path = pathlib.Path(folder) / "a/b.txt"
            before = path.stat().st_mtime_ns
            generate.write(folder, {"a/b.txt": "one"})
            self.assertEqual(path.stat().st_mtime_ns, before)


class ThisTree(unittest.TestCase):
    def test_all_declarations_can_be_read(self):
        families = generate.read_declarations(ROOT)
        self.assertGreater(sum(len(f.operations) for f in families), 500)
        self.assertIn("tensor_methods", [f.name for f in families])

    def test_bodies_know_nothing_of_interceptors(self):
        found = [f"{path.name}: {word}" for path in sorted((ROOT / "taeda/ops").rglob("*.cpp")) if path.name != "autocast.cpp"
                 for word in ["is_observed(", "observe(", "AutocastMode::is_active("] if word in path.read_text(encoding="utf-8")]
        self.assertEqual(found, [])

    def test_methods_of_the_class_have_doors_by_their_line(self):
        self.assertLessEqual({"to", "copy_", "item"}, {o.name for o in generate.read_class(ROOT).operations})

    def test_stubs_are_valid_python(self):
        text = emit_stubs.stubs(generate.read_declarations(ROOT))
        tree = ast.parse(text)
        names = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self.assertLessEqual({"add", "Tensor", "linalg", "fft", "zeros"}, names)
        tensor = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
        self.assertLessEqual({"add", "add_", "view", "subtract_"}, {n.name for n in tensor.body})
        compile(tree, "operations.pyi", "exec")

    def test_the_generator_reports_mistakes_with_their_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "taeda/ops/x.h"
            path.parent.mkdir(parents=True)
            path.write_text("// X.\n// [operations]\n\n/// D.\n/// [what]\nTensor f();\n")
            self.assertEqual(generate.main([folder, folder]), 1)


if __name__ == "__main__":
    unittest.main()
