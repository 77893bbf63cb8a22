#!/usr/bin/env python3
"""Writes what fills the namespaces torch, at and c10: namespaces.py ROOT GENERATED HEADER.

A program may reopen `namespace torch::nn`, so it must be a namespace of its own, and `using namespace torch` must not
lead to `taeda::nn` beside it. Therefore names come into it one by one: this reads the headers that
include/compat/torch/torch.h pulls in and writes a using-declaration for each name that a namespace of Taeda's has.
GENERATED holds the headers that the build makes. Python's standard library alone; the headers are formatted, so what
opens and ends a declaration is plain.
"""

import re
import sys
import textwrap
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]((?:taeda|taeda_compat|torch)/[^>"]+)[>"]', re.M)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#(?:[^\n\\]|\\\n|\\.)*', re.S | re.M)
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
# Macros that declare something: the names that they make of their argument.
DECLARING = {"TAEDA_MODULE": "{}", "TAEDA_MODULE_IMPL": "{}", "TAEDA_BUILDER": "{}", "TAEDA_COMPAT_ENUM": "{}", "TAEDA_COMPAT_FORWARD": "{}",
             "TAEDA_COMPAT_METHOD": "{}", "TAEDA_COMPAT_SPECIAL": "special_{0} special_{0}_out", "TAEDA_COMPAT_OUT": "{}_out",
             "TAEDA_OPTIONS": "{}", "TAEDA_PARAM_STATE": "{}"}
# Inner workings, and what belongs to Taeda alone.
PRIVATE = re.compile(r"(\w*detail|testing|policy|equivalence|philox|math|rnn_cell|gpu|tracing|json)$")
# libtorch's function and its number type have one name: taeda_compat/namespaces.h says which is where.
BY_HAND = {"complex"}
# What libtorch does not have at all, so that programs may have it of their own.
OWN = {"Option"}
# The holders of modules, which torch::nn has as classes of its own (taeda_compat/modules.h): a key among the namespaces.
HOLDERS = "taeda_holders"
BUILDER = "TAEDA_BUILDER("
# Classes of options (builders.py), which a directive brings.
OPTIONS = {"nn": "nn_options", "nn::functional": "functional_options"}
# Public namespaces of headers that <torch/torch.h> does not include.
APART = ("distributed", "distributions", "models", "multiprocessing")
# Namespaces that at and c10 have, too.
SHARED = {"at": ("indexing", "cuda"), "c10": ("cuda", "WarningUtils")}


def closure(roots, first):
    """The headers that `first` pulls in, each behind those that it includes."""
    order, seen = [], set()

    def text_of(name):
        path = next((root / name for root in roots if (root / name).exists()), None)
        return path.read_text(encoding="utf-8") if path else ""

    def visit(name):
        if name in seen:
            return
        seen.add(name)
        text = text_of(name)
        for inner in INCLUDE.findall(text):
            if inner.endswith(".h"):
                visit(inner)
        # A part of a header: of a namespace, or of a class.
        order.append(INCLUDE.sub(lambda m: text_of(m.group(1)) if m.group(1).endswith(".inc") else m.group(), text))

    visit(first)
    return order


def skip(text, at, opening="{", closing="}"):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for match in re.finditer(f"[{opening}{closing}]", text[at:]):
        depth += 1 if match.group() == opening else -1
        if depth == 0:
            return at + match.end()
    raise ValueError(f"a bracket without an end: {text[at:at + 60]!r}")


def without_template(head):
    """A declaration without template<...>, attributes, alignas(...) and requires(...)."""
    head = head.strip()
    while True:
        if head.startswith("template"):
            at, depth = head.index("<"), 0
            for i in range(at, len(head)):
                depth += (head[i] == "<") - (head[i] == ">" and head[i - 1] != "-")
                if depth == 0:
                    break
            head = head[i + 1:].strip()
        elif match := re.match(r"requires\s*\(", head):
            head = head[skip(head, match.end() - 1, "(", ")"):].lstrip("&| ").strip()
        elif match := re.match(r"\[\[.*?\]\]|(extern|inline|constexpr|static|constinit)\b", head):
            head = head[match.end():].strip()
        else:
            return head


def without_angles(head):
    """A declaration without the arguments of templates, which may have brackets of their own."""
    before, head = None, head.replace("->", "")
    while before != head:
        before, head = head, re.sub(r"<[^<>]*>", "", head)
    return head


def declared(head):
    """The names that a declaration at the level of a namespace brings; `head` ends before its body."""
    head = re.sub(r"\balignas\([^()]*(\([^()]*\)[^()]*)*\)\s*", "", without_template(head))
    if match := re.match(r"(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[.*?\]\]\s*)?(\w+)\s*(?:final)?\s*(.*)",
                         head, re.S):
        if not match.group(2) or match.group(2)[0] in ":":
            return [match.group(1)]
        if match.group(2)[0] == "<":
            return []  # a specialisation
    if match := re.match(r"using\s+(\w+)\s*=", head):
        return [match.group(1)]
    if match := re.match(r"concept\s+(\w+)", head):
        return [match.group(1)]
    if re.match(r"using\s+namespace\b", head):
        return []
    if head.startswith("using "):
        return [part.split("::")[-1].strip() for part in head[6:].split(",")]
    if match := re.match(r"typedef\b.*?(\w+)\s*$", head, re.S):
        return [match.group(1)]
    if not head or re.match(r"(friend|static_assert|namespace|template)\b", head):
        return []
    if match := re.search(r"(?<!::)\boperator\s*([^\s\w(]+)\s*\(", head):
        return ["operator" + match.group(1)]
    if match := re.match(r"([A-Z][A-Z0-9_]+)\((\w+)", head):
        form = DECLARING.get(match.group(1))
        return form.format(match.group(2)).split() if form else []
    before = re.split(r"[({=]", without_angles(head), maxsplit=1)[0]
    match = re.search(r"(\w+)\s*(\[[^\]]*\])?\s*$", before)
    # A member that is defined out of its class has a qualified name.
    if not match or not before[:match.start()].strip() or before[:match.start()].rstrip().endswith("::"):
        return []
    return [match.group(1)] + re.findall(r",\s*(\w+)\s*=", head) * ("(" not in head)


