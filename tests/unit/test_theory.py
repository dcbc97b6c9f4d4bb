"""The view *Theory*: one pair of constants, honest factors, elbows where the largest term changes."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.rates.fitted import Weighted
from engine.rates.functional_mean import FunctionalMeanRate, Trust
from engine.simulation.studies import EPSILON_STEPS
from engine.sources.sparse_curves import SparseCurves
from engine.topics.decision import theory as topic
from engine.topics.decision.answer import Profile

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
        assert notion.at_steps == pytest.approx(np.sqrt(squares(notion.trust)), rel=1e-3)


def test_the_factor_is_the_largest_miss_of_a_prediction_up_or_down(theory):
    assert theory.factor == pytest.approx(2.0, rel=1e-3)
    said = dict(topic.payload(theory, SparseCurves().facts, None)["words"])
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
    assert f"{local / central:.0f} times" in topic.heading(theory)


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
    sent = topic.payload(found, SparseCurves().facts, 0.5)
    assert sent["notions"][2]["price"] == "–" and ["LDP", "Too many devices."] in sent["words"]
    assert set(sent["notions"][2]["dots"]) == {None} and sent["notions"][2]["line"]
    assert "only each site" in topic.heading(found)
