"""What class Tensor gets from the declarations: its methods, and the sources that define them."""

import re

import out_rules

NOTICE = "// Made by tools/ops from the declarations in taeda/ops/*.h; see taeda/ops/README.md. Not to be edited."


def first_sentence(text):
    text = " ".join(text.split())
    match = re.match(r".*?[.](?=\s[A-Z(]|$)", text)
    return match.group() if match else text


def wrap(words, indent, width=100):
    """Lines of `words` behind `indent`, at most `width` wide."""
    lines, line = [], ""
    for word in words.split():
        if line and len(indent) + len(line) + 1 + len(word) > width:
            lines.append(indent + line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return lines + [indent + line]


def parameters(arguments, defaults):
    return ", ".join(f"{a.type}{'' if a.type[-1] in '*&' else ' '}{' ' if a.type[-1] in '*&' else ''}{a.name}"
                     + (f" = {a.default}" if defaults and a.default is not None else "") for a in arguments)


# A definition is a line, however wide.
WIDE = 10**6


def declaration(head, arguments, tail, defaults=True, width=100):
    """`head(arguments)tail` on as many lines as it takes."""
    line = f"{head}({parameters(arguments, defaults)}){tail}"
    if len(line) <= width:
        return line
    indent = " " * (len(head) + 1) if len(head) < 50 else "    "
    lines, current = [], f"{head}("
    for i, a in enumerate(arguments):
        text = parameters([a], defaults) + (", " if i + 1 < len(arguments) else "")
        if len(current + text.rstrip()) > width:
            lines.append(current.rstrip())
            current = indent
        current += text
    return "\n".join(lines + [current + ")" + tail])


def call(operation, receiver="*this"):
    """The call of the free function with a method's arguments."""
    arguments = [receiver if i == operation.receiver else a.name for i, a in enumerate(operation.arguments)]
    return f"{operation.qualified}({', '.join(arguments)})"


def methods_of(operation):
    """(name, kind) of the methods that an operation gives: kind is "plain" or "in-place"."""
    if not operation.is_method or operation.only_method:
        return []
    kinds = [(operation.name, "plain")]
    if "in-place" in operation.tags:
        kinds.append((operation.name + "_", "in-place"))
    return kinds


def second_names(operation, name):
    """The other names of a method or of its in-place form."""
    return [also + ("_" if name.endswith("_") and not operation.name.endswith("_") else "")
            for also in operation.tags.get("also", [])]


def operations_inc(families):
    """The body of class Tensor: taeda/generated/tensor/operations.inc."""
    out = [NOTICE, "// Included in the body of class Tensor; the headers named have the whole documentation."]
    for family in families:
        methods = [o for o in family.operations if methods_of(o)]
        if not methods:
            continue
        out += ["", f"// {family.include}"]
        said = None
        for o in methods:
            saying = o.doc, o.tags.get("shape")
            if o.doc and saying != said:
                out += wrap(first_sentence(o.doc), "/// ") + [f"/// [shape: {shape}]" for shape in saying[1] or []]
            said = saying
            for name, kind in methods_of(o):
                returns = "Tensor&" if kind == "in-place" else o.returns
                gap = "" if returns.endswith("&") else ""
                out.append(declaration(f"{returns}{gap} {name}", o.rest, " const;"))
                for second in second_names(o, name):
                    forwarded = ", ".join(a.name for a in o.rest)
                    head = declaration(f"{returns} {second}", o.rest, " const")
                    body = f" {{ return {name}({forwarded}); }}"
                    out.append(head + body if len(head.split("\n")[-1] + body) <= 100
                               else f"{head} {{\n  return {name}({forwarded});\n}}")
    return "\n".join(out) + "\n"


def tensor_arguments(operation):
    return [a.name for a in operation.rest if a.is_tensor]


def in_place_body(operation, name):
    """What a form in place does, by its tag; None where a source of ops/ defines it."""
    o, how = operation, operation.tags["in-place"]
    if how == ["own"]:
        return None
    compute = f"[&](const Tensor& before) {{ return {call(o, 'before')}; }}"
    if how:
        inputs = ", ".join(["self"] + [a.name for a in o.rest])
        return (f"  return detail::pointwise_in_place({how[0]}{{}}, \"{name}\", \"{how[0]}Backward0\", self, {{{inputs}}}, "
                f"{compute});")
    apart = "".join(f", &{name}" for name in tensor_arguments(o))
    checked = (f"  check_no_internal_overlap(self);\n  check_no_overlap(self, {{{apart[2:]}}});\n"
               if o.public_name in out_rules.CHANGED_APART else "")
    recorded = ", ".join(["self"] + tensor_arguments(o))
    return f"{checked}  return detail::assign(\"{name}\", self, wants_grad({recorded}), {compute});"


def method(operation, name):
    """The method that calls the function of the same name."""
    o = operation
    return declaration(f"{o.returns} Tensor::{name}", o.rest, f" const {{ return {call(o)}; }}", defaults=False, width=WIDE)
