"""The comment that documents a declaration.

The house writes one comment for a group: declarations that follow each other without an empty line share the comment
above the first of them, until one brings its own. A heading above a group of members counts as such a comment.
"""

import pathlib
import re
import sys

from model import Comment

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from declarations import SHAPES, TAGS as OF_OPERATIONS  # noqa: E402

TAGS = re.compile(r"^\[([a-z-]+[^\]]*)\]$")
KEYS = ("operations", "not", *OF_OPERATIONS)
TRAILING = re.compile(r"//+< ?(.*)$")
LABEL = re.compile(r"\s*(public|private|protected):\s*$")


def tags_of(text):
    """The tags of a line like `method, dtypes: floating complex`, or None if it is prose."""
    found = {}
    for part in text.split(","):
        name, _, value = part.partition(":")
        if not name.split() or name.split()[0] not in KEYS:
            return None
        found[" ".join(name.split())] = value.strip()
    return found


def shapes_of(tags):
    """What an operation's tags say of shapes, or nothing."""
    return SHAPES[tags["shape"]] if "shape" in tags else ""


def whole_tags(lines):
    """The lines with tags that go on in a second one in one."""
    out = []
    for line in lines:
        open_tags = out and re.match(r"\[[a-z-]+[^\]]*$", out[-1]) and tags_of(out[-1][1:].rstrip(", ")) is not None
        out[-1:] = [f"{out[-1]} {line.strip()}"] if open_tags else out[-1:] + [line]
    return out


def comment_of(lines):
    """A comment from the texts of its lines; those of tags are taken out, and the names of headers that generated code has."""
    kept, tags = [], {}
    for line in whole_tags(lines):
        if re.fullmatch(r"taeda/[\w/]+\.(h|inc)", line.strip()):
            continue
        matched = TAGS.match(line.strip())
        found = tags_of(matched[1]) if matched else None
        if found is None:
            kept.append(line)
        else:
            tags.update(found)
    return Comment("\n".join(kept).strip(), tags)


def indent_of(line):
    return len(line) - len(line.lstrip())


class Source:
    """The lines of a header, with the question which comment belongs to the declaration at a line."""

    def __init__(self, text):
        self.lines = text.split("\n")

    def line(self, number):
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def is_comment(self, number):
        return self.line(number).lstrip().startswith("//") and not TRAILING.search(self.line(number))

    def block(self, last):
        """The comment whose last line is `last`."""
        first = last
        while self.is_comment(first - 1):
            first -= 1
        return comment_of([re.sub(r"^\s*//+ ?", "", self.line(n)) for n in range(first, last + 1)])

    def above(self, number):
        """The comment that ends right above a line."""
        return self.block(number - 1) if self.is_comment(number - 1) else comment_of([])

    def trailing(self, first, last):
        """What stands behind a declaration, and goes on in the lines below it."""
        while re.match(r"\s*//+<", self.line(last + 1)):
            last += 1
        return comment_of([m[1] for n in range(first, last + 1) if (m := TRAILING.search(self.line(n)))])

    def of_group(self, number, outer):
        """The comment above the group in which line `number` stands; `outer`: where what holds it begins."""
        indent = indent_of(self.line(number))
        for n in range(number - 1, outer, -1):
            if LABEL.match(self.line(n)):
                break
            if not self.line(n).strip():
                return self.heading(n - 1, indent)
            if self.is_comment(n) and not self.is_comment(n + 1) and indent_of(self.line(n)) == indent:
                found = self.block(n)
                if found:
                    return found
        return comment_of([])

    def heading(self, last, indent):
        """A comment that stands alone above a group: the title of a section."""
        text = self.block(last) if self.is_comment(last) and indent_of(self.line(last)) == indent else comment_of([])
        alone = text and not self.line(last - len(text.text.split("\n"))).strip()
        return text if alone else comment_of([])

    def of_file(self):
        """The comment at the top of the file."""
        last = 1
        while self.is_comment(last):
            last += 1
        return self.block(last - 1) if last > 1 else comment_of([])
