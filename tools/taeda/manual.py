#!/usr/bin/env python3
"""Makes the command's manual pages from what it says of itself: manual.py TAEDA FOLDER

FOLDER gets taeda.1.gz, and taeda-COMMAND.1.gz for each command together with its own commands.
"""
import gzip
import os
import pathlib
import re
import subprocess
import sys

SECTION = re.compile(r"^(Usage|Options|Subcommands|Positionals|Examples|[A-Z][A-Za-z ]+):(.*)$")
ITEM = re.compile(r"^  (?P<name>\S.*?)(?:  +(?P<text>\S.*))?$")


def help_of(tool, path):
    return subprocess.run([tool, *path, "--help"], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "COLUMNS": "1000"}).stdout  # the reader's terminal breaks the lines


def escape(text):
    """Text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def parts_of(text):
    """What the command is for, and its sections: (title, lines)."""
    first, *lines = text.rstrip().split("\n")
    sections = []
    for line in lines:
        found = SECTION.match(line)
        if found:
            sections.append((found[1], [found[2].strip()] if found[2].strip() else []))
        elif sections:
            sections[-1][1].append(line)
    return first.strip().removeprefix("Taeda: "), sections


def items_of(lines):
    """(name, text) of options or commands; a text may go on in lines below."""
    out = []
    for line in lines:
        found = ITEM.match(line)
        if found:
            out.append([found["name"], found["text"] or ""])
        elif line.startswith("   ") and out:
            out[-1][1] = f"{out[-1][1]} {line.strip()}".strip()
    return out


def section(title, lines):
    if title == "Examples":
        return [".SH EXAMPLES", ".nf", *(escape(line[2:] if line.startswith("  ") else line) for line in lines), ".fi"]
    out = [f".SH {title.upper()}"]
    for name, text in items_of(lines):
        out += [".TP", f".B {escape(name)}", escape(text)]
    return out


def body(tool, path, level):
    """The sections of a command; those of its own commands come as subsections."""
    about, sections = parts_of(help_of(tool, path))
    usage = next((lines[0] for title, lines in sections if title == "Usage" and lines), " ".join(["taeda", *path]))
    out = [] if level else [".SH NAME", f"{escape('-'.join(['taeda', *path]))} \\- {escape(about)}",
                            ".SH SYNOPSIS", f".B {escape(usage)}"]
    if level:
        out += [f".SH {escape(' '.join(['taeda', *path])).upper()}", escape(about) + ".", ".PP", f".B {escape(usage)}"]
    for title, lines in sections:
        if title != "Usage":
            part = section("Commands" if title == "Subcommands" else title, lines)
            out += [part[0].replace(".SH", ".SS", 1)] + part[1:] if level else part
    for name, _ in [item for title, lines in sections if title == "Subcommands" for item in items_of(lines)]:
        if path:
            out += body(tool, [*path, name], level + 1)
    return out


def page(tool, path, version, others):
    name = "-".join(["taeda", *path])
    out = [f'.TH {escape(name).upper()} 1 "" "Taeda {version}" "User Commands"', *body(tool, path, 0), ".SH SEE ALSO"]
    out.append("\n".join(f".BR {escape(other)} (1)" for other in others if other != name))
    return "\n".join(out) + "\n"


def main(tool, folder):
    version = subprocess.run([tool, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    _, sections = parts_of(help_of(tool, []))
    commands = [name for title, lines in sections if title == "Subcommands" for name, _ in items_of(lines)]
    pages = [[], *([name] for name in commands)]
    names = ["-".join(["taeda", *path]) for path in pages]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path, name in zip(pages, names):
        text = page(tool, path, version, names if not path else ["taeda"])
        (folder / f"{name}.1.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
