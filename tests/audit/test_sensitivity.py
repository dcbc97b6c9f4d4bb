"""The claimed sensitivity is attained and never exceeded; broken mechanisms are caught."""

from dataclasses import replace

import numpy as np
import pytest

from engine.descent import Server
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.numerics.moments import Moments
from tests.audit.neighbours import data_set, search

SMALL = {"truncation": 3, "n_iterations": 3}


@pytest.mark.parametrize("chosen", [
    {"scheme": "split"}, {"scheme": "full_batch"}, {"noise": "isotropic"},
    {"scheme": "split", "constants": "published"}, {"value_scale": "bounds"}, {"log_power": 2},
    {"extension": 0.25}, {"ellipsoid_radius": 5.0}], ids=str)
def test_no_neighbour_moves_a_round_further_than_claimed_and_some_reach_the_claim(chosen):
    """400 pairs; the claim is met from below to 1e-9 and attained within 5 %.

    The bounds scale cannot reach the claim: readings are held within their bounds first.
    """
    finding = search(NoisyGradientMean(**SMALL, **chosen))
    assert finding.worst <= 1 + 1e-9
    assert finding.worst >= (0.3 if "value_scale" in chosen else 0.95)


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
def test_a_curve_moves_its_own_server_as_claimed_and_no_other_server_at_all(scheme):
    """400 pairs on three servers of eight curves."""
    finding = search(NoisyGradientMean(**SMALL, scheme=scheme), n_servers=3)
    assert 0.95 <= finding.worst <= 1 + 1e-9


def test_unequal_lengths_keep_the_claim():
    finding = search(NoisyGradientMean(**SMALL), unequal=True)
    assert 0.95 <= finding.worst <= 1 + 1e-9


class NoClipping(NoisyGradientMean):
    def _servers(self, *args):
        return [replace(s, radii=s.radii * 1e9) for s in super()._servers(*args)]


class ClipTenPercentLoose(NoisyGradientMean):
    def _servers(self, *args):
        return [replace(s, radii=s.radii * 1.1) for s in super()._servers(*args)]


class ClipEachReadingThenAdd(NoisyGradientMean):
    """Clips every reading's gradient and sums instead of clipping the curve's average."""

    def _servers(self, data, basis, rounds, draws, rng):
        servers = super()._servers(data, basis, rounds, draws, rng)
        return [replace(s, radii=s.radii * data.counts.max()) for s in servers]


class ClipAfterAveraging(NoisyGradientMean):
    def server_update(self, server, round, batch_size, iterates, scales):
        loose = replace(server, radii=server.radii * 1e9)
        sent = super().server_update(loose, round, batch_size, iterates, scales)
        return np.clip(sent, -server.radii[0], server.radii[0])


class BatchesOverlap(NoisyGradientMean):
    """The last round takes the curves of the round before once more."""

    def server_update(self, server, round, batch_size, iterates, scales):
        return super().server_update(server, min(round, 1), batch_size, iterates, scales)


class ScaleFromTheData(NoisyGradientMean):
    """Radii grow with the spread of the readings, which one curve can blow up."""

    def _servers(self, data, basis, rounds, draws, rng):
        with np.errstate(all="ignore"):
            spread = float(np.nan_to_num(np.std(np.nan_to_num(data.values)), nan=1.0, posinf=1e9))
        return [replace(s, radii=s.radii * max(spread, 1.0))
                for s in super()._servers(data, basis, rounds, draws, rng)]


class DividesByActiveCurves(NoisyGradientMean):
    """The divisor counts only curves that point the same way: it is private."""

    def server_update(self, server, round, batch_size, iterates, scales):
        sent = super().server_update(server, round, batch_size, iterates, scales)
        active = (np.abs(server.moments.features).sum(axis=1) > 1e3).sum() + 1
        return sent * batch_size / (batch_size - min(active, batch_size - 1))


class MissingNumbersPass(NoisyGradientMean):
    """A NaN goes through the clip and makes the whole release NaN."""

    def _servers(self, data, *args):
        broken = ~np.isfinite(np.add.reduceat(
            np.nan_to_num(data.values[0], nan=np.nan, posinf=np.nan, neginf=np.nan),
            np.cumsum(data.counts) - data.counts))
        servers = super()._servers(data, *args)
        poisoned = servers[0].moments.features.copy()
        poisoned[0][:, broken] = np.nan
        return [Server(0, Moments(poisoned, servers[0].moments.basis), servers[0].radii,
                       servers[0].normals)]


class OneSidedSensitivity(NoisyGradientMean):
    """Takes R instead of 2R: forgets that a curve can go from one wall to the other."""

    def plan(self, data, budgets):
        honest = super().plan(data, budgets)
        return replace(honest, scales=honest.scales / 2)


class ForgetsTheBatchSize(NoisyGradientMean):
    """Noise for an average over all curves, added to an average over one batch."""

    def plan(self, data, budgets):
        honest = super().plan(data, budgets)
        return replace(honest, scales=honest.scales * honest.batch_sizes[0] / data.n_curves)


class EachRoundSpendsEverything(NoisyGradientMean):
    """Full batches with the whole budget in every round: composition forgotten."""

    def plan(self, data, budgets):
        honest = super().plan(data, budgets)
        return replace(honest, scales=honest.scales / np.sqrt(honest.rounds))


class IsotropicNoiseOfTheMeanRadius(NoisyGradientMean):
    """Clips entry by entry but calibrates the noise to the average radius only."""

    def plan(self, data, budgets):
        honest = super().plan(data, budgets)
        smallest = honest.scales.min(axis=1, keepdims=True)
        return replace(honest, scales=np.broadcast_to(smallest, honest.scales.shape))


BROKEN = [
    (NoClipping, {}), (ClipTenPercentLoose, {}), (ClipEachReadingThenAdd, {}),
    (ClipAfterAveraging, {}), (BatchesOverlap, {"scheme": "split"}), (ScaleFromTheData, {}),
    (DividesByActiveCurves, {}), (MissingNumbersPass, {}), (OneSidedSensitivity, {}),
    (ForgetsTheBatchSize, {"scheme": "split"}), (EachRoundSpendsEverything, {}),
    (IsotropicNoiseOfTheMeanRadius, {}),
]


@pytest.mark.parametrize(("broken", "chosen"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_a_broken_variant_is_caught(broken, chosen):
    assert search(broken(**SMALL, **chosen), tries=200).worst > 1 + 1e-6


def test_noise_beyond_need_is_caught_too():
    """All curves every round, noised as if only a batch took part, falls below the claim."""
    class OverNoised(NoisyGradientMean):
        def plan(self, data, budgets):
            honest = super().plan(data, budgets)
            return replace(honest, scales=honest.scales * np.sqrt(honest.rounds))

    assert search(OverNoised(**SMALL)).worst < 0.95


def test_tuning_does_not_look_at_readings():
    mechanism = NoisyGradientMean()
    from tests.audit.neighbours import BUDGET

    one, other = data_set(1), data_set(2)
    first, second = (mechanism.plan(d, (BUDGET,)) for d in (one, other))
    assert first.size == second.size
    assert first.rounds == second.rounds
    assert (first.scales == second.scales).all()
    assert first.spends == second.spends
