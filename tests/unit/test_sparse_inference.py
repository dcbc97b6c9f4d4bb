"""Intervals and bands for sparse coefficients: worked values, ledgers, limits, printed variants."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from engine.core.arrays import hard_threshold
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import (
    NON_PRIVATE,
    Budget,
    Estimate,
    Intervals,
    Public,
    SampleData,
    Sizes,
    Truth,
)
from engine.mechanisms.families.sparse import averages as sparse_averages
from engine.mechanisms.families.sparse import eigenvalues as sparse_eigenvalues
from engine.mechanisms.families.sparse import printed as sparse_printed
from engine.mechanisms.families.sparse.averages import RowAverages, of_rows, pooled
from engine.mechanisms.families.sparse.corrections import (
    Corrected,
    Distance,
    matrix_noise,
    pointwise_half_widths,
    simultaneous_half_width,
)
from engine.mechanisms.families.sparse.directions import noisy_gram, several_directions
from engine.mechanisms.families.sparse.inference import ONE, SEVERAL, Columns, ball, gaussian_rho
from engine.mechanisms.families.sparse.thresholding import rows_of
from engine.mechanisms.sparse_inference import SparseInference
from engine.noise.selection import PEELING, noisy_hard_threshold, printed_scale
from engine.noise.selection import draw as draw_noise
from engine.numerics.correlated import covariance
from engine.numerics.sparse_fits import precision_rows
from engine.privacy import accounting
from engine.privacy.transcript import CENTRE, recorded
from engine.simulation.metrics import coverage, entry_coverage
from engine.sources.sparse_rows import SparseRows
from tests.sentences import of_topic
from tests.sparse_data import facts_of

wording = of_topic("sparse")

SOURCE = SparseRows(n_curves=20_000, n_servers=2, n_features=6, n_shared=2)
COLUMN = {"directions": "column", "features": "2"}  # one coefficient without the Gram matrix
BUDGETS = [(Budget(2.0, 1e-5),), (Budget(8.0, 1e-5),)]
VARIANTS = [
    SparseInference(sparsity=2),
    SparseInference(sparsity=2, **COLUMN),
    SparseInference(sparsity=2, pilot="thresholding"),
    SparseInference(sparsity=2, features="2, 5"),
    SparseInference(sparsity=2, target="band"),
    SparseInference(sparsity=2, conservative=True),
]
every_variant = pytest.mark.parametrize("mechanism", VARIANTS, ids=repr)
WORKED = Sizes((20_000,) * 10, 200_000, 1, 100)


def draw(seed=1, repeats=2, source=SOURCE):
    return source.draw(repeats, generator(seed, 0, 0))


def release(mechanism, data, budgets=BUDGETS, draws=3, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


# -- worked values --------------------------------------------------------------------------------


def worked(**chosen):
    """Residuals held to 2 and steps of .7, as in the worked example."""
    return SparseInference(residual_clip=2.0, step_size=0.7, **chosen).plan(
        Public(WORKED, facts_of(100)), (Budget(1.0, 1e-6),)
    )


ALONE = {"features": "1", "directions": "column"}


def test_one_interval_without_the_gram_matrix_has_the_worked_noise():
    plan = worked(**ALONE)
    assert accounting.rho_of(1.0, 1e-6) == pytest.approx(0.024356, abs=5e-7)
    rounds = plan.thresholding
    assert rounds.step_sensitivity == pytest.approx(5.6e-5, rel=1e-12)
    assert rounds.scales.choice == pytest.approx(4.698e-3, abs=5e-7)
    assert rounds.scales.values == pytest.approx(4.698e-3, abs=5e-7)
    assert plan.noise.column.choice == pytest.approx(1.0765e-2, abs=5e-7)
    assert plan.noise.column.values == pytest.approx(1.0765e-2, abs=5e-7)
    assert 4 * plan.noise.residuals == pytest.approx(5.232e-4 * math.sqrt(2), abs=5e-8)
    assert plan.noise.spread == pytest.approx(4.005e-3, abs=5e-7)
    assert 5 * plan.noise.correction == pytest.approx(7.659e-4, abs=5e-8)


def test_one_interval_has_the_worked_length():
    deviation = 5 * worked(**ALONE).noise.correction
    result = Corrected(
        np.zeros((1, 1, 1)),
        np.full((1, 1, 1, 1), 0.25 * 5 / 3 / 200_000),
        np.full((1, 1, 1, 1), deviation**2),
        np.full((1, 1), 0.25),
        np.ones((1, 1), bool),
        np.ones((1, 1), bool),
    )
    assert math.sqrt(result.sampling.item()) == pytest.approx(1.4434e-3, abs=5e-8)
    assert 2 * pointwise_half_widths(result.errors).item() == pytest.approx(6.405e-3, abs=5e-7)


def test_a_band_has_the_noise_that_its_shares_of_the_budget_allow():
    """μ² = 2ρ is divided; the Gram matrix moves by √2 B²/N in the Frobenius norm, B = 13.5."""
    plan, rho = worked(target="band"), gaussian_rho((Budget(1.0, 1e-6),))
    assert rho > 1.1 * accounting.rho_of(1.0, 1e-6)  # Gaussian noise alone, counted exactly
    assert plan.noise.gram == pytest.approx(13.5**2 / 200_000 / math.sqrt(2 * 0.3 * rho), rel=1e-9)
    assert plan.noise.correction == pytest.approx(
        4.0 / 200_000 / math.sqrt(2 * 0.45 * rho), rel=1e-9
    )


def test_the_sensitivity_of_a_precision_step_is_the_worked_one():
    assert [
        line.sensitivity[0]
        for line in worked(**ALONE).spends
        if line.server == 0 and "precision" in line.what
    ] == pytest.approx([1.4e-4, 1.4e-4 * math.sqrt(3)])


def test_shares_add_up_to_the_whole():
    for shares in (ONE, SEVERAL):
        assert sum(vars(shares).values()) == pytest.approx(1.0, abs=1e-15)


def test_norms_that_rows_rarely_exceed_follow_the_printed_factor_at_a_hundred_features():
    assert ball(100) == 1.35 * math.sqrt(100)
    x = draw(source=SparseRows(n_curves=20_000, n_features=20)).x[0]
    assert (np.linalg.norm(x, axis=1) > ball(20)).mean() < 1e-3
    assert (np.linalg.norm(x, axis=1) > 1.35 * math.sqrt(20)).mean() > 0.04


# -- averages -------------------------------------------------------------------------------------


def some_vectors(seed=3, size=6, columns=4, g=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, columns, size)), rng.normal(size=(2, columns, g, size))


def averages(data):
    return RowAverages(rows_of(data, 4.0, 4.0))


def test_rows_are_clipped_as_a_whole_so_that_no_coefficient_is_biased():
    """Heavy tails, half of the rows beyond a clip: without noise y = x'β still holds in all."""
    rng, beta = np.random.default_rng(1), np.array([1.0, -2.0, 0.5])
    x = rng.standard_t(1, (1, 500, 3)) * np.array([1.0, 3.0, 1.0])
    data = SampleData(x, x @ beta, np.zeros(500, int), facts_of(3))
    rows = rows_of(data, 4.0, 2.0, norm=2.5)
    assert np.abs(rows.x).max() <= 2 and np.linalg.norm(rows.x, axis=-1).max() <= 2.5 + 1e-12
    assert (np.linalg.norm(x, axis=-1) > 2.5).mean() > 0.4
    assert np.allclose(rows.y, rows.x @ beta)
    entry_by_entry = rows_of(data, 4.0, 2.0)
    assert not np.allclose(entry_by_entry.y, entry_by_entry.x @ beta)


