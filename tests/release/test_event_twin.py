"""The twin of people with one time each is made of facts and sizes alone, and its truth is that of its data."""

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget, EventFacts, Sizes
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics import product_limit
from engine.numerics.counts.estimands import ESTIMANDS
from engine.privacy import risk
from engine.release import published
from engine.sources.event_times import EventTimes
from engine.sources.heart_failure import HeartFailure, HeartFailureCreatinine
from engine.sources.twins import EventTwin
from engine.topics.release.preview import release_preview

GRID = np.linspace(0.05, 0.95, 10)
N = 40_000
PLAIN = EventFacts(
    time_high=900.0, causes=("Relapse", "Death"), groups=("A", "B"), group_sizes=(10_000, 30_000)
)


def test_survival_and_incidence_of_each_group_are_those_of_the_truth():
    twin = EventTwin.of(PLAIN, Sizes((N,), N, 1), ESTIMANDS["survival"])
    data = twin.draw(1, generator(1, 0, 0))
    assert np.bincount(data.group[0]).tolist() == [10_000, 30_000]
    causes = EventTwin.of(PLAIN, Sizes((N,), N, 1), ESTIMANDS["cumulative_incidence"]).truth(GRID)
    for g in range(2):
        rows = data.group[0] == g
        found, error = product_limit.kaplan_meier(
            data.time[0][rows], data.status[0][rows], 900 * GRID, 2
        )
        assert (abs(found - twin.truth(GRID)[g]) < 5 * error).all()
        incidence = product_limit.aalen_johansen(
            data.time[0][rows], data.status[0][rows], 900 * GRID, 2
        )
        assert (abs(incidence - causes[2 * g : 2 * g + 2]) < 5 * error + 1e-12).all()


@pytest.mark.parametrize("task", ["distribution", "roc"])
def test_values_and_scores_lie_in_the_stated_range_and_as_the_truth_says(task):
    facts = EventFacts(time_low=10.0, time_high=20.0)
    twin = EventTwin.of(facts, Sizes((N,), N, 1), ESTIMANDS[task])
    data = twin.draw(1, generator(1, 0, 0))
    assert data.time.min() >= 10 and data.time.max() <= 20
    if task == "distribution":
        found = (data.time[0][:, None] <= 10 + 10 * GRID).mean(axis=0)
    else:
        found = product_limit.roc_curve(data.time[0], data.status[0], GRID)
    assert abs(found - twin.truth(GRID)).max() < 5 * np.sqrt(0.5 / N)


@pytest.mark.parametrize(
    ("task", "source"),
    [
        ("survival", HeartFailure()),
        ("survival", HeartFailure(by_pressure=True)),
        ("survival", HeartFailure(n_servers=2)),
        ("distribution", HeartFailureCreatinine()),
        ("roc", HeartFailureCreatinine()),
    ],
)
def test_a_preview_of_counts_has_a_band_where_the_release_has_one_and_names_alike(task, source):
    mechanism = NoisyCounts(task=task)
    preview = release_preview(source.facts, source.sizes, mechanism, Budget(1.5), 1)
    assert preview.band == ("" if task == "roc" else "staircase") and preview.peaks is None
    assert 0 < preview.error < 0.2
    for curve in preview.curves:
        if curve.low is not None:
            result = np.isfinite(curve.released)
            assert (curve.low[result] <= curve.released[result] + 1e-9).all()
            assert (curve.released[result] <= curve.high[result] + 1e-9).all()


def test_a_preview_sees_nothing_of_the_data():
    """Two data sets of equal facts and sizes have the same preview: it is a function of both alone."""
    one, two = (EventTimes(n_curves=300, design=design) for design in ("lung", "early"))
    assert one.facts == two.facts
    first, second = (
        release_preview(each.facts, each.sizes, NoisyCounts(), Budget(1.0), 1)
        for each in (one, two)
    )
    assert np.array_equal(first.errors, second.errors)


def test_the_odds_of_a_release_of_counts_are_those_of_its_noise():
    cost = published.release_cost(HeartFailure(), NoisyCounts(), Budget(1.0))
    assert risk.of_ledger(cost.certified_spends).right == pytest.approx(
        1 / (1 + np.exp(-0.5)), abs=1e-6
    )
    assert risk.of_ledger(cost.certified_spends).right == risk.of_ledger(cost.spends).right


def test_the_bundled_patients_are_as_documented_and_all_their_sources_are_one_ledger():
    from engine.release.data_content import content_of

    survival, groups, creatinine = (
        HeartFailure(),
        HeartFailure(by_pressure=True),
        HeartFailureCreatinine(),
    )
    data = groups.draw(1, generator(1, 0, 0))
    assert data.n_curves == 299 and data.status.sum() == 96 and (data.group == 0).sum() == 105
    assert (data.time > 270).sum() == 4 and data.time.min() == 4 and data.time.max() == 285
    assert "CC BY 4.0" in survival.facts.credit and not survival.is_random
    assert content_of(survival) == content_of(groups) == content_of(creatinine)
    values = creatinine.draw(1, generator(1, 0, 0))
    assert values.time.min() == 0.5 and values.time.max() == 9.4
    assert HeartFailure(n_servers=3).draw(1, generator(1, 0, 0)).sizes.n_curves_per_server == (
        100,
        100,
        99,
    )
