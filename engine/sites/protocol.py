"""Whose message is next, what it must look like, and what all of them make.

A run of a mechanism is a function of public facts and of the messages heard so far. So everybody
runs the same `release` on data of the public sizes, in which all records but one's own stand in the
middle of their ranges, and each message that was heard takes the place of what the run would send.
What is left of the run for a site is its own next message, before noise; for whoever has heard all,
the release. Nothing is kept but the messages, so a party that was killed reads them and goes on.

Rounds
------
Messages of the same step, one of each site, are one *round*. None of them depends on another of the
same round, so their sites may draw them at the same time: a mean curve of three sites is four
rounds, not twelve turns. (That no mechanism lets the message of one site depend on another's of
the same step is what the tests of bit identity prove.) A message names the digest of all earlier
rounds, so a site that was told other things than the rest is noticed with the next message.

Sums
----
Where only sums are read, the run has all people at one site, and each of its messages is a sum over
people: f(x) = f(0) + Σ (f(x of one site) − f(0)), 0 for stand-ins. So a site's part is the message
of a run with its own records among stand-ins, less that of stand-ins alone, and no mechanism need
know of it. Parts are masked (`engine.sites.pads`); a round is read when all of them are there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, Data
from engine.noise.hardened import HardenedNoise
from engine.release import certified
from engine.release.certified import Key
from engine.sites import pads
from engine.sites.plan import SitePlan

Whole = tuple[int, ...]  # a message: whole multiples of the lattice
_EXACT = 2**53  # below it floating point holds every whole number


@dataclass(frozen=True)
class Turn:
    """One message of a run."""

    position: int  # from 0, in the order in which one process would send them
    round: int  # from 0; messages of one round do not depend on each other
    site: int  # who sends it, from 0
    step: str  # the key of what is sent
    noise: HardenedNoise  # how it is noised, and how many numbers it has

    @property
    def key(self) -> Key:
        """The name of the message in the engine."""
        return self.site, self.step


class _Reached(Exception):
    """A run has come to the message that is wanted."""

    def __init__(self, values: Array) -> None:
        super().__init__("the message that is wanted")
        self.values = values


@dataclass(frozen=True)
class Protocol:
    """The messages of a plan, in their order."""

    plan: SitePlan

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """All messages."""
        cost = self.plan.study.draft.cost
        if self.plan.study.shares is not None:
            n = len(self.plan.study.members)
            return tuple(
                Turn(number * n + site, number, site, key, cost.messages[0, key])
                for number, (_, key) in enumerate(cost.known)
                for site in range(n)
            )
        turns: list[Turn] = []
        number, step, sent = -1, "", set[int]()
        for position, (site, key) in enumerate(cost.known):
            if key != step or site in sent:
                number, step, sent = number + 1, key, set()
            sent.add(site)
            turns.append(Turn(position, number, site, key, cost.messages[site, key]))
        return tuple(turns)

    @property
    def n_rounds(self) -> int:
        """Rounds of the run: how often sites wait for each other, and once more."""
        return self.turns[-1].round + 1

    def label(self, turn: Turn) -> str:
        """Name a message in words."""
        return self.plan.study.draft.cost.steps[turn.step].label

    def of_site(self, site: int) -> tuple[Turn, ...]:
        """List the messages of one site."""
        return tuple(turn for turn in self.turns if turn.site == site)

    def before(self, number: int) -> tuple[Turn, ...]:
        """List the messages of all rounds before this one."""
        return tuple(turn for turn in self.turns if turn.round < number)

    def digest_before(self, number: int, transcript: Mapping[int, Whole]) -> str | None:
        """Digest all messages before a round, by position; None where some of them are missing."""
        earlier = self.before(number)
        if any(turn.position not in transcript for turn in earlier):
            return None
        digest = hashlib.sha256(bytes.fromhex(self.plan.digest))
        for turn in earlier:
            digest.update(to_bytes(transcript[turn.position]))
        return digest.hexdigest()

    def exact(self, turn: Turn, data: Data, transcript: Mapping[int, Whole]) -> Array:
        """Compute a message in units of its noise, before noise: (size,), for its own site alone.

        `data` are of the public sizes, and the records of this site are real; the rounds before
        were heard.
        """
        if self.plan.study.shares is not None:
            base, sums = self._sums(transcript, turn.step)
            return self._reached(data.pooled(), turn.step, sums) - base
        place, study = {other.key: other for other in self.turns}, self.plan.study

        def answer(key: Key, measured: HardenedNoise, values: Array) -> Array:
            other = place[key]
            if other == turn:
                raise _Reached(values.copy())
            if other.position in transcript:
                return multiples(transcript[other.position], measured)
            if other.round == turn.round:  # it does not depend on these: see the module
                return np.zeros(values.shape)
            raise certified.unhardened(self.plan.study.draft.cost.steps[key[1]])

        try:
            certified.answered(data, study.mechanism, study.draft.cost, answer)
        except _Reached as reached:
            return reached.values
        raise certified.unhardened(self.plan.study.draft.cost.steps[turn.step])

    def _reached(self, pooled: Data, step: str, sums: Mapping[Key, Array]) -> Array:
        """Compute a message with all people at one site, before noise, after these sums."""
        study = self.plan.study

        def answer(key: Key, measured: HardenedNoise, values: Array) -> Array:
            if key[1] == step:
                raise _Reached(values.copy())
            return sums[key]

        try:
            certified.answered(pooled, study.mechanism, study.draft.cost, answer)
        except _Reached as reached:
            return reached.values
        raise certified.unhardened(self.plan.study.draft.cost.steps[step])

    def _sums(
        self, transcript: Mapping[int, Whole], until: str = ""
    ) -> tuple[Array, dict[Key, Array]]:
        """Sums of all rounds before a step, as the engine takes them, and that step of stand-ins.

        Of all rounds, where no step is named.
        """
        stand_in, sums = self.plan.study.draft.stand_in, dict[Key, Array]()
        while True:
            key = next((key for key in self.plan.study.draft.cost.known if key not in sums), None)
            if key is None:
                return np.empty(0), sums
            base = self._reached(stand_in, key[1], sums)
            if key[1] == until:
                return base, sums
            turns = [turn for turn in self.turns if turn.step == key[1]]
            sums[key] = self._summed(turns, transcript, base)

    def _summed(self, turns: Sequence[Turn], transcript: Mapping[int, Whole], base: Array) -> Array:
        """Sum what all sites of a round send, and what stand-ins send."""
        noise, total = turns[0].noise, (0,) * turns[0].noise.size
        for turn in turns:
            total = pads.added(total, transcript[turn.position])
        total = pads.added(total, noise.whole(base))
        if not all(abs(number) < _EXACT for number in total):
            raise InputError(
                f"The pads of “{self.label(turns[0])}” do not cancel: some site "
                "masked its message otherwise than the plan says.",
                field="messages",
                hint="Nothing can be read of it. Withdraw, and write a new study.",
            )
        return multiples(total, noise)

    def messages(self, transcript: Mapping[int, Whole]) -> dict[Key, Array]:
        """Give all messages as the engine takes them; refuse sums whose pads do not cancel."""
        if self.plan.study.shares is not None:
            return self._sums(transcript)[1]
        return {turn.key: multiples(transcript[turn.position], turn.noise) for turn in self.turns}


def multiples(whole: Whole, noise: HardenedNoise) -> Array:
    """Turn whole multiples of the lattice, as they travel, into units of their noise."""
    return np.array(whole, dtype=float) * 2.0**-noise.bits


def wholes(values: Array, noise: HardenedNoise) -> Whole:
    """Turn noised numbers (size,) into whole multiples of the lattice, as messages travel."""
    return tuple(int(number) for number in values * 2.0**noise.bits)


def to_bytes(whole: Whole) -> bytes:
    """Write eight bytes for each number: a size that does not depend on them."""
    return np.array(whole, dtype="<i8").tobytes()


def from_bytes(content: bytes) -> Whole:
    """Read the numbers that `to_bytes` wrote."""
    return tuple(int(number) for number in np.frombuffer(content, dtype="<i8"))