def test_averages_without_clips_are_those_of_moments():
    own, (vectors, directions) = averages(draw()), some_vectors()
    moments = of_rows(own)
    for name, arguments in (
        ("gradient", (vectors,)),
        ("products", (vectors,)),
        ("squared_residuals", (vectors,)),
        ("squared_products", (vectors,)),
        ("within", (vectors,)),
        ("gram", ()),
        ("corrections", (vectors, directions)),
    ):
        assert np.allclose(getattr(own, name)(*arguments), getattr(moments, name)(*arguments))


def test_clipped_averages_are_what_their_names_say():
    own, (vectors, directions) = averages(draw()), some_vectors()
    x, y = own.rows.x, own.rows.y
    residuals = np.clip(y[:, None] - vectors @ x.swapaxes(1, 2), -0.7, 0.7)
    products = vectors @ x.swapaxes(1, 2)
    assert np.allclose(own.squared_residuals(vectors, 0.7), (residuals**2).mean(axis=-1))
    inside = np.abs(y[:, None] - products) <= 0.7
    assert np.allclose(own.within(vectors, 0.7), inside.mean(axis=-1))
    assert np.allclose(
        own.squared_products(vectors, 0.9), (np.clip(products, -0.9, 0.9) ** 2).mean(axis=-1)
    )
    assert np.allclose(own.products(vectors, 0.9), np.clip(products, -0.9, 0.9) @ x / x.shape[1])
    held = x * np.minimum(1, 2 / np.linalg.norm(x, axis=-1, keepdims=True))
    assert np.allclose(own.gram(2.0), held.swapaxes(1, 2) @ held / x.shape[1])
    where = np.array([[[0, 3], [2, 5]]] * 2)
    chosen = x[:, :, [2, 5]]
    chosen = chosen * np.minimum(1, 1.5 / np.linalg.norm(chosen, axis=-1, keepdims=True))
    assert np.allclose(own.gram_on(where, 1.5)[:, 1], chosen.swapaxes(1, 2) @ chosen / x.shape[1])
    w = np.einsum("rcgd,rnd->rcng", directions, x)
    w *= np.minimum(1, 1.5 / np.linalg.norm(w, axis=-1, keepdims=True))
    assert np.allclose(
        own.corrections(vectors, directions, 0.7, 1.5),
        np.einsum("rcn,rcng->rcg", residuals, w) / x.shape[1],
    )


