#!/usr/bin/env python3
"""tools/docs reads comments as the house writes them, and finds what is undocumented and which links are dead."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))
sys.path.append("/usr/lib/python3/dist-packages")

import guides
import links
import reader
from relations import each

HEADER = """\
// What the header is for.
#pragma once
namespace taeda::inline v0_2 {

/// The width, in bytes.
#define TAEDA_WIDTH(n) \\
  int width() { return n; }

/// Half of x. Throws Error for nothing.
/// [method, dtypes: floating]
int half(int x);
int half(long x);

int alone(int x);

/// A pair.
struct Pair {
  Pair(int a, int b);
  int a = 0, b = 0;
  int sum() const { return a + b; }
  void swap();
  TAEDA_WIDTH(2);

  // Names of it
  void first();
  void second();

 private:
  void hidden();
};

namespace detail {
int inner();
}

inline int half_out(int& out, int x) { return out = half(x); }

}  // namespace taeda
"""


class Reading(unittest.TestCase):
    def read(self, header=HEADER):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name in ("tree/taeda/taeda.h", "tree/taeda/tensor/tensor_methods.inc",
                     "made/taeda/generated/tensor/operations.inc"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(header if name.endswith(".h") else "")
        return reader.Reader(root / "tree", root / "made").read()

    def symbols(self, **more):
        return {s.path: s for s, _ in each(self.read(**more))}

    def test_a_group_shares_the_comment_above_it(self):
        headers = self.read()
        halves = [s for s, _ in each(headers) if s.name == "half"]
        self.assertEqual([s.comment.text for s in halves], ["Half of x. Throws Error for nothing."] * 2)
        self.assertEqual([s.shared for s in halves], [False, True])
        self.assertEqual(halves[0].comment.tags, {"method": "", "dtypes": "floating"})
        self.assertEqual(halves[0].declaration, "int half(int x)")

    def test_an_empty_line_ends_a_group(self):
        self.assertEqual(self.symbols()["taeda::alone"].comment.text, "")

    def test_members_have_the_heading_of_their_section(self):
        symbols = self.symbols()
        self.assertEqual(symbols["taeda::Pair::second"].comment.text, "Names of it")
        self.assertEqual(symbols["taeda::Pair::swap"].comment.text, "")

    def test_members_made_by_a_macro_have_its_comment(self):
        self.assertEqual(self.symbols()["taeda::Pair::width"].comment.text, "The width, in bytes.")

    def test_what_is_private_or_a_detail_is_no_part_of_the_reference(self):
        self.assertFalse([path for path in self.symbols() if "hidden" in path or "inner" in path])

    def test_what_names_errors_or_shapes_is_told(self):
        headers = self.read()
        relations = reader.Relations(headers)
        stating = {s.path for s, _ in each(headers) if reader.states(reader.said_of(s, relations))}
        self.assertIn("taeda::half", stating)
        self.assertNotIn("taeda::Pair", stating)
        for text in ("A ValueError.", "The mean, [N].", "A picture [..., C, H, W].", "Seconds; 5 by default."):
            self.assertTrue(reader.states(text), text)
        for text in ("The other one, [sic].", "A number between 1 and 9, 5 by default.", "It must be positive and is never empty."):
            self.assertFalse(reader.states(text), text)

    def test_undocumented_names_are_found(self):
        missing = {s.path for s in reader.undocumented(self.read())}
        self.assertEqual(missing, {"taeda::alone", "taeda::Pair::swap"})

    def test_a_class_speaks_for_its_fields_and_an_operation_for_its_forms(self):
        bare = HEADER.replace("/// A pair.\n", "").replace("// What the header is for.\n", "")
        missing = {s.path for s in reader.undocumented(self.read(bare))}
        self.assertIn("taeda::Pair", missing)
        self.assertIn("taeda::Pair::a", missing)
        self.assertNotIn("taeda::half_out", missing)

    def test_errors_in_headers_are_named(self):
        with self.assertRaisesRegex(SystemExit, "cannot be read"), contextlib.redirect_stderr(io.StringIO()):
            self.read("#pragma once\nint f(;\n")


class Links(unittest.TestCase):
    def dead(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(text)
            return links.dead_links(pathlib.Path(folder))

    def test_links_that_lead_somewhere(self):
        self.assertEqual(self.dead(a='<p id="x"></p><a href="b.html#y"></a><a href="#x"></a><a href="https://x.org/"></a>',
                                   b='<p id="y"></p><a href="a.html"></a>'), [])

    def test_missing_pages_and_marks(self):
        wrong = self.dead(a='<a href="c.html"></a><a href="#no"></a><a href="b.html#no"></a>', b="")
        self.assertEqual(len(wrong), 3)
        self.assertIn("there is no c.html", wrong[0])
        self.assertIn("has no #no", wrong[1])

    def test_ids_are_given_once(self):
        self.assertIn("two places", self.dead(a='<p id="x"></p><p id="x"></p>')[0])


class Markdown(unittest.TestCase):
    def test_headings_have_the_ids_that_links_use(self):
        self.assertEqual(guides.slug("Where time and memory go"), "where-time-and-memory-go")
        self.assertEqual(guides.slug("What is linked, and its licence"), "what-is-linked-and-its-licence")

    def test_a_list_needs_no_empty_line_before_it(self):
        self.assertEqual(guides.loose_lists("Text:\n- a\n- b"), "Text:\n\n- a\n- b")
        self.assertEqual(guides.loose_lists("```\nx\n- a\n```"), "```\nx\n- a\n```")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
