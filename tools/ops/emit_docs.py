"""The reference page of operations, in Markdown."""

from declarations import DEVICES, SHAPES
from emit_methods import declaration

HEAD = """\
# Operations

Made from the declarations in `taeda/ops/*.h`; `taeda ops NAME` prints the same. Functions live in namespace `taeda`,
those of `linalg` and `fft` in namespaces of these names.
"""

CASTS = {"lower": "lower precision", "float32": "float32", "promote": "the widest dtype", "unsafe": "refused"}


def forms(operation):
    """What else there is of an operation, in words."""
    o, tags, words = operation, operation.tags, []
    if o.only_method:
        words.append("method only")
    elif o.is_method:
        words.append("method")
    if "in-place" in tags:
        words.append(f"in place `{o.name}_`")
    if "out" in tags:
        words.append(f"`{o.name}_out`")
    if "view" in tags:
        words.append("a view, or a copy where there is none" if tags["view"] else "a view")
    if operation.casts:
        said = {where: CASTS[cast] for where, cast in zip(DEVICES, operation.casts) if cast != "none"}
        same = len(said) == len(DEVICES) and len(set(said.values())) == 1
        words.append("under autocast " + (said["host"] if same else ", ".join(f"{c} ({w})" for w, c in said.items())))
    if "shape" in tags:
        words.append(SHAPES[tags["shape"][0]].rstrip(".").replace("Shapes: ", "shapes: "))
    if "dtypes" in tags:
        words.append("dtypes: " + ", ".join(tags["dtypes"]))
    if "returns" in tags:
        words.append("results: " + ", ".join(f"`{n}`" for n in tags["returns"]))
    if "also" in tags:
        words.append("also " + ", ".join(f"`{n}`" for n in tags["also"]))
    return "; ".join(words)


def cell(text):
    return text.replace("|", "\\|")


def page(families):
    out = [HEAD]
    for family in families:
        if not family.operations:
            continue
        out += [f"## {family.name}", "", cell(family.doc.replace("\n", " ")), "",
                f"`#include \"{family.include}\"`" if family.include.endswith(".h") else
                "Methods of class Tensor.", ""]
        i = 0
        while i < len(family.operations):
            group = [family.operations[i]]
            while (i + len(group) < len(family.operations)
                   and family.operations[i + len(group)].doc == group[0].doc
                   and forms(family.operations[i + len(group)]).replace("`", "") and group[0].doc):
                group.append(family.operations[i + len(group)])
            i += len(group)
            out += ["```cpp"]
            for o in group:
                space = f"{o.namespace}::" if o.namespace else ""
                head = f"{o.returns} {'Tensor::' if o.only_method else space}{o.name}"
                out.append(declaration(head, o.arguments, ";"))
            out += ["```", ""]
            if group[0].doc:
                out += [cell(" ".join(group[0].doc.split())), ""]
            said = list(dict.fromkeys(forms(o) for o in group if forms(o)))
            out += [f"_{'; '.join(said)}_", ""] if said else []
    return "\n".join(out)
