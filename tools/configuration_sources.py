"""Which packages a configuration lacks, and which sources see that: the parts of tools/configurations without a build."""
import collections
import fnmatch
import functools
import json
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
SUMMARY = re.compile(r"^--   ([A-Z]+): ((?:yes|no).*)$", re.MULTILINE)

# What is absent, the installed packages that hold it, and the components that this takes away.
Absence = collections.namedtuple("Absence", ["package", "patterns", "components"])
PROTOCOL_BUFFERS = {"TENSORBOARD", "ONNX", "GRPC"}
ABSENCES = [
    Absence("libopenmpi-dev", [], {"MPI"}),
    Absence("libdnnl-dev", [], {"ONEDNN"}),
    Absence("zlib1g-dev", [], {"ZLIB", "PNG"}),
    Absence("libzip-dev", [], {"ZIP"}),
    Absence("libpng-dev", [], {"PNG"}),
    Absence("libjpeg62-turbo-dev", ["libjpeg*-dev"], {"JPEG"}),
    Absence("libprotobuf-dev", [], PROTOCOL_BUFFERS),
    Absence("protobuf-compiler", [], PROTOCOL_BUFFERS),
    Absence("libgloo-dev", [], {"GLOO"}),
    Absence("libgrpc++-dev", ["libgrpc-dev"], {"GRPC"}),
    Absence("protobuf-compiler-grpc", [], {"GRPC"}),
    Absence("libabsl-dev", [], {"GRPC"}),
    Absence("libssl-dev", [], {"GRPC"}),
    Absence("nlohmann-json3-dev", [], {"JSON", "TOOL"}),
    Absence("libcli11-dev", [], {"TOOL"}),
    Absence("libtomlplusplus-dev", [], {"TOML"}),
    Absence("python3-dev", ["libpython3*-dev", "python3.*-dev"], {"PYTHON"}),
    Absence("pybind11-dev", [], {"PYTHON"}),
    Absence("libgtest-dev", [], {"TESTS"}),
    Absence("libgmock-dev", [], {"TESTS"}),
]
# What no component needs and a bare machine lacks, too.
AIDS = ["ccache", "mold", "lld", "pkg-config", "pkgconf", "dpkg-dev", "python3-pytest", "python3-numpy", "libcairo2",
        "python3-markdown", "python3-pygments", "openmpi-bin", "strace"]


def installed_packages():
    """Names of the packages that dpkg knows as installed."""
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n"], capture_output=True, text=True,
                           check=False)
    return {line.split()[1] for line in asked.stdout.splitlines() if line.startswith("installed ")}


def packages_of(absence, installed):
    """The installed packages that an absence takes away."""
    return sorted(name for name in installed
                  if any(fnmatch.fnmatch(name, pattern) for pattern in [absence.package, *absence.patterns]))


def hidden_files(listing):
    """Of the paths that `dpkg -L` lists, those that a build may look for: all below /usr but texts."""
    paths = {re.sub(r"^/(lib|bin|sbin)", r"/usr/\1", path) for path in listing.splitlines() if path.startswith("/")}
    folders = {str(pathlib.PurePath(path).parent) for path in paths}
    return sorted(path for path in paths - folders
                  if path.startswith("/usr/") and not path.startswith(("/usr/share/doc", "/usr/share/man")))


def files_of(packages):
    """The files that `packages` brought and that a build may look for."""
    if not packages:
        return []
    asked = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True, check=False)
    return hidden_files(asked.stdout)


def components(output):
    """What a configuring says of each component: {"MPI": "yes"}."""
    return dict(SUMMARY.findall(output))


def wrong_components(full, here, absent):
    """What the summary says wrongly where the packages of `absent` are away."""
    wrong = []
    for name, text in full.items():
        needed = [absence.package for absence in absent if name in absence.components]
        if not needed or not text.startswith("yes"):
            if here.get(name) != text:
                wrong.append(f"{name}: {here.get(name)}, with all packages {text}")
        elif not here.get(name, "").startswith("no") or not all(package in here[name] for package in needed):
            wrong.append(f"{name}: {here.get(name)}, expected no, and the name of {', '.join(needed)}")
    return wrong


