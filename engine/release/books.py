"""The total of all ledger entries: releases, their people, and the cost of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from engine.core.types import Budget
from engine.noise.hardened import HardenedNoise
from engine.noise.shares import LOWER_DELTA
from engine.privacy import accounting
from engine.privacy.filters import FINE, FINE_DELTA, Loss, in_units
from engine.release.ledger_file import changed
from engine.release.sealed_log import Sealed


@dataclass(frozen=True)
class Entry:
    """One charge as the ledger has it, and what became of it.

    States: "charged", nothing was drawn, because the process was ended, and the same request draws
    it; "under way", some messages of a long run were drawn; "drawn", its noised
    messages are in the ledger; "closed", drawing failed or the run was ended, and nothing more can
    be drawn; "released" and "unfinished", what earlier versions wrote, which kept no messages.
    """

    at: str  # when it was charged, ISO 8601 in UTC
    name: str  # what the holder called the release
    what: str  # what was released, and by which method
    budget: Budget  # what it costs each of its people
    state: str
    release_id: str = ""  # random, by which it can be made again


@dataclass(frozen=True)
class Charge:
    """The cost of a release for each of its people."""

    budget: Budget  # certified
    mu: float | None = None  # of Gaussian differential privacy, where all noise is Gaussian
    rho: float | None = None  # of zCDP; to be shown
    rounds: tuple[Loss, ...] = ()  # of each round, where rounds are drawn one by one

    @property
    def loss(self) -> Loss:
        """The loss in whole units."""
        return Loss.of(self.budget, self.mu)


def loss_in(entry: Mapping[str, Any]) -> Loss:
    """Read the loss that an entry states."""
    return Loss(entry["epsilon"], entry["delta"], entry["mu_squared"])


def loss_of_rounds(rounds: Sequence[Loss], whole: Loss) -> Loss:
    """Compute what the rounds that were drawn cost, never more than the whole.

    μ² of rounds add. Where all have a μ and the whole has a δ, their ε is that of √Σμ² at this δ;
    else ε's and δ's add.
    """
    drawn = Loss.sum(rounds)
    if not rounds:
        return drawn
    squares = [each for each in (drawn.mu_squared, whole.mu_squared) if each is not None]
    square = min(squares, default=None)
    if square is None or not whole.delta:
        return Loss(min(drawn.epsilon, whole.epsilon), whole.delta, square)
    mu = math.nextafter(math.sqrt(square / FINE), math.inf)
    epsilon = accounting.certified_epsilon(mu, whole.delta / FINE_DELTA * LOWER_DELTA)
    return Loss(min(in_units(epsilon, FINE), whole.epsilon), whole.delta, square)


def round_loss(noises: Iterable[HardenedNoise]) -> Loss:
    """Compute what the messages of one round cost the people of their site."""
    return Loss.sum(
        Loss.of(Budget(noise.cost))
        if noise.is_pure
        else Loss(0, 0, math.ceil(Fraction(noise.mu) ** 2 * FINE))
        for noise in noises
    )


@dataclass
class Books:
    """The total of a log's entries, from its last beginning on."""

    total: tuple[int, float] | None = None  # ε in units and δ: the most that anybody may lose
    releases: dict[int, Mapping[str, Any]] = field(default_factory=dict)  # by their number
    ends: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    parts: dict[int, dict[int, Mapping[str, Any]]] = field(default_factory=dict)  # by position
    lowered: list[tuple[tuple[str, ...], tuple[int, float]]] = field(default_factory=list)
    same: list[str] = field(default_factory=list)  # digests of pairs of people who are one
    set_of: dict[str, str] = field(default_factory=dict)  # by the digest of the records
    records_of: dict[str, str] = field(default_factory=dict)  # their digest, by that of the data
    completed: dict[str, str] = field(default_factory=dict)  # set of earlier data, by their hash

    @classmethod
    def of(cls, entries: Iterable[Sealed]) -> Books:
        """Read all entries, in their order; they must fit together."""
        books = cls()
        try:
            for sealed in entries:
                books._take_in(sealed.number, sealed.entry)
        except (KeyError, TypeError, ValueError, IndexError):
            raise changed() from None
        return books

    def _take_in(self, number: int, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "format":  # what earlier versions wrote is taken over in what follows
            self.__init__()  # type: ignore[misc]
        if kind == "total":
            self.total = entry["total"][0], entry["total"][1]
        elif kind == "release" and "sets" in entry:
            self.releases[number] = entry
            self._note_set(entry)
        elif kind in ("joined", "rebuilt") and entry["same"]:
            self.same.append(entry["same"])
        elif kind == "complete":
            self.completed[entry["data_set"]] = entry["set"]
            self._note_set(entry)
        elif kind == "part":
            self.parts.setdefault(entry["release"], {})[entry["position"]] = entry
        elif kind in ("drawn", "closed", "finished"):
            self.ends[entry["release"]] = entry
        elif kind == "lower":
            total = entry["total"][0], entry["total"][1]
            if entry["sets"]:
                self.lowered.append((tuple(entry["sets"]), total))
            else:
                least = self.total or total
                self.total = min(least[0], total[0]), min(least[1], total[1])

    def _note_set(self, entry: Mapping[str, Any]) -> None:
        if entry.get("records"):
            self.set_of.setdefault(entry["records"], entry.get("set") or entry["sets"][0])
            if "data" in entry:
                self.records_of[entry["data"]] = entry["records"]
        if entry.get("same"):
            self.same.append(entry["same"])

    def state(self, number: int) -> str:
        """Return the state of the release with that number; see `Entry`."""
        end = self.ends.get(number)
        if end is not None:
            return "released" if end["kind"] == "finished" else str(end["kind"])
        if number in self.parts:
            return "under way"
        return "charged" if self.releases[number].get("request") else "unfinished"

    def loss(self, number: int) -> Loss:
        """Return the cost of a release for its people: below its charge if it was ended early."""
        end = self.ends.get(number, {})
        return loss_in(end if "epsilon" in end else self.releases[number])

    def sets(self, number: int) -> tuple[str, ...]:
        """Digests of the sets that a release is about; empty for everybody."""
        entry = self.releases[number]
        missing = entry.get("missing", ())
        if not all(data_set in self.completed for data_set in missing):
            return ()
        return (*entry["sets"], *(self.completed[data_set] for data_set in missing))

    def drawn_rounds(self, number: int) -> set[int]:
        """Rounds of which a message was drawn."""
        return {
            part["round"]
            for part in self.parts.get(number, {}).values()
            if part.get("round") is not None
        }

    def entry(self, number: int) -> Entry:
        """Return a release in the form shown."""
        entry = self.releases[number]
        return Entry(
            entry["at"],
            entry["name"],
            entry["what"],
            self.loss(number).budget,
            self.state(number),
            entry["id"],
        )

    def all_sets(self) -> list[str]:
        """Digests of all distinct sets, in the order of the log."""
        named = [digest for number in self.releases for digest in self.releases[number]["sets"]]
        return list(dict.fromkeys([*named, *self.completed.values()]))
