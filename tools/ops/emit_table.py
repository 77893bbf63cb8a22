"""The table of operations that is compiled into the library, as text that ops/operations.cpp reads."""

from emit_methods import NOTICE, first_sentence

KEYWORD_TYPES = ("const TensorOptions&", "GeneratorArg")


def is_keyword(operation, argument):
    """Whether Python takes the argument by keyword alone."""
    return argument.type in KEYWORD_TYPES or argument.name in operation.tags.get("keyword", [])


def fields(operation):
    o, tags = operation, operation.tags
    flags = "".join(letter for letter, on in [
        ("f", not o.only_method), ("m", o.is_method), ("i", "in-place" in tags), ("o", "out" in tags)] if on)
    view = "" if "view" not in tags else "maybe" if tags["view"] else "always"
    words = [o.name, o.namespace, o.family, o.returns, flags, view]
    words += [" ".join(o.autocast)] + [" ".join(tags.get(t, [])) for t in ("dtypes", "also", "returns")]
    # A method's tensor counts from the end of its function's arguments, 0 where it is not among them.
    words += [str(o.receiver + 1) if not o.only_method and o.receiver is not None else "0"]
    return words + [" ".join(o.doc.split())]


def table_text(families):
    """One line for each overload, fields between tabs, those of its arguments behind its own."""
    lines = []
    for family in families:
        for o in family.operations:
            arguments = [word for a in o.arguments for word in [a.name, a.type, "1" if a.default is not None else "0",
                                                                a.default or "", "1" if is_keyword(o, a) else "0"]]
            lines.append("\t".join(["O"] + fields(o) + arguments))
    return "\n".join(lines) + "\n"


def table_cpp(families):
    """The table as C++; in pieces, because compilers limit the length of a literal."""
    lines = table_text(families).splitlines(keepends=True)
    pieces = ["".join(lines[i:i + 100]) for i in range(0, len(lines), 100)]
    body = "\n".join(f'    R"taeda({piece})taeda"' for piece in pieces)
    return "\n".join([NOTICE, "#include \"taeda/ops/operations.h\"", "", "namespace taeda::inline v0_2::detail {", "",
                      "extern const char* const operations_text;", "const char* const operations_text =", body + ";",
                      "", "}  // namespace taeda::detail", ""])
