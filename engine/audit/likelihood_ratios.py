"""Likelihood ratios of the messages of two data sets.

The attacker knows both data sets, the mechanism, and the law that noise is said to have, and hears
every message. So the numbers behind each message, given all messages before, are known for both
data sets, and the log-likelihood ratio along the messages is the best score there is. The numbers
are found by replaying what was heard to both data sets without any noise. If noise is not what it
is said to be, the score is no longer the best, but a test by it remains a test.

A choice of the largest entries is scored by its law, which is an integral over one number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.audit import replay
from engine.audit.laws import LargestLosses, audited
from engine.audit.losses import LossClaim, law_of
from engine.audit.replay import SelectionFacts
from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, Budget, Data, Step
from engine.noise.hardened import ZeroGenerator
from engine.noise.selection import GUMBEL, Scales, SelectionLaw
from engine.privacy import transcript

_NOTHING = 1e-30  # for zero, so that directions of noise remain defined
_PROBES = 16  # draws that show which messages differ, and whether they follow earlier ones
_COMPARED = 500  # draws by which pairs are compared
_PLACES, _PARTS_OF_ONE = (nodes / 2 for nodes in np.polynomial.legendre.leggauss(32))
_PLACES += 0.5
# denser at both ends, where what is integrated may be steep
_NODES = _PLACES**3 * (10 - 15 * _PLACES + 6 * _PLACES**2)
_WEIGHTS = _PARTS_OF_ONE * 30 * (_PLACES * (1 - _PLACES)) ** 2


class FaintGenerator(ZeroGenerator):
    """Stands for a generator where no noise is wanted, whatever its law."""

    def spawn(self, n_children: int) -> list[ZeroGenerator]:
        return [FaintGenerator() for _ in range(n_children)]

    def _drawn(self, *_: Any, size: Any = None) -> Array:
        return np.full(() if size is None else size, _NOTHING)

    def standard_normal(self, size: Any = None) -> Array:
        return self._drawn(size=size)

    def laplace(self, size: Any = None) -> Array:
        return self._drawn(size=size)

    gumbel = laplace
    standard_exponential = standard_normal

    def random(self, size: Any = None) -> Array:
        """So near to 1 that no bit is turned round."""
        return 1 - np.sqrt(self._drawn(size=size))

    def standard_gamma(self, shape: float, size: Any = None) -> Array:
        return self._drawn(size=size)


# -- what is heard --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Told:
    """One message."""

    server: int
    step: Step
    values: Array  # (columns, …): as heard
    noise: Array  # (columns, …): deviation of its noise


class _Ears:
    """Notes every message of all columns."""

    def __init__(self) -> None:
        self.messages: list[Told] = []

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        spread = np.broadcast_to(noise, values.shape)
        self.messages.append(Told(server, step, values[0].copy(), spread[0]))
        return values

    def summed(self, step: Step, parts: transcript.Parts) -> None:
        return None

    def weighed(
        self,
        server: int,
        step: Step,
        values: Array,
        law: SelectionLaw,
        n_selected: int,
        scales: Scales,
    ) -> None: ...


class _Replayed(_Ears):
    """Says what was heard before, and notes the numbers behind it, without noise."""

    def __init__(self, answers: Sequence[Told]) -> None:
        super().__init__()
        self.choices: dict[int, SelectionFacts] = {}
        self.exact: list[Array] = []
        self._answers = answers

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        index = len(self.exact)
        self.exact.append(self._weighed if index in self.choices else values[0].copy())
        return self._answers[index].values[None].copy()

    def weighed(
        self,
        server: int,
        step: Step,
        values: Array,
        law: SelectionLaw,
        n_selected: int,
        scales: Scales,
    ) -> None:
        self.choices[len(self.exact)] = SelectionFacts(law, n_selected, scales)
        self._weighed = values[0].copy()


@dataclass(frozen=True, eq=False)
class Exact:
    """The numbers behind one message, with both data sets."""

    # first, second, each (columns or 1, …)):
    first: Array
    second: Array
    choice: SelectionFacts | None  # how the largest were chosen, where they were


# -- the score ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scored:
    """Releases of one data set with their scores."""

    score: Array  # (draws,): of what was heard: higher for the second data set
    outputs: Array  # (draws, numbers): what came out, where no message was heard
    losses: Array  # (draws or 1,): of all messages together, in the unit of the claim
    # numbers, bits, each (k,): the largest losses of single ones, in ε
    numbers: Array
    bits: Array
    vectors: Array  # (k, 2): those of vectors, with how many numbers each has


@dataclass(frozen=True, eq=False)
class _MessageScores:
    """Part of `Scored` for one message."""

    score: Array
    losses: Array
    parts: LargestLosses


class LikelihoodRatios:
    """Scores releases of either data set of a pair."""

    def __init__(
        self, mechanism: Any, pair: tuple[Data, Data], budget: Budget, claim: LossClaim, seed: int
    ) -> None:
        self.mechanism, self.pair, self.budget, self.claim = mechanism, pair, budget, claim
        self.seed = seed
        received, outputs = self._received(0, _PROBES, (seed, 2))
        self.size, probes = outputs.shape[1], _PROBES
        columns = [len(message.values) for message in received] or [_PROBES]
        noise_free = max(columns) - _PROBES  # those behind the draws, never published
        self.at_once = min(columns) - noise_free
        if self.splits_draws:
            probes = self.at_once
            received, _ = self._received(0, probes, (seed, 2))
        self.exact = self._behind(received, probes)
        self.differing = [
            k for k, exact in enumerate(self.exact) if not np.array_equal(exact.first, exact.second)
        ]
        self.follows = any(not _is_constant(self.exact[k]) for k in self.differing)
        if not self.follows:
            self.exact = [
                replace(exact, first=exact.first[:1], second=exact.second[:1])
                for exact in self.exact
            ]

        probe = self.scored(0, _PROBES, (seed, 2))
        self.lost = math.sqrt((probe.losses**2).mean())
        spread = probe.vectors[:, 0] / np.sqrt(np.maximum(probe.vectors[:, 1], 1.0))
        numbers = np.concatenate([probe.numbers, probe.bits, spread])
        self._mu = float(np.linalg.norm(numbers)) if claim.unit == "epsilon" else self.lost

    def apart(self, draws: int = _COMPARED) -> float:
        """Average difference of scores, with the stated noise; μ² if it is Gaussian."""
        first, second = (
            self.scored(side, draws, (self.seed, side, 0, 1)).score.mean() for side in range(2)
        )
        return float(second - first)

    @property
    def is_exact(self) -> bool:
        """True if scores are exact; choices by other noise than Gumbel's are scored roughly."""
        choices = [self.exact[k].choice for k in self.differing]
        return all(choice is None or choice.law is GUMBEL for choice in choices)

    @property
    def hears(self) -> bool:
        """True if any message distinguishes the data sets, by a loss that has a number."""
        return bool(self.differing) and 0 < self.mu < math.inf

    @property
    def mu(self) -> float:
        """μ of Gaussian noise that hides the pair about as well as all messages together."""
        return self._mu

    @property
    def splits_draws(self) -> bool:
        """True if draws are worked on a few at a time, each few with messages of their own."""
        return self.at_once < _PROBES

    def scored(self, side: int, draws: int, seed: tuple[int, ...]) -> Scored:
        """Scores of so many releases of one data set."""
        if not self.splits_draws:
            return self._scored(side, draws, seed)
        each = [
            self._scored(side, self.at_once, (*seed, k))
            for k in range(math.ceil(draws / self.at_once))
        ]
        score, outputs = (
            np.concatenate([getattr(few, name) for few in each])[:draws]
            for name in ("score", "outputs")
        )
        losses = np.concatenate([np.broadcast_to(few.losses, self.at_once) for few in each])
        return replace(each[0], score=score, outputs=outputs, losses=losses[:draws])

    def _scored(self, side: int, draws: int, seed: tuple[int, ...]) -> Scored:
        received, outputs = self._received(side, draws, seed)
        exact = self._behind(received, draws) if self.follows else self.exact
        # Draws whose early releases differ are worked on apart: few can have fewer messages.
        heard = min(len(received), len(exact))
        messages = [
            self._message(received[k], exact[k], draws) for k in self.differing if k < heard
        ]
        if not messages:
            return Scored(np.zeros(draws), outputs, np.zeros(1), *LargestLosses())
        together = self.claim.composed(np.broadcast_arrays(*(part.losses for part in messages)))
        parts = map(np.concatenate, zip(*(part.parts for part in messages), strict=True))
        return Scored(np.sum([part.score for part in messages], axis=0), outputs, together, *parts)

    def _received(self, side: int, draws: int, seed: tuple[int, ...]) -> tuple[list[Told], Array]:
        ears = _Ears()
        with transcript.overheard(ears):
            estimate = replay.released(self.mechanism, self.pair[side], self.budget, draws, seed)
        return ears.messages, np.asarray(estimate.coefficients[0, 0].reshape(draws, -1))

    def _behind(self, received: Sequence[Told], draws: int) -> list[Exact]:
        """The numbers behind what was heard, with either data set."""
        both = []
        for data in self.pair:
            both.append(_Replayed(received))
            with transcript.overheard(both[-1]):
                replay.released_with(self.mechanism, data, self.budget, draws, FaintGenerator())
        return [
            Exact(first[:draws], second[:draws], both[0].choices.get(k))
            for k, (first, second) in enumerate(
                zip(*(replayed.exact for replayed in both), strict=True)
            )
        ]

    def _message(self, message: Told, exact: Exact, draws: int) -> _MessageScores:
        received, noise = message.values[:draws], message.noise[:draws]
        if exact.choice is not None:
            return _choice(exact, received, self.claim)
        law = law_of(message.step, self.claim)
        with np.errstate(all="ignore"):
            shift, rest = (
                self._in_units(change, noise)
                for change in (exact.second - exact.first, received - exact.first)
            )
        return _MessageScores(
            audited(law).score(shift, rest), *_losses(law, self.claim, shift, noise)
        )

    def _in_units(self, change: Array, noise: Array) -> Array:
        """(draws, numbers), in standard deviations."""
        spread = noise[: len(change)][:, None]
        units: Array = self.mechanism.in_units_of_noise(change[:, None], spread)
        units = np.nan_to_num(units.reshape(len(change), -1), posinf=1e9, neginf=-1e9)
        return units


