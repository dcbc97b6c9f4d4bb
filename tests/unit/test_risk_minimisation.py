"""Regularised risk: known minimisers, certificates, and how far one record moves them."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from engine.numerics import risk_minimisation
from engine.numerics.kernels import matern
from engine.numerics.risk_minimisation import (
    Hinge,
    Huber,
    Logistic,
    Square,
    kappa,
    minimise,
    radius,
    tolerance,
)
from tests.heavy import few

K, ETA = 100, 1.5
LOSSES = (Square(2.0), Huber(0.3), Logistic(), Hinge())
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def eigensystem():
    """Matérn 3/2 of length 0.1 on midpoints with equal weights: (J,), (K, J)."""
    t = (np.arange(K) + 0.5) / K
    values, vectors = np.linalg.eigh(matern(t[:, None] - t, 1.5, 0.1, 1.0) / K)
    return values[::-1], vectors[:, ::-1] * np.sqrt(K)


LAM, PHI = eigensystem()
FEATURES = LAM ** (ETA / 2) * PHI


def data(loss, n, seed=1, repeats=()):
    """Places and labels of the loss's kind."""
    rng = np.random.default_rng(seed)
    index = rng.integers(0, K, (*repeats, n))
    y = np.sin(2 * np.pi * index / K) + 0.5 * rng.standard_normal(index.shape)
    return index, np.sign(y) if loss.name in ("logistic", "hinge") else y


def risk(loss, u, atoms, index, y, penalty):
    return loss.value(y, (atoms @ u)[index]).mean() + penalty * (u @ u)


# --- published numbers ---


def test_the_reference_numbers_of_the_specification():
    """Logistic, ψ = 0.01, n = 500: κ², tr C^½, r, Δ and the noise energies 2Δ² Σλ, 2r²(Σλ^¾)²."""
    r = radius(Logistic(), FEATURES, 0.01, 500)
    delta = r * np.sqrt((LAM**0.5).sum())
    found = (
        kappa(FEATURES) ** 2,
        (LAM**0.5).sum(),
        r,
        delta,
        2 * delta**2 * LAM.sum(),
        2 * r**2 * (LAM ** (ETA / 2)).sum() ** 2,
    )
    assert found == pytest.approx((0.36042, 4.11138, 0.12007, 0.24346, 0.11855, 0.09954), rel=5e-5)


# --- minimisers ---


@pytest.mark.parametrize("penalty", [1e-4, 0.03, 5.0])
def test_square_loss_is_kernel_ridge_regression(penalty):
    index, y = data(Square(9.0), 60)
    rows = FEATURES[index]
    dual = np.linalg.solve(rows @ rows.T + 60 * penalty * np.eye(60), y)
    result = minimise(Square(9.0), FEATURES, index, y, penalty)
    assert result.u == pytest.approx(rows.T @ dual, abs=1e-9)


def test_square_loss_holds_labels_within_their_bound():
    index, y = data(Square(0.5), 60)
    result = minimise(Square(9.0), FEATURES, index, np.clip(y, -0.5, 0.5), 0.01)
    assert minimise(Square(0.5), FEATURES, index, y, 0.01).u == pytest.approx(result.u, abs=1e-12)


@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_logistic_loss_agrees_with_a_general_minimiser(penalty):
    index, y = data(Logistic(), 300)
    atoms = FEATURES[:, :15]
    rows = y[:, None] * atoms[index]

    def gradient(u):
        return -(rows / (1 + np.exp(rows @ u))[:, None]).mean(axis=0) + 2 * penalty * u

    def hessian(u):
        share = 1 / (1 + np.exp(rows @ u))
        return (rows.T * share * (1 - share)) @ rows / len(y) + 2 * penalty * np.eye(15)

    general = minimize(
        lambda u: risk(Logistic(), u, atoms, index, y, penalty),
        np.zeros(15),
        jac=gradient,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-12},
    )
    found = minimise(Logistic(), atoms, index, y, penalty).u
    assert found == pytest.approx(general.x, abs=1e-8)


