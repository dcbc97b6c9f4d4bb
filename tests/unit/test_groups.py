"""Released groups compared: disjoint releases, differences, one test, refusals, the cards alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import __main__
from engine.answers import card, groups
from engine.answers.groups import GroupComparison
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few
from tests.sentences import of_topic
from tests.unit.test_answers import FACTS, curve

wording = of_topic("odds")

FLAT, HIGHER = curve(lambda t: 5 + 0 * t), curve(lambda t: 5.5 + 0 * t)
BUMP = curve(lambda t: 5 + 1.5 * np.exp(-(((t - 0.5) / 0.2) ** 2)))


def compared(*curves, names=("girls", "boys", "others"), are_disjoint=True):
    return GroupComparison(names[: len(curves)], curves, are_disjoint)


def test_a_swap_of_groups_mirrors_the_difference_and_keeps_the_p_value():
    one, other = compared(BUMP, FLAT), compared(FLAT, BUMP)
    assert one.p_anywhere == other.p_anywhere and one.p_broad == pytest.approx(other.p_broad)
    np.testing.assert_allclose(one.band().low, -other.band().high)
    assert one.differences().above == other.differences().below
    assert not one.differences().below


def test_a_bump_is_found_where_it_is_and_nowhere_else():
    result = compared(BUMP, FLAT).differences()
    ((low, high),) = result.above
    assert 2 + 16 * 0.1 < low < 10 < high < 2 + 16 * 0.9
    assert result.least <= 1.5 <= result.most
    assert compared(BUMP, FLAT).p <= 0.001


def test_a_constant_difference_is_its_average_and_its_broad_test_is_that_of_a_normal():
    result = compared(HIGHER, FLAT).differences()
    assert result.average == pytest.approx(0.5)
    low, high = result.average_limits
    assert low < 0.5 < high and high - low == pytest.approx(2 * 1.96 * 0.05 * 2**0.5, rel=0.05)
    apart = compared(FLAT, replace(FLAT, centre=FLAT.centre + np.r_[0.1, np.zeros(11)]))
    from scipy.stats import chi2

    assert apart.p_broad == pytest.approx(chi2(4).sf(0.1**2 / (2 * 0.05**2)))


def test_the_longer_release_is_cut_so_that_its_finer_waves_are_no_difference():
    fine = curve(lambda t: 5 + 2 * np.sqrt(2) * np.cos(15 * np.pi * t), size=18)
    both = compared(fine, FLAT)
    assert both.waves(0, 1) == 12
    assert both.p > 0.5 and not both.differences().above


def test_bands_of_three_groups_are_wider_than_those_of_two_and_the_odd_one_is_found():
    three = compared(FLAT, replace(FLAT, centre=FLAT.centre + 1e-6), BUMP)
    two = compared(FLAT, BUMP)
    assert (
        (three.band(0, 2).high - three.band(0, 2).low) >= (two.band().high - two.band().low) - 1e-12
    ).all()
    assert three.p <= 0.002
    assert not three.differences(0, 1).above and three.differences(1, 2).below


@pytest.mark.parametrize(
    "other",
    [
        FLAT,
        replace(HIGHER, facts=replace(FACTS, time_high=19.0)),
        replace(HIGHER, facts=replace(FACTS, value_unit="mm")),
        replace(HIGHER, family="fourier"),
        replace(HIGHER, is_pure=True),
        replace(HIGHER, effective_size=5.0),
    ],
)
def test_releases_that_cannot_be_compared_are_refused(other):
    with pytest.raises(InputError):
        compared(FLAT, other)


def seen_at(released, *times):
    return replace(released, times=times)


def test_groups_seen_at_few_common_times_are_compared_at_the_same_ones():
    few = (0.0, 0.1, 0.4, 0.6, 1.0)
    difference = compared(seen_at(BUMP, *few), seen_at(FLAT, *few)).difference()
    at, between = (difference.linear(lambda f, at=at: f(at))[1] for at in (0.6, 0.8))
    assert at[1] - at[0] < between[1] - between[0]
    for others in ((0.0, 0.4, 0.6, 1.0), ()):
        with pytest.raises(InputError, match="different common times"):
            compared(seen_at(BUMP, *few), seen_at(FLAT, *others))


def test_a_difference_at_few_times_is_that_of_the_values_there_whatever_number_of_waves():
    few = tuple(np.linspace(0, 1, 6).tolist())
    longer, shorter = seen_at(BUMP, *few), seen_at(FLAT, *few)
    shorter = replace(shorter, centre=shorter.centre[:8], covariance=shorter.covariance[:8, :8])
    difference = compared(longer, shorter).difference()
    values = [each.waves(np.array(few)) @ each.centre for each in (longer, shorter, difference)]
    assert difference.size == 8
    np.testing.assert_allclose(values[0] - values[1], values[2], atol=1e-9)


def test_groups_that_are_not_stated_to_be_disjoint_are_refused():
    with pytest.raises(InputError, match="nobody is in two"):
        compared(FLAT, HIGHER, are_disjoint=False)


def released(seed, repeats, bump=0.0, n=500, epsilon=1.0):
    source = SparseCurves(n_curves=n)
    data = source.draw(repeats, generator(seed, 0, 0))
    moved = replace(data, values=data.values + bump * np.exp(-(((data.times - 0.7) / 0.2) ** 2)))
    estimate = AdaptiveMean().release_many(
        moved, [(Budget(epsilon, n**-2.0),)], 1, generator(seed, 1, 0)
    )
    return estimate, source.facts


def test_a_changed_person_moves_the_release_of_their_own_group_alone():
    """The premise of parallel composition: given its noise, a release is fixed by its group."""
    source = SparseCurves(n_curves=50)
    girls, boys = (source.draw(1, generator(seed, 0, 0)) for seed in (1, 2))
    values = boys.values.copy()
    values[..., :10] = source.facts.value_high
    for changed in (boys, replace(boys, values=values)):
        estimates = [
            AdaptiveMean().release_many(data, [(Budget(3.0, 1e-4),)], 1, generator(5 + k, 1, 0))
            for k, data in enumerate((girls, changed))
        ]
        if changed is boys:
            first = estimates
    np.testing.assert_array_equal(first[0].coefficients, estimates[0].coefficients)
    assert (first[1].coefficients != estimates[1].coefficients).any()


@pytest.mark.slow
@pytest.mark.parametrize("repeats", few([50, 400], 1))
def test_the_test_keeps_its_level_and_the_band_holds_no_difference(repeats):
    """Size .02 to .06 and coverage .97 to .99 in the reference cells: five standard errors."""
    from engine.answers import ReleasedCurve

    (one, facts), (other, _) = released(1, repeats), released(7, repeats)
    rejected = held = 0
    for k in range(repeats):
        pair = compared(*(ReleasedCurve.of(each, facts, 0, k) for each in (one, other)))
        rejected += pair.p < 0.05
        held += bool(((pair.band().low <= 0) & (pair.band().high >= 0)).all())
    slack = 5 * np.sqrt(0.05 * 0.95 / repeats)
    assert rejected / repeats <= 0.05 + slack
    assert held / repeats >= 0.95 - slack


# -- from cards alone -----------------------------------------------------------------------------


@pytest.fixture
def cards(tmp_path):
    paths = []
    for name, released_curve in (("girls", BUMP), ("boys", FLAT)):
        path = tmp_path / f"{name}.json"
        path.write_text(
            json.dumps(
                {
                    "kind": "differential privacy guarantee",
                    "answers": card.written(released_curve),
                    "release": {"name": name, "id": name, "of": "Growth"},
                }
            )
        )
        paths.append(str(path))
    return paths


def test_cards_alone_give_the_comparison_of_the_engine(cards, capsys):
    assert __main__.main(["compare-cards", *cards, "--disjoint", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = compared(BUMP, FLAT).differences()
    assert told["p"] == compared(BUMP, FLAT).p
    assert told["pairs"][0]["groups"] == ["girls", "boys"]
    assert told["pairs"][0]["most"] == pytest.approx(result.most, rel=1e-9)
    assert __main__.main(["compare-cards", *cards, "--disjoint"]) == 0
    wording.found("girls boys differ", capsys.readouterr().out)


def test_a_doubtful_release_is_named_before_it_is_compared_or_asked(cards, capsys):
    path = Path(cards[1])
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"accuracy": {"verdict": "doubtful"}})
    )
    assert __main__.main(["compare-cards", *cards, "--disjoint"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("Doubtful:") and "boys" in first and "girls" not in first
    assert others[0].startswith("No test") and not any("p = " in line for line in others)
    assert not any("Doubtful" in line or "95 %" in line for line in others)
    assert __main__.main(["compare-cards", *cards, "--disjoint", "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert set(pair) == {"groups", "average"}
    for each, is_doubtful in zip(cards, (False, True), strict=True):
        assert __main__.main(["ask-card", each, "average"]) == 0
        assert capsys.readouterr().out.startswith("Doubtful:") is is_doubtful


def test_a_pair_without_the_doubtful_release_keeps_its_level():
    three = GroupComparison(("girls", "boys", "others"), (BUMP, FLAT, HIGHER), True, ("others",))
    levels = [line for line in three.sentences() if "95 %" in line]
    assert levels and not any("others" in line for line in levels)


def test_a_release_too_small_to_test_its_times_is_named_where_it_is_compared(cards, capsys):
    path = Path(cards[1])
    check = {
        "fact": "Observation times are spread as stated",
        "outcome": "untested",
        "measured": "5 %",
        "would_have_shown": "a gap of 30 %",
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | {"accuracy": {"checks": [check]}}))
    assert __main__.main(["compare-cards", *cards, "--disjoint"]) == 0
    out = capsys.readouterr().out
    wording.found("boys too small", out)
    wording.found("mean curves", out)


def test_cards_are_refused_without_the_statement_or_of_the_same_release(cards, capsys):
    assert __main__.main(["compare-cards", *cards]) == 2
    wording.found("nobody twice", capsys.readouterr().err)
    assert __main__.main(["compare-cards", cards[0], cards[0], "--disjoint"]) == 2


def test_every_comparison_says_what_its_test_supposes_of_people():
    assert groups.SUPPOSES in compared(BUMP, FLAT).sentences()
    assert groups.SUPPOSES in compared(BUMP, FLAT, HIGHER).sentences()