def test_averages_of_machines_weighted_by_their_rows_are_those_of_all():
    data = SparseRows(n_curves=3001, n_servers=3, n_features=6).draw(2, generator(1, 0, 0))
    own, (vectors, directions) = averages(data), some_vectors()
    parts = [own.of_machine(k) for k in range(3)]
    assert [part.n for part in parts] == [1001, 1000, 1000]
    for name, arguments in (
        ("gradient", (vectors, 1.0)),
        ("squared_residuals", (vectors, 1.0)),
        ("corrections", (vectors, directions, 1.0, 2.0)),
        ("gram", (2.0,)),
    ):
        each = [part.n / 3001 * getattr(part, name)(*arguments) for part in parts]
        assert np.allclose(sum(each), getattr(own, name)(*arguments))


def test_drawn_moments_have_the_law_of_those_of_rows():
    """600 data sets of 300 rows, 20 000 drawn: means and spreads agree to five standard errors."""
    source = SparseRows(n_curves=300, n_servers=1, n_features=6, n_shared=3)
    rows = of_rows(RowAverages(rows_of(draw(repeats=600, source=source), 4.0, math.inf)))
    drawn = sparse_averages.sample_moments(
        source.covariance,
        source.truth.node_values,
        source.noise_sd,
        300,
        20_000,
        generator(2, 0, 0),
    )
    for name in ("second", "cross", "square"):
        one, other = getattr(rows, name), getattr(drawn, name)
        error = one.std(axis=0) / math.sqrt(600)
        assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 5 * error).all()
        ratio = one.std(axis=0) / other.std(axis=0)
        assert (np.abs(ratio - 1) < 5 / math.sqrt(1200) * 1.2).all()


def test_pooled_moments_are_those_of_all_rows():
    data = averages(
        SparseRows(n_curves=3001, n_servers=3, n_features=6).draw(2, generator(1, 0, 0))
    )
    together = pooled([of_rows(data.of_machine(k)) for k in range(3)])
    for name in ("n", "second", "cross", "square"):
        assert np.allclose(getattr(together, name), getattr(of_rows(data), name))


# -- pieces ---------------------------------------------------------------------------------------


