"""Densities and regularised risk reproduce independently worked-out numbers.

Densities: two modes on [0, 1] on 200 midpoints with a Gaussian kernel of length 0.12 n^(−1/5), and
two modes in the plane on 28 × 28 with the exponential kernel, as released, without the nearest
density. Risk: 100 midpoints, Matérn 3/2 of length 0.1, η = 1.5. ε = 1 throughout.
"""

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.iclp import Iclp
from engine.numerics.eigensystems import midpoints
from engine.numerics.risk_minimisation import Logistic, kappa, radius
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.density_points import DensityPoints
from engine.sources.labelled_points import LabelledPoints
from engine.topics.summaries.feasible_smoothness import printed_density
from tests.heavy import few

PURE = (Budget(1.0, 0.0),)
NOISE = {
    1000: {1.25: 0.0107, 1.5: 0.00722, 2.0: 0.00457},
    20_000: {1.25: 1.55e-4, 1.5: 1.07e-4, 2.0: 6.83e-5},
}
EXACT_OVER_PRINTED = {
    1000: {1.25: 0.818, 1.5: 1.217, 2.0: 2.553},
    20_000: {1.25: 0.871, 1.5: 1.407, 2.0: 3.431},
}
every_cell = pytest.mark.parametrize(("n", "eta"), [(n, eta) for n in NOISE for eta in NOISE[n]])


def energy(mechanism, source):
    return mechanism.expected_error(source.sizes, PURE, source.facts)


@every_cell
def test_noise_of_a_density_has_the_known_energy(n, eta):
    result = energy(Iclp(task="density", eta=eta), DensityPoints(n_curves=n))
    assert result == pytest.approx(NOISE[n][eta], rel=5e-3)


@every_cell
def test_the_printed_theorem_spends_the_known_multiple(n, eta):
    found = printed_density(Iclp(task="density", eta=eta), n).ratio
    assert found == pytest.approx(EXACT_OVER_PRINTED[n][eta], abs=6e-4)


@pytest.mark.parametrize(
    ("c", "estimation", "privacy"),
    [(0.12, 0.011, 0.0072), (0.06, 0.014, 0.057), (0.2, 0.032, 0.0016), (1.0, 0.35, None)],
)
def test_a_density_with_two_modes_errs_as_much_as_is_known(c, estimation, privacy):
    """300 data sets, so that standard errors are below 3 %; the known errors have two digits."""
    mechanism, source = Iclp(task="density", bandwidth=c, clean=False), DensityPoints()
    estimate = mechanism.release_many(
        source.draw(300, generator(1, 0, 0)), [PURE], 1, generator(1, 1, 0)
    )
    found = integrated_squared_errors(estimate, source.truth).estimation.mean()
    assert found == pytest.approx(estimation, rel=0.06)
    if privacy:
        assert energy(mechanism, source) == pytest.approx(privacy, rel=0.03)


@pytest.mark.parametrize(
    ("c", "eta", "total"), few([(0.2, 1.01, 0.91), (0.2, 1.2, 0.86), (0.13, 1.75, 0.65)])
)
def test_a_density_of_the_plane_errs_as_much_as_is_known(c, eta, total):
    """8 data sets: the estimation error has standard errors below 1 %."""
    source = DensityPoints(design="two_modes_2d")
    mechanism = Iclp(task="density", kernel="exponential", bandwidth=c, eta=eta, clean=False)
    estimate = mechanism.release_many(
        source.draw(8, generator(1, 0, 0)), [PURE], 1, generator(1, 1, 0)
    )
    found = integrated_squared_errors(estimate, source.truth).estimation.mean()
    assert found + energy(mechanism, source) == pytest.approx(total, rel=0.05)
    assert source.truth.energy == pytest.approx(5.10, abs=0.01)


def test_regularised_risk_has_the_known_sensitivity_and_noise():
    source = LabelledPoints(n_curves=500, response="classes")
    mechanism = Iclp(task="risk_minimisation", loss="logistic", risk_weight=0.01)
    features = mechanism.features(midpoints(100), source.sizes)
    assert kappa(features.table) ** 2 == pytest.approx(0.36042, abs=6e-6)
    assert (features.variances**0.5).sum() == pytest.approx(4.11138, abs=6e-6)
    assert radius(Logistic(), features.table, 0.01, 500) == pytest.approx(0.12007, abs=6e-6)
    plan = mechanism.plan(source.public, PURE)
    assert plan.noise[0][0][0].sensitivity == pytest.approx(0.24346, abs=6e-6)
    assert energy(mechanism, source) == pytest.approx(0.11855, abs=6e-6)
    best = Iclp(task="risk_minimisation", loss="logistic", risk_weight=0.01, constants="optimal")
    assert energy(best, source) == pytest.approx(0.09954, abs=6e-6)
    assert np.all(plan.noise[0][0][0].scales > 0)
