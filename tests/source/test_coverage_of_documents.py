"""The table of the documents' items: what it names exists, runs, and is what the docs show."""

import contextlib
import io
import re
from functools import cache
from pathlib import Path

import pytest

import reproductions
from engine import handbook
from engine.__main__ import main
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources
from pages.shared.places import PAGES
from reproductions import coverage
from reproductions import files as exhibit_files
from reproductions import words as exhibit_words
from scripts import write_coverage
from tests.heavy import few
from tests.pages.opening import open_page
from tests.pages.reading import words

DOCS = Path(__file__).parents[2] / "docs"
SHELVES = {"mechanisms": mechanisms, "rates": rates, "sources": sources}
ITEMS = coverage.items()
PLACES = sorted({place for item in ITEMS for place in item.places}, key=str)
AUDITED = sorted({place.target for place in PLACES if place.kind == "audit"})


def test_the_table_in_the_docs_is_made_of_the_data():
    assert write_coverage.FILE.read_text("utf-8") == coverage.as_markdown()


def test_every_item_has_a_state_and_shows_or_says_why_not():
    assert len({(item.document, item.title) for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert item.document in coverage.DOCUMENTS and item.state in coverage.STATES, item
        assert bool(item.places) is bool(item.fact) is (item.state != "no"), item
        assert item.note or item.state == "works", item


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_what_the_table_names_exists(place):
    if place.kind == "exhibit":
        assert place.target in reproductions.names()
    elif place.kind == "audit":
        assert place.target in {cls.key for cls in mechanisms.all()}
    elif place.kind == "list":
        shelf, key = place.target.split()
        assert key in {cls.key for cls in SHELVES[shelf].all()}
    elif place.kind == "page":
        assert f"{place.page[0]}.py" in {script for _, script, _ in PAGES}
    elif place.kind == "guide":
        assert place.target in handbook.CHAPTERS
    else:
        assert place.kind == "notes" and (DOCS / place.target).exists()


def test_every_exhibit_of_a_document_is_in_the_table():
    exhibits = {place.target for place in PLACES if place.kind == "exhibit"}
    documents = {exhibit.partition("/")[0] for exhibit in exhibits}
    assert len(documents) == 5
    assert exhibits == {
        name for name in reproductions.names() if name.partition("/")[0] in documents
    }


@cache
def listed():
    """What the command that lists everything prints, by key."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert not main(["list"])
    entries = re.findall(r"^  (\S+)  (.*(?:\n    .*)*)", printed.getvalue(), re.M)
    texts = {}
    for key, text in entries:
        texts[key] = f"{texts.get(key, '')} {text}"
    return texts


@cache
def text_of(place):
    """What a reader finds at a place; of an attack only that it runs, which another test sees to."""
    if place.kind == "exhibit":
        paper, exhibit = reproductions.find(place.target)
        table = exhibit_files.stored(paper, exhibit).table
        findings = zip(exhibit.claims, exhibit.findings(table), strict=True)
        panels = [f"{panel.title}: {panel.chart.alt}" for panel in exhibit.draw(table)]
        claims = [exhibit_words.claim(*pair) for pair in findings]
        return "\n".join([exhibit.title, exhibit.about, *claims, *panels])
    if place.kind == "list":
        return listed()[place.target.split()[1]]
    if place.kind in ("guide", "notes"):
        file = f"guide/{place.target}.md" if place.kind == "guide" else place.target
        return (DOCS / file).read_text("utf-8")
    if place.kind == "page":
        name, token = place.page
        at = open_page(token, name)
        assert not at.error
        assert not at.warning or "link" not in at.warning[0].value
        return words(at)
    return ""


def plain(text):
    return " ".join(text.replace("’", "'").split()).lower()


def shows(item, kinds):
    return any(
        plain(item.fact) in plain(text_of(place)) for place in item.places if place.kind in kinds
    )


READ = {"exhibit", "list", "guide", "notes"}  # at once; pages take seconds
TO_READ = [item for item in ITEMS if READ & {place.kind for place in item.places}]
TO_OPEN = [item for item in ITEMS if "page" in {place.kind for place in item.places}][::-1]


@pytest.mark.parametrize("item", TO_READ, ids=lambda item: item.title)
def test_the_fact_of_a_row_is_what_its_commands_and_notes_show(item):
    on_a_page = "page" in {place.kind for place in item.places}
    assert shows(item, READ) or on_a_page, item.fact


@pytest.mark.parametrize("item", few(TO_OPEN), ids=lambda item: item.title)
def test_every_page_of_a_row_opens_and_shows_its_fact_where_nothing_else_does(item):
    for place in item.places:
        text_of(place)  # the front page is a figure without words: it opens at least
    assert shows(item, READ) or shows(item, {"page"}), item.fact


@pytest.mark.slow
@pytest.mark.parametrize("key", AUDITED)
def test_every_attack_of_the_table_runs(key):
    """Exhibits of the table run in `tests/reproductions/test_every_exhibit.py`."""
    assert main(["audit", key, "--runs", "2000", "--seconds", "5"]) == 0
