"""Methods that ignore the order of records send the same bits in any order."""

import numpy as np
import pytest

from engine.core.types import Budget, Covariate, CurveData, Design, PublicFacts, TimeLaw
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.release import certified
from tests.heavy import few

COMMON = Design.common([0.05, 0.2, 0.4, 0.55, 0.7, 0.95])
BUDGET = Budget(8.0, 1e-6)


def people(rng, design, has_covariates, share_at_second=1.0):
    """People of unlike lengths, some with a number that is none; few are at the second time."""
    n = int(rng.integers(700, 1300))
    if design.times:
        is_seen = np.ones((n, len(design.times)), dtype=bool)
        is_seen[:, 1] = rng.random(n) < share_at_second
        counts, times = is_seen.sum(axis=1), np.tile(design.times, n)[is_seen.ravel()]
    else:
        counts = rng.choice([2, 5, 9, 40], n)
        times = rng.random(counts.sum())
    values = 0.4 * np.sin(5 * times) + np.repeat(0.2 * rng.normal(size=n), counts)
    values += 0.2 * rng.normal(size=len(times))
    values[rng.random(len(values)) < 0.01] = np.nan
    facts = PublicFacts(
        kind="upload",
        value_low=-1.0,
        value_high=1.0,
        origin="a manual",
        observations_per_curve=int(np.median(counts)),
        design=design,
        covariates=(Covariate("age", 0.0, 1.0),) if has_covariates else (),
    )
    known = rng.random((1, n, 1)) if has_covariates else None
    server = np.sort(rng.integers(0, 2, n))
    return CurveData(times[None], values[None], counts, server, facts, covariates=known)


def sent(data, mechanism):
    """Every message before noise, in units of it; later ones build on rounded ones."""
    found = {}

    def answer(key, measured, values):
        found[key] = values.copy()
        return np.round(values)

    certified.answered(data, mechanism, certified.release_cost(data, mechanism, BUDGET), answer)
    return found


@pytest.mark.parametrize("seed", few(range(20)))
@pytest.mark.parametrize(
    ("mechanism", "design", "has_covariates", "share"),
    [
        (AdaptiveMean(), Design(), False, 1.0),
        (AdaptiveMean(), COMMON, False, 1.0),
        (AdaptiveMean(), COMMON, False, 0.2),
        (AdaptiveCoefficients(), Design(), True, 1.0),
        (PercentileCurves(), Design(), False, 1.0),
        (PercentileCurves(), COMMON, False, 1.0),
    ],
    ids=["mean", "common times", "a time left out", "coefficients", "percentiles", "at times"],
)
def test_no_bit_of_a_message_depends_on_the_order(mechanism, design, has_covariates, share, seed):
    rng = np.random.default_rng(seed)
    data = people(rng, design, has_covariates, share)
    assert mechanism.ignores_order(data.facts)
    whole = sent(data, mechanism)
    for _ in range(3):
        order = np.lexsort((rng.random(data.n_curves), data.server))
        other = sent(data.in_order(order), mechanism)
        assert all(np.array_equal(whole[key], other[key]) for key in whole)


def test_only_methods_that_read_people_alike_ignore_the_order():
    facts = PublicFacts()
    assert {cls.key for cls in mechanisms.all() if cls().ignores_order(facts)} == {
        "adaptive_mean",
        "adaptive_coefficients",
        "percentile_curves",
        "noisy_counts",
    }
    assert not AdaptiveMean().ignores_order(PublicFacts(design=Design(law=TimeLaw.UNKNOWN)))
