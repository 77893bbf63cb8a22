#!/usr/bin/env python3
"""What programs that were built against the library rely on, compared with the lists in tests/structure/abi:

    abi.py check|update symbols ROOT GENERATED LIBRARY        exported functions and variables
    abi.py check|update layouts ROOT GENERATED COMMAND...     sizes and members of public classes

GENERATED is the folder of headers that are made from the declarations of operations.
COMMAND compiles the C++ source whose path follows it to the program whose path follows "-o". What is missing from
the library breaks such programs, and so does a class that changed: `check` fails. What is new breaks nobody and is
told only. `cmake --build <folder> --target update_abi` writes both lists anew; CHANGELOG.md says when that may be done.
"""

import collections
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from source import read, strip

# Their headers are not installed, or nothing public includes them.
INTERNAL_ROOMS = {"cpu", "cuda", "sim"}


def public_headers(roots):
    """(path, name for an include) of every header that is installed."""
    for root in map(pathlib.Path, roots):
        for path in sorted(p for suffix in ("*.h", "*.inc") for p in (root / "taeda").rglob(suffix)):
            name = path.relative_to(root)
            if name.parts[1] not in INTERNAL_ROOMS:
                yield path, str(name)


# ---- exported symbols ----


def plain(name):
    """The name as every compiler and standard library would demangle it."""
    name = re.sub(r"\bv\d+_\d+::", "", name)  # the library's inline namespace
    name = re.sub(r"\[abi:\w+\]", "", name)
    name = name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::")
    name = re.sub(r"std::basic_string<char, std::char_traits<char>, std::allocator<char> ?>", "std::string", name)
    for _ in range(3):  # default arguments of the standard library's containers
        name = re.sub(r", std::(allocator|less|hash|equal_to|char_traits)<[^<>]*(<[^<>]*>)?[^<>]*>", "", name)
    return name.replace(" >", ">")


def own_name(symbol):
    """The qualified name without arguments: "taeda::Tensor::to"."""
    return re.split(r"\((?!anonymous)|\[", symbol.replace("operator()", "operator_call"))[0]


def exported(library, words):
    """Functions and variables that a public header declares. Weak symbols are instantiations of templates and
    inline functions, of which every program has its own copy."""
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in lines.splitlines():
        _, letter, symbol = line.split(maxsplit=2)
        if letter not in "TDBR" or not symbol.startswith("taeda::"):
            continue
        symbol = plain(symbol)
        name = own_name(symbol)
        if "operator" not in name and "<" in name or "{lambda" in symbol or "anonymous namespace" in symbol:
            continue
        parts = [p.lstrip("~") for p in name.split("::")]
        # What is in namespaces `detail` counts if a header uses it: inline functions that programs hold copies of do.
        known = all(words[p] or p.startswith("operator") for p in parts)
        if known and ("detail" not in parts or words[parts[-1]] > 1):
            found.add(symbol)
    return sorted(found)


def group_of(symbol):
    """A class with "::" for its members, the name of a function, or of a method of Tensor, for its overloads."""
    name = own_name(symbol)
    scope = name.split("operator")[0].rpartition("::")[0]
    return f"{scope}::" if scope.rpartition("::")[2][:1].isupper() and scope != "taeda::Tensor" else name


def folded(found):
    """A row for each class and each name of a namespace: "taeda::Event:: { query() const | ~Event() }"; names without
    overloads that take the same share one: "taeda::[acos | asin](taeda::Tensor const&)"."""
    groups, alike = collections.defaultdict(list), collections.defaultdict(list)
    for symbol in found:
        group = group_of(symbol)
        groups[group].append(symbol.removeprefix(group))
    for group, rest in groups.items():
        scope, colons, name = group.rpartition("::")
        text = rest[0] if len(rest) == 1 else f" {{ {' | '.join(rest)} }}"
        lone = len(rest) == 1 and re.fullmatch(r"\w+", name)
        alike[(scope + colons, text) if lone else (group, text)].append(name if lone else "")
    return [scope + (names[0] if len(names) == 1 else f"[{' | '.join(names)}]") + rest for (scope, rest), names in alike.items()]


def unfolded(rows):
    for row in rows:
        group, brace, rest = row.partition(" { ")
        names = re.fullmatch(r"((?:\w+::)+)\[([\w| ]+)\](.*)", row)
        if names:
            yield from (names[1] + name + names[3] for name in names[2].split(" | "))
        else:
            yield from (group + part for part in rest.removesuffix(" }").split(" | ")) if brace else [row]


def symbols(roots, library):
    words = collections.Counter()
    for header, _ in public_headers(roots):
        words.update(re.findall(r"\w+", strip(read(header))))
    return exported(library, words)


# ---- layouts ----

CLASS = re.compile(r"\b(class|struct)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(\w+)\s*(?:final\s*)?(?::[^:;{][^;{]*)?$")
KEYWORDS = set("class struct union const default delete override final public private protected auto requires".split())
DECLARED = re.compile(r"\bTAEDA_(?:OPTIONS|PARAM_STATE)\((\w+),[^;]*;")  # classes that a macro makes
NAMESPACE = re.compile(r"\bnamespace\s+((?:inline\s+|\w+|::)+?)\s*$")


