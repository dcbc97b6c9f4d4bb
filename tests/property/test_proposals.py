"""Whatever a file is like, it is proposed without a contradiction, or refused in a sentence.

A proposal without a gap can be read, and every answer that it offers can be taken.
"""

import csv
import io
import random
import warnings

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.exports.looking import looked_at
from engine.uploads.bounded import read_people
from engine.uploads.proposal import propose_within
from engine.uploads.proposing import names
from engine.uploads.proposing.questions import answered
from tests.heavy import few
from tests.property.test_nasty_files import SEEDS, mutated

NAMES = sorted(
    {
        *names.PEOPLE,
        *names.IDS,
        *names.NO_PEOPLE,
        *names.START,
        *names.ENTRY,
        *names.STATUS,
        *names.ENDS,
        *names.SCORES,
        *names.CLOCKS,
        *(name for role in ("time", "value", "server") for name in names.usual_names(role)),
        *(f"x_{k:02d}" for k in range(9)),
        "0",
        "6",
        "12",
        "week 0",
        "week 6",
        "08:30",
        "2024-01-01",
        "sex",
        "weight_kg",
        "age (years)",
    }
)
CELLS = {
    "number": lambda r: f"{r.uniform(0, 100):.2f}",
    "whole": lambda r: str(r.randint(0, 40)),
    "word": lambda r: r.choice("abc"),
    "yes": lambda r: r.choice(["yes", "no"]),
    "bit": lambda r: r.choice("01"),
    "date": lambda r: f"2024-0{r.randint(1, 9)}-{r.randint(1, 28):02d}",
    "slashed": lambda r: f"{r.randint(1, 28):02d}/0{r.randint(1, 9)}/2024",
    "stamp": lambda r: f"2024-01-{r.randint(1, 28):02d} {r.randint(0, 23):02d}:00",
    "clock": lambda r: f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}",
    "share": lambda r: f"{r.randint(0, 99)} %",
    "missing": lambda r: r.choice(["NA", "5", "6.5", ""]),
    "unix": lambda r: str(1712102400 + r.randint(0, 10**6)),
    "code": lambda r: r.choice(["1", "2", "3", "-999", "-999"]),
    "text": lambda r: "".join(r.choice('abc xyz,;"\u200bé') for _ in range(6)),
}


def random_file(seed):
    """A table of columns whose names and cells often do not fit."""
    r = random.Random(seed)
    header = [
        r.choice([str.upper, str.title, str])(name) for name in r.sample(NAMES, r.randint(2, 8))
    ]
    kinds = [r.choice([*CELLS, "number", "whole"]) for _ in header]
    rows = [[CELLS[kind](r) for kind in kinds] for _ in range(r.choice([1, 2, 12, 60]))]
    if r.random() < 0.3:
        rows.sort()
    if r.random() < 0.3:
        rows = [[str(k), *row[1:]] for k, row in enumerate(rows)]
    out = io.StringIO()
    csv.writer(out, delimiter=r.choice(",;\t|"), lineterminator=r.choice(["\n", "\r\n"])).writerows(
        [header, *rows]
    )
    return out.getvalue().encode()


def proposed(content):
    """What a file is proposed as, after it was read, answered and looked at; None where it is refused."""
    try:
        proposal = propose_within(content)
    except InputError as problem:
        assert problem.message and problem.hint
        return None
    if not proposal.gaps:
        assert len(read_people(content, proposal.reading).ids) == proposal.n_people
    for question in proposal.ask:
        for option in question.options:
            answered(proposal.reading, option)
    try:
        looked = looked_at(read_people(content, proposal.likely), proposal)
        assert looked.html() and looked.lines
    except InputError as problem:  # such as several lines of a person who has one time
        assert problem.message
    return proposal


@pytest.mark.parametrize(("first", "many"), few([(0, 40), (40, 460), (500, 400), (900, 400)]))
def test_columns_of_any_name_and_kind_are_proposed_without_a_contradiction(first, many):
    found = [proposed(random_file(seed)) for seed in range(first, first + many)]
    assert sum(each is not None for each in found) > len(found) / 2
    assert sum(each is not None and not each.gaps for each in found) > len(found) / 5


@pytest.mark.parametrize("count", few([40, 600]))
def test_mutants_are_proposed_and_read_or_refused(count):
    rng, accepted = np.random.default_rng(count), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parsers, about files that are broken on purpose
        for k in range(count):
            accepted += proposed(mutated(SEEDS[k % len(SEEDS)], rng)) is not None
    assert accepted > count / 10