def test_the_noise_of_the_gram_matrix_is_alike_in_all_directions_of_the_frobenius_norm():
    """3000 draws: planned deviation beside the diagonal, √2 times as much on it; and its projection
    on any symmetric matrix of Frobenius norm 1 has that of the diagonal."""
    plan = worked(target="band")
    columns, own = Columns(2, 1, 1500), averages(draw())
    noisy = noisy_gram(own, plan.constants, [plan.noise], columns, generator(1, 0, 0))
    assert (noisy == noisy.swapaxes(-1, -2)).all()
    noise = (noisy[:, :-1] - noisy[:, -1:]) / plan.noise.gram
    random = np.random.default_rng(2).standard_normal((6, 6))
    for direction in (np.diag([1.0, 0, 0, 0, 0, 0]), random + random.T, np.ones((6, 6))):
        along = (noise * direction).sum(axis=(-2, -1)) / np.linalg.norm(direction)
        assert along.std() == pytest.approx(math.sqrt(2), rel=5 / math.sqrt(6000))
    assert noise[..., 1, 4].std() == pytest.approx(1.0, rel=5 / math.sqrt(6000))


def test_whitened_directions_invert_the_matrix_for_all_coefficients_and_for_some():
    gram = covariance("ar1_strong", 6)[None, None] + 0.0
    inverse = np.linalg.inv(gram[0, 0])
    for places in (np.arange(6), np.array([1, 4])):
        result = several_directions(gram, places, np.zeros(1))
        assert np.allclose((result.root @ result.theta)[0, 0], inverse[places])
        whitened = result.theta[0, 0] @ gram[0, 0] @ result.theta[0, 0].T
        assert np.allclose(whitened, np.eye(len(places)))
        assert result.is_distinct.all()


def test_a_matrix_whose_least_eigenvalue_is_within_its_noise_is_not_distinct():
    gram = np.diag([1.0, 1.0, 0.1])[None, None]
    for deviation, is_distinct in ((0.01, True), (0.2, False)):
        result = several_directions(gram, np.arange(3), np.array([deviation]))
        assert result.is_distinct.item() == is_distinct
    negative = several_directions(-gram, np.arange(3), np.zeros(1))
    assert not negative.is_distinct.item() and np.isfinite(negative.root).all()


def test_noise_of_the_matrix_times_a_vector_has_the_covariance_that_limits_count():
    """40 000 draws of symmetric noise G: Cov(Gv) = t²(‖v‖² I + vv'), five standard errors."""
    rng, v = np.random.default_rng(3), np.array([0.5, -1.0, 2.0])
    upper = np.triu(rng.standard_normal((40_000, 3, 3)), 1)
    noise = 0.1 * (
        upper
        + upper.swapaxes(1, 2)
        + math.sqrt(2) * rng.standard_normal((40_000, 3))[:, None] * np.eye(3)
    )
    known = Distance(v[None, None], np.zeros((1, 1, 3, 3)))
    claimed = matrix_noise(np.eye(3)[None, None], np.array([0.1]), known)[0, 0]
    error = np.sqrt(2 / 40_000) * np.diag(claimed).max()
    assert np.abs(np.cov((noise @ v).T) - claimed).max() < 5 * error


def test_columns_share_noise_across_budgets_and_end_with_one_that_has_none():
    columns = Columns(2, 3, 4)
    normals = columns.normals((5,), generator(1, 0, 0))
    assert normals.shape == (2, 13, 5) and (normals[:, -1] == 0).all()
    released = columns.released(normals)
    assert released.shape == (3, 2, 4, 5) and (released[0] == released[2]).all()
    assert columns.per_budget([1, 2, 3]).tolist() == [1] * 4 + [2] * 4 + [3] * 4 + [0]


def test_columns_of_the_inverse_are_those_of_the_matrix():
    gram = covariance("ar1", 12)[None]
    inverse = np.linalg.inv(gram)
    assert np.allclose(precision_rows(gram, 3, 60)[:, [4, 7]], inverse[:, [4, 7]], atol=1e-6)


def test_half_widths_of_independent_errors_have_a_closed_form():
    """P(max |Z| ≤ C) = (2Φ(C) − 1)^g; the sample of 2000 leaves about 2 %."""
    for g in (1, 5, 40):
        exact = norm.ppf((1 + 0.95 ** (1 / g)) / 2)
        assert simultaneous_half_width(np.eye(g)[None]) == pytest.approx(exact, rel=0.04)


