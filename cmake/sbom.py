#!/usr/bin/env python3
"""Writes what a build is made of as an SPDX 2.3 document: sbom.py LICENCES OUTPUT VERSION COMPONENT[=VERSION]...

A component is one of cmake/licences.tsv that this build has; its version follows where CMake found one.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys

RELATIONS = {"linked": "DYNAMIC_LINK", "headers": "DEPENDS_ON", "contained": "CONTAINS", "plug-in": "OPTIONAL_DEPENDENCY_OF",
             "loaded": "RUNTIME_DEPENDENCY_OF"}
NVIDIA = {"licenseId": "LicenseRef-NVIDIA", "name": "NVIDIA's licence terms",
          "extractedText": "The terms that come with NVIDIA's CUDA Toolkit and cuDNN. Of them, the plug-in for CUDA contains the "
                           "static run time alone."}


def rows_of(text):
    """(component, name, licence, use) of each line."""
    return [tuple(line.split("\t")) for line in text.splitlines() if line and not line.startswith("#")]


def package(name, version, licence):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION"}


def relation(own, other, use):
    """Taeda has to do with a package, or the package with Taeda, as SPDX puts it."""
    first, second = (other, own) if RELATIONS[use].endswith("_OF") else (own, other)
    return {"spdxElementId": first["SPDXID"], "relationshipType": RELATIONS[use], "relatedSpdxElement": second["SPDXID"]}


def document(rows, version, components, time):
    own = package("Taeda", version, "Apache-2.0")
    packages, relations = [own], [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                                   "relatedSpdxElement": own["SPDXID"]}]
    for component, name, licence, use in rows:
        if component == "always" or component in components:
            packages.append(package(name, components.get(component) or "NOASSERTION", licence))
            relations.append(relation(own, packages[-1], use))
    key = hashlib.sha256(json.dumps([packages, time]).encode()).hexdigest()[:32]
    out = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"Taeda-{version}",
           "documentNamespace": f"https://spdx.org/spdxdocs/taeda-{version}-{key}",
           "creationInfo": {"created": time, "creators": ["Organization: The authors of Taeda", "Tool: cmake/sbom.py"]},
           "packages": packages, "relationships": relations}
    if any(p["licenseDeclared"] == NVIDIA["licenseId"] for p in packages):
        out["hasExtractedLicensingInfos"] = [NVIDIA]
    return out


def main(licences, output, version, *components):
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", 0)) or datetime.datetime.now().timestamp()
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = dict(component.partition("=")[::2] for component in components)
    made = document(rows_of(pathlib.Path(licences).read_text()), version, found, time)
    pathlib.Path(output).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
