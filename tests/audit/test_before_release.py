"""What is shown, charged or planned before a release comes from public facts, not from a curve.

One person's curve in a file is exchanged for another, as wild as a file can hold. Whatever stands
on screen without the tag *not private* must stay the same to the last bit: the ledger, tuning,
verdicts, the planned error, odds, what a release would cost and how its noise is drawn, and the
axes of the picture. Of all that is computed, only what is tagged may differ, and it does.
"""

from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.privacy import risk
from engine.release import certified as release
from engine.release import published
from engine.topics.mean import answer as mean_topic
from engine.topics.mean.live import AtBudget, figure_payload
from engine.uploads.facts import declare
from tests import files
from tests.readings import upload_of

DELTA, EPSILONS = 1e-4, (0.5, 2.0, 10.0)
WILD = {
    "as high as numbers go": (1e99, None),
    "as low": (-1e99, None),
    "on the end of the range": (210.0, None),
    "all at one time": (135.0, 2.0),
    "at times beyond the range": (135.0, 1e6),
}
WILDEST = ("as high as numbers go", "at times beyond the range")
METHODS = [
    cls(**chosen)
    for cls in mechanisms.for_task(MEAN_FUNCTION.key)
    for _, chosen in cls.presets_for(MEAN_FUNCTION.key)
]
# Of `MeanAnswer`: what a person sees of their own curves, under the tag *not private*.
TAGGED = {
    "data",
    "releases",
    "noise_low",
    "noise_high",
    "half_low",
    "half_high",
    "ordinary",
    "sampling",
    "truth",
    "from_own_mean",
    "band",
    "warnings",
    "not_shown",
}


def read(frame):
    return upload_of(
        files.csv(frame),
        declare(
            60,
            210,
            2,
            18,
            "growth chart",
            person="child",
            people="children",
            value_unit="cm",
            **files.EVEN,
        ),
    )


@cache
def pair(way):
    """The curves of a file, and of the same file with the curve of one child exchanged."""
    frame, (value, time) = files.growth_frame(40, 5), WILD[way]
    mine = (frame.child == "c007").to_numpy()
    other = frame.assign(height=np.where(mine, value, frame.height))
    if time is not None:
        other = other.assign(age=np.where(mine, time, frame.age))
    return read(frame), read(other)


def same(a, b):
    """Equal to the last bit, with NaN like NaN."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return repr(a) == repr(b)


def shown(source, method):
    delta = 0.0 if method.guarantee == "pure" else DELTA
    return mean_topic.mean_over_budgets(source, method, delta, 1, EPSILONS)


@pytest.mark.parametrize("way", WILDEST)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.nearest_preset()[0])
def test_exchanging_one_curve_changes_nothing_that_is_not_tagged(method, way):
    one, other = (shown(source, method) for source in pair(way))
    for name in {f.name for f in fields(one)} - TAGGED:
        assert same(getattr(one, name), getattr(other, name)), name
    assert [risk.of_ledger(s) for s in one.spends] == [risk.of_ledger(s) for s in other.spends]
    if one.band is not None and other.band is not None:
        assert (one.band.kind, one.band.n_functions) == (other.band.kind, other.band.n_functions)
    assert not same(one.ordinary, other.ordinary)  # and so the comparison can fail


@pytest.mark.parametrize("way", WILD)
def test_axes_words_and_labels_of_the_figure_are_those_of_any_other_curve(way):
    def sent(source):
        return figure_payload(
            source.facts, shown(source, METHODS[0]), [AtBudget(0.5, "nothing said")] * 3
        )

    one, other = map(sent, pair(way))
    for name in (
        "time",
        "value",
        "scale",
        "times",
        "epsilons",
        "title",
        "words",
        "draws",
        "points",
        "counts",
        "refused",
        "notes",
        "downloads",
        "source",
        "n",
        "errors",
        "attacker",
    ):
        assert one[name] == other[name], name
    assert one["downloads"] is False
    assert one["curve_values"] != other["curve_values"]


@pytest.mark.parametrize("way", WILDEST)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.nearest_preset()[0])
def test_what_a_release_would_cost_and_how_it_is_noised_says_nothing_of_a_curve(method, way):
    budget = method.suited(Budget(1.0, DELTA))

    def cost(source):
        try:
            return published.release_cost(source, method, budget)
        except InputError as refused:
            return str(refused)

    one, other = map(cost, pair(way))
    if isinstance(one, release.ReleaseCost):
        for f in fields(one):
            mine, theirs = getattr(one, f.name), getattr(other, f.name)
            if f.name == "known":
                assert all(same(mine[key], theirs[key]) for key in {*mine, *theirs})
            else:
                assert same(mine, theirs), f.name
    else:
        assert one == other