@pytest.mark.parametrize("penalty", [1e-4, 0.003, 0.05])
def test_hinge_loss_agrees_with_the_quadratic_programme_of_its_dual(penalty):
    """Max Σα − ‖Zα‖²/(4ψ) for 0 ≤ α ≤ 1/n, Z the features times labels; then u = Zα/(2ψ)."""
    rng = np.random.default_rng(4)
    n, index = 25, rng.permutation(K)[:25]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    signed = (y[:, None] * FEATURES[index]).T / np.sqrt(2 * penalty)
    target = np.linalg.lstsq(signed.T, np.ones(n), rcond=None)[0]
    alpha = lsq_linear(signed, target, (0, 1 / n), method="bvls", tol=1e-14).x
    dual, value = (
        signed @ alpha / np.sqrt(2 * penalty),
        alpha.sum() - ((signed @ alpha) ** 2).sum() / 2,
    )
    found = minimise(Hinge(), FEATURES, index, y, penalty).u
    sharp = np.maximum(1 - y * (FEATURES @ found)[index], 0).mean() + penalty * found @ found
    assert 0 <= sharp - value + 1e-12 <= Hinge().width / 2
    assert found == pytest.approx(dual, abs=2e-3)
    assert np.linalg.norm(found - dual) <= np.sqrt(Hinge().width / (2 * penalty))


def test_hubers_loss_far_from_its_border_is_half_the_square():
    index, y = data(Huber(50.0), 200)
    half_square = minimise(Square(50.0), FEATURES, index, y, 2 * 0.02).u
    assert minimise(Huber(50.0), FEATURES, index, y, 0.02).u == pytest.approx(half_square, abs=1e-7)


def test_hubers_loss_near_zero_is_the_absolute_one():
    """One place: the minimiser of Σ|y − f| is the median, which a wild label does not move."""
    y = np.array([0.1, 0.2, 0.3, 0.4, 1e12])
    result = minimise(Huber(1e-3), np.ones((1, 1)), np.zeros(5, dtype=int), y, 1e-9)
    assert result.u == pytest.approx([0.3], abs=1e-3)


@every_loss
def test_no_random_direction_leads_down_from_a_minimiser(loss):
    index, y = data(loss, 400)
    u = minimise(loss, FEATURES, index, y, 0.01).u
    if loss == Square(2.0):
        y = np.clip(y, -2, 2)
    rng, least = np.random.default_rng(2), risk(loss, u, FEATURES, index, y, 0.01)
    for size in (1e-4, 1e-2, 1.0):
        around = u + size * rng.standard_normal((50, K)) / 10
        assert min(risk(loss, v, FEATURES, index, y, 0.01) for v in around) > least


@every_loss
def test_a_batch_is_its_data_sets_one_by_one(loss):
    index, y = data(loss, 80, repeats=(2, 3))
    batch = minimise(loss, FEATURES, index, y, 0.05)
    assert (batch.u.shape, batch.slack.shape) == ((2, 3, K), (2, 3))
    assert (batch.u[1, 2] == minimise(loss, FEATURES, index[1, 2], y[1, 2], 0.05).u).all()


# --- losses ---


@every_loss
def test_slopes_and_curvatures_are_derivatives(loss):
    label, f = np.array([[1.0], [-1.0]]), np.linspace(-3, 3, 1201) + 3e-6
    step = 1e-6
    slope = (loss.value(label, f + step) - loss.value(label, f - step)) / (2 * step)
    assert loss.slope(label, f) == pytest.approx(slope, abs=2e-6 if loss != Hinge() else 1e-2)
    bend = (loss.slope(label, f + step) - loss.slope(label, f - step)) / (2 * step)
    before, after = (
        np.broadcast_to(loss.curvature(label, f + shift), bend.shape)
        for shift in (-2 * step, 2 * step)
    )
    smooth = np.abs(before - after) < 1e-4  # no border of two pieces lies near
    assert smooth.mean() > 0.99
    assert bend[smooth] == pytest.approx(before[smooth], abs=1e-4)