def test_negative_variance_counts_as_none():
    assert simultaneous_half_width(np.diag([-5.0, 1.0])[None]) == pytest.approx(1.96, rel=0.05)


# -- the mechanism --------------------------------------------------------------------------------


@every_variant
def test_shapes_are_declared_and_limits_stand_at_the_features_asked_for(mechanism):
    estimate = release(mechanism, draw())
    assert estimate.coefficients.shape == estimate.lower.shape == (2, 2, 3, 6)
    places = mechanism.places(SOURCE.sizes)
    known = np.isfinite(estimate.lower)
    assert known[..., places].all() and not np.delete(known, places, axis=-1).any()
    assert (estimate.lower[known] < estimate.upper[known]).all()
    assert np.allclose(estimate.coefficients[known], estimate.intervals.centre[known])


def test_every_message_of_the_centre_has_noise_and_its_line():
    with recorded() as messages:
        estimate = release(SparseInference(sparsity=2, **COLUMN), draw())
    published = [m for m in messages if not m.is_entrusted]
    assert {m.server for m in published} == {CENTRE}
    assert [m.step.key for m in published if "round" not in m.step.key] == [
        "largest eigenvalue",
        "spread",
        "residuals",
        "corrections",
    ]
    assert all((m.noise[m.values != 0] > 0).all() for m in published)
    lines = {line.what for line in estimate.spends[0]}
    assert {"residuals", "spread", "corrections"} < lines and len(lines) == 8


def test_with_the_gram_matrix_four_messages_say_all():
    with recorded() as messages:
        estimate = release(SparseInference(sparsity=2), draw())
    published = [m for m in messages if not m.is_entrusted]
    assert [m.step.key for m in published] == [
        "Gram matrix",
        "averages, stage 1",
        "residuals",
        "corrections",
    ]
    assert all((m.noise > 0).all() for m in published)
    assert [line.what for line in estimate.spends[0] if line.server == 0] == [
        "first averages",
        "residuals",
        "Gram matrix",
        "corrections",
    ]


def test_what_machines_entrust_to_the_centre_is_marked_as_such():
    with recorded() as messages:
        release(SparseInference(sparsity=2, target="band"), draw())
    entrusted = {m.step.key for m in messages if m.is_entrusted}
    assert {"average squared residual", "average of x x'", "average correction"} < entrusted


@pytest.mark.parametrize("is_secure", [False, True])
def test_products_without_a_response_are_not_called_gradients(is_secure):
    rows = rows_of(draw(), 4.0, 4.0, is_secure=is_secure)
    with recorded() as messages:
        RowAverages(rows).products(np.ones((len(rows.x), 1, rows.n_features)))
    assert {m.step.key for m in messages} == {"average product"}


def test_the_same_rows_on_one_machine_give_the_same_limits():
    mechanism, data = SparseInference(sparsity=2, target="band"), draw()
    one, other = release(mechanism, data), release(mechanism, data.pooled())
    assert np.allclose(one.intervals.half_width, other.intervals.half_width)
    assert np.allclose(one.coefficients, other.coefficients)


def test_limits_shrink_as_the_budget_grows_and_end_at_those_without_privacy():
    data, mechanism = draw(repeats=1), SparseInference(sparsity=2, **COLUMN)
    budgets = [(Budget(e, 1e-5),) for e in (1.0, 4.0, 16.0)] + [(NON_PRIVATE,)]
    width = release(mechanism, data, budgets).intervals.half_width[:, 0, :, 1].mean(axis=1)
    plain = mechanism.without_protection(data).intervals.half_width[0, 0, 0, 1]
    assert (np.diff(width) < 0).all()
    assert width[-1] == pytest.approx(plain, rel=0.05)


def test_fewer_features_asked_for_need_less_noise():
    data, budgets = draw(repeats=1), [(Budget(2.0, 1e-5),)]
    few, all_of_them = (
        release(SparseInference(sparsity=2, target="band", features=features), data, budgets)
        .intervals.half_width[..., 1]
        .mean()
        for features in ("1, 2", None)
    )
    assert few < 0.8 * all_of_them


