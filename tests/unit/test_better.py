"""What would make a result better: at most three changes, each with what it would gain."""

import math
from dataclasses import replace

import pytest

from engine.core.types import Budget, Design, PublicFacts, Sizes, TimeLaw
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.frl import Frl
from engine.privacy.failure import usual_delta
from engine.sources.bundled import SeaTemperature
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.better import MOST, Change, Gain, Quantity, best, statements
from engine.topics.mean import better as of_mean
from engine.topics.mean.answer import mean_over_budgets
from engine.topics.release import better as of_releases
from engine.topics.release.preview import release_preview
from tests.sentences import of_topic

wording = of_topic("better")
pytestmark = pytest.mark.usefixtures("few_data_sets")

FACTS = PublicFacts(
    kind="upload",
    value_low=2.2,
    value_high=22.2,
    value_unit="mmol/L",
    observations_per_curve=24,
    design=Design(),
)
SIZES = Sizes((300,), 7200, 24)
BUDGET = Budget(1.0, usual_delta(300))


def test_the_largest_gains_come_first_and_small_ones_are_left_out():
    named = [Change(name, {}) for name in "abcdef"]
    found = best(zip(named, (0.9, 0.5, 0.97, math.nan, 0.7, 0.8), strict=True), Quantity.ERROR, 1.0)
    assert [entry.do for entry in found] == ["b", "e", "f"]
    assert len(found) == MOST


def test_a_target_that_becomes_reachable_is_the_largest_gain():
    changes = [(Change("dear", {}), 8.0), (Change("cheap", {}), 2.0)]
    assert {entry.gain.left for entry in best(changes, Quantity.BUDGET, math.nan)} == {0.0}


def test_a_gain_has_its_number_beside_the_present_one():
    gain = Gain(Quantity.BAND, 1.68, 1.04, "mmol/L")
    wording.found("band instead", str(gain), 1.04, 1.68, alone=True)
    wording.found("enough not", str(Gain(Quantity.BUDGET, 0.8, 0.4)), 0.4, 0.8, alone=True)
    wording.found("is enough", str(Gain(Quantity.BUDGET, math.nan, 2.0)), 2, alone=True)


def test_only_the_holder_of_a_file_with_stated_facts_is_offered_statements():
    assert statements(FACTS)
    assert not statements(replace(FACTS, is_proposed=True))
    assert not statements(SeaTemperature().facts)
    assert not statements(replace(FACTS, kind="simulated"))


def test_nothing_is_offered_that_is_stated_already():
    offered = statements(replace(FACTS, symmetric=True, periodic=True))
    assert not offered
    unknown = statements(replace(FACTS, design=Design(law=TimeLaw.UNKNOWN)))
    assert len(unknown) == len(statements(FACTS)) + 1


def gained(facts):
    """Facts after each change of a release that gains something."""
    now = of_releases.value(release_preview(facts, SIZES, AdaptiveMean(), BUDGET, 1))
    changes = statements(facts)
    after = (
        release_preview(change.apply["facts"], SIZES, AdaptiveMean(), BUDGET, 1)
        for change in changes
    )
    values = map(of_releases.value, after)
    found = best(zip(changes, values, strict=True), Quantity.BAND, now)
    return [entry.apply["facts"] for entry in found]


@pytest.mark.parametrize("law", [TimeLaw.INDEPENDENT, TimeLaw.UNKNOWN])
def test_a_statement_is_offered_only_where_it_narrows_the_band(law):
    facts = replace(FACTS, design=Design(law=law))
    offered = gained(facts)
    assert any(each.symmetric for each in offered)
    for each in offered:
        narrower, now = (
            of_releases.value(release_preview(known, SIZES, AdaptiveMean(), BUDGET, 1))
            for known in (each, facts)
        )
        assert narrower <= 0.95 * now


@pytest.mark.parametrize(
    ("source", "mechanism"),
    [
        (SparseCurves(n_curves=200, n_observations_per_curve=8), AdaptiveMean()),
        (SparseCurves(n_curves=200, n_observations_per_curve=8), Frl()),
        (Twin.of(FACTS, SIZES), AdaptiveMean()),
    ],
    ids=lambda part: part.key,
)
def test_what_a_change_promises_is_the_error_of_the_picture_after_it(source, mechanism):
    budget = Budget(1.0, usual_delta(source.sizes.n_curves))
    budget = mechanism.suited(budget)
    before = {"source": source, "mechanism": mechanism, "budget": budget, "seed": 1}
    changes = of_mean.changes(source, mechanism, budget)
    assert changes
    for change in changes:
        after = before | change.apply
        promised = of_mean.error_after(**after)
        then = after["budget"]
        picture = mean_over_budgets(
            after["source"], after["mechanism"], then.delta, 1, (then.epsilon, 10.0)
        )
        assert picture.study.error[0] == pytest.approx(promised, rel=1e-9)


def test_a_change_that_cannot_be_simulated_promises_nothing():
    assert math.isnan(of_mean.error_after(SparseCurves(n_curves=4), AdaptiveMean(), BUDGET, 1))