@every_loss
def test_no_slope_exceeds_the_admissibility_where_minimisers_lie(loss):
    size, penalty = kappa(FEATURES), 0.02
    most = 2.0 * size / np.sqrt(penalty) if loss == Square(2.0) else 30.0
    f, label = np.linspace(-most, most, 2001), np.array([[1.0], [-1.0]])
    if loss == Square(2.0):
        label = 2 * label
    steepest = np.abs(loss.slope(label, f)).max()
    admissible = loss.admissibility(size, penalty)
    assert 0.999 * admissible <= steepest <= admissible


@pytest.mark.parametrize(
    ("loss", "most"), [(Square(2.0), K), (Logistic(), 2 * K), (Hinge(), 2 * K)]
)
def test_records_are_taken_together_so_that_a_step_does_not_depend_on_their_number(loss, most):
    records = loss.records(*data(loss, 50_000), K)
    assert len(records.index) <= most
    assert records.weight.sum() == 50_000


@every_loss
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_a_bad_label_moves_the_minimiser_by_no_more_than_any_other(loss, bad):
    index, y = data(loss, 50)
    worse = np.where(np.arange(50) == 7, bad, y)
    u, other = (minimise(loss, FEATURES, index, labels, 0.1).u for labels in (y, worse))
    assert np.linalg.norm(u - other) <= radius(loss, FEATURES, 0.1, 50)


# --- sensitivity ---


@every_loss
@pytest.mark.parametrize("penalty", few([0.1, 0.003, 3.0]))
def test_no_neighbour_is_further_off_than_the_radius(loss, penalty):
    """100 random neighbours; the record that changes goes anywhere, with the largest labels."""
    rng, n = np.random.default_rng(6), 12
    index, y = data(loss, n, seed=8, repeats=(100,))
    moved, changed = index.copy(), y.copy()
    moved[:, 0], changed[:, 0] = rng.integers(0, K, 100), rng.choice([-9.0, 9.0], 100)
    u, other = (minimise(loss, FEATURES, *d, penalty).u for d in ((index, y), (moved, changed)))
    furthest = np.linalg.norm(u - other, axis=-1).max()
    assert 0 < furthest <= radius(loss, FEATURES, penalty, n)


@pytest.mark.parametrize(
    ("loss", "penalty", "share"),
    [(Hinge(), 1.0, 1 - 1e-5), (Huber(0.3), 1.0, 1 - 1e-5), (Square(2.0), 1e5, 0.995)],
)
def test_one_label_turned_round_moves_the_minimiser_by_the_whole_radius(loss, penalty, share):
    """At the place of κ, where the loss is as steep as it may be before and after."""
    n, worst = 6, int(np.argmax((FEATURES**2).sum(axis=1)))
    index = np.full(n, worst)
    y = np.array([9.0, 9.0, -9.0, 9.0, -9.0, -9.0])
    turned = np.where(np.arange(n) == 0, -y, y)
    u, other = (minimise(loss, FEATURES, index, labels, penalty).u for labels in (y, turned))
    distance, r = np.linalg.norm(u - other), radius(loss, FEATURES, penalty, n)
    assert share * r <= distance <= r


def test_logistic_loss_comes_near_its_radius_against_a_large_majority():
    """Two misjudged records nearly opposite each other: both slopes are near one."""
    angle, n, penalty = 0.4, 100_000, 1e-4
    atoms = np.array([[np.cos(angle), np.sin(angle)], [-np.cos(angle), np.sin(angle)], [0.0, 1.0]])
    index, y = np.full(n, 2), np.full(n, -1.0)
    index[0], y[0] = 0, 1.0
    other = np.where(np.arange(n) == 0, 1, index)
    u, moved = (minimise(Logistic(), atoms, p, y, penalty).u for p in (index, other))
    distance, r = np.linalg.norm(u - moved), radius(Logistic(), atoms, penalty, n)
    assert 0.8 * r < distance <= r


