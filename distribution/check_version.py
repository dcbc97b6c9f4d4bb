"""Check that a tag is the version of the project, of its citation and of its changelog.

    python3 distribution/check_version.py v0.13.2

It needs no package: the workflow of a release runs it before anything is installed.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def versions(root: Path = ROOT) -> dict[str, str]:
    """Read the version that each file states; the changelog's is that of its newest heading."""

    def first(pattern: str, name: str) -> str:
        found = re.search(pattern, (root / name).read_text("utf-8"), flags=re.MULTILINE)
        return found[1] if found else "none"

    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        "pyproject.toml": project["version"],
        "engine/__init__.py": first(r'^__version__ = "(.+)"$', "engine/__init__.py"),
        "CITATION.cff": first(r"^version: (.+)$", "CITATION.cff"),
        "CHANGELOG.md": first(r"^## \[(\d[^\]]*)\]", "CHANGELOG.md"),
    }


def main(tag: str) -> int:
    others = {name: version for name, version in versions().items() if f"v{version}" != tag}
    for name, version in others.items():
        print(f"{name} has version {version}; the tag is {tag}.", file=sys.stderr)
    return int(bool(others))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
