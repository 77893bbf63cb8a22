"""Reads the public declarations of Taeda's headers with libclang."""

import pathlib
import re

import clang.cindex as clang

from comments import Source, shapes_of
from model import Comment, Header, Symbol
from relations import Relations, each

K = clang.CursorKind
KINDS = {K.CLASS_DECL: "class", K.STRUCT_DECL: "class", K.CLASS_TEMPLATE: "class",
         K.ENUM_DECL: "enum", K.ENUM_CONSTANT_DECL: "enumerator", K.FUNCTION_DECL: "function",
         K.FUNCTION_TEMPLATE: "function", K.CXX_METHOD: "method", K.CONSTRUCTOR: "constructor",
         K.CONVERSION_FUNCTION: "method", K.TYPE_ALIAS_DECL: "alias", K.TYPEDEF_DECL: "alias",
         K.TYPE_ALIAS_TEMPLATE_DECL: "alias", K.VAR_DECL: "variable", K.FIELD_DECL: "field"}
RECORDS = (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)
CALLS = ("function", "method", "constructor")
HIDDEN_SPACES = ("detail", "impl", "internal")
HIDDEN = re.compile(r"taeda/(cpu|cuda|sim|kernels)/|/(grpc|gloo|mpi|nccl)/")
MACRO = re.compile(r"^#define (TAEDA_\w+)(\([^)]*\))?")


# What programs include by name; whatever these pull in is seen by programs, too.
ENTRIES = re.compile(r"taeda/(taeda|distributed/(distributed|\w+/\w*rpc\w*)|distributions/distributions|models/\w+|onnx/onnx|"
                     r"training/\w+|log/\w+|device/plugin|ops/out_forms)\.h$")


def public_headers(root, generated):
    """The headers that programs include, by their names; those of backends and engines are nobody's but their own."""
    found = {str(path.relative_to(base)): path for base in (generated, root) for path in (base / "taeda").rglob("*.h")}
    waiting, reached = [name for name in found if ENTRIES.match(name)], set()
    while waiting:
        name = waiting.pop()
        if name in found and name not in reached:
            reached.add(name)
            waiting += re.findall(r'^#include "(taeda/[^"]+\.h)"', found[name].read_text(), re.M)
    return {name: found[name] for name in sorted(reached) if not HIDDEN.search(name)}


