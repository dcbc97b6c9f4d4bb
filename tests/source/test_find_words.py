"""A sentence that somebody reads on screen leads to the line where it is written."""

import numpy as np
import pytest

from engine.core.types import PublicFacts
from engine.language import quality
from scripts import find_words
from scripts.find_words import GAP, Place

SOURCE = '''
"""A docstring is no sentence on screen."""
HEAD = "Half are event-free."
def f(share, name, times):
    return f"{share} of {name} are **free** by {times:g}. Others: {name}."
LATER = "Changes of {size} show."
'''


def test_every_sentence_is_written_once_with_gaps_for_values():
    assert list(find_words.written(SOURCE)) == [
        (3, "Half are event-free."),
        (6, f"Changes of {GAP} show."),
        (5, f"{GAP} of {GAP} are **free** by {GAP}."),
        (5, "Others:"),
        (5, f"{GAP}."),
    ]


@pytest.mark.parametrize(
    ("written", "rendered", "count"),
    [
        (f"{GAP} of {GAP} are **free** by {GAP}.", "34 % of men are free by 2.5.", 18),
        (f"{GAP} of {GAP} are **free** by {GAP}.", "34 % of men by 2.5 are free.", 0),
        ("Half are free.", "Half are free.", 14),
        (
            f"{GAP} by {GAP}",
            "All of these many people are free by noon",
            0,
        ),  # too little to say anything
    ],
)
def test_parts_fit_in_their_order(written, rendered, count):
    assert find_words.letters(written, rendered) == count


@pytest.fixture(scope="module")
def known():
    return list(find_words.places())


def test_what_the_engine_says_is_found_where_it_is_written(known):
    facts = PublicFacts(person="patient", people="patients")
    weights, people = np.array([0.8, 0.2]), (300, 100)
    sentence = quality.by_precision(weights, people, facts, "hospitals")
    (_, place), *_ = find_words.find(sentence, known)
    assert place.where.startswith("engine/language/quality.py:")


def test_words_that_nobody_wrote_lead_to_the_nearest(known):
    known = [Place("a.py:1", "A flat line fits."), *known[:50]]
    assert find_words.find("A flat lime fits.", known[:1]) == []
    assert find_words.nearest("A flat lime fits.", known)[0].where == "a.py:1"
