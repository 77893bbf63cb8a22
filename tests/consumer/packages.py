#!/usr/bin/env python3
"""Makes the Debian packages, unpacks them, and asks what a system with them would have.

    packages.py BUILD PREFIX FOLDER     PREFIX: where `cmake --install` put the same build

All files of the installation are in the packages, each in one; what is linked to the library depends on exactly its
version; and the command runs from where the packages put it.
"""
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


def main():
    build, prefix, folder = map(pathlib.Path, sys.argv[1:])
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
    print(output_of(str(folder / "system/usr/bin/taeda"), "--version").strip() if "bin/taeda" in owner else "no command built")
    print(f"{len(owner)} files in {len(set(owner.values()))} packages")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
