"""Entries that follow from another: a row of the file of facts lists them as words behind it."""

import dataclasses

from entry import Entry

TENSOR, CONST_TENSOR = "at::Tensor &", "const at::Tensor &"
MOST_OUTPUTS = 7
OPTIONS = ("bool", "double", "int64_t", "at::Tensor", *(f"torch::ExpandingArray<{n}>" for n in (1, 2, 3)),
           "std::optional<int64_t>", "std::optional<double>")  # types that many options have


def of_function(entry):
    """In place, with outputs, and the methods of Tensor."""
    if entry.template:
        return
    if entry.arguments[:1] == (CONST_TENSOR,):
        rest = entry.arguments[1:]
        yield "_", dataclasses.replace(entry, name=entry.name + "_", arguments=(TENSOR, *rest))
        yield "method", Entry("at::Tensor", "method", entry.name, rest, const=True)
        yield "method_", Entry("at::Tensor", "method", entry.name + "_", rest, const=True)
    for outputs in range(1, MOST_OUTPUTS + 1):
        places = (TENSOR,) * outputs
        yield f"out{outputs}", dataclasses.replace(entry, name=entry.name + "_out", arguments=places + entry.arguments)
        yield f"outf{outputs}", dataclasses.replace(entry, name=entry.name + "_outf", arguments=entry.arguments + places)
    if entry.name.endswith("_out"):
        outputs = next((i for i, type_ in enumerate(entry.arguments) if type_ != TENSOR), len(entry.arguments))
        yield "outf", dataclasses.replace(entry, name=entry.name + "f",
                                          arguments=entry.arguments[outputs:] + entry.arguments[:outputs])


def of_method(entry):
    """In place; of an option that is read: how it is set."""
    if entry.template:
        return
    yield "_", dataclasses.replace(entry, name=entry.name + "_")
    if entry.const and not entry.arguments:
        for type_ in OPTIONS:
            yield type_, dataclasses.replace(entry, arguments=(f"const {type_} &",), const=False)
        yield "kNone", dataclasses.replace(entry, arguments=("torch::enumtype::kNone",), const=False)
        yield "mutable", dataclasses.replace(entry, const=False)


def of_constructor(entry):
    """The class itself, a module's holder, and what every module has."""
    space = entry.space.rpartition("::")[0]
    yield "type", Entry(space, "type", entry.name)
    if entry.name.endswith("Impl"):
        yield "holder", Entry(space, "type", entry.name.removesuffix("Impl"))
        yield "reset", Entry(entry.space, "method", "reset")
        yield "reset_parameters", Entry(entry.space, "method", "reset_parameters")
        yield "pretty_print", Entry(entry.space, "method", "pretty_print", ("std::basic_ostream<char> &",), const=True)


OF = {"function": of_function, "method": of_method, "constructor": of_constructor}


def of(entry):
    """(word, entry) of what may follow from it."""
    return OF[entry.kind](entry) if entry.kind in OF else ()


def folded(entries):
    """{entry: words}: the entries that remain, in their order, and what follows from each of them."""
    known, words, followed = set(entries), {}, set()
    for entry in sorted(entries, key=lambda e: (e.kind != "constructor", len(e.name))):
        if entry in followed:
            continue
        found = [(word, other) for word, other in of(entry) if other in known and other not in words]
        followed.update(other for _, other in found)
        words[entry] = " ".join(word for word, _ in found)
    return {entry: words[entry] for entry in entries if entry not in followed}


def unfolded(entry, words):
    """The entry and what the words say."""
    wanted = set(words.split())
    return [entry, *(other for word, other in of(entry) if word in wanted)]
