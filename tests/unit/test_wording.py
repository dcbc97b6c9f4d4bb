"""Sentences stay true and grammatical at every budget, for every noun."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, DataKind, PublicFacts, Spend, Step
from engine.language import error_words, numbers, odds_words, quality, spending, tags
from engine.language.grammar import of, span, uncapital
from engine.language.numbers import at_most_percent, change, number, one_in, small, times, together
from engine.privacy import risk
from engine.privacy.accounting import exact_mu
from engine.privacy.failure import delta_rule
from engine.privacy.feasibility import Feasibility
from engine.privacy.tradeoff import (
    Gaussian,
    Laplace,
    LaplacePart,
    Losses,
    Subsampled,
    UpperEnvelope,
    Zcdp,
)

DELTA = 2.5e-5
CHILDREN = PublicFacts(
    person="child",
    people="children",
    curve="growth",
    value_name="Height",
    value_unit="cm",
    time_name="Age",
    time_unit="years",
    time_low=2,
    time_high=18,
    value_low=60,
    value_high=210,
)


def odds_at(epsilon: float, prior: float = 0.5) -> risk.Odds:
    return risk.odds(exact_mu(epsilon, DELTA), Budget(epsilon, DELTA), prior)


# -- numbers --------------------------------------------------------------------------------


def test_numbers_of_one_sentence_share_the_decimals_of_the_largest():
    assert together([3.85, 5.6, 0.819]) == ["3.85", "5.60", "0.82"]
    assert together([27.31, 0.82]) == ["27.3", "0.8"]


def test_a_minus_is_a_real_minus_and_a_change_stays_on_one_line():
    assert number(-3.25) == "−3.25"
    assert change(-0.47) == "−47\u00a0%"
    assert change(0.12) == "+12\u00a0%"


def test_thousands_are_set_apart_by_a_thin_space():
    assert one_in(DELTA) == "1 in 40\u202f000"


def test_a_tiny_delta_is_written_as_a_power_of_ten():
    assert small(DELTA) == "2.5×10⁻⁵"
    assert small(1e-6) == "1×10⁻⁶"
    assert small(0.01) == "0.01"
    assert small(0) == "0"


@pytest.mark.parametrize(
    "ratio, words", [(4.67, "4.7 times"), (27.3, "27 times"), (100, "more than 100 times")]
)
def test_ratios_have_two_digits_and_stop_at_a_hundred(ratio, words):
    assert times(ratio) == words


def test_a_change_that_rounds_to_nothing_is_no_change():
    assert change(0.003) == change(-0.003) == "no change"


@pytest.mark.parametrize(
    "chance, words",
    [
        (0.731, "at most 74"),
        (0.55, "at most 55"),
        (0.99, "at most 99"),
        (0.9901, "more than 99"),
        (1.0, "more than 99"),
    ],
)
def test_an_upper_bound_is_rounded_up_and_never_printed_as_100(chance, words):
    assert at_most_percent(chance) == f"{words} %"


def test_possessives_follow_the_last_letter():
    assert of("child") == "child’s"
    assert of("children") == "children’s"
    assert of("households") == "households’"


# -- titles and tags ------------------------------------------------------------------------


def test_the_title_names_the_curve_and_the_person():
    assert tags.title(CHILDREN) == (
        "The mean growth curve, released with differential privacy for every child"
    )


def test_a_title_without_a_kind_of_curve_has_no_gap():
    assert tags.title(PublicFacts()) == (
        "The mean curve, released with differential privacy for every person"
    )


def test_the_budget_is_shown_with_delta_only_where_there_is_one():
    assert tags.budget_chip(Budget(1.0, DELTA)) == "ε = 1 · δ = 2.5×10⁻⁵"
    assert tags.budget_chip(Budget(0.05)) == "ε = 0.05"


def test_curves_of_the_visitor_are_called_not_private():
    assert tags.source_tag(PublicFacts(kind="upload"))[0] == "Your curves · not private"


def test_the_unit_of_protection_is_named_with_the_person():
    assert tags.unit_tag(CHILDREN)[0] == "One child’s whole curve"


# -- odds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon, end",
    [
        (0.05, "**at most 51 %** of cases, hardly better than guessing."),
        (1, "**at most 56 %** of cases. Guessing gives 50 %."),
        (10, "**at most 85 %** of cases. Guessing gives 50 %."),
    ],
)
def test_the_odds_are_told_at_the_ends_and_in_the_middle(epsilon, end):
    text = odds_words.odds_main(odds_at(epsilon), "child")
    assert "an attacker knows the curve of every child but one" in text
    assert text.endswith(end)


def test_the_key_agrees_with_the_sentence():
    assert (
        odds_words.odds_key(odds_at(1))
        == "●\u00a0right by guessing · ■\u00a0at most 6 more · ○\u00a0wrong"
    )
    assert odds_words.odds_short(odds_at(1)) == "≤ 56 %"


def test_where_nothing_is_published_nobody_is_said_to_gain_anything():
    nothing = risk.Odds(Budget(0.05, 1e-5), 0.5, 0.05, 0.01, 0.53, 0.06)
    assert odds_words.odds_main(nothing, "child").startswith("Nothing would be published")
    assert odds_words.odds_key(nothing) == "●\u00a0right by guessing · ○\u00a0wrong"


def test_the_careful_attacker_is_compared_with_no_information():
    assert odds_words.odds_careful(odds_at(1)).endswith(
        "**at most 9 % power**; without information it has 5 %."
    )


def test_what_the_budget_alone_allows_is_told_beside_the_noise():
    assert (
        "would allow an accuracy of at most 74 % and a power of at most 14 %"
        in odds_words.odds_why(odds_at(1))
    )


def test_flags_are_compared_with_the_first_guess():
    text = odds_words.odds_flagged(odds_at(1, 0.01), "children")
    assert text == (
        "Such an attacker is right about **at most 2 %** of the children they accuse; "
        "without the release, 1 %."
    )


def test_several_curves_of_one_child_are_told_together_and_beside_one():
    mu = exact_mu(1, DELTA)
    several = risk.odds(Gaussian(3 * mu), Budget(3.4567, DELTA), group=3)
    assert odds_words.odds_short(several) == "≤ 67 % (3 together)"
    assert "two possibilities for all 3 curves of that child" in odds_words.odds_main(
        several, "child"
    )
    seen_elsewhere = odds_words.odds_main(several, "child", sits_at="another site")
    assert (
        "**sits at another site**, knows the curves of every child but one, and" in seen_elsewhere
    )
    assert "For a child with **3 curves** it is **ε = 3.46 · δ" in odds_words.group(
        odds_at(1), several, "child"
    )


def test_what_taking_part_adds_names_both_worlds():
    text = odds_words.with_and_without(odds_at(1, 0.5), "child")
    assert "of 50 % is right in **at most 56 %** of cases" in text
    assert text.endswith("and in 50 % **with another child’s in its place**.")


@pytest.mark.parametrize(
    "curve",
    [
        Gaussian(0.3),
        Laplace(1.0),
        Zcdp(0.1),
        Losses((LaplacePart(0.2, 2),)),
        Subsampled(Laplace(1.0), 0.1),
        UpperEnvelope((Gaussian(0.3), Laplace(1.0))),
    ],
)
def test_every_kind_of_curve_says_what_it_was_worked_out_from(curve):
    text = odds_words.odds_why(risk.odds(curve, Budget(1.0, DELTA)))
    assert text.startswith("Computed from the ") and "would allow an accuracy of at most" in text


def test_pure_and_approximate_guarantees_are_told_apart_only_where_there_are_two():
    assert odds_words.two_kinds({"A": 0.0, "B": 0.0}) == "" == odds_words.two_kinds({"A": 1e-5})
    assert odds_words.two_kinds({"A": 1e-5, "B": 0.0}) == (
        "B has δ = 0, A has δ = 1×10⁻⁵: compare the attacker’s accuracy, not ε."
    )


def test_a_ledger_of_two_kinds_says_so_and_how_it_is_added():
    def line(mu=None, epsilon=None, rho=None):
        return Spend(
            Step("x"), 0, mu, (1.0,), (1.0,), 1, "sequential", Budget(1.0, DELTA), "", epsilon, rho
        )

    both = spending.how_added([[line(mu=0.1), line(epsilon=0.2)]])
    assert "**Pure and approximate DP:** x has δ = 0" in both and "loss distributions" in both
    assert "their ρ, which add up" in spending.how_added([[line(mu=0.1), line(rho=0.2)]])
    assert spending.how_added([[line(epsilon=0.1)]]) == ""


def test_weak_protection_names_the_worst_method_too():
    assert odds_words.weak(odds_at(8), "child") == (
        "**ε = 8 is weak protection for one child.** An attacker is right in at most 81 % of cases "
        "with this method, and in more than 99 % with the worst mechanism of the same ε."
    )


# -- accuracy and budget --------------------------------------------------------------------


def test_accuracy_names_three_numbers_of_one_unit():
    assert quality.accuracy(CHILDREN, 3.85, 5.6, 0.819) == (
        "The error is **3.85 cm**: root mean squared distance from the true mean over ages 2 to "
        "18. In 95 % of releases the distance is at most 5.60 cm. Without privacy the error is "
        "0.819 cm."
    )


def test_an_error_is_written_in_one_way_with_its_95_percent_value():
    assert numbers.error(1.534, "cm", 2.41) == "1.53 cm (95 %: 2.41)"
    assert "95 %" not in numbers.error(0.1534, "%", 0.241)  # a value in percent is no share
    assert numbers.error(0.819, "") == "0.819"
    assert numbers.error(math.nan, "cm", 1.0) == ""


def test_delta_is_marked_above_a_hundred_thousandth_and_above_a_tenth_of_one_in_n():
    large, common, small = delta_rule(50, 0.01), delta_rule(200), delta_rule(1000)
    assert "above a tenth of 1/n = 0.02" in odds_words.delta_stated(large)
    assert "largest value in common practice" in odds_words.delta_stated(common)
    assert odds_words.delta_tag(common) == "δ above 1×10⁻⁵"
    assert odds_words.delta_tag(large) == "δ above a tenth of 1/n"
    assert odds_words.delta_tag(small) == "" and odds_words.delta_concern(small) == ""
    assert "is the default, 1/n² for n = 1\u202f000 people" in odds_words.delta_stated(small)
    assert "never fails" in odds_words.delta_stated(delta_rule(50, 0.01, is_pure=True))


def test_what_was_foreseen_is_judged_only_where_there_is_a_rule():
    unjudged = quality.planned(CHILDREN, None, 1.234)
    assert unjudged.startswith("Forecast from sizes and bounds alone: privacy adds about 1.2 cm.")
    assert quality.planned(CHILDREN, Feasibility(50.0), 1.234).startswith("Forecast: **usable**. ")
    assert quality.planned(CHILDREN, Feasibility(5.0), math.nan) == ""


def test_where_a_slider_chooses_epsilon_its_first_step_that_is_enough_is_named():
    asked, steps = Budget(0.06, 1e-5), (0.06, 0.1, 0.15, 0.2, 0.3, 1.0)
    for verdict, words in (
        (Feasibility(4.45), lambda *given: quality.refused(*given)[1]),
        (Feasibility(20.0), quality.coarse),
    ):
        stated = re.compile(r"from ε = ([\d.]+) on")
        free = float(stated.search(words(CHILDREN, verdict, asked, 200))[1])
        step = float(stated.search(words(CHILDREN, verdict, asked, 200, steps))[1])
        assert free not in steps
        assert step == min(one for one in steps if one >= verdict.epsilon_needed(asked))


def test_the_error_of_real_curves_is_called_a_forecast():
    real = replace(CHILDREN, kind=DataKind.UPLOAD)
    assert quality.accuracy(real, 3.85, 5.6, None).startswith("The forecast error is **3.85")
    assert quality.accuracy(CHILDREN, 3.85, 5.6, None).startswith("The error is **3.85")
    assert "error" not in quality.from_own_mean(real, 3.85)


def test_no_sentence_uses_a_word_that_promises_too_much():
    forbidden = ("safe", "secure", "anonymous", "compliant", "leak-free", "simply", "guarantee")
    odds = odds_at(1)
    text = " ".join(
        [
            odds_words.odds_main(odds, "child"),
            odds_words.odds_careful(odds),
            odds_words.odds_why(odds),
            odds_words.odds_flagged(odds, "children"),
            odds_words.not_covered(CHILDREN),
            odds_words.weak(odds, "child"),
            quality.accuracy(CHILDREN, 3.85, 5.6, 0.82),
            odds_words.delta_explained(DELTA),
            error_words.when_free((1.0, 6.0), np.array([0.2, 0.1])),
            *tags.source_tag(CHILDREN),
            *tags.unit_tag(CHILDREN),
        ]
    ).lower()
    assert [word for word in forbidden if word in text] == []


@pytest.mark.parametrize(
    "label, inside",
    [
        ("Adaptive mean", "adaptive mean"),
        ("ICLP, absolute penalty", "ICLP, absolute penalty"),
        ("Bernstein polynomials", "Bernstein polynomials"),
        ("Gaussian process", "Gaussian process"),
        ("A few coefficients (FRL)", "a few coefficients (FRL)"),
    ],
)
def test_inside_a_sentence_a_label_is_small_but_for_names_and_abbreviations(label, inside):
    assert uncapital(label) == inside


def test_rounds_of_fewer_than_ten_curves_are_warned_of():
    assert quality.few_in_a_round(9).startswith("**A round has only 9 curves.**")
    assert "only 1 curve." in quality.few_in_a_round(1)
    assert quality.few_in_a_round(10) == quality.few_in_a_round(None) == ""


@pytest.mark.parametrize(
    "value,time,inside",
    [("HbA1c", "t", "t"), ("PEF", "Visit time", "visit time"), ("pH", "T", "T")],
)
def test_names_that_a_person_typed_keep_their_spelling_inside_sentences(value, time, inside):
    facts = replace(CHILDREN, kind=DataKind.UPLOAD, value_name=value, time_name=time)
    assert span(facts) == f"{inside} 2 to 18"
    assert uncapital(value) == value
    with pytest.raises(InputError, match=f"lowest {value} must be below"):
        replace(facts, value_low=300)


def test_a_band_with_room_for_a_flat_line_says_so_and_no_other_does():
    middle = np.linspace(100.0, 150.0, 20)
    assert "A flat line fits" in quality.no_change(CHILDREN, middle - 40, middle + 40)
    assert quality.no_change(CHILDREN, middle - 10, middle + 10) == ""
