"""Varying coefficients: claims are attained and never exceeded, and broken variants are caught."""

import numpy as np
import pytest

from engine.audit.neighbours import usual_curves
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.families.adaptive import covariate_moments, location
from engine.mechanisms.families.descent import NoisyGradient
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.numerics import exact_sums, regressor_maps
from engine.privacy import accounting
from tests.audit.search import found as found_in
from tests.heavy import few

ROUNDING = 1 + 1e-9
FEW = {"truncation": 3, "n_iterations": 3}
LARGE = Budget(400.0, 1e-3)  # 24 curves: below it nothing is released at all
SMALL = {"truncation": 2}
ONE = Budget(1.0, 1e-3)


def worst_gradient(chosen, tries=400, **sizes):
    mechanism = NoisyGradientCoefficients(**FEW, **chosen)
    return found_in(mechanism, ONE, tries, usual_curves(mechanism, **sizes)).worst


# -- noisy gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("n_servers", few([3, 1]))
@pytest.mark.parametrize(
    "chosen",
    [
        {"scheme": "split"},
        {},
        {"noise": "isotropic"},
        {"scheme": "split", "constants": "published"},
        {"log_power": 2},
        {"ellipsoid_radius": 5.0},
    ],
    ids=str,
)
def test_no_neighbour_moves_a_round_further_than_claimed_and_some_reach_the_claim(
    chosen, n_servers
):
    """400 pairs of curves with covariates at, beyond and inside the ends of their ranges."""
    assert 0.9 <= worst_gradient(chosen, n_covariates=2, n_servers=n_servers) <= ROUNDING


@pytest.mark.parametrize("n_covariates", [1, 8])
def test_any_number_of_covariates_keeps_the_claim_also_with_unequal_lengths(n_covariates):
    worst = worst_gradient({}, 200, unequal=True, n_covariates=n_covariates)
    assert 0.8 <= worst <= ROUNDING


def test_the_projection_of_remark_8_gives_no_protection_and_is_not_offered():
    """The paper's set for growing d holds every person's covariates and is used without noise.

    A released point that lies outside one person's constraint proves that this person took no
    part, so δ would have to exceed the chance of such points. Here: the share of noisy points
    outside the constraint of G' = (1, 1, 1), all of which satisfy that of G = (1, 0, 0).
    """
    rng, bound = np.random.default_rng(1), 1.0
    points = rng.standard_normal((20_000, 3, 3))
    weights = np.arange(1.0, 4.0) ** 6

    def held(point_set, g):
        combined = np.einsum("k,nkl->nl", np.array(g), point_set)
        size = (weights * combined**2).sum(axis=1, keepdims=True)
        shrink = np.minimum(1, np.sqrt(bound / size))
        return point_set - (combined * (1 - shrink))[:, None] * np.array(g)[:, None] / np.dot(g, g)

    released = held(points, (1, 0, 0))
    other = (weights * released.sum(axis=1) ** 2).sum(axis=1)
    assert (other > bound).mean() > 0.8
    assert not any(
        "regressor" in p.name or "data" in p.name for p in NoisyGradientCoefficients.parameters()
    )


# -- adaptive coefficients --------------------------------------------------------------------


def search(mechanism, tries=1000, **sizes):
    usual = usual_curves(mechanism, **{"n_covariates": 1, **sizes})
    losses = found_in(mechanism, LARGE, tries, usual)
    assert losses.reason or len(losses.lines) == len(losses.claim.lines)
    return losses


@pytest.mark.slow
@pytest.mark.parametrize("n_servers", [1, 2])
def test_every_release_attains_its_claim_within_a_tenth_and_never_exceeds_it(n_servers):
    """1000 pairs; the first two releases are those of the covariates."""
    result = search(AdaptiveCoefficients(**SMALL), 1000, n_servers=n_servers)
    print(result.lines.round(4), round(result.worst, 4))
    assert (result.lines <= ROUNDING).all() and result.worst <= ROUNDING
    assert (result.lines > 0.9).all()
    assert result.lines[0] > 1 - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    few(
        [
            {"gram": "declared"},
            {"band": "none"},
            {"truncation": 5},
            {"basis": "cosine"},
            {"declared_gram": "0.5", "gram": "declared"},
        ]
    ),
    ids=str,
)
def test_no_setting_releases_more_than_it_claims(chosen):
    for unequal in (False, True):
        result = search(AdaptiveCoefficients(**{**SMALL, **chosen}), 400, unequal=unequal)
        assert (result.lines <= ROUNDING).all()
        assert result.worst <= ROUNDING


@pytest.mark.slow
def test_three_covariates_keep_the_claim():
    """The bound on second moments is attained for an even number of regressors."""
    result = search(AdaptiveCoefficients(**SMALL), 600, n_covariates=3)
    assert (result.lines <= ROUNDING).all() and result.lines[0] > 0.9


def covariate_noise_forgets_the_covariates(patch):
    """Noise of the second moments as if they moved by 1/n."""
    patch.setattr(covariate_moments, "shift", lambda n_functions: 1.0)


def scaled_covariates_are_free(patch):
    """The second release of the covariates has a tenth of its noise."""
    honest = covariate_moments.CovariateSite.noise_scale
    patch.setattr(
        covariate_moments.CovariateSite,
        "noise_scale",
        lambda site, step: honest(site, step) / (1 if step == covariate_moments.IN_RANGES else 10),
    )


def nobody_is_weighted(patch):
    """Covariates are scaled up to their released spread, and influence is not cut again."""
    patch.setattr(regressor_maps, "weights", lambda standard: np.ones_like(standard[..., :1, :]))


def no_clipping(patch):
    patch.setattr(exact_sums, "truncated", lambda z, norms: np.trunc(z * 2.0**40))


def one_sided_sensitivity(patch):
    patch.setattr(location, "JOINT_MOMENTS", location.JOINT_MOMENTS / 2)


@pytest.mark.parametrize(
    "broken",
    few(
        [
            covariate_noise_forgets_the_covariates,
            scaled_covariates_are_free,
            nobody_is_weighted,
            no_clipping,
            one_sided_sensitivity,
        ]
    ),
    ids=lambda x: x.__name__,
)
def test_a_broken_variant_is_caught(broken):
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        result = search(AdaptiveCoefficients(**SMALL))
    print(result.lines.round(3), round(result.worst, 3))
    assert result.worst > 1 + 1e-6 or (result.lines > 1 + 1e-6).any()


# -- both ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [NoisyGradientCoefficients(n_iterations=4), AdaptiveCoefficients()],
    ids=lambda m: m.key,
)
def test_tuning_and_ledger_do_not_look_at_readings_or_covariates(mechanism):
    one, other = (
        mechanism.release(
            usual_curves(None, seed=seed, n_covariates=2), (LARGE,), generator(1, 1, 0)
        )
        for seed in (1, 2)
    )
    assert one.tuning == other.tuning
    assert one.spends == other.spends
    result = accounting.exact_mu(LARGE.epsilon, LARGE.delta)
    assert accounting.total_mu(one.spends[0]) == pytest.approx(result, rel=1e-9)


def test_the_base_class_is_the_only_place_where_gradients_leave_a_server():
    assert "server_update" not in NoisyGradientCoefficients.__dict__
    assert "server_update" in NoisyGradient.__dict__
