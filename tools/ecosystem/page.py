"""docs/ecosystem.md, which is also where rows are kept that a run did not measure."""

import collections
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "ecosystem.md"
PROGRAMS = ("forward", "training", "saving")

# What was not measured is an empty text.
Row = collections.namedtuple("Row", "package version imported passed tests speed notes", defaults=("", "", "", ""))
HEADS = ("package", "version", "import", "programs", "own tests", "speed", "what is wrong")


def packages():
    """Pairs of what is imported and its name on PyPI."""
    for line in (HERE / "packages.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            module, _, project = line.partition(":")
            yield module, project.strip() or module


def rows():
    """The rows of the page as it is, by packages."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else ():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == len(HEADS) and cells[3][:1].isdigit():
            found[cells[0]] = Row(*cells[:3], int(cells[3].split()[0]), *cells[4:])
    return found


def whole(known):
    """The text of a page with these rows."""
    lines = ["# Packages made for PyTorch", "",
             "Written by `tools/ecosystem/run` and `tools/ecosystem/own_tests`, which install these packages from PyPI into an "
             "environment without", "PyTorch, import them, and run three small programs with each: a forward pass, a loop of "
             "training, saving and loading. A program counts", "if its numbers are PyTorch's from the same seed to 1e-4. "
             f"Nothing is changed in the packages. {sum(r.imported == 'yes' for r in known)} of {len(known)} are imported,",
             f"{sum(r.passed for r in known)} of {len(PROGRAMS) * len(known)} programs give PyTorch's numbers.", "",
             "Own tests are those of the package that pass on PyTorch, and how many of them pass here. Speed is PyTorch's "
             "processor time for", "the loop of training divided by Taeda's, on one thread. An empty cell was not measured.", "",
             "    python -m taeda.install_alias       # in an environment of your own: `import torch` is Taeda", "",
             f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    for row in known:
        notes = row.notes.replace("\\|", "|").replace("|", "\\|")[:160]
        cells = (*row[:3], f"{row.passed} of {len(PROGRAMS)}", *row[4:6], notes)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def update(changed):
    """Writes the page with these cells changed: {package: {name of a cell: its text}}."""
    known = rows()
    for package, cells in changed.items():
        known[package] = known.get(package, Row(package, "", "", 0))._replace(**cells)
    order = [project for _, project in packages() if project in known]
    PAGE.write_text(whole([known[project] for project in order]), encoding="utf-8")