def test_the_noise_of_the_strictest_budget_serves_all_machines():
    mechanism = SparseInference(**ALONE)
    mixed = mechanism.plan(SOURCE.public, (Budget(1.0, 1e-5), Budget(4.0, 1e-5)))
    strict = mechanism.plan(SOURCE.public, (Budget(1.0, 1e-5),))
    assert mixed.noise == strict.noise
    assert mixed.thresholding.scales == strict.thresholding.scales


def test_what_cannot_be_asked_is_said_kindly():
    with pytest.raises(InputError, match="There are 6 features; number 7"):
        release(SparseInference(features="7"), draw())
    with pytest.raises(InputError, match="whole numbers above 0"):
        SparseInference(features="0")
    for chosen in ({"target": "band"}, {"features": "1, 2"}, {}):
        with pytest.raises(InputError, match="for one feature only"):
            SparseInference(directions="column", **chosen)
    with pytest.raises(InputError, match="needs the Gram matrix"):
        SparseInference(conservative=True, **COLUMN)
    with pytest.raises(InputError, match="δ must be above 0"):
        release(SparseInference(), draw(), [(Budget(1.0),)])
    with pytest.raises(InputError, match="must be stated"):
        SparseInference().plan(Public(SOURCE.sizes, facts_of(6, reading_sd=0.0)), BUDGETS[0])


def test_without_protection_intervals_hold_and_are_near_the_truth():
    """50 data sets, 6 coefficients each: 95 % to five standard errors."""
    data = draw(repeats=50)
    estimate = SparseInference(sparsity=2).without_protection(data)
    held = coverage(estimate, data.truth).of_kept
    assert abs(held.mean() - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 300)


# -- coverage of entries --------------------------------------------------------------------------


def test_coverage_of_entries_counts_those_with_limits():
    centre = np.array([0.0, 1.0, 5.0, np.nan])[None, None, None]
    half = np.array([0.5, 0.5, 0.5, np.nan])[None, None, None]
    truth = Truth.of_vector(np.array([0.1, 0.0, 5.2, 9.0]))
    estimate = Estimate(
        "",
        None,
        centre,
        ((),),
        centre[:, :, 0],
        intervals=Intervals(centre, half, half, "simultaneous"),
    )
    held = entry_coverage(estimate, truth)
    assert held.average == pytest.approx(2 / 3) and held.joint == 0
    assert held.of_nonzero == 1
    assert coverage(estimate, truth).of_kept == 0
    pointwise = replace(estimate, intervals=replace(estimate.intervals, kind="pointwise"))
    assert coverage(pointwise, truth).of_kept == pytest.approx(2 / 3)
    assert entry_coverage(replace(estimate, intervals=None), truth) is None


# -- as printed -----------------------------------------------------------------------------------


def test_the_published_pipelines_cost_what_the_table_says():
    """ε = .8 each at the base point: added up, and as ρ proves it at the same δ."""
    costs = sparse_printed.published_costs(0.8, 15, 4000, 800, 10, 500)
    assert [cost.releases for cost in costs] == [1, 7, 2404, 2102, 8]
    assert [cost.added for cost in costs] == pytest.approx([0.8, 5.6, 1923.2, 1681.6, 6.4])
    assert [float(f"{cost.proved:.2g}") for cost in costs] == [0.16, 1.2, 53, 44, 1.2]
    assert all(cost.total == cost.proved for cost in costs)
    sharp = sparse_printed.published_costs(0.8, 15, 4000, 800, 10, 500, is_sharp=True)
    assert sharp[1].proved == pytest.approx(6.4, abs=0.06)
    assert sharp[1].total == sharp[1].added  # here adding up gives less


def published_quantile(spread, scale, rng):
    """Algorithm 7: of 200 maxima, each a private one of entry and value with Laplace noise."""
    values, vectors = np.linalg.eigh(spread)
    sample = rng.standard_normal((200, len(spread))) @ (vectors * np.sqrt(values)).T
    noisy = noisy_hard_threshold(sample, 1, scale, scale, draw_noise(PEELING, 1, sample.shape, rng))
    return np.quantile(np.abs(noisy).max(axis=1), 0.95)