def _is_constant(exact: Exact) -> bool:
    """True if all draws are of the same numbers."""
    return all(
        np.allclose(numbers, numbers[:1], rtol=1e-9, atol=1e-300)
        for numbers in (exact.first, exact.second)
    )


def _losses(
    law: NoiseLaw, claim: LossClaim, shift: Array, noise: Array
) -> tuple[Array, LargestLosses]:
    """Losses (draws or 1,) in the unit of the claim, and the largest of single numbers."""
    spread, known = noise[:1].reshape(1, -1), audited(law)
    each = known.loss(shift[:, None], spread)[:, 0]
    return each, known.largest(shift, spread) if claim.unit == "epsilon" else LargestLosses()


# -- a choice of the largest ----------------------------------------------------------------------


def _choice(exact: Exact, received: Array, claim: LossClaim) -> _MessageScores:
    """Score and losses of the choice of entries, and of the values that were sent for them."""
    choice = exact.choice
    assert choice is not None
    is_sent = received != 0
    ratio = _log_chance(choice, exact.second, is_sent) - _log_chance(choice, exact.first, is_sent)
    shift = (exact.second - exact.first) / choice.scales.values
    rest = (received - exact.first) / choice.scales.values
    law = audited(NoiseLaw.GAUSSIAN if choice.law.is_gaussian else NoiseLaw.LAPLACE)
    deviation = choice.law.value_deviation
    values = law.score(*(np.where(is_sent, change / deviation, 0.0) for change in (shift, rest)))
    largest_change = np.abs(exact.second - exact.first).max(axis=1)
    loss = choice.loss(largest_change, claim.unit)
    if claim.unit != "epsilon":
        return _MessageScores(ratio + values, loss, LargestLosses())
    numbers = np.full(choice.n_selected, largest_change.max() / choice.scales.values)
    bits = np.array([2 * choice.n_selected * largest_change.max() / choice.scales.choice])
    return _MessageScores(ratio + values, loss, LargestLosses(numbers, bits))


