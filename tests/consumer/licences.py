#!/usr/bin/env python3
"""The installed SPDX document is whole, and docs/installing.md has what cmake/licences.tsv lists.

    licences.py SOURCE DOCUMENT
"""
import json
import pathlib
import re
import sys


def wrong_in_document(made, version):
    ids = {package["SPDXID"] for package in made["packages"]} | {made["SPDXID"]}
    names = [package["name"] for package in made["packages"]]
    own = [package for package in made["packages"] if package["name"] == "Taeda"]
    yield from (f"{name} is listed twice" for name in set(names) if names.count(name) > 1)
    if made["spdxVersion"] != "SPDX-2.3" or made["dataLicense"] != "CC0-1.0":
        yield "it is no SPDX 2.3 document"
    if [p["versionInfo"] for p in own] != [version] or own[0]["licenseDeclared"] != "Apache-2.0":
        yield f"Taeda {version} under Apache-2.0 is not in it"
    for relation in made["relationships"]:
        yield from (f"{relation[end]} is no package" for end in ("spdxElementId", "relatedSpdxElement")
                    if relation[end] not in ids)
    if len(made["relationships"]) != len(made["packages"]):
        yield "each package stands in one relation"


def main(source, document):
    source = pathlib.Path(source)
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (source / "CMakeLists.txt").read_text())[1]
    wrong = list(wrong_in_document(json.loads(pathlib.Path(document).read_text()), version))
    table = (source / "docs/installing.md").read_text().partition("its licence\n")[2].partition("\n## ")[0]
    rows = [line.split("\t") for line in (source / "cmake/licences.tsv").read_text().splitlines() if line[0] != "#"]
    for _, name, licence, _ in rows:
        row = next((line for line in table.split("\n") if re.match(rf"\|[^|]*{re.escape(name)}", line)), "")
        if licence.replace("LicenseRef-NVIDIA", "NVIDIA's own terms") not in row:
            wrong.append(f"docs/installing.md does not say that {name} is under {licence}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