def test_the_published_quantile_is_ruined_by_its_noise():
    """Multipliers held to a = (2 log 2Nq)^½ and entries of Θ̂x to W = 6, or what the paper prints.

    200 draws for each of 30 quantiles at 200 000 rows and 100 features, ε = 1 for each draw."""
    spread, rng = np.linalg.inv(covariance("ar1", 100)), np.random.default_rng(1)

    def quantile(scale):
        return np.mean([published_quantile(spread, scale, rng) for _ in range(30)])

    n = 200_000
    proper = 2 * math.sqrt(2 * math.log(2 * n * 200)) * 6.0 / math.sqrt(n)  # 2a W/√N
    printed = (
        4 * 3.0 * math.sqrt(math.log(10)) * 4.0 * (4.0 + 1.0 * 4.0 * math.sqrt(5)) / math.sqrt(n)
    )  # B₄ = 4L(log m)^{1/2} c (R + c₀ c √s)/√N
    shared = 2 * proper / math.sqrt(8 * accounting.rho_of(1.0, 1e-6) / 200 / 5)
    assert quantile(0.0) == pytest.approx(4.45, rel=0.03)
    for most, found in ((proper, 6.9), (printed, 79)):
        scale = printed_scale(PEELING, 1, most, 1.0, 1e-6, 1)
        assert quantile(scale) == pytest.approx(found, rel=0.05)
    assert quantile(shared) == pytest.approx(71, rel=0.07)
    together = 200 * 5 / 24 / math.log(1e6)
    assert accounting.epsilon_of_rho(together, 1e-6) == pytest.approx(15, abs=0.5)


def test_the_worst_case_bias_is_as_useless_as_computed_by_hand():
    def half_width(n):
        return sparse_eigenvalues.bias_factor(
            np.array(2.6), np.array(0.4)
        ) * sparse_eigenvalues.bias_unit(15, 800, n, 0.8, 1 / 120_000)

    assert half_width(60_000) == pytest.approx(177, rel=0.01)
    assert half_width(4000) == pytest.approx(17_000, rel=0.01)
    assert sparse_eigenvalues.bias_unit(15, 800, 60_000, math.inf, 0.0) == 0.0


def test_conservative_limits_are_wider_by_the_bias_bound():
    data = draw(repeats=1)
    usual, wide = (
        release(SparseInference(sparsity=2, conservative=c), data, BUDGETS, 1)
        for c in (False, True)
    )
    added = wide.intervals.half_width - usual.intervals.half_width
    unit = sparse_eigenvalues.bias_unit(2, 6, 20_000, 2.0, 1e-5)
    assert (added[0] > unit * sparse_eigenvalues.bias_factor(1.0, 1.0) * 0.5).all()
    assert added[0] == pytest.approx(added[0].max())
    assert (wide.coefficients == usual.coefficients).all()


# -- restricted eigenvalues -----------------------------------------------------------------------


def test_eigenvalues_on_released_supports_are_those_of_the_submatrix():
    gram, vector = covariance("ar1", 10), np.zeros(10)
    vector[[2, 3, 7]] = [1.0, -2.0, 0.5]
    most, least = sparse_eigenvalues.on_supports(gram, vector, 3)
    values = np.linalg.eigvalsh(gram[np.ix_([2, 3, 7], [2, 3, 7])])
    assert (most, least) == (pytest.approx(values[-1]), pytest.approx(values[0]))
    assert sparse_eigenvalues.on_supports(-gram, vector, 3)[1] == 0.1


def test_the_row_sum_that_sets_the_step_bounds_every_sparse_eigenvalue():
    """One pair of features is nearly the same, the others are on their own: 1.95, not 1."""
    gram = np.eye(6)
    gram[0, 1] = gram[1, 0] = 0.95
    assert sparse_eigenvalues.row_sum(gram, 2) == pytest.approx(np.linalg.eigvalsh(gram)[-1])
    rng, factor = np.random.default_rng(1), np.random.default_rng(2).standard_normal((9, 9))
    for q in (1, 2, 5, 9):
        bound = sparse_eigenvalues.row_sum(factor @ factor.T, q)
        for _ in range(50):
            places = rng.permutation(9)[:q]
            assert np.linalg.eigvalsh((factor @ factor.T)[np.ix_(places, places)])[-1] <= bound