def parse(root, generated, names):
    text = "".join(f'#include "{name}"\n' for name in names)
    unit = clang.Index.create().parse(
        f"{root}/reference.cpp", ["-std=c++20", "-x", "c++", f"-I{root}", f"-I{generated}", "-fopenmp"],
        [(f"{root}/reference.cpp", text)])
    wrong = [str(d) for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if wrong:
        raise SystemExit("the headers cannot be read:\n" + "\n".join(wrong[:5]))
    return unit


def declaration_text(text, kind):
    """What of a declaration's source tells how to use it: no body, no initialisers of members."""
    if kind == "enum":
        return re.sub(r"\s*//+<[^\n]*", "", text[:text.find("}") + 1])
    if kind == "enumerator":
        return re.match(r"\w+( = [^,}]+)?", text)[0].rstrip()
    depth = 0
    for i, c in enumerate(text):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif depth == 0:
            colon = c == ":" and text[i - 1] != ":" and text[i + 1:i + 2] != ":"
            if c == ";" or (c == "{" and kind not in ("variable", "field")) or (colon and kind == "constructor"):
                return text[:i].rstrip()
        if c == "{" and kind in ("variable", "field"):
            depth += 1
        if c == "}" and kind in ("variable", "field"):
            depth -= 1
    return text.rstrip()


class Reader:
    def __init__(self, root, generated):
        self.paths = public_headers(root, generated)
        self.names = {str(path): name for name, path in self.paths.items()}
        inc = "taeda/generated/tensor/operations.inc"
        self.names[str(generated / inc)] = inc
        self.names[str(root / "taeda/tensor/tensor_methods.inc")] = "taeda/tensor/tensor_methods.inc"
        self.texts, self.sources, self.headers, self.seen = {}, {}, {}, set()
        self.said_by_macros = {}
        self.unit = parse(root, generated, self.paths)

    def read(self):
        for path, name in self.names.items():
            self.texts[name] = pathlib.Path(path).read_bytes()
            self.sources[name] = Source(self.texts[name].decode())
            self.headers[name] = Header(name, self.sources[name].of_file())
            self.macros(name)
        self.walk_space(self.unit.cursor, ())
        for name in self.headers:
            share_tags(self.headers[name])
        return [h for h in self.headers.values() if h.symbols]

    def sources_by_name(self):
        """Where the headers lie, by name."""
        return {name: pathlib.Path(path) for path, name in self.names.items()}

    def place(self, cursor):
        """The header of a declaration, or None if it is not one of ours."""
        file = cursor.location.file
        return self.names.get(file.name) if file else None

    def walk_space(self, cursor, scope):
        for child in cursor.get_children():
            if child.kind == K.NAMESPACE:
                if child.spelling not in HIDDEN_SPACES and (scope or child.spelling == "taeda"):
                    inline = re.fullmatch(r"v\d+_\d+", child.spelling)
                    self.walk_space(child, scope if inline else scope + (child.spelling,))
            elif scope and self.place(child):
                symbol = self.symbol(child, scope, cursor)
                if symbol:
                    self.headers[symbol.file].symbols.append(symbol)

    def symbol(self, cursor, scope, outer):
        kind = KINDS.get(cursor.kind)
        if cursor.kind == K.FUNCTION_TEMPLATE and outer.kind in RECORDS:
            kind = "constructor" if cursor.spelling.split("<")[0] == scope[-1] else "method"
        if kind is None or not cursor.spelling or self.is_hidden(cursor, kind, outer):
            return None
        file = self.place(cursor)
        start, end = cursor.extent.start, cursor.extent.end
        key = (file, start.offset, cursor.spelling, "::".join(scope))
        if key in self.seen or start.file is None or self.names.get(start.file.name) != file:
            return None
        self.seen.add(key)
        if self.made_by_macro(cursor, outer):
            return None
        found = Symbol(kind, cursor.spelling, "::".join(scope), self.text(cursor, file, kind), file, start.line, None)
        self.document(found, start.line, end.line, outer)
        if kind in ("class", "enum"):
            for child in cursor.get_children():
                member = self.symbol(child, scope + (cursor.spelling,), cursor)
                if member:
                    found.members.append(member)
        return found

    def made_by_macro(self, cursor, outer):
        """Whether a member stands in the macro that makes its class, of which the macro's comment says all."""
        same = outer.kind in RECORDS and outer.extent.start.offset == cursor.extent.start.offset
        return same and self.starts(cursor, rb"TAEDA_")

    def starts(self, cursor, pattern):
        return re.compile(pattern).match(self.texts[self.place(cursor)], cursor.extent.start.offset)

    def is_hidden(self, cursor, kind, outer):
        access = clang.AccessSpecifier
        if cursor.semantic_parent.kind in RECORDS and outer.kind not in RECORDS:
            return True  # a member's definition outside of its class
        if cursor.spelling.startswith("<") or self.starts(cursor, rb"template <>|extern template"):
            return True  # a deduction guide, or what a template is for one type
        if cursor.access_specifier in (access.PRIVATE, access.PROTECTED) or cursor.spelling.startswith("~"):
            return True
        if kind == "class" and not cursor.is_definition():
            return True
        return kind in CALLS and (cursor.is_deleted_method() if hasattr(cursor, "is_deleted_method") else False)

    def text(self, cursor, file, kind):
        offset = cursor.extent.start.offset
        text = declaration_text(self.texts[file][offset:offset + 4000].decode(errors="ignore"), kind)
        if not re.match(r"TAEDA_\w+\(", text):
            return text
        if kind == "class":
            return f"class {cursor.spelling}"
        return f"{cursor.result_type.spelling} {cursor.displayname}" if kind in CALLS else ""

    def document(self, symbol, first, last, outer):
        source = self.sources[symbol.file]
        trailing = source.trailing(first, last) if symbol.kind not in ("class", "enum") else None
        symbol.comment = trailing or source.above(first) or self.of_macro(symbol, outer)
        if not symbol.comment:
            begin = outer.extent.start
            same = begin.file and self.names.get(begin.file.name) == symbol.file
            group = source.of_group(first, begin.line if same else 0)
            symbol.shared = bool(group)
            symbol.comment = Comment(group.text, symbol.comment.tags or group.tags)

    def of_macro(self, symbol, outer):
        """What the macro says that makes a member."""
        made_by = re.match(r"\s*(TAEDA_\w+)\(", self.sources[symbol.file].line(symbol.line))
        return self.said_by_macros.get(made_by[1], Comment()) if made_by and outer.kind in RECORDS else Comment()

    def macros(self, name):
        source = self.sources[name]
        for number, line in enumerate(source.lines, 1):
            found = MACRO.match(line)
            if found:
                comment = source.above(number) or source.of_group(number, 0)
                self.said_by_macros[found[1]] = comment
                self.headers[name].symbols.append(
                    Symbol("macro", found[1], "", "#define " + found[1] + (found[2] or ""), name, number, comment))


def share_tags(header):
    """Gives each function of a header the tags in the header's first comment, which belong to all its operations."""
    tags = header.comment.tags
    if "operations" in tags:
        for symbol in header.symbols:
            if symbol.kind == "function":
                own = {**{k: v for k, v in tags.items() if k != "operations"}, **symbol.comment.tags}
                symbol.comment.tags = {k: v for k, v in own.items() if f"not {k}" not in own}


def undocumented(headers):
    """The symbols of which neither a comment nor what they belong to says anything."""
    relations = Relations(headers)
    return [symbol for symbol, _ in each(headers)
            if not symbol.comment and not relations.of(symbol) and not speaks_for_itself(symbol)]


def speaks_for_itself(symbol):
    """Whether C++ says all: copies, and what overrides a documented function."""
    return symbol.kind in CALLS and re.search(
        r"=\s*(default|delete)$|\boverride\b|^friend |\boperator(==|!=|<|=|<=>|bool)", symbol.declaration)


# Words that alone state an error, a shape or a unit. Ranges, defaults and "must" are none: they made comments longer, not better.
STATES = re.compile(r"\b(throws?|\w*errors?|refuse[sd]?|raises?|shapes?|sizes?|dimensions?|dtypes?|0-dim|bytes|[KMG]iB|seconds|"
                    r"milliseconds|nanoseconds)\b|\[([\w*]+|\.\.\.),|(?-i:\[[A-Z]\]|\([A-Z], )", re.IGNORECASE)


def states(text):
    """Whether a comment names errors, shapes or units."""
    return bool(STATES.search(text))


def said_of(symbol, relations):
    """What the documentation of a symbol says: its comment, its group's, or that of what it belongs to."""
    comment = symbol.comment or getattr(relations.of(symbol), "comment", None)
    return f"{comment.text} {shapes_of(comment.tags)}".strip() if comment else ""
