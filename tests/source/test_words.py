"""The figures of words in the code may fall, and none of them rises."""

import json
from collections import Counter

import pytest

from scripts import measure_words
from scripts.measure_words import Entry


@pytest.fixture(scope="module")
def measured():
    return measure_words.measure(*(measure_words.ROOT / name for name in measure_words.FOLDERS))


def test_no_figure_rises_above_its_record(measured):
    record = json.loads(measure_words.RECORD.read_text("utf-8"))
    figures = measured.figures()
    assert figures.keys() == record.keys()
    assert not measure_words.risen(figures, record)


@pytest.mark.parametrize(
    "entry, is_restated",
    [
        (Entry("task", "Task", "That a study is about."), True),
        (Entry("n_sites", "int", "The number of sites."), True),
        (Entry("values", "(n, m)", "Of curves."), False),
        (Entry("epsilon", "float", "At most 4."), False),
        (Entry("seed", "int", "Fixes the simulated data and the noise of every release."), False),
        (Entry("budget", "Budget", ""), True),
        (Entry("n_features", "int", "d."), False),
        (Entry("levels", "int", "J."), False),
        (Entry("learning_rate", "float", "η."), False),
        (Entry("rho", "float", "ρ."), True),
        (Entry("cls", "type", "A dataclass."), True),
    ],
)
def test_an_entry_without_a_fact_beyond_name_and_type_restates(entry, is_restated):
    assert measure_words.restates(entry, Counter()) is is_restated


def test_a_text_that_stands_more_than_twice_restates():
    text = "Fixes the simulated data and the noise of every release."
    entry = Entry("seed", "int", text)
    assert not measure_words.restates(entry, Counter({text: 2}))
    assert measure_words.restates(entry, Counter({text: 3}))


FAULTY = '''"""Whether it is a module."""


class Curve:
    """A curve.

    Parameters
    ----------
    length : int
        Length.
    values : (n,)
        Measured in cm.
    """

    length: int  # of the curve
    values: list


# a comment
def f():
    """How it is."""


class Curve:
    pass
'''


def test_each_fault_is_found_at_its_place(tmp_path):
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "faulty.py").write_text(FAULTY)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        'def test_it():\n    assert f() == "three words here"\n    assert "one two three four" in f()\n'
    )
    measured = measure_words.measure(tmp_path / "engine")
    assert measured.figures() == {
        "RATIO": round(11 / 6, 2),
        "RESTATED": 1,
        "OPENINGS": 2,
        "TWICE": 1,
        "CLASSES": 1,
        "LITERALS": 1,
    }
    assert measured.entries == 2
    assert measured.faults["TWICE"] == [f"{tmp_path}/engine/faulty.py:4 Curve.length"]
    assert measured.faults["LITERALS"][0].startswith(f"{tmp_path}/tests/test_it.py:3:")


def test_only_a_figure_above_its_record_is_reported():
    record = {"RATIO": 0.5, "RESTATED": 3}
    assert measure_words.risen({"RATIO": 0.4, "RESTATED": 3}, record) == []
    assert len(measure_words.risen({"RATIO": 0.51, "RESTATED": 4}, record)) == 2
