"""Write the bill of materials (CycloneDX) and the list of licences of all that is installed.

    python scripts/bill_of_materials.py

Names and versions are those of requirements.txt; licences and what needs what are read from the
installed packages, for Python 3.11 on Linux, so that every machine writes the same two files.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import PackageMetadata, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
BILL = ROOT / "docs" / "bill_of_materials.json"
LICENCES = ROOT / "docs" / "licences.md"
SYSTEM = {
    "python_version": "3.11",
    "python_full_version": "3.11.0",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}

# What packages write that name no licence by its SPDX identifier.
SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
}
# Those that give a text, or a family of licences; read from the text in the package.
READ = {
    "altair": "BSD-3-Clause",
    "itsdangerous": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "pywavelets": "MIT",
    "scipy": "BSD-3-Clause",
    "segno": "BSD-3-Clause",
}

HEAD = """# Licences

What `make run` and the image install, with the licence each package states for itself. Written by
`make bill`, which also writes [bill_of_materials.json](bill_of_materials.json) (CycloneDX 1.6); a
test compares both with `requirements.txt`. The project itself is under the
[MIT licence](../LICENSE); the bundled data have their own (`data/README.md`).

| Package | Version | Licence |
|--|--|--|
"""
FOOT = """
Some packages carry parts of others, whose notices are in the package:

* `numpy` and `scipy` carry OpenBLAS (BSD-3-Clause) and run-time libraries of GNU Fortran (GPL-3.0
  with the GCC run-time exception; libquadmath LGPL-2.1).
* `streamlit` carries its compiled front end with the fonts Source Sans, Source Serif and Source
  Code (OFL-1.1), Material Symbols (Apache-2.0) and KaTeX (MIT); `plotly` carries plotly.js (MIT).

Tools of the tests, in `tests/requirements.txt`, are not installed with the dashboard, nor listed.
"""


def main() -> int:
    BILL.write_text(bill(), "utf-8")
    LICENCES.write_text(licences(), "utf-8")
    return 0


def packages() -> dict[str, str]:
    """Version of each package of requirements.txt, by its normal name."""
    text = (ROOT / "requirements.txt").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", text, re.MULTILINE))


def licence(name: str) -> str:
    """Name the licence of a package, as an SPDX expression.

    Raises
    ------
    LookupError
        If it states none that is known here.
    """
    about: PackageMetadata = metadata(name)
    stated = READ.get(name) or about.get("License-Expression") or about.get("License") or ""
    stated = SPDX.get(stated, stated)
    if not re.fullmatch(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*", stated):
        raise LookupError(
            f"{name} states no licence by its SPDX identifier: read its text and add it to READ."
        )
    return stated


def licences() -> str:
    rows = [f"| {name} | {version} | {licence(name)} |\n" for name, version in packages().items()]
    return HEAD + "".join(rows) + FOOT


def bill() -> str:
    """The same in CycloneDX, without a time or a number of its own: equal input, equal bill."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    itself = f"pkg:pypi/{project['name']}@{project['version']}"
    versions = packages()
    needs = {reference(name, versions): _needs(requires(name) or [], versions) for name in versions}
    return (
        json.dumps(
            {
                "bomFormat": "CycloneDX",
                "specVersion": "1.6",
                "version": 1,
                "metadata": {
                    "component": {
                        "type": "application",
                        "bom-ref": itself,
                        "name": project["name"],
                        "version": project["version"],
                        "licenses": [{"license": {"id": project["license"]}}],
                    }
                },
                "components": [
                    {
                        "type": "library",
                        "bom-ref": reference(name, versions),
                        "name": name,
                        "version": version,
                        "licenses": _licences_of(name),
                        "purl": reference(name, versions),
                    }
                    for name, version in versions.items()
                ],
                "dependencies": [
                    {"ref": ref, "dependsOn": others}
                    for ref, others in {
                        itself: _needs(project["dependencies"], versions),
                        **needs,
                    }.items()
                ],
            },
            indent=1,
        )
        + "\n"
    )


def reference(name: str, versions: dict[str, str]) -> str:
    return f"pkg:pypi/{name}@{versions[name]}"


def _licences_of(name: str) -> list[dict[str, object]]:
    stated = licence(name)
    return [{"expression": stated} if " " in stated else {"license": {"id": stated}}]


def _needs(stated: list[str], versions: dict[str, str]) -> list[str]:
    """References of what is needed without any extra."""
    wanted = [Requirement(line) for line in stated]
    names = {
        canonicalize_name(each.name)
        for each in wanted
        if each.marker is None or each.marker.evaluate({**SYSTEM, "extra": ""})
    }
    return sorted(reference(name, versions) for name in names if name in versions)


if __name__ == "__main__":
    sys.exit(main())
