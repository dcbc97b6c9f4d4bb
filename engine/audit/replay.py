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

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, Budget, Data, Estimate, Step
from engine.noise.selection import Scales, SelectionLaw, costs
from engine.privacy import transcript

_SIZES = (0.0, 1e-6, 0.01, 0.3, 3.0, 1e3)  # of an adversary's answers
_HONEST = 5  # every so many pairs hear what was really sent
MATRIX = 4  # dimensions of messages that are symmetric matrices
_is_granted: ContextVar[bool] = ContextVar("audit", default=False)


@dataclass(frozen=True)
class Selection:
    """What is needed to price a noisy choice of the largest entries.

    Parameters
    ----------
    law : SelectionLaw
        Of the choice.
    n_selected : int
        How many entries.
    scales : Scales
        Of the noise in choices and values.
    """

    law: SelectionLaw
    n_selected: int
    scales: Scales

    def loss(self, shift: Array, unit: str) -> Array:
        """What choice and values of one step lose.

        Parameters
        ----------
        shift : (…)
            The most by which an entry moves.
        unit : str
            "epsilon", "mu" or "rho".

        Returns
        -------
        (…)
        """
        if unit == "epsilon":
            each = 2 / self.scales.choice + 1 / self.scales.values
            return np.asarray(shift * self.n_selected * each)
        rho = sum(costs(self.law, self.n_selected, 1.0, self.scales))
        return np.asarray(shift * math.sqrt(2 * rho))


@dataclass(frozen=True, eq=False)
class Message:
    """One message of all data sets.

    Parameters
    ----------
    server : int
        Who sent it.
    step : Step
        What it is.
    values, noise : (repeats, ways, …)
        Of several ways the adversary takes the one that suits him best.
    law : NoiseLaw or Selection or None
        Of the noise where the mechanism says so, or how the largest were chosen. None: it follows
        from the ledger.
    """

    server: int
    step: Step
    values: Array
    noise: Array
    law: NoiseLaw | Selection | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """What must not differ between neighbours, beside the noise of each."""
        return (self.server, self.step, self.values.shape, self.law)

    def followed_by(self, other: Message) -> Message:
        """With the repeats of a later part of the run."""
        return replace(self, values=np.concatenate([self.values, other.values]),
                       noise=np.concatenate([self.noise, other.noise]))


class Recorder:
    """Notes what is sent and answers: as an adversary would, or with the answers of another run.

    Parameters
    ----------
    answers : sequence of arrays, optional
        Of another run.
    rng : numpy.random.Generator, optional
        Where an adversary's answers come from.
    """

    def __init__(self, answers: Sequence[Array] | None = None,
                 rng: np.random.Generator | None = None) -> None:
        self.messages: dict[tuple[int, str], Message] = {}
        self.added: list[tuple[Step, Array]] = []
        self.answers: list[Array] = []
        self.has_sums = False
        self._prescribed, self._rng = answers, rng

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        spread, before = np.broadcast_to(noise, values.shape), self.messages.get((server, step.key))
        if before is not None and isinstance(before.law, Selection):
            self.added.append((step, _added(
                values[:, 0], before.values[-len(values):, 0], spread[:, 0])))
        else:
            self._note(Message(server, step, values[:, :1].copy(), spread[:, :1].copy()))
        answer = self._answer(values, spread)
        self.answers.append(answer)
        return answer.copy()

    def summed(self, step: Step, parts: transcript.Parts) -> None:
        self.has_sums = True
        self._note(Message(transcript.CENTRE, step, parts.values.copy(),
                           np.broadcast_to(parts.noise, parts.values.shape).copy(), parts.law))

    def weighed(self, server: int, step: Step, values: Array, law: SelectionLaw, n_selected: int,
                scales: Scales) -> None:
        self._note(Message(server, step, values[:, :1].copy(), np.ones_like(values[:, :1]),
                           Selection(law, n_selected, scales)))

    def _note(self, message: Message) -> None:
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
    """Which pairs hear what was really sent.

    Returns
    -------
    (pairs,) array of bool
    """
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
class Run:
    """A release of all data sets at once, and everything that was heard of it.

    Parameters
    ----------
    estimate : Estimate
    messages : dict[tuple[int, str], Heard]
        Messages by server and step.
    answers : sequence of Array
        What each was answered with.
    has_sums : bool
        Whether noise was drawn as sums, so that the release does not follow from messages.
    added : list[tuple[Step, Array]]
        The noise on entries that were chosen from exact numbers, step by step.
    """

    estimate: Estimate
    messages: dict[tuple[int, str], Message]
    answers: list[Array]
    has_sums: bool
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


def released(mechanism: Any, data: Data, budget: Budget, draws: int, seed: tuple[int, ...]
             ) -> Estimate:
    """A release inside the audit, where broken variants may run, too."""
    noise = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
    return released_with(mechanism, data, budget, draws, noise)


def released_with(mechanism: Any, data: Data, budget: Budget, draws: int, rng: Any) -> Estimate:
    """The same with a given generator, or with what stands for one."""
    with granted(), np.errstate(all="ignore"):
        estimate: Estimate = mechanism.release_many(data, [(budget,)], draws, rng)
    return estimate


def run(mechanism: Any, data: Data, budget: Budget, seed: int,
        answers: Sequence[Array] | None = None, rng: np.random.Generator | None = None) -> Run:
    """One release, with the answers of another run, of an adversary (`rng`), or as it is."""
    recorder = Recorder(answers, rng)
    with transcript.overheard(recorder):
        estimate = released(mechanism, data, budget, 1, (seed,))
    return Run(estimate, recorder.messages, recorder.answers, recorder.has_sums, recorder.added)
