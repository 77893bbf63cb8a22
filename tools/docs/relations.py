"""Documentation that a name has because of what it belongs to.

A fact stands in one place. The module `nn::ReLU`, its options, its implementation and `functional::relu` belong to the
operation `relu`; `relu_out` and `relu_` are forms of it; a field, an enumerator or a constructor belongs to its class.
"""

import re

ENDING = re.compile(r"(impl|funcoptions|options|paramstate)$")
FORM = re.compile(r"(_outf|_out|_)$")
ACCESSOR = re.compile(r"\(\) const( noexcept)?$")  # `size_t size() const`
SPACES = ("linalg", "fft", "special")
FUNCTION_SPACES = re.compile(r"taeda(::nn::functional)?")
CLASS_SPACES = ("taeda::nn", "taeda::optim")
# What C++ says all about, and what speaks for its class.
OF_CLASS = ("field", "enumerator", "enum", "alias", "constructor", "variable", "class")
# What means the same in every container.
OF_CONTAINERS = ("begin", "end", "front", "back", "data", "push_back", "emplace_back", "pop_back", "clear", "insert", "erase",
                 "resize", "reserve", "size", "empty", "find", "contains", "append", "extend")


def plain(name):
    """A name without its style: `BatchNorm2dImpl` and `batch_norm` are one."""
    name = ENDING.sub("", name.lower().replace("_", ""))
    return re.sub(r"loss$", "", re.sub(r"\dd$", "", name))


def each(headers):
    """All symbols with what holds them."""
    def walk(symbol, outer):
        yield symbol, outer
        for member in symbol.members:
            yield from walk(member, symbol)
    for header in headers:
        for symbol in header.symbols:
            yield from walk(symbol, None)


def main_classes(header):
    """The classes that a header's first comment is about: the one that is named like the file, and the first."""
    classes = [symbol for symbol in header.symbols if symbol.kind == "class"] if header.comment else []
    file = header.file.split("/")[-1].partition(".")[0].replace("_", "")
    return [symbol for symbol in classes if symbol.name.lower() == file][:1] + classes[:1]


class Relations:
    """Finds what a symbol without a comment of its own has its documentation from."""

    def __init__(self, headers):
        self.operations, self.methods, self.plain, self.main = {}, {}, {}, {}
        self.outer = {id(symbol): outer for symbol, outer in each(headers)}
        for header in headers:
            for symbol in main_classes(header):
                self.main[id(symbol)] = header
        for symbol, outer in each(headers):
            if symbol.comment:
                self.note(symbol, outer)

    def note(self, symbol, outer):
        """Notes a documented symbol, which others may belong to."""
        if outer is not None:
            if outer.path == "taeda::Tensor":
                self.methods.setdefault(symbol.name, symbol)
        elif symbol.kind in ("function", "class"):
            self.operations.setdefault((symbol.scope, symbol.name), symbol)
            if FUNCTION_SPACES.fullmatch(symbol.scope) if symbol.kind == "function" else symbol.scope in CLASS_SPACES:
                self.plain.setdefault(plain(symbol.name), symbol)

    def of(self, symbol):
        """The symbol that says what this one is, or None."""
        outer = self.outer[id(symbol)]
        if outer is None:
            return self.of_free(symbol)
        if outer.name == "Tensor" and outer.scope == "taeda":
            return self.of_form("taeda", symbol.name)
        whole = outer if outer.comment else self.of(outer)
        if symbol.kind in OF_CLASS or symbol.name.startswith("operator") or ACCESSOR.search(symbol.declaration):
            return whole
        of_base = re.match(r"forward|reset|extra_repr$", symbol.name) or symbol.name in OF_CONTAINERS
        if of_base or outer.name.endswith(("Options", "State")):
            return whole
        return None

    def of_form(self, scope, name):
        base = FORM.sub("", name)
        found = self.operations.get((scope, base))
        space, _, rest = base.partition("_")
        if not found and space in SPACES:
            found = self.operations.get((f"{scope}::{space}", rest))
        return found or (self.methods.get(base) if scope == "taeda" and base != name else None)

    def of_free(self, symbol):
        if symbol.kind == "function":
            found = self.of_form(symbol.scope, symbol.name)
            if not found and symbol.scope == "taeda::nn::functional":
                found = self.of_form("taeda", symbol.name) or self.plain.get(plain(symbol.name))
            return found
        if symbol.kind in ("class", "alias") and re.match(r"taeda::(nn|optim|models)", symbol.scope):
            implementation = self.operations.get((symbol.scope, symbol.name + "Impl"))
            found = implementation or self.plain.get(plain(symbol.name))
            if found and found is not symbol:
                return found
        return self.main.get(id(symbol))
