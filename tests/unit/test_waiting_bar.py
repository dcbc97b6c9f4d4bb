"""The bar over a page that waits: what is computed, and the time left."""

import pytest

from engine.sources import sources
from engine.sources.dense_curves import DenseCurves
from pages.shared.state import waiting


@pytest.mark.parametrize(
    ("elapsed", "done", "steps", "last", "left"),
    [
        (1.0, 0, 0, None, None),  # nothing to predict from
        (1.0, 1, 10, None, None),  # one step is no pace
        (2.0, 2, 10, None, 8.0),
        (2.0, 2, 10, 5.0, 3.0),  # the last such computation knows better
        (6.0, 3, 6, 5.0, 6.0),  # until it has been passed
        (6.0, 0, 0, 5.0, None),
    ],
)
def test_the_time_left_follows_the_last_such_computation_or_the_pace(
    elapsed, done, steps, last, left
):
    assert waiting.seconds_left(elapsed, done, steps, last) == left


def test_the_bar_names_the_people_whose_curves_are_simulated():
    source = sources.build("dense_curves", {"n_curves": 320})
    assert isinstance(source, DenseCurves)
    text = waiting.words((1, source), 3.2, None)
    assert "320" in text and source.facts.people in text and "3 seconds" in text
    assert "4 seconds" in waiting.words((source,), 3.2, 4.1)


def test_long_waits_are_in_minutes():
    assert waiting.duration(0.2) == "1 second" and waiting.duration(150) == "2 minutes"
