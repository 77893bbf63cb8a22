#!/usr/bin/env python3
"""Makes the Debian packages, unpacks them, and asks what a system with them would have.

    packages.py BUILD PREFIX FOLDER COMPILER     PREFIX: where `cmake --install` put the same build

All files of the installation are in the packages, each in one; what is linked to the library depends on exactly its
version; the command runs from where the packages put it, with its manual pages and its completion; and a program is built
against what was unpacked.
"""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def field(package, name):
    return output_of("dpkg-deb", "-f", str(package), name).strip()


def files_below(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or path.is_file()}


def unpack(package, root):
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    return {name for name in files_below(root / "usr") if not name.startswith("share/doc/")}


def needed_by(path):
    return re.findall(r"NEEDED +(\S+)", output_of("objdump", "-p", path))


def program_of(system, folder, compiler):
    """What a program prints that was built against the unpacked packages alone."""
    source = pathlib.Path(__file__).resolve().parent / "find_package"
    output_of("cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
              f"-DCMAKE_PREFIX_PATH={system}/usr")
    output_of("cmake", "--build", folder)
    if f"=> {system}" not in output_of("ldd", folder / "consumer"):
        sys.exit("the program does not use the library of the package")
    return output_of(folder / "consumer").strip()


def wrong_with_texts(system):
    """Each command has its manual page, and the shell completes them."""
    share = system / "usr/share"
    shown = output_of(system / "usr/bin/taeda", "--help").partition("Subcommands:\n")[2].partition("\n\n")[0]
    commands = [line.split()[0] for line in shown.splitlines()]
    whole = gzip.decompress((share / "man/man1/taeda.1.gz").read_bytes()).decode()
    completion = (share / "bash-completion/completions/taeda").read_text()
    for command in commands:
        page = share / f"man/man1/taeda-{command}.1.gz"
        if not page.is_file() or f"taeda\\-{command}" not in gzip.decompress(page.read_bytes()).decode():
            yield f"there is no manual page of taeda {command}"
        if f".B {command}" not in whole or command not in completion:
            yield f"{command} is not in taeda(1) or not completed"
    if not commands:
        yield "the command names no commands"


def wrong_with_site(site):
    """Guides, reference and search are there, and nothing leads out of the package but to the network."""
    for page in ("index.html", "docs/tutorial.html", "docs/training.html", "docs/errors.html", "docs/from_pytorch.html"):
        if not (site / page).is_file():
            yield f"taeda-doc has no {page}"
    if not (site / "index.html").is_file():
        return
    for link in re.findall(r'(?:href|src)="([^"#:?]+)"', (site / "index.html").read_text(encoding="utf-8")):
        if not (site / link).resolve().is_relative_to(site.resolve()) or not (site / link).exists():
            yield f"taeda-doc's first page leads to {link}, which is not there"


def main():
    build, prefix, folder = map(pathlib.Path, sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cpack", "-G", "DEB", "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], cwd=build, check=True)
    owner, wrong = {}, []
    for package in sorted(folder.glob("*.deb")):
        name, depends = field(package, "Package"), field(package, "Depends")
        root = folder / "each" / name
        for file in unpack(package, root):
            if file in owner:
                wrong.append(f"{file} is in {owner[file]} and in {name}")
            owner[file] = name
        if not (root / "usr/share/doc" / name / "copyright").is_file():
            wrong.append(f"{name} has no copyright file")
        for path in (root / "usr").rglob("*"):
            if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
                continue
            for library in needed_by(path):
                own = re.fullmatch(r"libtaeda\.so\.(.+)", library)
                if own and f"libtaeda{own[1]} (= " not in depends:
                    wrong.append(f"{name} does not depend on libtaeda{own[1]}, which {path.name} needs")
                elif not depends:
                    wrong.append(f"{name} depends on nothing, but {path.name} needs {library}")
        unpack(package, folder / "system")
    installed = files_below(prefix)
    wrong += [f"{file} is in no package" for file in sorted(installed - set(owner))]
    wrong += [f"{file} of {owner[file]} is not installed" for file in sorted(set(owner) - installed)]
    if "bin/taeda" in owner:
        print(output_of(folder / "system/usr/bin/taeda", "--version").strip())
        wrong += wrong_with_texts(folder / "system")
    if (folder / "each/taeda-doc").is_dir():
        wrong += wrong_with_site(folder / "each/taeda-doc/usr/share/doc/taeda-doc/html")
    said = program_of(folder / "system", folder / "program", sys.argv[4])
    if said != "gradient 3 -4 6, error caught":
        wrong.append(f"a program built against the packages prints {said}")
    print(f"{len(owner)} files in {len(set(owner.values()))} packages")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