class Command:
    """How a source is compiled."""

    def __init__(self, entry):
        self.words, self.folder, self.file = shlex.split(entry["command"]), entry["directory"], entry["file"]
        self.output = self.words[self.words.index("-o") + 1] if "-o" in self.words else ""
        self.definitions = {word for word in self.words if word.startswith("-D")}
        self.include_folders = [b if a == "-isystem" else a[2:] for a, b in zip(self.words, self.words[1:])
                                if a == "-isystem" or a.startswith("-I")]
        places = {folder for pair in zip(self.words, self.words[1:]) if pair[0] == "-isystem" for folder in pair}
        self.others = [word for word in self.words if word not in self.definitions and word not in places
                       and not word.startswith("-I")]

    def is_host_code(self):
        return not self.file.endswith(".cu") and not self.file.endswith((".pch", "cmake_pch.hxx.cxx"))

    def syntax_check(self, with_header=False):
        """The same command as a check that makes nothing; without a precompiled header, and so without what must be as it was
        made, unless `with_header`."""
        words, skipped = [], False
        for word, following in zip(self.words, [*self.words[1:], ""]):
            if skipped:
                skipped = False
            elif word == "-o" or (not with_header and word == "-include" and "cmake_pch" in following):
                skipped = True
            elif word != "-c" and (with_header or not re.fullmatch(r"-Winvalid-pch|-O\w*|-D_FORTIFY_SOURCE=\d", word)):
                words.append(word)
        return [words[0], "-fsyntax-only", *([] if with_header else ["-O0"]), "-w", *words[1:]]


def commands(build):
    """The commands of a build folder by what they make."""
    entries = json.loads((build / "compile_commands.json").read_text())
    made = [Command(entry) for entry in entries]
    return {command.output: command for command in made if command.is_host_code()}


@functools.lru_cache(maxsize=None)
def text_of(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@functools.lru_cache(maxsize=None)
def included_by(path):
    return INCLUDE.findall(text_of(path))


@functools.lru_cache(maxsize=None)
def mentions(path, name):
    return name in text_of(path) and re.search(rf"\b{re.escape(name)}\b", text_of(path)) is not None


class Closures:
    """The files that a source reads, conditions aside: of the project, and of packages that may be absent.

    `hidden`: paths of files that are not there."""

    SYSTEM = ["/usr/include", *map(str, sorted(pathlib.Path("/usr/include").glob("*-linux-gnu*")))]

    def __init__(self, hidden):
        self.hidden, self.numbers, self.found = set(hidden), {}, {}

    def included(self, path, include_folders):
        """The files that `path` includes."""
        found = []
        for name in included_by(path):
            folders = (str(pathlib.PurePath(path).parent), *include_folders, *self.SYSTEM)
            candidates = (f"{folder}/{name}" for folder in folders)
            found += [next((file for file in candidates if file in self.hidden or pathlib.Path(file).is_file()), None)]
        return [file for file in found if file]

    def of(self, command):
        """The files of the project that a source reads, and whether a hidden one is among what it includes."""
        folders = tuple(command.include_folders)
        number = self.numbers.setdefault(folders, len(self.numbers))
        seen, waiting = set(), [command.file]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                if not path.startswith(("/usr/", "/lib/")):
                    if (path, number) not in self.found:
                        self.found[path, number] = self.included(path, folders)
                    waiting += self.found[path, number]
        return seen, not seen.isdisjoint(self.hidden)


def changed_macros(before, now):
    """Names of macros that are defined otherwise; strings of other words, which nothing is decided by, aside."""
    texts = [{word[2:].split("=")[0] for word in command.definitions if '="' in word} for command in (before, now)]
    return {word[2:].split("=")[0] for word in before.definitions ^ now.definitions} - (texts[0] & texts[1])


def sources_to_check(full, here, hidden):
    """The commands of `here` whose outcome may differ from that in `full`: they are new, are compiled with other
    options, mention a macro that is defined otherwise, or include what is hidden."""
    closures, chosen = Closures(hidden), []
    for output, command in here.items():
        before = full.get(output)
        if before is None or before.others != command.others:
            chosen.append(command)
            continue
        changed = changed_macros(before, command)
        files, misses = closures.of(before)
        if misses or any(mentions(path, name) for name in changed for path in files):
            chosen.append(command)
    return chosen