def _log_chance(choice: SelectionFacts, values: Array, is_sent: Array) -> Array:
    """Log chance of the set that was chosen, of the sizes of `values` (draws, d).

    With Gumbel noise all at once: the largest key of those left out is u in its own law, and the
    others exceed it with chance 1 − u^w, w_j = e^{|v_j|/b}/Σ e^{|v_k|/b}, k left out. With other
    laws to first order, where sizes differ by less than the noise.
    """
    keys = np.abs(np.broadcast_to(values, is_sent.shape)) / choice.scales.choice
    if choice.law is not GUMBEL:
        return np.asarray(np.where(is_sent, keys, 0.0).sum(axis=1))
    out = np.where(is_sent, -np.inf, keys)
    left = np.log(np.exp(out - keys.max(axis=1, keepdims=True)).sum(axis=1)) + keys.max(axis=1)
    indices = np.argsort(-is_sent.astype(int), axis=1, kind="stable")[:, : choice.n_selected]
    odds = np.exp(np.clip(np.take_along_axis(keys, indices, axis=1) - left[:, None], -600, 600))
    exceed = -np.expm1(odds[:, :, None] * np.log(_NODES))
    return np.asarray(np.log(np.maximum(exceed.prod(axis=1) @ _WEIGHTS, 1e-300)))
