"""Items of the documents that the project has, each with the command or page that shows it.

The items are those of the documents' contents: definitions, algorithms, statements, figures, tables
and designs. They stand in `data/coverage.tsv`, a line for each; `docs/coverage.md` is made of it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.exhibits import FORMS
from reproductions.files import stored
from reproductions.shelf import papers

FILE = Path(__file__).parents[1] / "data" / "coverage.tsv"
DOCUMENTS = {
    "mean": "Functional mean and varying coefficients (arXiv 2412.06582)",
    "slides": "Slides on federated learning under differential privacy",
    "wavelets": "Federated nonparametric regression (arXiv 2406.06755)",
    "summaries": "Functional summaries (arXiv 2309.00125)",
    "sparse": "Sparse federated regression (arXiv 2404.16287)",
}
STATES = {"works": "works", "part": "in part", "no": "not yet"}
_COMMANDS = {"exhibit": "exhibit {}", "audit": "audit {}", "list": "list"}


@dataclass(frozen=True)
class Place:
    """Place that shows an item: its kind, and its name."""

    kind: str  # "exhibit", "audit" or "list" for a command, "page", "guide" or "notes"
    # name of the exhibit or method; shelf and key of what is listed; page and settings of a link
    # with a question mark between; chapter of the guide; file below `docs/`
    target: str

    @property
    def command(self) -> str | None:
        """Arguments of `python -m engine`; None for a place to read."""
        form = _COMMANDS.get(self.kind)
        return form.format(self.target) if form else None

    @property
    def page(self) -> tuple[str, str]:
        """Page and settings of its link."""
        name, _, token = self.target.partition("?")
        return name, token

    @property
    def markdown(self) -> str:
        """Cell of the table of items."""
        if self.kind == "page":
            name, token = self.page
            return f"*{name.capitalize()}*" + (f" (`?s={token}`)" if token else "")
        if self.kind == "list":
            return f"`list` ({self.target.split()[1]})"
        if self.command:
            return f"`{self.command}`"
        path = f"guide/{self.target}.md" if self.kind == "guide" else self.target
        return f"[{path.rpartition('/')[2].removesuffix('.md')}]({path})"


@dataclass(frozen=True)
class Item:
    """One item of a document."""

    document: str
    title: str
    state: str
    places: tuple[Place, ...]
    fact: str  # words that at least one of the places shows
    note: str


def items() -> tuple[Item, ...]:
    """List all items, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Item(
                row["document"],
                row["item"],
                row["state"],
                tuple(Place(*place.split(" ", 1)) for place in row["shown"].split("; ") if place),
                row["fact"],
                row["note"],
            )
            for row in csv.DictReader(file, delimiter="\t")
        )


def as_markdown() -> str:
    """Write the table of all items, document by document."""
    every = items()
    return "\n".join(
        [
            "# What the documents have, and where it is",
            "",
            "Commands follow `python -m engine`; pages are those of the dashboard, with the settings "
            "of their link. Made from `data/coverage.tsv` by `python -m scripts.write_coverage`.",
            "",
            f"{_counts(every)} {_versions()}",
            "",
            *(
                line
                for key, title in DOCUMENTS.items()
                for line in _section(title, [item for item in every if item.document == key])
            ),
        ]
    )


def _versions() -> str:
    """Name the versions of the engine that made the stored results of exhibits."""
    count = Counter(
        result.versions["engine"]
        for paper in papers()
        for exhibit in paper.exhibits
        for form in FORMS
        if (result := stored(paper, exhibit, form)) is not None
    )
    by_version = ", ".join(f"{version} made {number}" for version, number in sorted(count.items()))
    return f"Versions of the engine that made the stored results of exhibits: {by_version}."


def _section(title: str, of_document: Sequence[Item]) -> Iterator[str]:
    yield from (
        f"## {title}",
        "",
        _counts(of_document),
        "",
        "| Item | State | Shown by | Note |",
        "| --- | --- | --- | --- |",
    )
    for item in of_document:
        places = ", ".join(place.markdown for place in item.places)
        yield f"| {item.title} | {STATES[item.state]} | {places} | {item.note} |"
    yield ""


def _counts(some: Sequence[Item]) -> str:
    count = Counter(item.state for item in some)
    return (
        f"{len(some)} items: {count['works']} work, {count['part']} in part, {count['no']} not yet."
    )
