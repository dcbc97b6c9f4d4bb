"""Random ledgers against a dictionary of each person's losses: the same answers, every time."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy.filters import Filter, Loss
from engine.release.ledger import Ledger
from tests.heavy import slow
from tests.ledgers import Some, gaussian, pure

TOTAL = Budget(3.0, 1e-3)


class ByHand:
    """Everybody's losses in a dictionary; people who turn out to be one share an entry."""

    def __init__(self):
        self.releases, self.person_of, self.one = [], {}, {}

    def name(self, person):
        while person in self.one:
            person = self.one[person]
        return person

    def people(self, records):
        """The person of each record, and the pairs that these records make one."""
        people, pairs = [], []
        for traces in records:
            known = [
                self.name(self.person_of[trace]) for trace in traces if trace in self.person_of
            ]
            people.append(known[0] if known else traces[0])
            pairs += [(people[-1], other) for other in known[1:] if other != people[-1]]
        return people, pairs

    def charge(self, records, loss):
        """True if permitted, None if two records are one person."""
        before = dict(self.one)
        people, pairs = self.people(records)
        for one, other in pairs:
            if self.name(one) != self.name(other):
                self.one[self.name(other)] = self.name(one)
        names = [self.name(person) for person in people]
        if len({*names}) < len(names):
            self.one = before
            return None
        lost = [
            Loss.sum(
                [
                    each
                    for held, each in self.releases
                    if name in {self.name(person) for person in held}
                ]
            )
            for name in names
        ]
        if not all(Filter(TOTAL).admits(one + loss) for one in lost):
            self.one = before
            return False
        self.releases.append((people, loss))
        for traces, person in zip(records, people, strict=True):
            for trace in traces:
                self.person_of.setdefault(trace, person)
        return True


def drawn(rng, kind):
    """A release of some of 24 people: with their ids, their curves, or both, or mixed up."""
    chosen = rng.choice(24, rng.integers(1, 13), replace=False).tolist()
    ids, contents = [f"id {k}" for k in chosen], [f"curve {k}" for k in chosen]
    if kind == "mixed" and rng.random() < 0.4:  # some have the curve of somebody else
        contents = [f"curve {k}" for k in rng.choice(24, len(chosen), replace=False).tolist()]
    shown = "ids" if kind == "ids" else rng.choice(["ids", "curves", "both"])
    if shown == "ids":
        return Some(ids), [(each,) for each in ids]
    if shown == "curves":
        return Some(content=contents), [(each,) for each in contents]
    return Some(ids, contents), list(zip(ids, contents, strict=True))


@pytest.mark.parametrize("kind", ["ids", "mixed"])
@pytest.mark.parametrize("seed", [k if k < 6 else slow(k) for k in range(60)])
def test_random_releases_are_permitted_and_refused_as_by_hand(tmp_path, seed, kind):
    rng = np.random.default_rng([seed, kind == "ids"])
    book, by_hand, said = Ledger(tmp_path / "ledger"), ByHand(), set()
    for k in range(12):
        source, records = drawn(rng, kind)
        epsilon = float(rng.choice([0.3, 0.7, 1.5, 2.5]))
        cost = pure(epsilon) if rng.random() < 0.5 else gaussian(epsilon, 5e-5)
        expected = by_hand.charge(records, cost.loss)
        try:
            book.charge(source, cost, f"release {k}", "what", TOTAL)
            answer = True
        except InputError as refusal:
            answer = None if refusal.field == "people" else False
        assert answer == expected
        said.add(answer)
        for left, people in book.standing(source).items():
            assert 0 <= left <= TOTAL.epsilon and people > 0
    assert True in said and len(said) > 1


@pytest.mark.parametrize("seed", range(3))
def test_other_values_of_the_same_ids_change_no_answer(tmp_path, seed):
    """Neighbours by id: whether a release is permitted is the same, whatever curves hold."""
    answers = []
    for world in range(2):
        rng, book = np.random.default_rng(seed), Ledger(tmp_path / f"ledger-{world}")
        said = []
        for k in range(12):
            chosen = rng.choice(24, rng.integers(1, 13), replace=False).tolist()
            ids = [f"id {j}" for j in chosen]
            values = [f"curve {j} {world} {k if j == 3 else 0}" for j in chosen]
            try:
                book.charge(
                    Some(ids, values), pure(float(rng.choice([0.7, 1.5]))), f"release {k}", "what"
                )
                said.append(True)
            except InputError:
                said.append(False)
        answers.append(said)
    assert answers[0] == answers[1] and {*answers[0]} == {True, False}
