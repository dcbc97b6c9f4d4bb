"""What one row can do to every message of sparse inference, and broken versions that must be caught.

All messages of a run are replaced by values an adversary chooses, the same for two neighbours, so
that only the averages behind them differ. How far those move, in units of the noise that is really
added, gives the cost ρ of each message; over the worst rows for each they must add up to no more
than the budget's. And what is released must not differ at all, since it follows from the messages.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from engine.core.arrays import hard_threshold
from engine.core.random_streams import generator
from engine.core.types import Budget, Public, SampleData
from engine.mechanisms.families.sparse import centre as sparse_centre
from engine.mechanisms.families.sparse import corrections as sparse_corrections
from engine.mechanisms.families.sparse import directions as sparse_directions
from engine.mechanisms.families.sparse import intervals as sparse_intervals
from engine.mechanisms.families.sparse import pilot as sparse_pilot
from engine.mechanisms.families.sparse import scale as sparse_scale
from engine.mechanisms.families.sparse import thresholding as sparse
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.inference import GRAM, GRAM_OF_CHOSEN, RESIDUALS, SEVERAL
from engine.mechanisms.sparse_heterogeneous import SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.noise.selection import costs
from engine.privacy import accounting
from tests.heavy import few
from tests.sparse_data import facts_of

N, D, MACHINES = 24, 8, 2
# So large that noise does not decide what the few rows here are multiplied with.
BUDGET = (Budget(2000.0, 1e-6),)
RHO = accounting.rho_of(2000.0, 1e-6)
BAD = [np.nan, np.inf, -np.inf, 1e308]
ONE = SparseInference(features="3", directions="column", noise_sd=0.5, rounds=3)
GROUP = SparseInference(features="1, 4, 6", noise_sd=0.5, rounds=3)
BAND = SparseInference(target="band", noise_sd=0.5, rounds=3)
ROUNDS = SparseInference(pilot="thresholding", noise_sd=0.5, rounds=3)
MOMENTS = SparseInference(pilot="moments", noise_sd=0.5)
NEWTON = SparseNewton(pilot="moments", noise_sd=0.5)
NEWTON_SCALED = SparseNewton(pilot="moments", noise_sd=0.5, feature_scale="released")
NEWTON_ROUNDS = SparseNewton(pilot="thresholding", noise_sd=0.5, rounds=3)
CENTRED = SparseInference(target="band", noise_sd=0.5, centre="released")
NEWTON_CENTRED = SparseNewton(
    pilot="moments", noise_sd=0.5, feature_scale="released", centre="released"
)
ROUNDS_CENTRED = SparseRegression(noise_sd=0.5, rounds=3, step_size=0.5, centre="released")
STAGES_CENTRED = SparseHeterogeneous(target="band", noise_sd=0.5, rounds=3, centre="released")
STAGES = SparseHeterogeneous(noise_sd=0.5, rounds=3)
OWN_ONE = SparseHeterogeneous(
    target="coordinates", features="3", directions="column", noise_sd=0.5, rounds=3
)
OWN_BAND = SparseHeterogeneous(target="band", noise_sd=0.5, rounds=3)
WHOLE = [
    ONE,
    GROUP,
    BAND,
    ROUNDS,
    MOMENTS,
    NEWTON,
    NEWTON_SCALED,
    NEWTON_ROUNDS,
    CENTRED,
    NEWTON_CENTRED,
    ROUNDS_CENTRED,
    STAGES_CENTRED,
    SparseInference(conservative=True, noise_sd=0.5, rounds=3),
    STAGES,
    SparseHeterogeneous(fit="local", noise_sd=0.5, rounds=3),
    SparseHeterogeneous(fit="pooled", noise_sd=0.5, rounds=3),
    OWN_ONE,
    OWN_BAND,
]
# What is spent in all: Gaussian messages alone are counted exactly, noisy choices by zCDP.


def budget_of(mechanism):
    spends = mechanism.plan(Public(data_set().sizes, facts_of(D)), BUDGET).spends
    total = accounting.total_rho(accounting.by_server(spends)[0])
    assert max(one.epsilon for one in accounting.guarantees(spends)) <= BUDGET[0].epsilon
    return total


def data_set():
    rng = np.random.default_rng(1)
    return SampleData(
        rng.standard_normal((1, N, D)),
        rng.standard_normal((1, N)),
        np.arange(N) * MACHINES // N,
        facts_of(D),
    )


def with_row(data, row, x, y):
    features, responses = data.x.copy(), data.y.copy()
    features[0, row], responses[0, row] = x, y
    return replace(data, x=features, y=responses)


def extreme_rows(kind, rng):
    """Two rows: mirror images, orthogonal ones at the clips, or anything, numbers or not.

    Mirror images have few entries or many: the few can all be at their clip.
    """
    signs = rng.choice([-1.0, 1.0], D) * (rng.permutation(D) < rng.choice([1, 2, D]))
    big = rng.choice([4.0, 4.0 * (1 + 1e-9), 1e3, 1e300])
    if kind == 0:
        return (big * signs, 1e308), (big * signs, -1e308)
    if kind == 1:
        signs = rng.choice([-1.0, 1.0], D)
        first = np.arange(D) < D // 2
        return (np.where(first, big * signs, 0.0), 1e308), (np.where(first, 0.0, big * signs), 0.0)
    if kind == 2:
        return (big * signs, 0.0), (np.zeros(D), 0.0)
    odd = np.where(rng.random(D) < 0.3, rng.choice(BAD, D), signs)
    return (odd, rng.choice(BAD)), (big * rng.choice([-1.0, 1.0], D), rng.choice([-3.0, 0.0, 1e6]))


@dataclass
class Adversary:
    """Answers every message of a run with values of its own, and notes what they stood for.

    The second column, without noise, is never published: it gets the first one's answers.
    """

    seed: int

    def start(self):
        self.rng, self.noted = np.random.default_rng(self.seed), []

    def round(self, t, moved, descent, law, scales, noise):
        self.noted.append(
            (
                f"round of {descent.sparsity}",
                moved[0, 0],
                lambda shift: sum(
                    costs(law, descent.sparsity, float(np.abs(shift).max()), scales[0])
                ),
            )
        )
        raw = self.rng.choice([0.3, 2.0, 30.0]) * self.rng.standard_normal((1, 1, D))
        return np.broadcast_to(hard_threshold(raw, descent.sparsity), moved.shape)

    def average(self, step, exact, deviation, standard):
        is_matrix = step in (GRAM, GRAM_OF_CHOSEN)
        k = exact.shape[-1] if is_matrix else 0
        size = _free(deviation[0], k) if is_matrix else float(deviation.ravel()[0])
        self.noted.append((step.key, _free(exact[0, 0], k), lambda shift: _gaussian(shift, size)))
        if is_matrix:
            half = 0.05 * self.rng.standard_normal((k, k))
            return np.broadcast_to(np.eye(k) + half + half.T, exact.shape[:1] + standard.shape[1:])
        if step == RESIDUALS:
            answer = np.array([0.2, 0.9, 0.1])[: exact.shape[-1]]
            return np.broadcast_to(answer, standard.shape)
        answer = self.rng.standard_normal(standard.shape[2:])
        return np.broadcast_to(np.abs(answer) if answer.ndim == 0 else answer, standard.shape)


def _free(exact, k):
    """A symmetric k × k matrix is published by what is on and above its diagonal."""
    return exact[np.triu_indices(k)] if k else exact


def _gaussian(shift, size):
    """Noise is independent from entry to entry, of one size or each of its own."""
    return float(((shift / size) ** 2).sum()) / 2


def run(mechanism, data, adversary):
    """The release under the adversary, and what its messages stood for."""
    adversary.start()
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(sparse, "_published", adversary.round)
        for module in (
            sparse_centre,
            sparse_corrections,
            sparse_directions,
            sparse_pilot,
            sparse_scale,
        ):
            patch.setattr(module, "published", adversary.average)
        estimate = mechanism.release_many(data, [BUDGET], 1, generator(1, 1, 0))
    return estimate, adversary.noted


def search(mechanism, tries=60):
    """The worst cost ρ of each message over rows of machine 0, and whether releases ever differ."""
    rng, data = np.random.default_rng(7), data_set()
    worst, differs = {}, False
    for k in range(tries):
        rows, row = extreme_rows(k % 4, rng), int(rng.integers(N // MACHINES))
        (one, noted), (other, again) = (
            run(mechanism, with_row(data, row, *ends), Adversary(k)) for ends in rows
        )
        differs |= _differ(one, other)
        for place, ((step, exact, cost), (_, changed, _)) in enumerate(
            zip(noted, again, strict=True)
        ):
            with np.errstate(invalid="ignore"):
                shift = exact - changed
            rho = cost(shift) if np.isfinite(shift).all() else math.inf
            worst[place, step] = max(worst.get((place, step), 0.0), rho)
    return worst, differs


def _differ(one, other):
    """Coefficients and limits follow from messages; the column without noise is not looked at."""
    pairs = [(one.coefficients, other.coefficients)]
    if one.intervals is not None:
        pairs += [
            (getattr(one.intervals, name), getattr(other.intervals, name))
            for name in ("centre", "half_width", "error")
        ]
    return any(not np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def is_caught(mechanism, tries=40, budget=None):
    worst, differs = search(mechanism, tries)
    budget = budget_of(mechanism) if budget is None else budget
    return differs or sum(worst.values()) > budget * (1 + 1e-9)


@pytest.mark.parametrize(
    "mechanism", few([ONE, BAND, *(one for one in WHOLE if one not in (ONE, BAND))]), ids=repr
)
def test_all_messages_together_cost_no_more_than_the_budget_whatever_a_row_holds(mechanism):
    """60 pairs of rows and answers. The worst rows come close to what is claimed."""
    worst, differs = search(mechanism)
    assert not differs
    assert 0.7 <= sum(worst.values()) / budget_of(mechanism) <= 1 + 1e-9


@pytest.mark.parametrize("mechanism", few([ONE, BAND, OWN_ONE, NEWTON]), ids=repr)
def test_no_message_costs_more_than_its_line_in_the_ledger(mechanism):
    """60 pairs. What clips alone limit is attained within 5 %."""
    worst, _ = search(mechanism)
    lines = [
        line
        for line in accounting.by_server(
            mechanism.plan(Public(data_set().sizes, facts_of(D)), BUDGET).spends
        )[0]
    ]
    claimed = {line.step.key: accounting.total_rho([line]) for line in lines}
    for key, rho in claimed.items():
        rows = [cost for (_, step), cost in worst.items() if step == key]
        assert not rows or max(rows) <= rho * (1 + 1e-9)
        if key in ("residuals", "spread", "Gram matrix", "corrections") and rows:
            fits = 0.6 if mechanism is NEWTON and key == "corrections" else 0.95  # of few chosen
            assert max(rows) >= fits * rho


@pytest.mark.slow
def test_a_row_of_another_machine_moves_no_message_of_this_one():
    """40 pairs of rows of machine 0: the second machine's own messages stay as they are."""
    worst, _ = search(OWN_ONE, 40)
    rows = [rho for (_, step), rho in worst.items() if step in ("residuals", "corrections")]
    assert rows[0] > 0 and rows[1] > 0 and rows[2] == rows[3] == 0