def goes_on(head):
    """Whether a declaration ends at the semicolon behind its brackets: a type, or a value in brackets."""
    plain = re.sub(r"\([^()]*\)|operator\s*\S+", "", head)
    return "=" in plain or re.match(r"(class|struct|union|enum)\b", head) is not None


def scan(text, names):
    """Adds to names {namespace: set} what a header declares."""
    text = NOISE.sub("", TEXT.sub('""', re.sub(r"//[^\n]*", "", text)))
    at, spaces, start = 0, [], 0
    while at < len(text):
        c = text[at]
        if c == "(":
            at = skip(text, at, "(", ")")
            if BUILDER in text[start:at]:  # a macro that ends itself
                add(names, spaces, text[start:at])
                start = at
            continue
        if c == ";":
            add(names, spaces, text[start:at])
        elif c == "{":
            head = text[start:at].strip()
            if re.search(r"\brequires\s*(\([^(){}]*\))?\s*$", head):  # what an expression must do
                end = skip(text, at)
                text = text[:start] + "template <> " + text[end:]
                at = start
                continue
            if match := re.match(r"(?:inline\s+)?namespace\b\s*([\w:\s]*)$", head):
                parts = [p.replace("inline", "").strip() for p in match.group(1).split("::")]
                spaces.append([p for p in parts if p != "v0_2"] or [""])
                if parts == [""]:
                    spaces[-1] = ["detail"]
            elif head.startswith('extern ""'):
                spaces.append([])
            else:
                add(names, spaces, head)
                at = skip(text, at)
                if goes_on(without_template(head)):
                    at = text.index(";", at) + 1
                start = at
                continue
        elif c == "}":
            spaces.pop()
        else:
            at += 1
            continue
        at += 1
        start = at


HOLDER = re.compile(r"(?:TAEDA_MODULE\(|class\s+)(\w+)(?:\)|\s*:\s*public\s+ModuleHolder<\w+>)\s*$")


def add(names, spaces, head):
    path = [part for group in spaces for part in group]
    if not path or path[0] not in ("taeda", "taeda_compat") or any(PRIVATE.match(p) for p in path[1:]):
        return
    found = [n for n in declared(head) if not n.endswith("_detail") and n not in ("detail", *OWN)]
    names.setdefault("::".join(path), set()).update(found)
    if path == ["taeda", "nn"] and (match := HOLDER.match(head.strip())):
        names.setdefault(HOLDERS, set()).add(match[1])


def read(root, generated):
    """{namespace: names} of everything that <torch/torch.h> declares for programs."""
    names = {}
    for text in closure([root / "include/compat", generated, root], "torch/torch.h"):
        scan(text, names)
    return names


def merged(names):
    """{inner namespace: {name: where it is}}; libtorch's own forms of a name hide Taeda's."""
    out = {}
    for origin in ("taeda", "taeda_compat"):
        for space, found in names.items():
            if space.split("::")[0] == origin:
                inner = "::".join(space.split("::")[1:])
                out.setdefault(inner, {}).update({n: space for n in found})
    return out


def using(found):
    names = [f"{space}::{name}" for name, space in sorted(found.items()) if name not in BY_HAND]
    return textwrap.wrap(f"using {', '.join(names)};", 130, break_long_words=False, break_on_hyphens=False) if names else []


def held(holders):
    macro = "TAEDA_HOLDER"
    text = " ".join(f"{macro}({name})" for name in sorted(holders))
    return [f"#define {macro}(name) using name = taeda_compat::nn::Holder<taeda::nn::name>;",
            *textwrap.wrap(text, 130, break_long_words=False, break_on_hyphens=False), f"#undef {macro}"]


def header(names):
    """The text of taeda/generated/compat/namespaces.h."""
    holders = names.pop(HOLDERS)
    options = {inner: names.pop(f"taeda_compat::{space}") for inner, space in OPTIONS.items()}
    spaces = merged(names)
    out = ["// Made by tools/libtorch/namespaces.py from the headers of Taeda. Not to be edited.",
           "// What namespaces torch, at and c10 hold. They can be reopened, as can those within torch.", "#pragma once", "",
           "namespace taeda_names {"] + using(spaces.pop("")) + ["}  // namespace taeda_names"]
    for inner in sorted(spaces):
        roots = ["torch"] + [root for root, shared in SHARED.items() if inner in shared]
        for root in roots:
            others = options.get(inner, set()) | (holders if inner == "nn" else set())
            out += ["", f"namespace {root}::{inner} {{"] + using({n: s for n, s in spaces[inner].items() if n not in others})
            out += [f"using namespace taeda_compat::{OPTIONS[inner]};"] if inner in OPTIONS else []
            out += held(holders) if inner == "nn" else []
            out += [f"}}  // namespace {root}::{inner}"]
    for inner in APART:
        out += ["", f"namespace taeda::inline v0_2::{inner} {{}}",
                f"namespace torch::{inner} {{\nusing namespace taeda::{inner};\n}}  // namespace torch::{inner}"]
    return "\n".join(out) + "\n"


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    root, generated, path = map(Path, arguments)
    text = header(read(root, generated))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