# --- certificates ---


class RoughLogistic(Logistic):
    """Stops early."""

    accuracy = 3.0


class PerfectLogistic(Logistic):
    """More than rounding errors allow."""

    accuracy = 1e-22


def test_the_minimiser_is_within_the_slack_of_one_that_stops_early():
    index, y = data(Logistic(), 300, repeats=(20,))
    exact = minimise(Logistic(), FEATURES, index, y, 0.002)
    rough = minimise(RoughLogistic(), FEATURES, index, y, 0.002)
    distance = np.linalg.norm(rough.u - exact.u, axis=-1)
    assert rough.slack.max() > 1e-6  # it did stop early
    assert (distance <= rough.slack + exact.slack).all()


def test_a_minimiser_that_misses_its_tolerance_is_not_returned():
    with pytest.raises(RuntimeError, match="nothing was released"):
        minimise(PerfectLogistic(), FEATURES, *data(Logistic(), 300), 0.002)


@every_loss
@pytest.mark.parametrize("n", [3, 2000, 200_000])
def test_slack_stays_below_a_tolerance_that_is_small_beside_the_radius(loss, n):
    index, y = data(loss, n)
    for penalty in (n**-0.5, 1 / n, 10.0):
        result = minimise(loss, FEATURES, index, y, penalty)
        assert result.slack <= tolerance(loss, FEATURES, penalty, n)
        assert tolerance(loss, FEATURES, penalty, n) < 1e-5 * radius(loss, FEATURES, penalty, n)


@pytest.mark.parametrize("loss", [Logistic(), Hinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("labels", ["one class", "two classes with a clear border", "in turn"])
def test_ties_and_classes_that_do_not_overlap_are_certified_too(loss, labels):
    index = np.repeat(np.arange(K), 50)
    y = {
        "one class": np.ones(50 * K),
        "in turn": np.where(index % 2, 1.0, -1.0),
        "two classes with a clear border": np.where(index < K // 2, 1.0, -1.0),
    }[labels]
    for penalty in (1e-6, 1e-3, 0.1):
        assert minimise(loss, FEATURES, index, y, penalty).slack <= tolerance(
            loss, FEATURES, penalty, 50 * K
        )


@every_loss
def test_the_radius_holds_the_allowance_of_both_data_sets(loss):
    m, size = loss.admissibility(kappa(FEATURES), 0.01), kappa(FEATURES)
    exact = m * size / (0.01 * 500)
    assert radius(loss, FEATURES, 0.01, 500) == exact + 2 * tolerance(loss, FEATURES, 0.01, 500)


@pytest.mark.parametrize("loss", [Square(1.0), Huber(0.5), Logistic(), Hinge()])
def test_the_method_that_ends_for_all_data_ends_within_its_public_number_of_steps(
    loss, monkeypatch
):
    """Newton's method is cut off at once; labels are all of one sign, of both, and far away."""
    rng = np.random.default_rng(1)
    atoms = rng.uniform(-1, 1, (12, 5))
    index = rng.integers(12, size=300)
    for y in (np.ones(300), rng.choice([-1.0, 1.0], 300), np.where(index > 5, 1.0, -1.0)):
        exact = risk_minimisation.minimise(loss, atoms, index, y, 0.2).u
        with monkeypatch.context() as patch:
            patch.setattr(risk_minimisation, "_MAX_STEPS", 1)
            ended = risk_minimisation.minimise(loss, atoms, index, y, 0.2)
        least = risk_minimisation.tolerance(loss, atoms, 0.2, 300)
        assert ended.slack <= least
        assert np.linalg.norm(ended.u - exact) <= 2 * least
