"""What the guide, the README and errors name on a page is there, under that name."""

import re
from pathlib import Path

import pytest

from engine import handbook
from engine.lessons import lessons
from pages.shared.places import PAGES
from tests.syntax import syntax

ROOT = Path(__file__).parents[2]
PAGES_OF = {  # where the parts of a place are drawn
    "Explore": ("explore.py", "parts/explore", "shared/frame/page.py"),
    "Decide": (
        "decide.py",
        "parts/decide",
        "parts/plan.py",
        "parts/split_total.py",
        "parts/sites.py",
        "parts/site_editor.py",
    ),
    "Learn": ("learn.py", "parts/learn"),
    "Lab": (
        "lab.py",
        "parts/lab",
        "parts/compare",
        "parts/sweeps.py",
        "parts/ran_sweep.py",
        "parts/rates",
        "parts/regression.py",
        "parts/regression_sites.py",
        "parts/audit",
        "parts/coefficients.py",
        "parts/reproduce.py",
        "parts/sparse.py",
        "parts/summaries.py",
        "shared/frame/page.py",
    ),
    "Publish": ("publish.py", "parts/release", "shared/uploads"),
}
PAGES_OF |= {title: (script,) for _, script, title in PAGES if title not in PAGES_OF}
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / "docs" / "guide" / f"{key}.md" for key in handbook.CHAPTERS),
]
PATH = re.compile(r"\*([A-Z][^*›]*?) ›\s([^*]+)\*")
NAME = re.compile(r"(?<![*\w])\*([A-Z][^*›\n]*)\*(?!\*)")


def modules(*names):
    for name in names:
        path = ROOT / name
        yield from [path] if path.suffix else sorted(path.rglob("*.py"))


def on_place(place):
    """Titles and labels on a place."""
    by_name = {
        text
        for file in modules(*(f"pages/{part}" for part in PAGES_OF[place]))
        for text in syntax(file).strings
    }
    return by_name | ({lesson.label for lesson in lessons.all()} if place == "Learn" else set())


def written():
    """What a person reads, by where it stands: documents, and the texts of engine and pages."""
    for file in DOCUMENTS:
        yield file.name, file.read_text("utf-8")
    for file in modules("engine", "reproductions", "benchmarks", "pages"):
        for text in syntax(file).strings:
            if "›" in text:
                yield file.name, text


def test_the_places_are_those_of_the_menu():
    assert list(PAGES_OF) == [title for _, _, title in PAGES]


@pytest.mark.slow
def test_every_path_to_a_detail_leads_to_one_of_that_name():
    paths = [(where, *match) for where, text in written() for match in PATH.findall(text)]
    assert len(paths) >= 10
    for where, place, name in paths:
        for part in re.split(r"\s›\s", " ".join(name.split())):
            assert part in on_place(place), f"{where}: {place} has no “{part}”"


def test_every_name_in_italics_stands_on_some_page():
    labels = {
        text.strip()
        for module in modules("engine", "reproductions", "benchmarks", "pages")
        for text in syntax(module).strings
    }
    labels |= {chapter.title for chapter in map(handbook.chapter, handbook.CHAPTERS)}
    scripts = " ".join(file.read_text("utf-8") for file in (ROOT / "pages").rglob("*.js"))
    for file in DOCUMENTS:
        plain = re.sub(r"\*\*.*?\*\*", "", file.read_text("utf-8"), flags=re.DOTALL)
        missing = [
            name
            for name in NAME.findall(plain)
            if name not in labels and name not in scripts and not name.endswith((".", ":"))
        ]  # what ends so is a sentence that stands out
        assert not missing, f"{file.name}: {missing}"
