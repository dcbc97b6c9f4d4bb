"""Check the demo site: every link inside resolves, nothing is asked of outside, and it is small.

.venv/bin/python -m scripts.check_demo demo
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_BYTES = 12_000_000
_LOADS = {"src", "srcset", "poster", "data"}  # attributes that a browser follows by itself


class _Links(HTMLParser):
    """Addresses of a page: those that are followed by hand, and those that are loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and (name in _LOADS or (tag == "link" and name == "href")):
                self.loaded.append(value)
            elif value and name == "href":
                self.links.append(value)


def problems(folder: Path) -> Iterator[str]:
    """Say what is wrong with the site in a folder; its documentation loads files of its own."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > MOST_BYTES:
        yield f"{size:,} bytes are more than {MOST_BYTES:,}"
    for page in sorted(folder.rglob("*.html")):
        found = _Links()
        found.feed(page.read_text("utf-8"))
        is_docs = (folder / "docs") in page.parents
        for link in (*found.links, *found.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (page.parent / unquote(parts.path)).exists():
                yield f"{page.relative_to(folder)}: {link} leads nowhere"
        for link in found.loaded:
            is_outside = bool(urlsplit(link).netloc)
            if is_outside or (not is_docs and not link.startswith("data:")):
                yield f"{page.relative_to(folder)}: loads {link}"


if __name__ == "__main__":
    said = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else "demo")))
    print(*said, sep="\n")
    sys.exit(1 if said else 0)
