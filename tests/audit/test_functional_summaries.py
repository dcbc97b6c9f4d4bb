"""Search over neighbouring curves for releases of whole functions: claims are never exceeded.

The search is that of `engine.audit`, which also tries all broken variants; here it goes through
settings and sizes, and through the noisy choice of a smoothing, of which no message is sent.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from engine.audit.neighbours import (
    PairRequest,
    pairs_of_whole_curves,
    usual_points,
    usual_whole_curves,
)
from engine.audit.shapes import shapes_of
from engine.core.types import Budget, SampleData
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.summaries import selection
from engine.privacy.accounting import exact_mu
from tests.audit.search import found
from tests.heavy import all_but, few

BUDGET = Budget(0.8, 1e-3)


def search(mechanism, n=50):
    """240 pairs."""
    return found(mechanism, BUDGET, 240, usual_whole_curves(mechanism, n))


# -- claims --------------------------------------------------------------------------------------

EXACT = [
    Iclp(),
    Iclp(constants="optimal"),
    Iclp(kernel="exponential", eta=2.5),
    Iclp(kernel="gaussian", length=0.2),
    Iclp(kernel="sobolev", length=0.3),
    Frl(),
    Frl(constants="optimal"),
    Frl(noise="norm"),
    Bernstein(),
    Bernstein(degree=7, iterations=3),
    Bernstein(held="sup", size=0.3),
    GaussianProcess(),
    GaussianProcess(constants="optimal"),
]
PRINTED = [cls(constants="published") for cls in (Iclp, Frl, Bernstein, GaussianProcess)]
# claims of the same law as others in the lists: another kernel, degree, constant or printed rule
ALIKE = [*EXACT[2:5], EXACT[6], EXACT[9], EXACT[11], *PRINTED[1:]]
OTHERS = [
    (Iclp, {}),
    (Iclp, {"constants": "optimal"}),
    (Iclp, {"constants": "published"}),
    (Frl, {}),
    (Frl, {"noise": "norm"}),
    (Bernstein, {"degree": 8}),
    (GaussianProcess, {}),
    (GaussianProcess, {"constants": "optimal"}),
    (GaussianProcess, {"constants": "published"}),
]
every_kind = pytest.mark.parametrize(
    ("cls", "chosen"), few([OTHERS[0], *OTHERS[3:7], *OTHERS[1:3], *OTHERS[7:]], 5), ids=str
)


def is_round(cls, chosen):
    """Whether all changes of one ℓ2 norm cost the same."""
    through_filter = cls is GaussianProcess and chosen.get("constants") == "optimal"
    return through_filter or chosen.get("noise") == "norm"


@pytest.mark.parametrize(
    "mechanism", all_but(ALIKE, [*EXACT, *PRINTED]), ids=lambda one: f"{one.key} {one.changed()}"
)
def test_no_curve_moves_a_mean_further_than_claimed_and_some_reach_the_claim(mechanism):
    """Printed constants claim less than was asked, and that less is attained as well."""
    losses = search(mechanism)
    assert 0.999 <= losses.lines[0] <= 1 + 1e-9
    if mechanism not in EXACT:
        assert losses.claim.total <= 0.7 * (
            BUDGET.epsilon
            if losses.claim.unit == "epsilon"
            else exact_mu(BUDGET.epsilon, BUDGET.delta)
        )


@pytest.mark.parametrize(
    ("n", "attained", "constants"),
    few(
        [
            (50, True, "tight"),
            (100, False, "optimal"),
            (200, True, "published"),
            (200, True, "tight"),
            (50, True, "optimal"),
            (50, True, "published"),
            (100, False, "tight"),
            (100, False, "published"),
            (200, True, "optimal"),
        ],
        2,
    ),
)
def test_no_curve_moves_a_mean_under_thresholds_further_and_some_do_where_there_is_room(
    n, attained, constants
):
    """At n = 100 thresholds leave no room for all coordinates to move at once: an upper bound."""
    losses = search(Iclp(penalty="absolute", eta=3.0, constants=constants), n)
    assert losses.worst <= 1 + 1e-9
    assert losses.lines[0] >= (0.95 if attained else 0.6)


@every_kind
@pytest.mark.parametrize("centre", few(["private_mean", "nothing", "sample_mean"]))
def test_no_curve_moves_a_covariance_further_than_claimed(cls, chosen, centre):
    """A change has two eigenvalues at most, so only noise that looks at its norm alone is exact."""
    losses = search(cls(task="covariance", centre=centre, **chosen), 20)
    assert losses.worst <= 1 + 1e-9
    assert losses.lines[-1] >= (0.95 if is_round(cls, chosen) else 0.65)


@every_kind
def test_nobody_moves_coefficients_further_than_claimed_whatever_is_known_of_them(cls, chosen):
    """Products with curves reach their claim jointly; second moments have few directions."""
    losses = search(cls(task="varying_coefficients", **chosen), 20)
    assert losses.worst <= 1 + 1e-9
    assert losses.lines[0] >= 0.7
    assert losses.lines[1] >= 0.98


class Favours:
    """A stream whose noise is zero but for one candidate, which it makes better by `amount`."""

    def __init__(self, candidate, amount):
        self.candidate, self.amount = candidate, amount

    def laplace(self, size):
        noise = np.zeros(size)
        noise[..., self.candidate] = -self.amount
        return noise


def noise_on_scores(mechanism, summary, plan, records, scores, earlier):
    """The scale of the noise of a choice: what turns the worst candidate into the chosen one."""
    worst, low, high = int(scores.argmax()), 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        chosen = selection.choose(
            mechanism, summary, plan, [records], 1, Favours(worst, middle), earlier
        )
        low, high = (low, middle) if chosen[0, 0] == worst else (middle, high)
    return np.ptp(scores) / high


def opposite_halves(mechanism, usual):
    """Curves that are held out are one shape, the others its opposite; one of those turns over."""
    shapes, n = shapes_of(mechanism, usual, BUDGET), usual.n_curves
    shape = shapes.at_bound(shapes.some[6])
    values = np.tile(shape, (n, 1)) * np.where(np.arange(n) % 2, 1, -1)[:, None]
    other = values.copy()
    other[1] = -shape
    return [replace(usual, values=side.reshape(1, -1)) for side in (values, other)]


def different_halves(mechanism, usual):
    """Curves that are held out are one shape, the others a second; one of either takes a third."""
    shapes, n = shapes_of(mechanism, usual, BUDGET), usual.n_curves
    times = np.array(usual.facts.common_times)
    some = [shapes.at_bound(np.cos(np.pi * k * times)) for k in range(4)]
    for first, second, third in itertools.product(some, repeat=3):
        values = np.where(np.arange(n)[:, None] % 2, first, second)
        for index in (0, 1):
            other = values.copy()
            other[index] = third
            yield [replace(usual, values=side.reshape(1, -1)) for side in (values, other)]


def dearest_move(mechanism, pairs):
    """The largest cost of a move of scores in noise of the choice, and the ledger's line of it."""
    worst, scale, usual = 0.0, None, pairs[0][0]
    plan = mechanism.plan(usual.public, (BUDGET,))
    summary = mechanism.summary(usual.sizes, usual.facts)
    for one, other in pairs:
        # what was released before: the same for both
        centre = [np.zeros((one.n_repeats, 1, max(plan.sizes(0))))]
        first, second = (
            selection.scores_of(summary, plan, summary.records(data), 2, 1.0, centre)[:, 0, 0]
            for data in (one, other)
        )
        if scale is None:
            scale = noise_on_scores(
                mechanism, summary, plan, summary.records(one.repeat(0)), first[0], [centre[0][:1]]
            )
        worst = max(worst, 2 * np.abs(first - second).max() / scale)
    return worst, plan.spends[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "attained"),
    [
        (Iclp(selection_rule="paid"), 0.85),
        (Frl(selection_rule="paid"), 0.85),
        (Iclp(selection_rule="paid", task="covariance", grid_size=12, penalty_weight=1e-4), 0.6),
        (Frl(selection_rule="paid", task="covariance", grid_size=12, centre="nothing"), 0.6),
    ],
    ids=lambda case: f"{case.key} {case.task}" if isinstance(case, FunctionalRelease) else "",
)
def test_no_curve_moves_scores_of_candidates_further_than_the_noise_of_a_paid_choice_allows(
    mechanism, attained
):
    """Report-noisy-min: twice the largest move of a score, in units of its noise, is what it costs.

    Squares of two curves are nowhere opposite, so for covariances the bound has a margin of √2.
    """
    usual = usual_whole_curves(mechanism, 60)
    pairs = pairs_of_whole_curves(
        PairRequest(mechanism, usual, BUDGET), 60, np.random.default_rng(11)
    )
    extremes = [opposite_halves(mechanism, usual), *different_halves(mechanism, usual)]
    worst, spend = dearest_move(mechanism, [(pairs.usual, pairs.neighbour), *extremes])
    assert spend.epsilon == pytest.approx(0.2 * BUDGET.epsilon)
    assert attained * spend.epsilon <= worst <= spend.epsilon * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        Iclp(task="density", selection_rule="paid", grid_size=16),
        Frl(task="density", selection_rule="paid", grid_size=16, clean=False),
    ],
    ids=lambda one: one.key,
)
def test_no_record_moves_scores_of_widths_further_than_the_noise_of_a_paid_choice_allows(mechanism):
    """All that are held out at one point, the others at a second, and one of either moves."""
    points = (np.arange(16) + 0.5) / 16
    facts, pairs = usual_points(mechanism).facts, []
    for held_out, others, moved in itertools.product((0, 7, 15), (0, 1, 8), range(16)):
        for index in (0, 1):
            place = np.where(np.arange(40) % 2, others, held_out)
            other = place.copy()
            other[index] = moved
            pairs.append(
                [
                    SampleData(points[side][None, :, None], None, np.zeros(40, int), facts)
                    for side in (place, other)
                ]
            )
    worst, spend = dearest_move(mechanism, pairs)
    assert 0.8 * spend.epsilon <= worst <= spend.epsilon * (1 + 1e-9)
