"""Record a run, hold everything random fixed, and replay it on neighbouring data.

Both runs draw the same noise, because they have the same seed and sizes, and hear the same answers
to whatever is sent. So all that is left of the difference between two messages is how far one
record moves the numbers behind them. Where the law and the size of the noise are known, that shift
is a privacy loss in closed form, without sampling:

    Gaussian noise          μ = ‖shift/σ‖₂
    Laplace noise           ε = Σ |shift|/b
    density ∝ exp(−‖z‖/s)   ε = ‖shift‖₂/s
    bits turned round       ε = log((1 − p)/p) for each bit that differs
    largest entries         ρ of `noise.selection` at the largest shift

Answers are those of the run itself, or an adversary's: earlier outputs are known to the attacker,
and a claim must hold whatever they were. Beside the shifts, the same calls must be made, with
noise of the same size; no other site may say anything else; and with all messages the same, what is
released must be the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import accounting, transcript
from engine.audit import permission
from engine.audit.neighbours import Pairs
from engine.errors import InputError
from engine.noise.selection import Law, Scales, costs
from engine.types import Array, Budget, Data, Estimate, Spend

_SIZES = (0.0, 1e-6, 0.01, 0.3, 3.0, 1e3)  # of an adversary's answers
_HONEST = 5  # every so many pairs hear what was really sent
_MATRIX = 4  # dimensions of messages that are symmetric matrices


@dataclass(frozen=True)
class Selection:
    """What is needed to price a noisy choice of the largest entries."""

    law: Law
    kept: int
    scales: Scales


@dataclass(frozen=True, eq=False)
class Heard:
    """One message of all data sets: `values` and `noise` (repeats, ways, …).

    `law` is "laplace" or "bits" where the mechanism says so, a `Selection`, or None: then it
    follows from the ledger. Of several ways the adversary takes the one that suits him best.
    """

    server: int
    step: str
    values: Array
    noise: Array
    law: str | Selection | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """What must not differ between neighbours, beside the noise of each."""
        return (self.server, self.step, self.values.shape, self.law)

    def followed_by(self, other: Heard) -> Heard:
        """With the repeats of a later part of the run."""
        return replace(self, values=np.concatenate([self.values, other.values]),
                       noise=np.concatenate([self.noise, other.noise]))


class Recorder:
    """Notes what is sent and answers: as an adversary would, or with the answers of another run."""

    def __init__(self, answers: Sequence[Array] | None = None,
                 rng: np.random.Generator | None = None) -> None:
        self.heard: dict[tuple[int, str], Heard] = {}
        self.added: list[tuple[str, Array]] = []
        self.answers: list[Array] = []
        self.has_sums = False
        self._given, self._rng = answers, rng

    def sent(self, server: int, step: str, values: Array, noise: Array) -> Array:
        spread, before = np.broadcast_to(noise, values.shape), self.heard.get((server, step))
        if before is not None and isinstance(before.law, Selection):
            self.added.append((step, _added(values[:, 0], before.values[:, 0], spread[:, 0])))
        else:
            self._note(Heard(server, step, values[:, :1].copy(), spread[:, :1].copy()))
        answer = self._answer(values, spread)
        self.answers.append(answer)
        return answer.copy()

    def summed(self, step: str, values: Array, law: str, noise: Array) -> None:
        self.has_sums = True
        self._note(Heard(transcript.CENTRE, step, values.copy(),
                         np.broadcast_to(noise, values.shape).copy(), law))

    def weighed(self, server: int, step: str, values: Array, law: Law, kept: int, scales: Scales
                ) -> None:
        self._note(Heard(server, step, values[:, :1].copy(), np.ones_like(values[:, :1]),
                         Selection(law, kept, scales)))

    def _note(self, message: Heard) -> None:
        """Parts of a run for other repeats, and calls of one name, are put together."""
        key = (message.server, message.step)
        before = self.heard.get(key)
        self.heard[key] = message if before is None else before.followed_by(message)

    def _answer(self, values: Array, spread: Array) -> Array:
        if self._given is not None:
            place = len(self.answers)
            fits = place < len(self._given) and self._given[place].shape == values.shape
            return self._given[place] if fits else values
        if self._rng is None:
            return values
        return _adversary(values, spread, self._rng)


def _added(values: Array, exact: Array, spread: Array) -> Array:
    """Noise of unit size on the entries that were chosen and sent, NaN elsewhere: (repeats, d)."""
    with np.errstate(all="ignore"):
        return np.where(spread > 0, (values - exact) / spread, np.nan)


def _adversary(values: Array, spread: Array, rng: np.random.Generator) -> Array:
    """Any numbers where there is noise: ordinary, zero, tiny, huge; some pairs hear the truth."""
    chosen = rng.standard_normal(values.shape)
    if values.ndim == _MATRIX and values.shape[-1] == values.shape[-2]:
        chosen = (chosen + chosen.swapaxes(-1, -2)) / 2
    size = rng.choice(_SIZES, size=(len(values), *[1] * (values.ndim - 1)))
    is_honest = (np.arange(len(values)) % _HONEST == 0).reshape(size.shape)
    noisy = np.broadcast_to((spread > 0)[:, :1], values.shape)  # noise may depend on the column
    return np.where(noisy & ~is_honest, chosen * size, values)


@dataclass(frozen=True, eq=False)
class Run:
    """A release of all data sets at once, and everything that was heard of it.

    `added` is the noise on entries that were chosen from exact numbers, step by step.
    """

    estimate: Estimate
    heard: dict[tuple[int, str], Heard]
    answers: list[Array]
    has_sums: bool
    added: list[tuple[str, Array]]


def released(mechanism: Any, data: Data, budget: Budget, draws: int, seed: tuple[int, ...]
             ) -> Estimate:
    """A release inside the audit, where broken variants may run, too."""
    noise = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
    with permission.granted(), np.errstate(all="ignore"):
        estimate: Estimate = mechanism.release_many(data, [(budget,)], draws, noise)
    return estimate


def run(mechanism: Any, data: Data, budget: Budget, seed: int,
        answers: Sequence[Array] | None = None, rng: np.random.Generator | None = None) -> Run:
    """Release once, with the answers of another run, of an adversary (`rng`), or as it is."""
    recorder = Recorder(answers, rng)
    with transcript.overheard(recorder):
        estimate = released(mechanism, data, budget, 1, (seed,))
    return Run(estimate, recorder.heard, recorder.answers, recorder.has_sums, recorder.added)


# -- what is claimed ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """What the ledger promises to one site's people, in the unit in which losses are measured.

    "mu" where all noise is Gaussian, "epsilon" where all holds with δ = 0, and otherwise "rho",
    for which losses are √(2ρ): of Gaussian noise that is μ. It never exceeds what was asked.
    """

    unit: str
    total: float
    lines: tuple[Spend, ...]

    @classmethod
    def of(cls, lines: Sequence[Spend]) -> Claim:
        asked, own = lines[0].asked, tuple(lines)
        if all(line.mu is not None for line in lines):
            most = accounting.exact_mu(asked.epsilon, asked.delta)
            return cls("mu", min(accounting.total_mu(lines), most), own)
        pure = accounting.total_epsilon(lines)
        if pure is not None:
            return cls("epsilon", min(pure, asked.epsilon), own)
        most = accounting.rho_of(asked.epsilon, asked.delta)
        return cls("rho", math.sqrt(2 * min(accounting.total_rho(lines), most)), own)

    def composed(self, losses: Sequence[Array]) -> Array:
        """Losses (pairs,) of several messages about the same people, together."""
        each = np.stack(losses)
        with np.errstate(over="ignore"):
            return np.asarray(each.sum(axis=0) if self.unit == "epsilon"
                              else np.sqrt((each**2).sum(axis=0)))


# -- what is lost ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Losses:
    """The loss of every pair over the claim, (pairs,), and the most that messages allow together.

    `worst` takes the worst pair of each line of the ledger and adds those up where lines and
    messages correspond: an adaptive adversary may want another curve at every step; `lines` are
    then the worst of each line over its own claim. `reason` is in words what breaks the claim
    beyond any number.
    """

    each: Array
    worst: float
    claim: Claim
    reason: str = ""
    lines: Array = field(default_factory=lambda: np.empty(0))


def compare(mechanism: Any, pairs: Pairs, budget: Budget, seed: int,
            rng: np.random.Generator) -> Losses:
    """Run the first data sets, replay the answers on the second, and measure what differs.

    Raises
    ------
    InputError
        If nothing is claimed, because nothing is released, or everything without noise.
    """
    try:
        one = run(mechanism, pairs.one, budget, seed, rng=rng)
        other = run(mechanism, pairs.other, budget, seed, one.answers)
    except np.linalg.LinAlgError:  # some data do this, so it says something of them
        nothing = Claim("epsilon", budget.epsilon, ())
        return Losses(np.full(pairs.count, np.inf), math.inf, nothing,
                      "the run breaks down on some data, which gives them away")
    claims = {server: Claim.of(lines) for server, lines in
              accounting.by_server(one.estimate.spends[0]).items()}
    usual = claims[0]
    if not 0 < usual.total < math.inf:
        raise InputError("There is nothing to audit: at this budget nothing is released, or "
                         "everything without noise.", field="budget",
                         hint="Choose another budget, or more records.")
    reason = _difference(one, other)
    if reason:
        return Losses(np.full(pairs.count, np.inf), math.inf, usual, reason)
    parts = [_of_site(mechanism, server, claim, one, other, pairs)
             for server, claim in claims.items()]
    strangers = _heard_elsewhere(one, other, pairs)
    each = np.max([own for own, _, _ in parts], axis=0)
    each = np.where(strangers, np.inf, each)
    worst = math.inf if strangers.any() else max(total for _, total, _ in parts)
    broken = "one record changes what another site sends" if strangers.any() else ""
    if not broken and math.isinf(worst):
        broken = ("a change goes out without noise, the noise is not the same for both, or what is "
                  "sent is no number")
    return Losses(each, worst, usual, broken, np.max([lines for *_, lines in parts], axis=0))


def _difference(one: Run, other: Run) -> str:
    """What differs that should not, though all messages are the same."""
    if [message.kind for message in one.heard.values()] != [
            message.kind for message in other.heard.values()]:
        return "other calls, or messages of other shapes, are made for neighbours"
    first, second = one.estimate, other.estimate
    if first.spends != second.spends or first.tuning != second.tuning:
        return "the ledger or the tuning follows the data"
    if one.has_sums:
        return ""
    same = np.array_equal(first.coefficients, second.coefficients, equal_nan=True)
    if same and first.band is not None and second.band is not None:
        same = (np.array_equal(first.band.centre, second.band.centre, equal_nan=True)
                and np.array_equal(first.band.covariance, second.band.covariance, equal_nan=True))
    return "" if same else "the release looks past what was sent"


def _heard_elsewhere(one: Run, other: Run, pairs: Pairs) -> NDArray[np.bool_]:
    """Whether a site that does not hold the record said something else: (pairs,)."""
    found = np.zeros(pairs.count, dtype=bool)
    for key, message in one.heard.items():
        if message.server != transcript.CENTRE:
            same = (message.values == other.heard[key].values) | (
                np.isnan(message.values) & np.isnan(other.heard[key].values))
            differs = ~same.reshape(pairs.count, -1).all(axis=1)
            found |= differs & (pairs.server != message.server)
    return found


def _of_site(mechanism: Any, server: int, claim: Claim, one: Run, other: Run, pairs: Pairs
             ) -> tuple[Array, float, Array]:
    """Losses over the claim of one site, of pairs whose record is there.

    Also the worst of all messages together, and that of each line over its own claim.
    """
    own = [key for key, message in one.heard.items() if message.server in (server,
                                                                           transcript.CENTRE)]
    if not own:
        return np.zeros(pairs.count), 0.0, np.empty(0)
    each = [_loss(mechanism, claim, one.heard[key], other.heard[key]) for key in own]
    each = [np.where(pairs.server == server, loss, 0.0) for loss in each]
    together = claim.composed(each)
    if len(own) != len(claim.lines):
        return together / claim.total, float(together.max()) / claim.total, np.empty(0)
    most = [loss.max(keepdims=True) for loss in each]
    lines = [float(loss[0]) / Claim.of([line]).total
             for loss, line in zip(most, claim.lines, strict=True)]
    return together / claim.total, float(claim.composed(most)[0]) / claim.total, np.array(lines)


def _loss(mechanism: Any, claim: Claim, one: Heard, other: Heard) -> Array:
    """The loss of every pair by one message: (pairs,); infinite where noise does not cover it."""
    count, same = len(one.values), one.noise == other.noise
    with np.errstate(all="ignore"):
        shift = one.values - other.values
        fine = (np.isfinite(shift) & same).reshape(count, -1).all(axis=1)
        units = mechanism.in_units_of_noise(shift, one.noise)
        found = _in_units(mechanism, claim, one, units.reshape(*units.shape[:2], -1))
    return np.where(fine, found.max(axis=1), np.inf)


def _in_units(mechanism: Any, claim: Claim, message: Heard, units: Array) -> Array:
    """Losses (pairs, ways) of shifts (pairs, ways, numbers) in standard deviations of the noise."""
    law = _law(mechanism, claim) if message.law is None else message.law
    if isinstance(law, Selection):
        return _of_choice(law, claim, np.abs(units).max(axis=-1))
    if law == "gaussian":
        return np.asarray(np.linalg.norm(units, axis=-1))
    if law == "norm":  # E‖z‖² = r(r + 1)
        return np.asarray(np.linalg.norm(units, axis=-1) * math.sqrt(units.shape[-1] + 1))
    if law == "bits":  # a bit that differs is 2 apart, its deviation 2√(p(1 − p))
        spread = message.noise.reshape(units.shape)
        chance = (1 - np.sqrt(np.maximum(1 - spread**2, 0.0))) / 2
        return np.asarray((np.abs(units) * spread / 2 * np.log((1 - chance) / chance)).sum(axis=-1))
    return np.asarray(np.abs(units).sum(axis=-1) * math.sqrt(2))


def _of_choice(law: Selection, claim: Claim, shift: Array) -> Array:
    """Choice and values of one step whose entries move by at most `shift` (pairs, ways)."""
    if claim.unit == "epsilon":
        return np.asarray(shift * law.kept * (2 / law.scales.choice + 1 / law.scales.values))
    return np.asarray(shift * math.sqrt(2 * sum(costs(law.law, law.kept, 1.0, law.scales))))


def _law(mechanism: Any, claim: Claim) -> str:
    """The law of noise on numbers that are sent, by the ledger and what the mechanism says."""
    if claim.unit != "epsilon":
        return "gaussian"
    return str(mechanism.noise_law)


# -- the noise itself -----------------------------------------------------------------------------


def noise_fault(mechanism: Any, data: Data, budget: Budget, seed: int,
                rng: np.random.Generator) -> str:
    """In words, what is wrong with the noise of repeated runs; empty if nothing is.

    The same data and answers with another seed: what differs is noise, which must have the size
    that it is said to have, within five standard errors, and be drawn anew for every message. Noise
    that decides a choice, or is drawn as one sum, does not show; the black box sees its effect.
    """
    one = run(mechanism, data, budget, seed, rng=rng)
    other = run(mechanism, data, budget, seed + 1, one.answers)
    noises = [*_between(one, other), *one.added]
    for step, noise in noises:
        squares = _means(noise**2)
        error = squares.std() / math.sqrt(len(squares))
        if squares.mean() < 1 - max(5 * error, 1e-9):
            return f"the noise of “{step}” is smaller than it is said to be"
    for k, (_, first) in enumerate(noises):
        for _, second in noises[:k]:
            if first.shape == second.shape and _is_same(first, second):
                return "the same noise is used twice"
    return ""


def _between(one: Run, other: Run) -> list[tuple[str, Array]]:
    """Unit noise of every message that is sent as it is, from two runs that differ in it alone."""
    found = [(message.step, _standardised(message, other.heard[key]))
             for key, message in one.heard.items()
             if message.law is None and key in other.heard]
    return [(step, noise) for step, noise in found if noise is not None]


def _means(each: Array) -> Array:
    """Means (repeats,) of what is known of (repeats, numbers), where there is anything."""
    known = np.isfinite(each)
    counts = known.sum(axis=1)
    return np.asarray(np.where(known, each, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0])


def _standardised(one: Heard, other: Heard) -> Array | None:
    """Noise of unit size, (repeats, numbers); of symmetric matrices the diagonal alone."""
    values, spread = one.values[:, 0] - other.values[:, 0], one.noise[:, 0]
    if values.ndim == _MATRIX - 1 and values.shape[-1] == values.shape[-2]:
        values, spread = (np.diagonal(a, axis1=-2, axis2=-1) for a in (values, spread))
    values, spread = (a.reshape(len(a), -1) for a in (values, spread))
    has_noise = (spread > 0).all(axis=0)
    if not has_noise.any():
        return None
    return np.asarray(values[:, has_noise] / (math.sqrt(2) * spread[:, has_noise]))


def _is_same(one: Array, other: Array) -> bool:
    """Whether two draws of unit noise go together, beyond chance and more than a little."""
    products = _means(one * other)
    if not len(products):
        return False
    error = products.std() / math.sqrt(len(products))
    return bool(abs(products.mean()) > max(5 * error, 0.2))
