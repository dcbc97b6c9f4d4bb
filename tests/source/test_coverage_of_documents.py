"""The table of the documents' items: what it names exists, runs, and is what the docs show."""

import contextlib
import io
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
from scripts import write_coverage
from tests.heavy import few
from tests.pages.opening import open_page

DOCS = Path(__file__).parents[2] / "docs"
SHELVES = {"mechanisms": mechanisms, "rates": rates, "sources": sources}
ITEMS = coverage.items()
PLACES = sorted({place for item in ITEMS for place in item.places}, key=str)
AUDITED = sorted({place.target for place in PLACES if place.kind == "audit"})
OPENED = [place.page for place in PLACES if place.kind == "page"][
    ::-1
]  # the first is simulated for long


def test_the_table_in_the_docs_is_made_of_the_data():
    assert write_coverage.FILE.read_text("utf-8") == coverage.as_markdown()


def test_every_item_has_a_state_and_shows_or_says_why_not():
    assert len({(item.document, item.title) for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert item.document in coverage.DOCUMENTS and item.state in coverage.STATES, item
        assert bool(item.places) is (item.state != "no"), item
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


@pytest.mark.parametrize(("name", "token"), few(OPENED))
def test_every_page_of_the_table_opens_with_its_settings(name, token):
    at = open_page(token, name)
    assert not at.warning or "link" not in at.warning[0].value
    assert not at.error


def test_the_command_that_lists_runs():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert not main(["list"])
    assert all(
        place.target.split()[1] in printed.getvalue() for place in PLACES if place.kind == "list"
    )


@pytest.mark.slow
@pytest.mark.parametrize("key", AUDITED)
def test_every_attack_of_the_table_runs(key):
    """Exhibits of the table run in `tests/reproductions/test_every_exhibit.py`."""
    assert main(["audit", key, "--runs", "2000", "--seconds", "5"]) == 0
