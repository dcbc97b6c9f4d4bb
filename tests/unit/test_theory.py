"""The view *Theory*: one pair of constants, honest factors, elbows where the largest term changes."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.rates.fitted import Weighted
from engine.rates.functional_mean import FunctionalMeanRate
from engine.rates.trusted import Trust
from engine.simulation.studies import EPSILON_STEPS
from engine.sources.sparse_curves import SparseCurves
from engine.topics.decision import theory as topic
from engine.topics.decision.answer import Profile, scaled

STEPS = np.array(EPSILON_STEPS)
ROWS = topic.rows_of(SparseCurves(n_curves=200))
POINT = {"S": 4.0, "n": 50.0, "m": float(ROWS[0].n_observations_per_curve)}
CONSTANTS = (3.0, 300.0)


def squares(trust):
    """What a rate with these constants gives at the steps of the slider."""
    weighted = Weighted(FunctionalMeanRate(privacy=trust), *CONSTANTS)
    return weighted.evaluate(**POINT, epsilon=STEPS).sum(axis=0)


def profile(trust, factor=1.0, first=0):
    """A study whose errors are those of the rate times a factor, nothing below a first step."""
    errors = factor * np.sqrt(squares(trust))
    errors[:first] = np.nan
    made = object.__new__(Profile)
    object.__setattr__(made, "errors", errors[:, None, None])
    return made


@pytest.fixture(scope="module")
def theory():
    return topic.theory_of(
        AdaptiveMean(),
        ROWS,
        {
            Trust.CENTRAL: profile(Trust.CENTRAL),
            Trust.FEDERATED: profile(Trust.FEDERATED, 1.3),
            Trust.LOCAL: profile(Trust.LOCAL, 0.5, 12),
        },
    )


def test_one_site_is_split_into_four_of_nearly_equal_size():
    rows = topic.rows_of(SparseCurves(n_curves=42))
    assert sorted(row.n_curves for row in rows) == [10, 10, 11, 11]
    assert len(topic.rows_of(SparseCurves(n_curves=40, n_servers=2))) == 2


def test_all_lines_have_the_constants_of_one_trusted_centre(theory):
    assert (theory.weighted.statistical, theory.weighted.private) == pytest.approx(
        CONSTANTS, rel=1e-3
    )
    for notion in theory.notions:
        assert notion.predicted == pytest.approx(np.sqrt(squares(notion.trust)), rel=1e-3)


def test_the_factor_is_the_largest_miss_of_a_prediction_up_or_down(theory):
    assert theory.factor == pytest.approx(2.0, rel=1e-3)
    said = dict(topic.payload([theory], SparseCurves().facts, None)["words"])
    assert "factor of 2.0 " in said["Dashes"]


def test_every_elbow_is_where_the_largest_term_changes(theory):
    for notion in theory.notions:
        weighted = theory.weighted.over(FunctionalMeanRate(privacy=notion.trust))
        for epsilon, error in notion.elbows:
            below, above = (
                int(weighted.dominant(**POINT, epsilon=np.array(k * epsilon)))
                for k in (0.999, 1.001)
            )
            assert below != above
            there = weighted.evaluate(**POINT, epsilon=np.array(epsilon)).sum(axis=0)
            assert error == pytest.approx(float(np.sqrt(there)))
        ends = [end for low, high, _ in notion.regimes for end in (low, high)]
        assert ends == sorted(ends) and ends[0] == STEPS[0] and ends[-1] == STEPS[-1]


def test_prices_are_the_least_budgets_that_stay_within_the_target(theory):
    for notion in theory.notions:
        price = notion.price(theory.target)
        within = notion.errors[price <= STEPS]
        assert (within <= theory.target).all()
        k = EPSILON_STEPS.index(price)
        assert not notion.errors[k - 1] <= theory.target
    central, _, local = (notion.price(theory.target) for notion in theory.notions)
    assert f"{local / central:.0f} times" in topic.heading(theory, SparseCurves().facts)


def test_a_refusal_is_shown_as_its_reason_and_has_no_price():
    found = topic.theory_of(
        AdaptiveMean(),
        ROWS,
        {
            Trust.CENTRAL: profile(Trust.CENTRAL),
            Trust.FEDERATED: profile(Trust.FEDERATED),
            Trust.LOCAL: InputError("Too many devices."),
        },
    )
    sent = topic.payload([found], SparseCurves().facts, 0.5)
    (frame,) = sent["frames"]
    assert frame["prices"][2] == "–" and ["LDP", "Too many devices."] in sent["words"]
    assert set(frame["notions"][2]["dots"]) == {None} and frame["notions"][2]["line"]
    assert "only each site" in topic.heading(found, SparseCurves().facts)


def test_an_interval_of_an_error_holds_it_in_nineteen_of_twenty_repetitions():
    rng = np.random.default_rng(1)
    squares = rng.exponential(1.0, (2000, 30, 20))
    found = topic.ErrorIntervals.of(np.sqrt(squares))
    inside = (found.low <= 1) & (found.high >= 1)
    assert 0.93 <= inside.mean() <= 0.97
    assert (found.low < found.values).all() and (found.values < found.high).all()


@pytest.fixture(scope="module")
def frames():
    profiles = {
        (trust, factor): scaled_profile(trust, factor)
        for trust in topic.NOTIONS
        for factor in topic.FACTORS
    }
    return topic.over_people(AdaptiveMean(), ROWS, profiles)


def scaled_profile(trust, factor):
    """A study with so many times the people, whose errors are those of the rate."""
    weighted = Weighted(FunctionalMeanRate(privacy=trust), *CONSTANTS)
    people = sum(row.n_curves for row in scaled(ROWS, factor))
    point = {**POINT, "n": people / 4}
    made = object.__new__(Profile)
    errors = np.sqrt(weighted.evaluate(**point, epsilon=STEPS).sum(axis=0))
    object.__setattr__(made, "errors", errors[:, None, None])
    return made


def test_over_people_every_line_has_the_constants_of_one_centre_over_epsilon(frames):
    assert len(frames) == len(EPSILON_STEPS)
    for theory in frames:
        assert theory.factor == pytest.approx(1.0, rel=1e-2)
        assert theory.notions[0].at.tolist() == [48, 100, 200, 400]


def test_twice_the_people_divide_the_error_by_what_was_measured(frames):
    sent = topic.payload(frames, SparseCurves().facts, None, (0.5, 1.0, 1.01), (2, 4))
    k = EPSILON_STEPS.index(1.0)
    assert sent["at_step"][1:] == [k, k] and sent["here"] == 200
    central = frames[k].notions[0]
    gain = central.errors[2] / central.errors[3]
    assert sent["frames"][k]["prices"][0] == f"÷ {gain:.2g}"
    assert f"by {gain:.2g}" in sent["headings"][1]


def test_studies_that_are_on_their_way_leave_their_dots_open():
    known = {(Trust.CENTRAL, 1.0): scaled_profile(Trust.CENTRAL, 1.0)}
    theory = topic.over_people(AdaptiveMean(), ROWS, known)[0]
    assert np.isfinite(theory.notions[0].errors).tolist() == [False, False, True, False]
    assert theory.notions[2].refused == topic.COMING and theory.notions[2].line is not None
