"""Sentences of snapshots are found, missed, and written again from what is said."""

import ast
from pathlib import Path

import pytest

from tests import sentences
from tests.sentences import GAP, Wording

TESTS = Path(__file__).parents[1]


@pytest.fixture
def wording(tmp_path):
    wording = Wording(tmp_path / "topic.txt")
    wording.write({"less left": "# of # children have less left", "no band": "No band is given"})
    return wording


def test_a_sentence_is_found_with_its_values_alone(wording):
    page = ["Above.", "10 of 80 children have less left.", "Below."]
    wording.found("less left", page, 10, 80)
    with pytest.raises(AssertionError):
        wording.found("less left", page, 10, 90)
    with pytest.raises(AssertionError):
        wording.found("no band", page)
    with pytest.raises(AssertionError):
        wording.found("less left", page, 10, 80, alone=True)
    wording.found("no band", "No\N{NO-BREAK SPACE}band is given", alone=True)


def test_a_sentence_is_missing_unless_a_text_has_it(wording):
    wording.missing("no band", "A band is given.")
    with pytest.raises(AssertionError):
        wording.missing("no band", "No band is given.")


def test_every_gap_needs_a_value(wording):
    with pytest.raises(ValueError):
        wording.found("less left", "10 of 80 children have less left", 10)


def test_what_is_said_now_is_recorded_with_its_gaps(wording, monkeypatch):
    monkeypatch.setenv(sentences.RECORDS, "1")
    before = wording.read()
    wording.found("less left", "The ledger: for 10 of 80 children less is left.", 10, 80)
    after = wording.read()
    assert after["less left"].count(GAP) == 2 and after["less left"] != before["less left"]
    assert after["no band"] == before["no band"]
    monkeypatch.delenv(sentences.RECORDS)
    wording.found("less left", "The ledger: for 10 of 80 children less is left.", 10, 80)


def test_nothing_is_recorded_of_a_text_that_says_nothing_alike_or_another_value(
    wording, monkeypatch
):
    monkeypatch.setenv(sentences.RECORDS, "1")
    before = wording.read()
    with pytest.raises(AssertionError):
        wording.found("no band", "Something went wrong on our side.")
    with pytest.raises(AssertionError):
        wording.found("less left", "11 of 80 children have less left", 10, 80)
    assert wording.read() == before


def calls(tree):
    """Yield the topics of a file, and the keys of its sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owners = {part.id for part in ast.walk(node.func) if isinstance(part, ast.Name)}
            if name == "of_topic" or "wording" in owners:
                yield name, node.args[0].value


def test_every_sentence_has_a_short_key_and_a_test():
    used, known = set(), set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text("utf-8")
        if "of_topic(" in text and path != Path(__file__):
            found = list(calls(ast.parse(text)))
            (topic,) = (key for name, key in found if name == "of_topic")
            used |= {(topic, key) for name, key in found if name != "of_topic"}
    for path in sentences.FOLDER.glob("*.txt"):
        keys = Wording(path).read()
        assert [*keys] == sorted(keys)
        known |= {(path.stem, key) for key in keys}
    assert used == known
    assert all(len(key.split()) <= 3 for _, key in known)
