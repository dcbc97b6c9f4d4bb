"""Search over readings for wavelet regression: claims are attained and never exceeded.

Noise has a scale fixed by public facts, so the loss of a pair of neighbours is a closed form: the
distance between what two sites send without noise, in units of the noise. Every reading (x, y) of a
fine grid takes the place of the first reading of site 0; the others never change. The largest
distance over pairs then needs no sampling; it is searched for more thoroughly than in
`engine.audit`, which tries all broken variants. Mechanisms run as they are, with the noise drawn by the
site replaced by zeros: whatever they do to a reading before the message is part of the search.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Public
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.wavelet_bases import WaveletBasis, allowed_levels
from engine.privacy import accounting, transcript
from engine.sources.regression_points import RegressionPoints
from tests.heavy import all_but, few

BUDGETS = (Budget(2.0, 1e-5), Budget(0.7, 1e-4))
SOURCE = RegressionPoints(n_curves=4000, n_servers=2, signal="ramp")
SIZES = (1e-3, 1.0, 2.5, 40.0, 1e9, np.inf, np.nan)
# fractions of a cell: where edge functions are tallest, and spread evenly
FRACTIONS = np.unique(np.concatenate([np.arange(256) / 256, [1e-9, 1 - 1e-9]]))


@dataclass(frozen=True)
class Finding:
    """The largest loss found over the one claimed: 1 where the claim is attained, never more."""

    worst: float
    tried: int


def times_to_try(level):
    cells = np.arange(2**level)[:, None] + FRACTIONS
    return np.concatenate([(cells / 2**level).ravel(), [1.0, np.nan, -3.0, 7.0]])


def neighbours(level, design="even"):
    """Data sets that differ in one reading, which is moved over all times and large labels."""
    usual, times = SOURCE.draw(1, generator(3, 0, 0)), times_to_try(level)
    labels = np.array([sign * size for size in SIZES for sign in (-1, 1)])
    x, y = (grid.ravel() for grid in np.meshgrid(times, labels[2:]))
    count = len(x)
    all_times, values = (np.repeat(a[:, :40], count, axis=0) for a in (usual.times, usual.values))
    all_times[:, 0], values[:, 0] = x, y
    return replace(
        usual,
        times=all_times,
        values=values,
        counts=np.ones(40, dtype=np.int64),
        server=np.repeat([0, 1], 20),
    )


def messages(mechanism, data):
    """What site 0 sends without noise, for every data set, and the noise it would add."""
    heard = []

    def silent(server, step, values, noise):
        heard.append((values[:, 0], np.array(noise)[0]))
        return values

    with transcript.overheard(SimpleNamespace(sent=silent)):
        mechanism.release(data, BUDGETS, NoNoise())
    return heard[0]


class NoNoise:
    """Streams whose noise is zero."""

    def spawn(self, count):
        return [self] * count

    def standard_normal(self, size):
        return np.zeros(size)

    def laplace(self, size):
        return np.zeros(size)


def largest_distance(rows, order):
    """The largest ‖a − b‖ found over pairs, ℓ1 or ℓ2.

    ℓ1 messages have one or few numbers and all pairs are searched, by their signs. In ℓ2 pairs are
    taken among the messages that are farthest from the middle, or extreme in a coordinate.
    """
    if order == 2:
        squares = ((rows - (rows.max(axis=0) + rows.min(axis=0)) / 2) ** 2).sum(axis=1)
        extreme = np.concatenate([rows.argmax(axis=0), rows.argmin(axis=0)])
        far = rows[np.append(np.argsort(-squares)[:2000], extreme)]
        result = (far**2).sum(axis=1)
        return float(np.sqrt(np.maximum(result[:, None] + result - 2 * far @ far.T, 0).max()))
    signs = np.array(np.meshgrid(*[[-1, 1]] * rows.shape[1])).reshape(rows.shape[1], -1)
    return float(np.ptp(rows @ signs, axis=0).max())


def search(mechanism):
    plan = mechanism.plan(Public(neighbours(3).sizes, SOURCE.facts), BUDGETS)
    data = neighbours(plan.basis.level)
    sent, noise = messages(mechanism, data)
    if not np.isfinite(sent).all():
        return Finding(np.inf, len(sent))
    rows = sent.reshape(len(sent), -1) - sent[0].ravel()
    pure = getattr(plan, "kind", "") == "laplace"
    if pure:
        loss = largest_distance(rows / (noise.ravel() / np.sqrt(2)), 1)
        return Finding(loss / BUDGETS[0].epsilon, len(sent))
    loss = largest_distance(rows / noise.ravel(), 2)  # the noise of sent coordinates is independent
    return Finding(loss / accounting.exact_mu(BUDGETS[0].epsilon, BUDGETS[0].delta), len(sent))


CURVES = [
    {"moments": a, "edges": edges}
    for edges in ("periodic", "corrected")
    for a in (range(1, 9) if edges == "periodic" else (2, 3, 4))
]
CURVES += [
    {"edges": "corrected", "edge_noise": "equal"},
    {"design": "ranked", "density": "0.5, 1.5"},
    {"design": "weighted", "density": "0.5, 1.5"},
    {"design": "released"},
    {"design": "released", "moments": 2},
]


def fixed(cls, chosen, **more):
    """A level and a clip at which 40 readings would never be released by the usual rules."""
    lowest = allowed_levels(chosen.get("moments", 4), chosen.get("edges", "periodic"))[0]
    return Always[cls](
        **{"level": max(lowest + 1, 3), "clip": 3.0, "radius": 1e-3, **chosen, **more}
    )


class AlwaysGlobal(WaveletGlobal):
    """Releases even where the rules say that it is of no use."""

    def plan(self, public, budgets):
        honest = super().plan(public, budgets)
        return replace(honest, released=True)


class AlwaysPointwise(WaveletPointwise):
    def plan(self, public, budgets):
        return replace(super().plan(public, budgets), released=True)


Always = {WaveletGlobal: AlwaysGlobal, WaveletPointwise: AlwaysPointwise}


@pytest.mark.parametrize("chosen", few(all_but([*CURVES[2:5:2], *CURVES[6:]], CURVES)), ids=str)
def test_no_reading_moves_the_message_of_a_curve_further_than_claimed_and_some_reach_the_claim(
    chosen,
):
    """Over 20 000 readings for every basis. A bound by min g is not attained to the last per cent."""
    finding = search(fixed(WaveletGlobal, chosen))
    assert finding.tried > 20_000
    assert finding.worst <= 1 + 1e-9
    assert finding.worst >= (0.9 if chosen.get("design") == "weighted" else 0.95)


POINTS = [
    {"points": points, "moments": a, "edges": edges}
    for a, edges in (
        (1, "periodic"),
        (2, "periodic"),
        (4, "periodic"),
        (8, "periodic"),
        (2, "corrected"),
        (4, "corrected"),
    )
    for points in ("0.37", "0.001", "0.2, 0.3, 0.9")
]
POINTS += [
    {"points": "0.37", "moments": a, "edges": edges}
    for a, edges in (
        (3, "periodic"),
        (5, "periodic"),
        (6, "periodic"),
        (7, "periodic"),
        (3, "corrected"),
    )
]
POINTS += [{"points": "0.3, 0.35", "noise": kind} for kind in ("gaussian", "curve")]
POINTS += [{"points": "0.2, 0.8", "density": "0.5, 1.5"}]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", few(POINTS, 6), ids=str)
def test_no_reading_moves_the_message_about_points_further_than_claimed(chosen):
    finding = search(fixed(WaveletPointwise, {"noise": "laplace", **chosen}))
    assert 0.95 <= finding.worst <= 1 + 1e-9


# -- the printed constants -------------------------------------------------------------------


def test_the_printed_constant_at_a_point_is_half_of_what_haar_needs_and_is_refused():
    printed, exact = WaveletPointwise(moments=1).sensitivity_constants(5)
    assert exact == 2 * printed
    for chosen in ({"constants": "published"}, {"plan_rule": "literal"}):
        with pytest.raises(InputError, match="2ε"):
            WaveletPointwise(moments=1, **chosen)
        with pytest.raises(InputError, match="periodic wavelets only"):
            WaveletPointwise(edges="corrected", **chosen)


@pytest.mark.parametrize(("moments", "ratio"), [(2, 1.16), (3, 1.09), (4, 0.85)])
def test_next_to_zero_the_printed_constant_is_too_small_for_corrected_edges(moments, ratio):
    mechanism = WaveletPointwise(moments=moments, edges="corrected", points="1e-9")
    printed, exact = mechanism.sensitivity_constants(6)
    assert printed / exact == pytest.approx(ratio, abs=0.006)


@pytest.mark.parametrize("moments", [2, 3, 4, 5, 6, 8])
def test_the_printed_constants_keep_their_promise_for_smoother_periodic_wavelets(moments):
    source, budgets = RegressionPoints(configuration="homogeneous"), (Budget(1.0, 1e-5),) * 16
    for cls in (WaveletGlobal, WaveletPointwise):
        plan = cls(moments=moments, constants="published").plan(source.public, budgets)
        assert accounting.keeps_promise(plan.spends)
        assert accounting.guarantees(plan.spends)[0].epsilon < 0.8
    printed, _ = WaveletPointwise(moments=moments).sensitivity_constants(6)
    largest = 2 * WaveletBasis(64, moments).kappa * 64  # of all points
    ratios = {2: 2.25, 3: 3.99, 4: 4.75, 5: 5.08, 6: 5.57, 8: 7.38}
    assert printed / largest == pytest.approx(ratios[moments], rel=0.01)


def test_a_ledger_with_too_little_noise_says_that_the_promise_is_broken():
    source, budgets = RegressionPoints(configuration="homogeneous"), (Budget(1.0, 1e-5),) * 16

    class Printed(WaveletPointwise):
        """Would release a Haar estimate with the printed constant."""

        def _unit_scales(self, kind, basis, sites):
            return super()._unit_scales(kind, basis, sites) / 2

    spends = Printed(moments=1).plan(source.public, budgets).spends
    assert not accounting.keeps_promise(spends)
    assert accounting.guarantees(spends)[0].epsilon == pytest.approx(2)
