"""Varying coefficients against line-by-line versions, the mean model, and their own rules."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, Covariate, Design, PublicFacts
from engine.mechanisms.adaptive_coefficients import TIMES_UNEVEN, AdaptiveCoefficients
from engine.mechanisms.families.adaptive.covariate_moments import CovariateSite, learned
from engine.mechanisms.families.adaptive.release import GAPS
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.deviations import weighted_within_curves
from engine.numerics.gradients import mean_clipped_gradient
from engine.numerics.moments import curve_moments
from engine.numerics.reference_law import of_regressors
from engine.numerics.regression_moments import RegressionDeviations, regression_moments
from engine.numerics.regressor_maps import RegressorMap, floored, reflected, weights, whitening
from engine.privacy import transcript
from engine.privacy.feasibility import Feasibility
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.simulation.studies import errors_over_budgets, with_present
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coefficients.answer import coefficients_answer
from tests.heavy import few

SOURCE = CoefficientCurves(n_curves=60, n_observations_per_curve=5, n_covariates=2)
BUDGET = Budget(1.0, 1e-3)
FOURIER = Basis(3, family="fourier")


def draw(source=SOURCE, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


def moments_of(data, basis=FOURIER):
    return regression_moments(curve_moments(data.times, data.values, data.counts, basis), data)


def naive_gradients(data, coefficients, repeat=0):
    """Curve by curve and reading by reading: (curves, K, r)."""
    out, m = [], int(data.counts[0])
    for i in range(data.n_curves):
        result = slice(i * m, (i + 1) * m)
        waves, y = FOURIER(data.times[repeat, result]), data.values[repeat, result]
        g = data.regressors[repeat, :, i]
        residual = sum(waves[j] * (waves[j] @ (coefficients.T @ g) - y[j]) for j in range(m)) / m
        out.append(np.outer(g, residual))
    return np.array(out)


# -- moments and deviations -----------------------------------------------------------------


def test_gradients_are_those_of_a_loop_over_curves_and_readings():
    data, at = draw(repeats=2), np.random.default_rng(1).normal(size=(2, 4, 3, 3))
    seen = moments_of(data).gradients(at.reshape(2, 4, 9))(slice(None))
    for repeat in (0, 1):
        for column in range(4):
            direct = naive_gradients(data, at[repeat, column], repeat)
            assert np.allclose(seen[repeat, column].T.reshape(-1, 3, 3), direct, atol=1e-12)


def test_the_average_is_that_of_the_gradients():
    data = draw()
    moments, at = moments_of(data), np.random.default_rng(2).normal(size=(1, 1, 9))
    gram, cross = moments.average()
    mean = moments.gradients(at)(slice(None)).mean(axis=3)[0, 0]
    assert np.allclose(gram[0] @ at[0, 0] - cross[0], mean, atol=1e-12)
    assert np.allclose(gram, gram.swapaxes(1, 2))


def test_least_squares_solves_the_model_without_error_exactly():
    data = draw(CoefficientCurves(n_curves=60, noise_variance=0.0, n_covariates=3))
    fit = least_squares.fit(moments_of(data)).reshape(4, 3)
    best = FOURIER.project(data.truth)[0]
    assert np.allclose(fit, best, atol=1e-6)


def test_fewer_basis_functions_are_the_first_of_every_function():
    data, at = draw(), np.random.default_rng(3).normal(size=(1, 2, 3, 3))
    wide = np.concatenate([at, np.zeros((1, 2, 3, 2))], axis=3).reshape(1, 2, 15)
    large = (
        moments_of(data, Basis(5, family="fourier"))
        .gradients(wide)(slice(None))
        .reshape(1, 2, 3, 5, 60)
    )
    small = (
        moments_of(data, Basis(5, family="fourier"))
        .first(3)
        .gradients(at.reshape(1, 2, 9))(slice(None))
    )
    assert np.allclose(large[:, :, :, :3], small.reshape(1, 2, 3, 3, 60), atol=1e-12)


def test_a_missing_covariate_makes_a_curve_say_nothing_and_stay_in_the_count():
    data = draw()
    covariates = data.covariates.copy()
    covariates[0, 7] = np.nan
    broken = moments_of(replace(data, covariates=covariates))
    at = np.ones((1, 1, 9))
    assert (broken.gradients(at)(slice(None))[..., 7] == 0).all()
    loose = np.full((1, 9), 1e9)
    whole = mean_clipped_gradient(moments_of(data), at, loose) * 60
    lost = moments_of(data).gradients(at)(slice(None))[..., 7]
    assert np.allclose(mean_clipped_gradient(broken, at, loose) * 60, whole - lost)


def without_noise(regressors):
    """What is learned of covariates (K, n) when nothing is added."""
    k = len(regressors)
    site = CovariateSite(regressors[None], np.full((2, 1), 1e-15), np.zeros((2, 1, 1, k, k)))
    return learned([site])


def narrow(n=4000, mean=0.6, spread=0.1, alike=0.9, seed=3):
    """1 and two covariates off the middle of their range, which nearly agree: (3, n)."""
    z = np.random.default_rng(seed).normal(size=(2, n))
    z[1] = alike * z[0] + np.sqrt(1 - alike**2) * z[1]
    return np.vstack([np.ones(n), np.clip(mean + spread * z, -1, 1)])


def test_every_person_has_the_same_influence_and_weighted_coordinates_are_orthonormal():
    for g in (narrow(), draw(SOURCE).regressors[0]):
        covariates = without_noise(g)
        x = covariates.map.standard[0, 0] @ g
        assert np.allclose(weights(x) * (x**2).sum(axis=0), len(g))
        assert np.allclose(covariates.moments[0, 0], g @ g.T / g.shape[1])
        f, weighted = covariates.map.full[0, 0] @ g, covariates.map.directions(g)[0, 0]
        assert np.allclose(weighted @ f.T / g.shape[1], np.eye(len(g)), atol=1e-6)
        assert (covariates.doubt < 1e-9).all() and np.allclose(covariates.widening, 1)


def test_the_intercept_has_an_equal_part_in_all_reflected_coordinates():
    v = whitening(np.diag([1.0, 0.2, 0.4]))
    turned = reflected(v)
    assert np.allclose(turned[:, 0], v[0, 0] / np.sqrt(3))
    assert np.allclose(turned.T @ turned, v.T @ v)
    assert (reflected(np.eye(1)) == 1).all()


def test_coefficients_and_covariances_go_back_to_the_covariates():
    rng = np.random.default_rng(4)
    w, b, f = rng.normal(size=(1, 1, 3, 3)), rng.normal(size=(1, 1, 3, 2)), rng.normal(size=(3, 5))
    a = RegressorMap(w, w).coefficients(b)
    assert np.allclose(
        np.einsum("kr,kn->rn", a[0, 0], f), np.einsum("kr,kn->rn", b[0, 0], w[0, 0] @ f)
    )
    drawn = rng.normal(size=(20, 1, 1, 3, 2))
    turned = np.stack([RegressorMap(w, w).coefficients(each) for each in drawn])
    before, after = (np.einsum("nabkr,nabjs->abkrjs", each, each) for each in (drawn, turned))
    assert np.allclose(RegressorMap(w, w).covariance(before), after)


def test_doubt_is_the_noise_in_what_is_left_of_a_covariate_over_it():
    """With one covariate: its released variance, by simulation of the second release alone."""
    g = narrow()[:2]
    site = CovariateSite(g[None], np.full((2, 1), 1e-15), np.zeros((2, 1, 1, 2, 2)))
    standard = learned([site]).map.standard
    x = weights(standard[0, 0] @ g) * (standard[0, 0] @ g)
    fine = x @ (standard[0, 0] @ g).T / g.shape[1]
    rng, sd = np.random.default_rng(5), 0.002
    noise = rng.normal(size=(20_000, 2, 2)) * sd
    noise = (noise + noise.swapaxes(-1, -2)) / 2
    back = np.linalg.inv(standard[0, 0])
    left = 1 / np.linalg.inv(back @ (fine + noise) @ back.T)[:, 1, 1]
    second = CovariateSite(
        g[None], np.array([[1e-15], [sd / (2 * np.sqrt(2))]]), np.zeros((2, 1, 1, 2, 2))
    )
    doubt = learned([second]).doubt[0, 0, 1]
    assert doubt == pytest.approx(left.std() / left.mean(), rel=0.03)


def test_deviations_average_to_the_distance_from_the_truth():
    """4000 curves without reading errors: every entry within five standard errors."""
    data = draw(CoefficientCurves(n_curves=4000, noise_variance=0.0))
    covariates = without_noise(data.regressors[0]).map
    best, at = FOURIER.project(data.truth)[0], np.linspace(-1, 1, 9)
    target = np.linalg.solve(covariates.full[0, 0].T, best).ravel()
    ((_, curves),) = weighted_within_curves(moments_of(data).moments, data.counts, {3}, Design())
    own = RegressionDeviations(curves, data.regressors, covariates).from_centres(
        at[None, None], slice(None)
    )[0, 0]
    error = own.std(axis=1) / np.sqrt(4000)
    assert (np.abs(own.mean(axis=1) - (at - target)) < 5 * error).all()


def test_second_moments_are_raised_to_their_least_and_stay_symmetric():
    rough = np.array([[[[1.0, 0.9], [0.9, 0.7]], [[1.0, 0.0], [0.0, 0.5]]]])
    raised = floored(rough, np.array([0.2, 0.0]))
    assert np.linalg.eigvalsh(raised)[0, 0].min() == pytest.approx(0.2)
    assert np.allclose(raised[0, 1], rough[0, 1])
    assert np.allclose(raised, raised.swapaxes(-1, -2))


def test_people_who_differ_in_level_alone_are_far_no_more_often_than_the_law_of_covariates_has_it():
    covariates = without_noise(narrow())
    law = of_regressors(covariates.moments, covariates.map, FOURIER, 2, Design())
    spread, shape = np.linspace(0.5, 1.5, 9), np.linspace(1.0, 2.0, 9)
    sizes = spread / shape * law._scale[0, 0].ravel() * np.tile(law.waves.std(axis=0), 3)
    of_people = np.repeat(law.directions[0, 0], 3, axis=0) * sizes[:, None]
    level = np.random.default_rng(2).standard_normal((2000, 1))
    lengths = np.abs(level) * np.linalg.norm(of_people, axis=0)
    radius = np.sqrt(1.4 * (lengths**2).mean())
    usual = law.share_beyond(spread[None, None], shape[None, None], np.array([[radius]]))[0, 0]
    assert np.mean(lengths > 2 * radius) <= usual[1] + 0.002


def test_the_reference_law_of_covariates_agrees_with_sums_over_its_sample():
    covariates = without_noise(narrow())
    law = of_regressors(covariates.moments, covariates.map, FOURIER, 2, Design())
    direction, regressor = law.directions[0, 0], law.regressors[0, 0]
    assert np.allclose(direction @ regressor.T / 400, np.eye(3), atol=1e-5)
    z = (law._scale[0, 0][:, :, None] * direction[:, None] * law.waves.T).reshape(9, -1)
    assert np.allclose((z**2).mean(axis=1), 1)
    assert np.allclose(law.mean_absolute[0, 0], np.abs(z).mean(axis=1))
    spread, shape, radius = np.linspace(0.5, 1.5, 9), np.linspace(1.0, 2.0, 9), 1.3
    h = spread[:, None] * z
    norm = np.sqrt(((h / shape[:, None]) ** 2).sum(axis=0))
    f = np.minimum(1, radius / norm)
    kept = law.retained_share(spread[None, None], shape[None, None], np.array([[radius]]))[0, 0]
    assert np.allclose(kept, np.abs(f * h).mean(axis=1) / np.abs(h).mean(axis=1))
    slope = law.slope(spread[None, None], shape[None, None], np.array([[radius]]))[0, 0]
    moved = np.einsum("hn,kn,nlm->hlkmn", direction, regressor, law.products).reshape(9, 9, -1)
    step = 1e-6  # a centre that is moved along one coefficient at a time
    for entry in range(9):
        ahead, behind = (h + sign * step * moved[:, entry] for sign in (1, -1))
        clipped = [
            each * np.minimum(1, radius / np.sqrt(((each / shape[:, None]) ** 2).sum(axis=0)))
            for each in (ahead, behind)
        ]
        numeric = (clipped[0] - clipped[1])[entry].mean() / (2 * step)
        assert slope[entry] == pytest.approx(numeric, rel=1e-4)


# -- noisy gradients ------------------------------------------------------------------------


def test_without_covariates_the_model_is_that_of_the_mean_bit_for_bit():
    data = draw(SparseCurves(n_curves=120, n_observations_per_curve=5, n_servers=2), repeats=2)
    chosen = {"scheme": "split", "n_iterations": 6, "truncation": 3, "step_size": 0.4}
    mean, model = (
        cls(**chosen).release_many(data, [(BUDGET,)], 2, generator(1, 1, 0))
        for cls in (NoisyGradientMean, NoisyGradientCoefficients)
    )
    assert model.functions == ("Intercept",)
    assert (model.coefficients[..., 0, :] == mean.coefficients).all()
    assert model.spends == mean.spends


def test_one_round_is_a_clipped_average_of_naive_gradients():
    data = draw()
    method = NoisyGradientCoefficients(n_iterations=1, truncation=3, step_size=0.5)
    estimate = method.release_many(data, [(NON_PRIVATE,)], 1, generator(1, 1, 0))
    radii = method._radii(data.counts, 60, 3)[0]
    clipped = np.clip(naive_gradients(data, np.zeros((3, 3))), -radii, radii).mean(axis=0)
    assert np.allclose(estimate.coefficients[0, 0, 0], -0.5 * clipped)


def test_the_paper_weighs_servers_with_the_number_of_covariates():
    """u_s = 1 / max(d/n, d r/(n m), d²/(n² ε²), d² r²/(n² m ε²))."""
    data = draw(CoefficientCurves(n_curves=60, n_covariates=3, n_servers=2))
    budgets = (Budget(0.2, 1e-3), Budget(4.0, 1e-3))
    plan = NoisyGradientCoefficients(weights="rate", truncation=3).plan(data.public, budgets)
    n, m, r, d = 30, 10, 3, 3
    raw = [
        1 / max(d / n, d * r / (n * m), d**2 / (n * e) ** 2, d**2 * r**2 / (n**2 * m * e**2))
        for e in (0.2, 4.0)
    ]
    assert np.allclose(plan.weights, np.array(raw) / sum(raw))


@pytest.mark.parametrize(
    "method", [NoisyGradientCoefficients(), AdaptiveCoefficients()], ids=lambda m: m.key
)
def test_central_is_one_server_bit_for_bit_and_no_limit_is_no_noise(method):
    data = draw(CoefficientCurves(n_curves=400, n_servers=2))
    pooled = data.pooled()
    one, again = (
        method.release_many(d, [(BUDGET,)], 2, generator(1, 1, 0))
        for d in (pooled, replace(pooled))
    )
    assert (one.coefficients == again.coefficients).all()
    free = method.release_many(data, [(NON_PRIVATE,) * 2], 2, generator(1, 1, 0))
    assert np.allclose(free.coefficients[0], free.unprotected[0][:, None], atol=1e-9)


def test_errors_are_summed_over_functions_and_effects_are_in_response_units():
    source = CoefficientCurves(design="growth", n_curves=4000, noise_variance=0.1, deviation_sd=0.1)
    data = draw(source)
    estimate = AdaptiveCoefficients().release(data, (Budget(8.0, 1e-6),), generator(1, 1, 0))
    shown = estimate.values(drawing_grid())[0, 0, 0]
    assert shown.shape == (3, 101)
    assert np.abs(shown - data.truth.grid_values).mean() < 1
    by_function = estimate.basis.squared_distance(
        estimate.coefficients - estimate.project(data.truth)[0]
    )
    tails = estimate.project(data.truth)[1]
    total = integrated_squared_errors(estimate, data.truth).total
    assert np.allclose(total, (by_function + tails).sum(axis=-1))
    assert coverage(estimate, data.truth).of_kept.shape == (1, 1, 1)


# -- our own --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "epsilon", "feasible"),
    [(500, 3, 1.0, True), (350, 3, 1.0, False), (500, 1, 1.0, True), (150, 1, 1.0, False)],
)
def test_it_is_feasible_from_35_per_function(n, d, epsilon, feasible):
    sizes = CoefficientCurves(n_curves=n, n_covariates=d).sizes
    assert (
        AdaptiveCoefficients().feasibility(sizes, (Budget(epsilon, 1e-3),)).is_feasible is feasible
    )


def test_what_is_said_to_be_enough_is_enough():
    short = Feasibility(100.0, 4)
    more = short.curves_needed(400) / 400
    assert not short.is_feasible
    assert Feasibility(100.0 * more, 4).is_feasible


def test_below_the_bar_nothing_is_released_and_nothing_is_spent():
    one, other = (
        AdaptiveCoefficients().release(draw(seed=seed), (BUDGET,), generator(1, 1, 0))
        for seed in (1, 2)
    )
    assert (one.coefficients == other.coefficients).all()
    assert [spend.mu for spend in one.spends[0]] == [0.0]
    assert np.isnan(one.lower).all()


def test_eight_messages_of_each_site_and_one_less_when_the_gram_is_declared():
    data = draw(CoefficientCurves(n_curves=3000, n_servers=3))
    for chosen, steps in (
        ({}, 8),
        ({"gram": "declared"}, 7),
        ({"band": "none"}, 8),
        ({"releases": "separate"}, 10),
    ):
        with transcript.recorded() as messages:
            AdaptiveCoefficients(**chosen).release(data, (BUDGET,), generator(1, 1, 0))
        assert len(messages) == 3 * steps
        assert [m.server for m in messages[:3]] == [0, 1, 2]


def test_a_release_warns_where_a_covariate_hardly_varies_and_only_there():
    usual, flat = (
        draw(CoefficientCurves(n_curves=1000, covariate_law=law, covariate_spread=0.01), repeats=3)
        for law in ("even", "narrow")
    )
    budgets = [(Budget(1.0, 1e-3),), (Budget(2000.0, 1e-3),)]
    method = AdaptiveCoefficients()
    assert not method.release_many(usual, budgets, 2, generator(1, 1, 0)).is_doubted.any()
    estimate = method.release_many(flat, budgets, 2, generator(1, 1, 0))
    of_effects = [caution for caution in estimate.cautions if "covariate G" in caution.text]
    assert [caution.text[:16] for caution in of_effects] == ["The covariate G1", "The covariate G2"]
    for caution in of_effects:
        assert caution.applies.shape == (2, 3, 2)
        assert caution.applies[0].all() and not caution.applies[1].any()


def test_a_covariate_that_is_the_same_for_everybody_is_released_with_a_warning():
    data = draw(CoefficientCurves(n_curves=1000))
    covariates = data.covariates.copy()
    covariates[..., 1] = 0.3
    estimate = AdaptiveCoefficients().release(
        replace(data, covariates=covariates), (BUDGET,), generator(1, 1, 0)
    )
    assert any("covariate G2" in text for text in estimate.warnings)
    assert np.isfinite(estimate.coefficients).all()


def test_a_wrong_declaration_is_corrected_by_the_release_that_follows_it():
    """Mean squares of a hundredth are declared for covariates that have one third."""
    data = draw(CoefficientCurves(n_curves=2000), repeats=4)
    errors = [
        integrated_squared_errors(
            AdaptiveCoefficients(gram="declared", declared_gram=declared).release_many(
                data, [(Budget(4.0, 1e-3),)], 1, generator(1, 1, 0)
            ),
            data.truth,
        ).total.mean()
        for declared in (None, "0.01, 0.01")
    ]
    assert errors[1] < 5 * errors[0]


def test_declared_mean_squares_must_fit():
    data = draw(CoefficientCurves(n_curves=3000))
    good = AdaptiveCoefficients(gram="declared", declared_gram="0.3, 0.4")
    assert good.declared(3).tolist() == [[1, 0, 0], [0, 0.3, 0], [0, 0, 0.4]]
    with pytest.raises(InputError, match="1 declared mean squares for 2"):
        AdaptiveCoefficients(gram="declared", declared_gram="0.3").release(
            data, (BUDGET,), generator(1, 1, 0)
        )
    with pytest.raises(InputError, match="above 0 and at most at 1"):
        AdaptiveCoefficients(declared_gram="0.3, 1.4")


def test_without_delta_it_refuses_kindly():
    with pytest.raises(InputError, match="δ must be above 0"):
        AdaptiveCoefficients().release(draw(), (Budget(1.0),), generator(1, 1, 0))


# -- curves with covariates -----------------------------------------------------------------


def test_covariates_are_moved_into_their_ranges_and_onto_plus_minus_one():
    facts = PublicFacts(covariates=(Covariate("a", 0.0, 10.0), Covariate("b", -1.0, 1.0)))
    result = np.array([[0.0, 1.0], [5.0, -1.0], [12.0, 0.0], [np.nan, 0.5]])
    assert facts.to_regressors(result).tolist() == [[1, -1, 1], [1, 0, -1], [1, 1, 0], [1, 0, 0.5]]


def test_curves_scatter_around_their_own_sum_of_effects():
    """60 000 readings: the average residual of each design is within five standard errors of 0."""
    for chosen in ({}, {"design": "growth", "deviation_sd": 0.0}, {"likeness": 0.9}):
        source = CoefficientCurves(n_curves=6000, **chosen)
        data = draw(source)
        grid = data.truth.grid_values
        at = [np.interp(data.times[0], drawing_grid(), row) for row in grid]
        g = np.repeat(data.regressors[0], 10, axis=1)
        residual = data.values[0] - sum(a * b for a, b in zip(at, g, strict=True))
        assert abs(residual.mean()) < 5 * 0.5 / np.sqrt(60_000) + 0.01 * np.abs(grid).max() / 100
        assert residual.std() == pytest.approx(0.5, rel=0.02)


def test_likeness_makes_covariates_agree_and_designs_have_their_own_limit():
    alike = draw(CoefficientCurves(n_curves=2000, likeness=0.9)).covariates[0]
    assert np.corrcoef(alike.T)[0, 1] > 0.95
    with pytest.raises(InputError, match="at most 3 covariates"):
        CoefficientCurves(design="growth", n_covariates=4)
    sexes = draw(CoefficientCurves(design="growth")).covariates[0, :, 1]
    assert set(sexes.tolist()) == {-1.0, 1.0}


def test_servers_can_be_kept_and_renumbered_with_all_that_belongs_to_them():
    data = draw(CoefficientCurves(n_curves=60, n_servers=3))
    result = data.of_servers([0, 2])
    assert result.sizes.n_curves_per_server == (20, 20)
    assert (result.covariates[0, 20:] == data.covariates[0, 40:]).all()
    assert (result.values[0, 200:] == data.values[0, 400:]).all()


# -- errors over budgets --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "steps"), few([(1.0, [0.5, 1.0, 2.0]), (1.5, [0.5, 1.0, 1.5, 2.0])])
)
def test_a_chart_over_budgets_has_the_errors_that_stand_above_it(epsilon, steps):
    source = CoefficientCurves(n_curves=400, n_observations_per_curve=3, n_covariates=1)
    mechanism = NoisyGradientCoefficients()
    answer = coefficients_answer(source, mechanism, Budget(epsilon, 1e-3), 1)
    at_steps = errors_over_budgets(source, mechanism, 1e-3, 1, (0.5, 1.0, 2.0))
    epsilons, errors = with_present((0.5, 1.0, 2.0), at_steps, epsilon, answer.error_by_function)
    assert epsilons == steps
    assert errors[steps.index(epsilon)] == pytest.approx(answer.error_by_function)
    assert errors[[0, -1]] == pytest.approx(at_steps[[0, -1]])
    if epsilon in (0.5, 1.0, 2.0):  # it is the same study, whichever budgets are looked at together
        assert at_steps[1] == pytest.approx(answer.error_by_function)


def test_effects_from_uneven_times_are_warned_of_and_between_few_times_the_band_is_limited():
    uneven = CoefficientCurves(n_curves=2000, times="density", time_density="3, 1, 1")
    few_times = CoefficientCurves(n_curves=2000, times="common")
    warned = [
        TIMES_UNEVEN
        in AdaptiveCoefficients()
        .release(source.draw(1, generator(1, 0, 0)), (Budget(2.0, 1e-6),), generator(1, 1, 0))
        .warnings
        for source in (uneven, few_times)
    ]
    assert warned == [True, False]
    limits = [AdaptiveCoefficients().limit_of_band(source.facts) for source in (uneven, few_times)]
    assert GAPS in limits[1] and GAPS not in limits[0]


def test_effects_at_few_common_times_are_held_by_their_bands_with_many_people():
    """As many functions as times: what lies between the times is in no coefficient."""
    source = CoefficientCurves(
        design="growth", n_covariates=1, n_curves=6000, times="common", n_observations_per_curve=9
    )
    data = source.draw(6, generator(3, 0, 0))
    estimate = AdaptiveCoefficients().release_many(
        data, [(Budget(1.0, 1e-7),)], 1, generator(3, 1, 0)
    )
    truth, (low, high) = data.truth.grid_values, estimate.limits
    assert ((low <= truth) & (truth <= high)).all(axis=-1).mean() > 0.9


def test_effects_from_windows_are_refused():
    source = CoefficientCurves(n_curves=2000, times="windows")
    with pytest.raises(InputError, match="short part of the time range"):
        AdaptiveCoefficients().release(
            source.draw(1, generator(1, 0, 0)), (Budget(2.0, 1e-6),), generator(1, 1, 0)
        )