# -- broken versions that must be caught ----------------------------------------------------------


class Broken(RowAverages):
    def of_machine(self, machine):
        return type(self)(super().of_machine(machine).rows)


class RawResidualVariance(Broken):
    def squared_residuals(self, vectors, clip=math.inf):
        return super().squared_residuals(vectors)


class SharesOfRowsWithin(Broken):
    """Counted in whole rows, so that one of them is worth as many as there are."""

    def within(self, vectors, clip=math.inf):
        return self.n * super().within(vectors, clip)


class RawSpread(Broken):
    def squared_products(self, vectors, clip=math.inf):
        return super().squared_products(vectors)


class RowsOfTwiceTheNorm(Broken):
    def gram(self, norm=math.inf):
        return 4 * super().gram()


class ChosenRowsOfTwiceTheNorm(Broken):
    def gram_on(self, where, norm=math.inf):
        return 4 * super().gram_on(where)


class RowsHeldEntryByEntry(Broken):
    """The largest entry held to B, where the bound is about the Euclidean norm."""

    def gram(self, norm=math.inf):
        return RowAverages(replace(self.rows, x=norm * np.sign(self.rows.x))).gram()


class ProductsOfAnyNorm(Broken):
    def corrections(self, vectors, directions, clip=math.inf, norms=math.inf):
        return super().corrections(vectors, directions, clip)


