"""Record a run, hold everything random fixed, and replay it on neighbouring data.

Both runs draw the same noise, because they have the same seed and sizes, and hear the same answers
to whatever is sent. So all that is left of the difference between two messages is how far one
record moves the numbers behind them. Answers are those of the run itself, or an adversary's:
earlier outputs are known to the attacker, and a claim must hold whatever they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from engine.core.arrays import Indices
from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, Budget, Data, Estimate, Step
from engine.noise.selection import Scales, SelectionLaw, costs
from engine.privacy import transcript

_SIZES = (0.0, 1e-6, 0.01, 0.3, 3.0, 1e3)  # of an adversary's answers
_HONEST = 5  # every so many pairs hear what was really sent
MATRIX = 4  # dimensions of messages that are symmetric matrices
_is_granted: ContextVar[bool] = ContextVar("audit", default=False)


@dataclass(frozen=True)
class SelectionFacts:
    """Facts needed to price a noisy choice of the largest entries."""

    law: SelectionLaw
    n_selected: int
    scales: Scales

    def loss(self, shift: Array, unit: str) -> Array:
        """Compute the loss of one step, choice and values, if an entry moves by `shift`: (…)."""
        if unit == "epsilon":
            each = 2 / self.scales.choice + 1 / self.scales.values
            return np.asarray(shift * self.n_selected * each)
        rho = sum(costs(self.law, self.n_selected, 1.0, self.scales))
        return np.asarray(shift * math.sqrt(2 * rho))


@dataclass(frozen=True, eq=False)
class RecordedMessages:
    """One message of all data sets."""

    server: int
    step: Step
    # values, noise, each (repeats, ways, …): of several ways the adversary takes the one that suits
    # him best
    values: Array
    noise: Array
    # of the noise where the mechanism says so, or how the largest were chosen. None: it follows
    # from the ledger.
    law: NoiseLaw | SelectionFacts | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """Parts that must not differ between neighbours, beside the noise of each."""
        return (self.server, self.step, self.values.shape, self.law)

    def followed_by(self, other: RecordedMessages) -> RecordedMessages:
        """Append the repeats of a later part of the run."""
        return replace(
            self,
            values=np.concatenate([self.values, other.values]),
            noise=np.concatenate([self.noise, other.noise]),
        )


class Recorder:
    """Notes what is sent and answers: as an adversary would, or with the answers of another run.

    An adversary's answers come from `rng`.
    """

    def __init__(
        self, answers: Sequence[Array] | None = None, rng: np.random.Generator | None = None
    ) -> None:
        self.messages: dict[tuple[int, str], RecordedMessages] = {}
        self.added: list[tuple[Step, Array]] = []
        self.answers: list[Array] = []
        self.has_sums = False
        self._prescribed, self._rng = answers, rng

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        spread, before = np.broadcast_to(noise, values.shape), self.messages.get((server, step.key))
        if before is not None and isinstance(before.law, SelectionFacts):
            self.added.append(
                (step, _added(values[:, 0], before.values[-len(values) :, 0], spread[:, 0]))
            )
        else:
            self._note(RecordedMessages(server, step, values[:, :1].copy(), spread[:, :1].copy()))
        answer = self._answer(values, spread)
        self.answers.append(answer)
        return answer.copy()

    def summed(self, step: Step, parts: transcript.Parts) -> None:
        self.has_sums = True
        self._note(
            RecordedMessages(
                transcript.CENTRE,
                step,
                parts.values.copy(),
                np.broadcast_to(parts.noise, parts.values.shape).copy(),
                parts.law,
            )
        )

    def weighed(
        self,
        server: int,
        step: Step,
        values: Array,
        law: SelectionLaw,
        n_selected: int,
        scales: Scales,
    ) -> None:
        self._note(
            RecordedMessages(
                server,
                step,
                values[:, :1].copy(),
                np.ones_like(values[:, :1]),
                SelectionFacts(law, n_selected, scales),
            )
        )

    def _note(self, message: RecordedMessages) -> None:
        """Parts of a run for other repeats, and calls of one name, are put together."""
        key = (message.server, message.step.key)
        before = self.messages.get(key)
        self.messages[key] = message if before is None else before.followed_by(message)

    def _answer(self, values: Array, spread: Array) -> Array:
        if self._prescribed is not None:
            index = len(self.answers)
            fits = index < len(self._prescribed) and self._prescribed[index].shape == values.shape
            return self._prescribed[index] if fits else values
        if self._rng is None:
            return values
        return _adversary(values, spread, self._rng)


def _added(values: Array, exact: Array, spread: Array) -> Array:
    """Noise of unit size on the entries that were chosen and sent, NaN elsewhere: (repeats, d)."""
    with np.errstate(all="ignore"):
        return np.where(spread > 0, (values - exact) / spread, np.nan)


def is_honest(count: int) -> NDArray[np.bool_]:
    """True for pairs that hear what was really sent."""
    return np.asarray(np.arange(count) % _HONEST == 0)


def _adversary(values: Array, spread: Array, rng: np.random.Generator) -> Array:
    """Any numbers where there is noise: ordinary, zero, tiny, huge; some pairs hear the truth."""
    answers = rng.standard_normal(values.shape)
    if values.ndim == MATRIX and values.shape[-1] == values.shape[-2]:
        answers = (answers + answers.swapaxes(-1, -2)) / 2
    size = rng.choice(_SIZES, size=(len(values), *[1] * (values.ndim - 1)))
    truth = is_honest(len(values)).reshape(size.shape)
    noisy = np.broadcast_to((spread > 0)[:, :1], values.shape)  # noise may depend on the column
    return np.where(noisy & ~truth, answers * size, values)


@dataclass(frozen=True, eq=False)
class RecordedRelease:
    """A release of all data sets at once, and everything that was heard of it."""

    estimate: Estimate
    messages: dict[tuple[int, str], RecordedMessages]
    answers: list[Array]
    # whether noise was drawn as sums, so that the release does not follow from messages
    has_sums: bool
    # the noise on entries that were chosen from exact numbers, step by step
    added: list[tuple[Step, Array]]


# -- releases inside the audit, where alone broken variants may run -------------------------------


@contextmanager
def granted() -> Iterator[None]:
    """Let broken variants release in this block."""
    token = _is_granted.set(True)
    try:
        yield
    finally:
        _is_granted.reset(token)


def is_granted() -> bool:
    return _is_granted.get()


def released(
    mechanism: Any, data: Data, budget: Budget, draws: int, seed: tuple[int, ...]
) -> Estimate:
    """A release inside the audit, where broken variants may run, too."""
    noise = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
    return released_with(mechanism, data, budget, draws, noise)


def released_with(mechanism: Any, data: Data, budget: Budget, draws: int, rng: Any) -> Estimate:
    """The same with a given generator, or with what stands for one."""
    with granted(), np.errstate(all="ignore"):
        estimate: Estimate = mechanism.release_many(data, [(budget,)], draws, rng)
    return estimate


def run(
    mechanism: Any,
    data: Data,
    budget: Budget,
    seed: int,
    answers: Sequence[Array] | None = None,
    rng: np.random.Generator | None = None,
) -> RecordedRelease:
    """One release, with the answers of another run, of an adversary (`rng`), or as it is."""
    recorder = Recorder(answers, rng)
    with transcript.overheard(recorder):
        estimate = released(mechanism, data, budget, 1, (seed,))
    return RecordedRelease(
        estimate, recorder.messages, recorder.answers, recorder.has_sums, recorder.added
    )


# -- whether noise is as large as it is said to be, and drawn anew for every message ---------------


def noise_fault(
    mechanism: Any, data: Data, budget: Budget, seed: int, first_run: RecordedRelease
) -> str:
    """Say what is wrong with the noise of repeated runs; empty if nothing is.

    A run is made again with the same data and answers and another seed: what differs is noise,
    which must have the size that it is said to have, as a whole and in every number, within what
    chance allows, and be drawn anew for every message. Noise that decides a choice, or is drawn as
    one sum, does not show; the black box sees its effect.
    """
    second_run = run(mechanism, data, budget, seed + 1, first_run.answers)
    noises = [*_between(mechanism, first_run, second_run), *first_run.added]
    for step, noise in noises:
        if _is_small(noise**2) or _is_small_somewhere(noise**2):
            return f"the noise of “{step.label}” is smaller than its record says"
    for k, (_, first) in enumerate(noises):
        for _, second in noises[:k]:
            if first.shape == second.shape and _is_same(first, second):
                return "the same noise is used twice"
    return ""


def _is_small(squares: Array) -> bool:
    """True if unit noise is too small as a whole, from its squares (repeats, numbers)."""
    means = _means(squares)
    error = means.std() / math.sqrt(len(means))
    return bool(means.mean() < 1 - max(_beyond_chance(len(means)) * error, 1e-9))


def _is_small_somewhere(squares: Array) -> bool:
    """True if it is in any of its numbers: larger noise elsewhere does not make up for it.

    Squares of Laplace noise scatter most of all: by the root of 5.
    """
    counts = np.isfinite(squares).sum(axis=0)
    smallest_mean = 1 - 5 * np.sqrt(5 / np.maximum(counts, 1))
    return bool((_means(squares.T) < smallest_mean[counts > 0]).any())


def _between(
    mechanism: Any, first: RecordedRelease, second: RecordedRelease
) -> list[tuple[Step, Array]]:
    """Unit noise of every message that is sent as it is, from two runs that differ in it alone."""
    noises = [
        (message.step, _standardised(mechanism, message, second.messages[key]))
        for key, message in first.messages.items()
        if message.law is None and key in second.messages
    ]
    return [(step, noise) for step, noise in noises if noise is not None]


def _means(each: Array) -> Array:
    """Means (repeats,) of what is known of (repeats, numbers), where there is anything."""
    known = np.isfinite(each)
    counts = known.sum(axis=1)
    return np.asarray(np.where(known, each, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0])


def _standardised(
    mechanism: Any, first: RecordedMessages, second: RecordedMessages
) -> Array | None:
    """Noise of unit size, (repeats, numbers)."""
    spread = math.sqrt(2) * first.noise[:, :1]
    units = mechanism.in_units_of_noise(first.values[:, :1] - second.values[:, :1], spread)
    if spread.ndim == MATRIX and spread.shape[-1] == spread.shape[-2]:
        row, column = np.triu_indices(spread.shape[-1])
        units, spread = _once(units, row, column), spread[..., row, column]
    has_noise = (spread.reshape(len(spread), -1) > 0).all(axis=0)
    return np.asarray(units.reshape(len(units), -1)[:, has_noise]) if has_noise.any() else None


def _once(units: Array, row: Indices, column: Indices) -> Array:
    """Symmetric matrices (…, p, p) in units of noise, at and above the diagonal: (…, numbers).

    What is beside the diagonal is there twice. Its two entries are one number, whose size is that
    of both together.
    """
    above, below = units[..., row, column], units[..., column, row]
    return np.copysign(np.hypot(above, np.where(row == column, 0.0, below)), above)


def _is_same(first: Array, second: Array) -> bool:
    """True if two draws of unit noise go together, beyond chance and more than a little."""
    products = _means(first * second)
    if not len(products):
        return False
    error = products.std() / math.sqrt(len(products))
    return bool(abs(products.mean()) > max(_beyond_chance(len(products)) * error, 0.2))


def _beyond_chance(repeats: int) -> float:
    """Five standard errors, and more where a few repeats must tell how large one is."""
    return float(stdtrit(max(repeats - 1, 1), ndtr(5.0)))
