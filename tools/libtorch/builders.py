#!/usr/bin/env python3
"""Writes libtorch's option classes, made of Taeda's structs of options: builders.py ROOT HEADER.

A struct of nn::Option fields gets a class of its name in taeda_compat, which programs written for libtorch find in torch::nn:
a constructor that takes the fields that have no default, and for each field an accessor and a chainable setter. Every field
must have a comment. Python's standard library alone; the headers are formatted, so what opens and ends a struct is plain.
"""

import itertools
import re
import sys
import textwrap
from pathlib import Path

ITEM = re.compile(r"(?P<template>(?:^template <[^\n]*>\n)?)^struct (?P<name>\w+) \{\n(?P<body>.*?)^\};\n|"
                  r"^using (?P<alias>\w+) = (?P<target>\w+)(?:<\d>)?;\n", re.M | re.S)
FIELD = re.compile(r"((?:^  ///[^\n]*\n)*)^  Option<(.+?)> (\w+)( = [^;]*)?;\n", re.M)
# Namespaces without others inside, so that those of libtorch's names may be given all that is there by a directive.
SPACES = {"nn": "nn_options", "nn::functional": "functional_options"}
USED = {"nn": ["using taeda::nn::ExpandingArray, taeda::nn::ExpandingArrayWithOptionalElem, taeda::nn::KLDivReduction;"],
        "nn::functional": ["using namespace nn_options;"]}
# libtorch's accessor where PyTorch's parameter has another name.
NAMES = {("UnflattenOptions", "unflattened_size"): "sizes"}
# Options whose first field a constructor of libtorch takes though it has a default.
FIRST = {"DropoutOptions", "ReLUOptions", "GELUOptions", "GLUOptions", "ShrinkOptions", "LossOptions", "SmoothL1LossOptions",
         "HuberLossOptions", "KLDivLossOptions"}
# Holders, of which torch::nn has its own.
LAYER = re.compile(r"^Transformer\w+Layer$")
# Further constructors.
LAYERS = ("Transformer{0}Options(const taeda::nn::Transformer{0}LayerOptions& layer, int64_t num_layers)"
          " : Plain{{taeda::nn::Transformer{0}Layer(layer), num_layers}} {{}}")
FURTHER = {"TransformerEncoderOptions": LAYERS.format("Encoder"), "TransformerDecoderOptions": LAYERS.format("Decoder"),
           "TransformerOptions": "TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers = 6, "
                                 "int64_t num_decoder_layers = 6) : "
                                 "Plain{d_model, nhead, num_encoder_layers, num_decoder_layers} {}"}


def builder(inner, template, name, fields):
    """The lines of one class."""
    parameters = re.findall(r"(?:class|size_t) (\w+)", template)
    plain = f"taeda::{inner}::{name}" + (f"<{', '.join(parameters)}>" if parameters else "")
    needed = [(LAYER.sub(r"taeda::nn::\g<0>", type_), NAMES.get((name, field), field))
              for _, type_, field, default in fields if not default]
    taken = ", ".join(f"{type_} {field}" for type_, field in needed)
    given = ", ".join(f"std::move({field})" for _, field in needed)
    made = f"{name}({taken}) : Plain{{{given}}} {{}}" if needed else f"{name}() = default;"
    made += f" {FURTHER[name]}" if name in FURTHER else ""
    if name in FIRST:
        made = f"{name}({fields[0][1]} {fields[0][2]}{fields[0][3]}) : Plain{{std::move({fields[0][2]})}} {{}}"
    setters = " ".join(f"TAEDA_FIELD({field}, {NAMES[name, field]})" if (name, field) in NAMES else f"TAEDA_SET({field})"
                       for _, _, field, _ in fields)
    head = f"{template.strip()} TAEDA_BUILDER({name}, {plain},".strip()
    return [head, *textwrap.wrap(f"{made} {setters})", 130, initial_indent="  ", subsequent_indent="  ")]


def read(root):
    """{inner namespace: lines} of all structs of options, and of the other names that they have."""
    out, known = {}, set()
    for path in sorted((root / "taeda/nn").glob("*/*.h")):
        text = path.read_text(encoding="utf-8")
        for item in ITEM.finditer(text):
            inner = "nn::functional" if text.rfind("functional {\n", 0, item.start()) >= 0 else "nn"
            if item["alias"]:
                lines, name = [item.group().strip()] * (item["target"] in known), item["alias"]
            else:
                name, fields = item["name"], FIELD.findall(item["body"])
                bare = [field for comment, _, field, _ in fields if not comment]
                if bare or len(fields) != item["body"].count("  Option<"):
                    sys.exit(f"{path}: {name}: a comment is missing, or what is a field cannot be told: {', '.join(bare)}")
                lines = builder(inner, item["template"], name, fields) if fields else []
            known.update([name] if lines else [])
            out.setdefault(inner, []).extend(lines)
    return out


def header(found):
    def joined(lines):  # names of one kind on a line
        for is_alias, run in itertools.groupby(lines, lambda line: line.startswith("using ")):
            yield from [" ".join(run)] if is_alias else run

    out = ["// Made by tools/libtorch/builders.py from the structs of options. Not to be edited.", "#pragma once", "",
           "#include <taeda_compat/namespaces.h>", "", "#include <concepts>", "#include <utility>", "#include <vector>", "",
           "#define TAEDA_BUILDER(name, plain, ...) \\",
           "  struct name : plain { using Plain = plain; __VA_ARGS__ \\",
           "    template <std::same_as<Plain> Same> name(const Same& options) : Plain(options) {} };",
           "#define TAEDA_SET(name) TAEDA_FIELD(name, name)",
           "#define TAEDA_FIELD(field, name) \\",
           "  auto& name(const typename decltype(Plain::field)::Type& value) { Plain::field = value; return *this; } \\",
           "  const auto& name() const { return Plain::field(); } \\",
           "  auto& name() { return Plain::field(); }"]
    for inner, space in SPACES.items():
        out += ["", f"namespace taeda_compat::{space} {{", *USED[inner], *joined(found[inner]), f"}}  // namespace taeda_compat::{space}"]
    return "\n".join(out + ["#undef TAEDA_BUILDER", "#undef TAEDA_SET", "#undef TAEDA_FIELD"]) + "\n"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    root, path = map(Path, arguments)
    text = header(read(root))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