class ResidualsOfCorrectionsNotClipped(Broken):
    def corrections(self, vectors, directions, clip=math.inf, norms=math.inf):
        return super().corrections(vectors, directions, 1e6, norms)


class RawColumns(Broken):
    def products(self, vectors, clip=math.inf):
        return super().products(vectors)


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken, mechanism",
    few(
        [
            (RawResidualVariance, ONE),
            (RawSpread, ONE),
            (RowsOfTwiceTheNorm, BAND),
            (SharesOfRowsWithin, BAND),
            (ChosenRowsOfTwiceTheNorm, NEWTON),
            (ProductsOfAnyNorm, NEWTON),
            (ResidualsOfCorrectionsNotClipped, NEWTON),
            (RawResidualVariance, NEWTON),
            (RowsHeldEntryByEntry, BAND),
            (ProductsOfAnyNorm, ONE),
            (ProductsOfAnyNorm, BAND),
            (ResidualsOfCorrectionsNotClipped, BAND),
            (RawColumns, ONE),
            (RawResidualVariance, OWN_ONE),
        ],
        2,
    ),
)
def test_averages_without_their_clips_are_caught(broken, mechanism):
    class Mechanism(type(mechanism)):
        def averages(self, data, *clips):
            return broken(super().averages(data, *clips).rows)

    assert not is_caught(mechanism)
    assert is_caught(Mechanism(**mechanism.values()), 200 if broken is RawColumns else 40)