def classes_of(text):
    """(qualified name, body at its own level) of every class at namespace scope that is no template."""
    text = DECLARED.sub(r"class \1 {};", strip(text))
    stack = []  # (kind, name, start of the body's own text pieces)
    begin = 0
    for match in re.finditer(r"[{};]", text):
        head, at = text[begin:match.start()], match.start()
        begin = match.end()
        if match.group() == ";":
            if stack and stack[-1][0] == "class":
                stack[-1][2].append(head)
            continue
        if match.group() == "{":
            namespace, found = NAMESPACE.search(head), CLASS.search(head)
            if namespace:
                stack.append(("namespace", namespace.group(1), []))
            elif found and "template" not in head and "enum" not in head and all(s[0] == "namespace" for s in stack):
                stack.append(("class", found.group(2), []))
            else:
                if stack and stack[-1][0] == "class":
                    stack[-1][2].append(head)
                stack.append(("other", "", []))
            continue
        if not stack:
            continue
        kind, name, body = stack.pop()
        if kind == "class":
            scopes = "::".join(re.sub(r"inline\s+", "", s[1]) for s in stack).split("::")
            scopes = [s for s in scopes if not re.fullmatch(r"v\d+_\d+", s)]  # the library's inline namespace
            if "detail" not in scopes:
                yield "::".join(scopes + [name]), body


def virtuals(body):
    """Names of virtual functions in the order in which the class declares them: its table's."""
    return [m.group(1) for piece in body for m in [re.search(r"\bvirtual\b[^(]*?(~?\w+|operator\S+)\s*\(", piece)] if m]


def members(body):
    """Names that may be data members: the compiler decides."""
    found = []
    for piece in body:
        if "(" in piece.split("=")[0] or re.search(r"\b(using|friend|static|typedef|return|virtual|operator|enum|requires)\b", piece):
            continue
        while (plain := re.sub(r"<[^<>]*>", "", piece)) != piece:  # arguments of templates, the inner ones first
            piece = plain
        for part in re.split(r",(?![^<(]*[>)])", re.sub(r"^(\s*(public|private|protected)\s*:)+", "", piece)):
            words = re.findall(r"\w+", part.split("=")[0].split("[")[0])
            if words and re.match(r"[a-zA-Z_]", words[-1]) and words[-1] not in KEYWORDS and words[-1] not in found:
                found.append(words[-1])
    return found


PROBE = """#include <taeda/taeda.h>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <type_traits>
template <class M> void tell(const char* name, M member) {
  if constexpr (std::is_member_object_pointer_v<M>)
    std::printf(" %s@%td", name, std::bit_cast<std::ptrdiff_t>(member));
}
#define MEMBER(name) if constexpr (requires { &T::name; }) tell(#name, &T::name);
#define BEGIN(type) []<class T>() { std::printf("%s: %zu bytes, aligned to %zu", #type, sizeof(T), alignof(T));
#define END(type) std::puts(""); }.template operator()<type>();
int main() {
"""


def umbrella(headers):
    """Names of the headers that taeda.h leads to."""
    seen, todo = set(), ["taeda/taeda.h"]
    while todo:
        name = todo.pop()
        if name in headers and name not in seen:
            seen.add(name)
            todo += re.findall(r'#include\s*[<"](taeda/[^">]+)[">]', read(headers[name]))
    return seen


def layouts(roots, *command):
    headers = {name: path for path, name in public_headers(roots)}
    found = {}
    for name in umbrella(headers):
        if name.endswith(".h"):
            found.update(classes_of(read(headers[name])))
    source = PROBE
    for name, body in sorted(found.items()):
        source += f"  BEGIN({name})" + "".join(f" MEMBER({m})" for m in members(body)) + f" END({name})\n"
    with tempfile.TemporaryDirectory() as folder:
        probe = pathlib.Path(folder) / "probe.cpp"
        probe.write_text(source + "}\n", encoding="utf-8")
        program = pathlib.Path(folder) / "probe"
        subprocess.run([*command, "-std=c++20", "-w", *(f"-I{r}" for r in roots), str(probe), "-o", str(program)], check=True)
        lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    tables = {name: virtuals(body) for name, body in found.items()}
    return [line + (" virtual: " + " ".join(tables[name]) if tables.get(name := line.split(": ")[0]) else "")
            for line in lines]


# ---- the lists ----


def compare(path, now):
    """What the list has and the library has not, and the other way round."""
    listed = list(unfolded(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")))
    gone, new = sorted(set(listed) - set(now)), sorted(set(now) - set(listed))
    for line in gone:
        print(f"gone or changed: {line}")
    for line in new:
        print(f"new: {line}")
    return gone


def main(action, kind, root, generated, *rest):
    if platform.machine() not in ("x86_64", "AMD64"):
        print("skipped: the lists are of x86-64")
        return 0
    path = pathlib.Path(root) / "tests/structure/abi" / f"{kind}.txt"
    now = {"symbols": symbols, "layouts": layouts}[kind]([root, generated], *rest)
    if len(now) < 100:
        print(f"only {len(now)} {kind} were found")
        return 1
    if action == "update":
        path.parent.mkdir(exist_ok=True)
        rows = folded(now) if kind == "symbols" else now
        path.write_text("# Written by abi.py: cmake --build <folder> --target update_abi\n" + "\n".join(rows) + "\n",
                        encoding="utf-8")
        print(f"{path}: {len(now)} {kind}")
        return 0
    gone = compare(path, now)
    if gone:
        print(f"{len(gone)} {kind} that programs may rely on are gone or changed. If that is meant, CHANGELOG.md "
              "says what else must change; then: cmake --build <folder> --target update_abi")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
