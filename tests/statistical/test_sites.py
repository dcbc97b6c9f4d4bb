"""The order of sites is only a name: it changes nothing in law."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

SITES = ((800, 4.0), (500, 1.0), (200, 0.5))


def errors(mechanism, source, sites, seed):
    sizes = [n for n, _ in sites]
    drawn = replace(source, n_curves=sum(sizes)).draw(60, generator(seed, 0, 0))
    data = replace(drawn, server=np.repeat(np.arange(len(sites)), sizes))
    budgets = tuple(Budget(epsilon, 1e-3) for _, epsilon in sites)
    estimate = mechanism.release_many(data, [budgets], 1, generator(seed, 1, 0))
    return np.log(integrated_squared_errors(estimate, data.truth).total[0, :, 0]), estimate.parts


@pytest.mark.parametrize(
    ("mechanism", "source"),
    few(
        [
            (NoisyGradientMean(), SparseCurves()),
            (AdaptiveMean(), SparseCurves()),
            (AdaptiveCoefficients(), CoefficientCurves(n_covariates=1)),
            (NoisyGradientCoefficients(), CoefficientCurves(n_covariates=1)),
        ]
    ),
    ids=lambda x: x.key,
)
def test_permuting_the_sites_permutes_their_parts_and_changes_nothing_in_law(mechanism, source):
    """60 data sets each way: mean log errors agree within five standard errors, weights in order."""
    one, parts = errors(mechanism, source, SITES, 1)
    other, permuted = errors(mechanism, source, SITES[::-1], 2)
    spread = np.sqrt((one.var() + other.var()) / 60)
    assert abs(one.mean() - other.mean()) < 5 * spread
    assert np.allclose(parts.weight, permuted.weight[:, ::-1], atol=0.03)
    assert parts.weight.sum() == pytest.approx(1) and (np.diff(parts.weight[0]) < 0).all()


@pytest.mark.parametrize(
    "mechanism",
    few([NoisyGradientMean(), AdaptiveMean(band="none", shrink="never")]),
    ids=lambda x: x.key,
)
def test_the_parts_of_all_sites_add_up_to_the_scatter_of_the_release(mechanism):
    """60 data sets: noise and sampling explain the squared error up to bias, within a factor."""
    one, parts = errors(mechanism, SparseCurves(), SITES, 3)
    explained = float(parts.noise.sum() + parts.sampling.sum())
    assert 0.3 < explained / np.exp(one).mean() < 1.5
