"""What a stated fact is worth is rehearsed on a twin, from bounds and sizes alone."""

from dataclasses import replace

import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, Design, PublicFacts, Sizes, TimeLaw
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.sources.twin import Twin, guessed_spread
from engine.topics.better import EVENLY, PERIODIC, STATED, SYMMETRIC, answers
from engine.topics.release import words
from engine.topics.release.prices import price
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare

FACTS = PublicFacts(
    kind="upload", value_low=60.0, value_high=210.0, value_unit="cm", observations_per_curve=5
)
BUDGET = Budget(1.0, 1e-6)


def sizes(people, each=5):
    return Sizes((people,), people * each, each)


def rehearsed(facts, people=600, mechanism=None, budget=BUDGET):
    return {
        answer: price(stated, sizes(people), mechanism or AdaptiveMean(), budget, 1)
        for answer, stated in answers(facts)
    }


def test_people_stated_to_be_symmetric_are_worth_a_third_of_the_band():
    found = rehearsed(FACTS)
    assert found[SYMMETRIC].half_width < 0.75 * found[STATED].half_width
    assert found[SYMMETRIC].error < found[STATED].error


def test_an_answer_that_is_stated_is_not_asked_about_again():
    assert EVENLY not in dict(answers(FACTS))
    stated = replace(FACTS, symmetric=True, periodic=True)
    assert not {SYMMETRIC, PERIODIC} & set(dict(answers(stated)))
    unknown = replace(FACTS, design=Design(law=TimeLaw.UNKNOWN))
    assert EVENLY in dict(answers(unknown))
    common = replace(FACTS, design=Design.common((0.0, 0.25, 0.5, 0.75, 1.0)))
    assert EVENLY not in dict(answers(common))  # which would be untrue


def test_names_and_units_change_no_price():
    assert rehearsed(FACTS) == rehearsed(replace(FACTS, value_name="Height", person="child"))


def test_many_people_are_stood_for_by_few_with_the_same_effective_size():
    """The privacy part of a band falls like 1/N: ten times the people, less than half the band."""
    few, many = rehearsed(FACTS, 2000)[STATED], rehearsed(FACTS, 20_000)[STATED]
    assert 0.25 * few.half_width < many.half_width < 0.7 * few.half_width


def test_prices_scale_with_the_range_of_values():
    wide = replace(FACTS, value_low=600.0, value_high=2100.0)
    for answer, found in rehearsed(FACTS).items():
        assert rehearsed(wide)[answer].half_width == pytest.approx(10 * found.half_width, rel=1e-6)


def test_nothing_has_a_price_where_nothing_would_be_published():
    assert set(rehearsed(FACTS, 40, budget=Budget(0.1, 1e-6)).values()) == {None}


def test_an_answer_that_the_method_refuses_has_no_price():
    common = replace(FACTS, design=Design.common((0.0, 0.25, 0.5, 0.75, 1.0)))
    with pytest.raises(InputError):
        price(common, sizes(600), AdaptiveMean(edition="0.6"), BUDGET, 1)


def test_ranges_of_a_file_have_no_price():
    with pytest.raises(InputError):
        price(replace(FACTS, is_proposed=True), sizes(600), AdaptiveMean(), BUDGET, 1)


def test_six_sites_that_add_their_own_noise_cost_more_than_one_centre_and_a_larger_budget_less():
    six = Sizes((100,) * 6, 3000, 5)
    one, many, twice = (
        price(FACTS, of, AdaptiveMean(), budget, 1)
        for of, budget in (
            (sizes(600), BUDGET),
            (six, BUDGET),
            (sizes(600), replace(BUDGET, epsilon=2.0)),
        )
    )
    assert many.half_width > 1.5 * one.half_width > 1.5 * twice.half_width
    assert many.change > one.change > twice.change > 0


def test_a_band_that_holds_a_flat_line_is_known_as_one():
    wide = price(FACTS, sizes(300), AdaptiveMean(), Budget(0.2, 1e-6), 1)
    narrow = price(FACTS, sizes(600), AdaptiveMean(), Budget(8.0, 1e-6), 1)
    assert wide.is_flat and not narrow.is_flat


@pytest.mark.parametrize(
    ("mechanism", "facts", "unused"),
    [
        (AdaptiveMean(), {"symmetric": True, "periodic": True}, ()),
        (AdaptiveMean(), {"symmetric": True, "design": Design.visits(0.1)}, ("symmetric",)),
        (AdaptiveMean(basis="cosine"), {"periodic": True}, ("periodic",)),
        (AdaptiveMean(clipping="wide"), {"symmetric": True}, ("symmetric",)),
        (AdaptiveCoefficients(), {"symmetric": True, "periodic": True}, ()),
        (Iclp(), {"symmetric": True, "periodic": True}, ("symmetric", "periodic")),
        (Iclp(), {}, ()),
    ],
)
def test_stated_facts_that_a_method_does_not_use_are_named(mechanism, facts, unused):
    stated = replace(FACTS, **facts)
    assert mechanism.unused_facts(stated) == unused
    assert bool(words.not_used(mechanism, stated)) == bool(unused)


# -- the guess how far people are from the average ------------------------------------------------


def test_a_stated_guess_is_the_spread_of_the_twin_and_scales_the_planned_error():
    assert Twin.of(replace(FACTS, guessed_spread=4.0), sizes(600)).spread == 4.0
    errors = [
        AdaptiveMean().expected_error(sizes(600), (BUDGET,), replace(FACTS, guessed_spread=spread))
        for spread in (5.0, 10.0)
    ]
    assert errors[1] == pytest.approx(4 * errors[0])


def test_without_a_guess_the_bounds_propose_one_and_values_from_zero_on_a_larger_one():
    assert guessed_spread(FACTS) == pytest.approx(9.0)
    assert guessed_spread(replace(FACTS, value_low=0.0, value_high=60.0)) == pytest.approx(7.2)


def test_a_guess_is_declared_with_other_facts_and_refused_where_it_cannot_be():
    def stated(guess):
        return declare(
            60,
            210,
            2,
            18,
            "growth chart",
            observations=4,
            guessed_spread=guess,
            design=StatedDesign(law="even"),
        )

    assert stated(6.0).guessed_spread == 6.0
    for guess in (-1.0, 76.0, float("nan")):
        with pytest.raises(InputError) as refused:
            stated(guess)
        assert refused.value.field == "guessed_spread"


def test_plans_without_a_guess_are_written_as_before():
    assert "guessed_spread" not in FACTS.to_plain()
    guessed = replace(FACTS, guessed_spread=6.0)
    assert PublicFacts.from_plain(guessed.to_plain()) == guessed