def test_replacing_a_row_moves_the_row_sum_by_its_sensitivity_at_most():
    rng, n, c, b = np.random.default_rng(1), 20, 2.0, 3.0
    x = np.clip(rng.standard_normal((200, n, 5)), -c, c)
    x *= np.minimum(1, b / np.linalg.norm(x, axis=-1, keepdims=True))
    other = x.copy()
    other[:, 0] = np.where(
        rng.random((200, 1)) < 0.5, 0.0, c * np.eye(5)[rng.integers(5, size=200)]
    )
    for q in (1, 2, 5):
        one, two = (sparse_eigenvalues.row_sum(a.swapaxes(1, 2) @ a / n, q) for a in (x, other))
        assert np.abs(one - two).max() <= sparse_eigenvalues.row_sum_sensitivity(q, c, b, n)


def test_random_sparse_directions_find_neither_eigenvalue():
    """300 directions of 5 entries among 100: far from (1/3, 3)."""
    rng, directions = np.random.default_rng(1), np.zeros((300, 100))
    for direction in directions:
        direction[rng.permutation(100)[:5]] = rng.standard_normal(5)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    result = ((directions @ covariance("ar1", 100)) * directions).sum(axis=1)
    assert result.max() < 2.0 and result.min() > 0.45


def test_a_budget_is_released_as_if_it_were_asked_for_alone():
    """Noise of the Gram matrix decides, budget by budget, where the first estimate comes from."""
    source = SparseRows(n_curves=2000, n_servers=2, n_features=20, n_shared=2)
    mechanism, data = SparseInference(sparsity=2), draw(repeats=1, source=source)
    budgets = [(Budget(epsilon, 1e-6),) for epsilon in (0.1, 50.0)]
    both = release(mechanism, data, budgets, draws=2)
    assert ["response_clip" in tuning for tuning in both.tuning] == [False, True]
    for k, budget in enumerate(budgets):
        alone = release(mechanism, data, [budget], draws=2)
        assert alone.spends[0] == both.spends[k] and alone.tuning[0] == both.tuning[k]
        assert alone.coefficients.shape[1:] == both.coefficients.shape[1:]


def test_a_correction_is_not_zero_and_the_rest_is_the_first_estimate():
    estimate = release(SparseInference(sparsity=2, features="1"), draw(repeats=1), draws=1)
    assert (estimate.coefficients[..., 0] != 0).all()
    rest = estimate.coefficients[..., 1:]
    assert ((rest != 0).sum(axis=-1) <= 2).all()
    assert (hard_threshold(rest, 2) == rest).all()


# -- refusals -------------------------------------------------------------------------------------


def test_limits_are_refused_where_the_gram_matrix_is_lost_in_noise_and_the_estimate_says_so():
    source = SparseRows(n_curves=2000, n_servers=2, n_features=20, n_shared=2)
    estimate = release(
        SparseInference(sparsity=2),
        draw(repeats=1, source=source),
        [(Budget(0.5, 1e-6),), (Budget(1e4, 1e-6),)],
        draws=1,
    )
    assert np.isnan(estimate.lower[0]).all() and np.isfinite(estimate.lower[1]).all()
    assert ((estimate.coefficients[0] != 0).sum(axis=-1) <= 2).all()  # the first estimate
    assert estimate.is_doubted[..., 0].tolist() == [[True], [False]]
    assert "smallest eigenvalue" in estimate.warnings[0]


def test_limits_are_refused_where_most_residuals_are_clipped():
    estimate = release(SparseInference(sparsity=2, residual_clip=0.05), draw(repeats=1), draws=1)
    assert np.isnan(estimate.lower).all()
    wording.found("state larger standard", estimate.warnings[0])


def test_a_column_of_few_entries_is_an_assumption_and_said_to_be_one():
    estimate = release(SparseInference(sparsity=2, **COLUMN), draw(repeats=1), draws=1)
    assert np.isfinite(estimate.lower[..., 1]).all()
    wording.found("rest assumption", estimate.warnings[0])
