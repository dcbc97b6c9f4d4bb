"""What answers at one budget share: errors by function and together, the baseline, a refusal."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.types import Budget, PublicFacts
from engine.privacy.feasibility import Feasibility
from engine.topics.simulated import Simulated

TWO = Simulated(
    facts=PublicFacts(),
    people=100,
    budget=Budget(1.0),
    releases=np.zeros((2, 2, 5)),
    ordinary=np.zeros((2, 5)),
    truth=None,
    errors=np.array([[3.0, 3.0], [4.0, 12.0]]),  # (functions, releases)
    baseline_by_function=None,
    spends=(),
    tuning={},
    verdict=None,
)


def test_the_error_of_all_functions_is_the_root_of_their_summed_squares():
    assert TWO.error_by_function == pytest.approx([3, np.sqrt(80)])
    assert TWO.error == pytest.approx(np.sqrt(89))  # of releases that are 5 and √153 away
    assert TWO.within == pytest.approx(np.sqrt(153))


def test_the_baseline_is_known_only_beside_a_truth():
    assert TWO.baseline is None
    assert replace(TWO, baseline_by_function=np.array([3.0, 4.0])).baseline == 5


def test_an_answer_is_refused_by_its_verdict_alone():
    assert not TWO.is_refused
    assert not replace(TWO, verdict=Feasibility(1e6)).is_refused
    assert replace(TWO, verdict=Feasibility(0.01)).is_refused


def test_where_nothing_is_published_there_is_no_error():
    nothing = replace(TWO, errors=np.full((2, 2), np.nan))
    assert np.isnan([nothing.error, nothing.within]).all()
