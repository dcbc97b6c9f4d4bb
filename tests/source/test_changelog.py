"""The changelog is short, in a fixed order, and put together from fragments."""

import re
import tomllib

import pytest

from tests.server import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
KINDS = {kind["directory"]: kind["name"] for kind in SETTINGS["type"]}
FRAGMENTS = sorted(
    {*(ROOT / "changes").iterdir()} - {ROOT / "changes" / name for name in SETTINGS["ignore"]}
)
MOST_WORDS = 20


def faults(name, text):
    """What is wrong with a fragment."""
    if not re.fullmatch(rf"[a-z0-9_]+\.({'|'.join(KINDS)})\.md", name):
        yield f"the name is none of a fragment of {', '.join(KINDS)}"
    if len(text.split()) > MOST_WORDS:
        yield f"{len(text.split())} words, more than {MOST_WORDS}"
    if not re.fullmatch(r"[^-#*\s][^\n]*[.?]\n?", text):
        yield "no sentence of one line that ends with a full stop"


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda fragment: fragment.name)
def test_a_fragment_is_one_short_sentence_of_a_kind(fragment):
    assert not list(faults(fragment.name, fragment.read_text("utf-8")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("delta.better.md", "Fine."),
        ("Delta.fixed.md", "Fine."),
        ("delta.fixed.md", "word " * 20 + "word."),
        ("delta.fixed.md", "One.\nTwo.\n"),
        ("delta.fixed.md", "- An item."),
        ("delta.fixed.md", "No stop"),
    ],
)
def test_any_other_fragment_is_noticed(name, text):
    assert list(faults(name, text))


def test_nothing_is_written_below_unreleased_by_hand():
    unreleased = CHANGELOG.partition("## [Unreleased]")[2].partition("\n## ")[0]
    assert unreleased.strip() == SETTINGS["start_string"].strip()


def test_sections_of_a_version_stand_in_one_order():
    versions = re.split(r"^## \[\d[^\n]*$", CHANGELOG, flags=re.MULTILINE)[1:]
    order = list(KINDS.values())
    for version in versions:
        named = re.findall(r"^### (.+)$", version, flags=re.MULTILINE)
        assert named == sorted(named, key=order.index)


def test_items_are_short():
    for item in re.findall(r"^- ((?:.+\n)(?:  .+\n)*)", CHANGELOG, flags=re.MULTILINE):
        assert len(item.split()) <= MOST_WORDS, item
