"""One rule decides whether an estimate agrees with its target: its 95 % confidence interval."""

import numpy as np
import pytest

from engine.core.bands import NORMAL
from engine.simulation.agreement import Agreement, AgreementVerdict, clopper_pearson


def test_clopper_pearson_intervals_are_those_of_the_book():
    assert clopper_pearson(0, 200) == pytest.approx((0.0, 1 - 0.025 ** (1 / 200)))
    assert clopper_pearson(200, 200) == pytest.approx((0.025 ** (1 / 200), 1.0))
    assert clopper_pearson(10, 200) == pytest.approx((0.0242, 0.0900), abs=1e-4)


def test_half_an_interval_is_1_96_standard_errors():
    assert round(NORMAL, 4) == 1.96


@pytest.mark.parametrize(
    ("estimate", "se", "verdict"),
    [
        (-1.0, 0.05, AgreementVerdict.AGREES),
        (-0.95, 0.05, AgreementVerdict.AGREES),
        (-0.8, 0.05, AgreementVerdict.ABOVE),
        (-1.2, 0.05, AgreementVerdict.BELOW),
        (-1.0, 0.5, AgreementVerdict.IMPRECISE),
        (-1.2, 0.11, AgreementVerdict.IMPRECISE),
    ],
)
def test_the_interval_and_how_far_it_reaches_decide(estimate, se, verdict):
    assert Agreement.normal(estimate, se, -1.0, 0.25).verdict == verdict


def test_a_slope_whose_interval_hardly_reaches_the_rate_is_not_said_to_agree():
    """−1.24 with a standard error of .28 beside −.70."""
    assert Agreement.normal(-1.24, 0.28, -0.70, 0.25).verdict == AgreementVerdict.IMPRECISE


def test_what_cannot_be_computed_is_too_imprecise_to_tell():
    assert Agreement.normal(np.nan, np.nan, -1.0, 0.25).verdict == AgreementVerdict.IMPRECISE


def test_a_right_share_is_rejected_in_at_most_5_percent_and_a_wrong_one_nearly_always():
    rng = np.random.default_rng(5)

    def verdicts(probability):
        return [
            Agreement.coverage(int(k), 500).verdict for k in rng.binomial(500, probability, 2000)
        ]

    right, wrong = verdicts(0.95), verdicts(0.89)
    rejected = np.mean([v in (AgreementVerdict.ABOVE, AgreementVerdict.BELOW) for v in right])
    assert rejected < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 2000)
    assert np.mean([v == AgreementVerdict.AGREES for v in right]) > 0.85
    assert np.mean([v == AgreementVerdict.BELOW for v in wrong]) > 0.95
    assert np.mean([v == AgreementVerdict.AGREES for v in wrong]) < 0.01
