"""Loss and remaining budget of the people of a data set, by person; for their holder alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.types import Budget, PublicFacts
from engine.language.numbers import small, whole
from engine.privacy.filters import FINE, Filter, Loss
from engine.release.books import Books, Charge, Entry
from engine.release.people import KnownRecords, PeopleSet, Same, classes_of
from engine.release.sealed_log import OpenLog

_ROWS = 5  # of the table of shares


@dataclass(frozen=True)
class Share:
    """People who have lost alike."""

    people: int
    loss: Loss
    total: Budget  # the least of the sets that hold them

    @cached_property
    def spent(self) -> float:
        """ε at the total δ, by the better rule."""
        return min(
            Filter(self.total).spent(self.loss), max(self.loss.epsilon / FINE, self.total.epsilon)
        )

    @cached_property
    def left(self) -> float:
        """The total ε less what was spent; one more release of at most this ε is permitted.

        It has Gaussian noise and δ of at most a twentieth of the total, or is pure and fits the
        sum. Where squares of μ add, a little more than this may be permitted as well.
        """
        rule = Filter(self.total)
        most = max(rule.left(self.loss), rule.left(self.loss, 0.0))
        rest = math.floor((self.total.epsilon - self.spent) * 1000 + 1e-9) / 1000
        return max(0.0, min(most, rest))


@dataclass(frozen=True, eq=False)
class Standing:
    """Loss and remaining budget of the people of a data set, from most to least left."""

    shares: tuple[Share, ...]
    entries: tuple[Entry, ...] = ()  # releases that hold some of them
    n_known: int = 0  # people who are known to the ledger
    n_by_content: int = 0  # of these by their curve alone, under other ids
    class_of: NDArray[np.int64] | None = None  # (n,) place among the shares, in the data's order
    n_unlisted: int = 0  # new people whose id is known where no list was stated

    @property
    def people(self) -> int:
        """All people of the data set."""
        return sum(share.people for share in self.shares)

    @property
    def least(self) -> Share:
        """The share with least left."""
        return self.shares[-1]

    @property
    def is_known(self) -> bool:
        """True if a release holds anybody."""
        return bool(self.entries)

    def rows(self) -> list[tuple[int, float, float]]:
        """People, spent and left, of at most five shares; more are joined at their worst."""
        shares = [(share.people, share.spent, share.left) for share in self.shares]
        if len(shares) <= _ROWS:
            return shares
        rest = shares[_ROWS - 1 :]
        return [
            *shares[: _ROWS - 1],
            (sum(people for people, _, _ in rest), max(spent for _, spent, _ in rest), rest[-1][2]),
        ]

    def without_room(self, charge: Charge) -> NDArray[np.bool_]:
        """True for people (n,), in the order of the data, who have less left than this costs."""
        assert self.class_of is not None
        return np.array([share in self._refused(charge) for share in self.shares], bool)[
            self.class_of
        ]

    def count_without_room(self, charge: Charge) -> int:
        """Count the people who have less left than this costs."""
        return sum(share.people for share in self._refused(charge))

    def _refused(self, charge: Charge) -> list[Share]:
        return [
            share
            for share in self.shares
            if not Filter(share.total).admits(share.loss + charge.loss)
        ]

    def with_total(self, own: tuple[int, float]) -> Standing:
        """Return the same with a total that these people have at most."""
        total = Budget(own[0] / FINE, own[1])
        shares = [
            replace(
                share,
                total=Budget(
                    min(share.total.epsilon, total.epsilon), min(share.total.delta, total.delta)
                ),
            )
            for share in self.shares
        ]
        return replace(self, shares=tuple(shares))

    def after(self, charge: Charge, entry: Entry) -> Standing:
        """Return the same after a charge to all of them."""
        shares = [replace(share, loss=share.loss + charge.loss) for share in self.shares]
        return replace(
            self,
            shares=tuple(shares),
            entries=(*self.entries, entry),
            n_known=self.people,
            n_by_content=0,
            n_unlisted=0,
        )

    def check_room(self, charge: Charge, facts: PublicFacts) -> None:
        """Refuse a charge that takes anybody over their total."""
        refused = self._refused(charge)
        if not refused:
            return
        n, budget = sum(share.people for share in refused), charge.budget
        delta = 0.0 if budget.is_pure else budget.delta
        lefts = [min(share.left, Filter(share.total).left(share.loss, delta)) for share in refused]
        if charge.mu is None and not budget.is_pure:  # the sum rule alone
            lefts = [
                max(0.0, min(left, share.total.epsilon - share.loss.epsilon / FINE))
                for left, share in zip(lefts, refused, strict=True)
            ]
        least = min(lefts)
        ways = [f"lower ε to what the least have left (ε = {least:g})"] * (least > 0)
        if n < self.people:
            ways.append("leave them out (“exhausted”: “leave out”)")
        by_delta = [
            share
            for share in refused
            if not budget.is_pure
            and share.loss.epsilon + charge.loss.epsilon <= share.total.epsilon * FINE
        ]
        if by_delta:  # ε alone would fit
            half = min(share.total.delta for share in by_delta) / 2
            ways.append(f"lower δ: those of all releases may add to {small(half)}")
        about = (
            f"{whole(n)} of {whole(self.people)} {facts.people} have less left than this "
            f"release costs (the least: ε = {least:g})."
        )
        hint = " or ".join(ways) or f"publish nothing more about these {facts.people}"
        raise InputError(about, field="epsilon", hint=f"{hint[0].upper()}{hint[1:]}.")


def sets_in(log: OpenLog, books: Books) -> Iterator[tuple[str, PeopleSet]]:
    """Read all sets of the ledger that can be read, one after another."""
    for digest in books.all_sets():
        people = read_set(log, digest)
        if people is not None:
            yield digest, people


def read_set(log: OpenLog, digest: str) -> PeopleSet | None:
    """Read one set; None if it cannot be read: then it counts for everybody."""
    try:
        return PeopleSet.from_bytes(log.content(digest))
    except (InputError, ValueError):
        return None


def same_in(log: OpenLog, books: Books) -> Same:
    """Read the pairs of people who are one."""
    pairs = [
        np.frombuffer(log.content(digest), dtype="<u8").reshape(-1, 2).astype(np.uint64)
        for digest in books.same
    ]
    return Same(np.concatenate(pairs)) if pairs else Same()


def total_of(ledger: tuple[int, float] | None, *stated: Sequence[float]) -> Budget:
    """Return the least of several totals, each ε in units and δ."""
    totals = [*([] if ledger is None else [ledger]), *stated]
    return Budget(min(total[0] for total in totals) / FINE, min(total[1] for total in totals))


def standing(
    log: OpenLog,
    books: Books,
    known: KnownRecords,
    own_total: tuple[int, float] | None = None,
    data_set: str = "",
    own_set: str = "",
) -> Standing:
    """Add up, for everybody of a data set, the losses of all releases that hold them.

    A release holds everybody where its set cannot be read, or where its data, of an earlier
    version, are these very data (`data_set`). `own_set` is the digest of the set itself, if the
    ledger has it: then it is not read. `own_total` is what these data would be given.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, entry in books.releases.items():
        held = () if data_set and data_set in entry.get("data_sets", ()) else books.sets(number)
        groups.setdefault(held, []).append(number)
    names, everybody = known.same.names(known.persons), groups.pop((), [])
    used = dict.fromkeys(digest for held in groups for digest in held)
    used |= dict.fromkeys(digest for held, _ in books.lowered for digest in held)
    members, place = list[NDArray[np.uint64]](), dict[str, int]()
    for digest in used:
        people = None if digest == own_set else read_set(log, digest)
        if digest != own_set and people is None:
            place[digest] = -1  # cannot be read: everybody
            continue
        place[digest] = len(members)
        members.append(names if people is None else known.same.names(people.persons))
    classes, patterns = _classes(names, members)
    numbers = set[int](everybody) if len(names) else set[int]()
    lost = list[tuple[Loss, Budget]]()
    for pattern in patterns:

        def is_in(held: Sequence[str], pattern: Sequence[bool] = pattern) -> bool:
            return any(place[digest] < 0 or pattern[place[digest]] for digest in held)

        mine = [
            *everybody,
            *(number for held, group in groups.items() if is_in(held) for number in group),
        ]
        numbers |= set(mine)
        totals = [books.releases[number]["total"] for number in mine]
        totals += [total for held, total in books.lowered if is_in(held)]
        lost.append(
            (
                Loss.sum(map(books.loss, mine)),
                total_of(books.total, *totals, *([] if own_total is None else [own_total])),
            )
        )
    alike = list(dict.fromkeys(lost))
    classes = np.array([alike.index(each) for each in lost], np.int64)[classes]
    counts = np.bincount(classes, minlength=len(alike)).tolist()
    shares = [Share(people, *each) for people, each in zip(counts, alike, strict=True)]
    order = sorted(range(len(shares)), key=lambda k: (-shares[k].left, shares[k].spent))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Standing(
        tuple(shares[k] for k in order),
        tuple(books.entry(number) for number in sorted(numbers)),
        int(known.is_known.sum()),
        known.n_by_content,
        rank[classes],
        known.n_unlisted,
    )


def _classes(
    names: NDArray[np.uint64], members: list[NDArray[np.uint64]]
) -> tuple[NDArray[np.int64], list[list[bool]]]:
    """Classes of people by the sets that hold them; a set that is these people holds all."""
    others = [held for held in members if held is not names]
    classes, patterns = classes_of(names, others)
    full: list[list[bool]] = []
    for pattern in patterns:
        rest = iter(pattern)
        full.append([True if held is names else next(rest) for held in members])
    return classes, full