def exact_gram(pooled, c, noises, columns, rng):
    return np.repeat(pooled.gram(c.row)[:, None], 2, axis=1)


def pace_of_the_rows(self, pooled, *rest, usual=sparse_pilot.Thresholding.pace):
    """A step that follows the rows moves what it is multiplied with."""
    return usual(self, pooled, *rest) / np.linalg.eigvalsh(pooled.gram())[..., -1:, None]


def raw_spread(pooled, place, size, c, *rest, usual=sparse_directions.one_direction):
    """As printed: V stands in the limits without noise or budget."""
    result = usual(pooled, place, size, c, *rest)
    own = pooled.squared_products(result.theta[:, :, 0], c.product)
    return replace(result, spread=own[:, :, None, None])


def noise_of_one_size(step, exact, deviations, *rest, usual=sparse_directions.with_noise):
    """Noise for entries on and above the diagonal as if those beside it were counted once."""
    return usual(step, exact, deviations / math.sqrt(2), *rest)


def noise_of_all_rows(c, shares, rho, pooled, own, usual=sparse_intervals.noise):
    return usual(c, shares, rho, pooled, pooled)


@pytest.mark.parametrize(
    ("part", "broken", "mechanism", "tries"),
    [
        ("sparse_inference.noisy_gram", exact_gram, BAND, 5),
        ("families.sparse.pilot.Thresholding.pace", pace_of_the_rows, ROUNDS, 5),
        ("sparse_inference.one_direction", raw_spread, ONE, 5),
        pytest.param(
            "sparse_newton.with_noise", noise_of_one_size, NEWTON, 40, marks=pytest.mark.slow
        ),
        pytest.param(
            "families.sparse.intervals.noise",
            noise_of_all_rows,
            OWN_BAND,
            40,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_part_without_the_noise_that_it_needs_is_caught(
    part, broken, mechanism, tries, monkeypatch
):
    monkeypatch.setattr(f"engine.mechanisms.{part}", broken)
    assert is_caught(mechanism, tries)


@pytest.mark.slow
def test_parts_that_each_spend_the_whole_budget_are_caught():
    class EachSpendsAll(SparseInference):
        def shares(self, sizes):
            return replace(SEVERAL, coefficients=1.0, variance=1.0, precision=1.0, correction=1.0)

    assert is_caught(EachSpendsAll(**BAND.values()), budget=budget_of(BAND))


def test_stages_that_each_spend_the_whole_budget_are_caught():
    """As printed: a row takes part in both."""

    class EachSpendsAll(SparseHeterogeneous):
        def _stage_shares(self, total):
            return total, total

    assert is_caught(EachSpendsAll(**STAGES.values()), budget=RHO)
