"""Records are published in a fresh random order, so that no proof rests on the order of a file."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from engine.core.tasks import DENSITY
from engine.core.types import Budget, Covariate, CurveData, PublicFacts, SampleData
from engine.mechanisms import mechanisms
from engine.release import published
from engine.release.ledger import Ledger
from engine.release.random_order import reordered
from engine.sources import sources
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.rows import UploadRows
from tests import files
from tests.heavy import few
from tests.readings import curves_in, rows_in, upload_of

FACTS = PublicFacts(covariates=(Covariate("x", 0.0, 100.0),), value_low=0.0, value_high=100.0)


def curves(sizes=(3, 2), counts=(1, 2, 3, 2, 1)):
    """Curves whose readings, times and covariates all tell which curve they are of."""
    of = np.repeat(np.arange(len(counts)), counts)
    return CurveData(
        (of[None] + 0.5) / 10,
        of[None].astype(float),
        np.array(counts),
        np.repeat(np.arange(len(sizes)), sizes),
        FACTS,
        covariates=np.arange(len(counts), dtype=float)[None, :, None],
    )


def rows(sizes=(3, 2)):
    n = sum(sizes)
    return SampleData(
        np.arange(n, dtype=float)[None, :, None],
        np.arange(n, dtype=float)[None],
        np.repeat(np.arange(len(sizes)), sizes),
        FACTS,
    )


def arrangement(data):
    """Which record stands at each place."""
    x = data.covariates if isinstance(data, CurveData) else data.x
    return tuple(x[0, :, 0].astype(int).tolist())


@pytest.mark.parametrize("data", [curves(), rows()], ids=["curves", "rows"])
def test_records_keep_their_numbers_and_their_site(data):
    for _ in range(20):
        shuffled = reordered(data)
        assert set(arrangement(shuffled)[:3]) == {0, 1, 2}
        assert shuffled.sizes == data.sizes and (shuffled.server == data.server).all()
        if isinstance(data, CurveData):
            of = np.repeat(arrangement(shuffled), shuffled.counts)
            assert (shuffled.values[0] == of).all() and (shuffled.times[0] == (of + 0.5) / 10).all()
        else:
            assert (shuffled.y[0] == arrangement(shuffled)).all()


@pytest.mark.parametrize(
    "data", few([curves((4,), (1, 2, 3, 2)), rows((4,))]), ids=["curves", "rows"]
)
def test_every_order_is_equally_likely_whatever_the_order_of_the_file(data):
    """24 orders of four records, 4000 draws, of a sorted file and of its reverse: five errors."""
    draws, share = 4000, 1 / 24
    error = np.sqrt(share * (1 - share) / draws)
    for held in (
        data,
        replace(
            data,
            **{
                name: getattr(data, name)[:, ::-1]
                for name in ("x", "y", "covariates")
                if getattr(data, name, None) is not None
            },
        ),
    ):
        found = [arrangement(reordered(held)) for _ in range(draws)]
        for order in itertools.permutations(range(4)):
            assert abs(found.count(order) / draws - share) < 5 * error, order


def test_records_that_are_dealt_in_turn_come_to_any_site():
    """A sorted list dealt to sites: replacing one record would move all behind it to other sites."""
    data = rows((2, 2))
    at_first = [set(arrangement(reordered(data, across_sites=True))[:2]) for _ in range(600)]
    for pair in itertools.combinations(range(4), 2):
        share = at_first.count(set(pair)) / 600
        assert abs(share - 1 / 6) < 5 * np.sqrt(1 / 6 * 5 / 6 / 600)
    assert {cls.key for cls in sources.all() if cls.deals_records} == {"ages_at_death"}


@pytest.mark.parametrize("key", ["iclp", "noisy_gradient_mean"])
def test_what_is_published_is_never_in_the_order_of_the_file(tmp_path, run_with_noise, key):
    """Two releases of one sorted file see its people in two orders, neither that of the file."""
    seen = []

    def looked_at(usual, data, *more):
        seen.append(data.values[0].reshape(60, 3)[:, 0].tolist())
        return usual(data, *more)

    run_with_noise(looked_at)
    source, book = sorted_file(60), Ledger(tmp_path / "ledger")
    for name in "ab":
        published.publish(
            source,
            mechanisms.build(key, {"scheme": "split"} if "gradient" in key else {}),
            Budget(4.0, 1e-4 if "gradient" in key else 0.0),
            book,
            name,
            Budget(99.0, 1e-2),
        )
    file = source.curves.values.reshape(60, 3)[:, 0].tolist()
    assert sorted(seen[0]) == sorted(seen[1]) == sorted(file)
    assert seen[0] != seen[1] and file not in seen


@pytest.mark.parametrize("key", ["adaptive_mean", "noisy_gradient_mean", "iclp"])
def test_curves_of_different_lengths_are_published_in_any_order(tmp_path, key):
    source = sorted_file(60, uneven=True)
    assert set(source.curves.counts) == {2, 3}
    mechanism = mechanisms.build(key, {"scheme": "split"} if "gradient" in key else {})
    delta = 0.0 if mechanism.guarantee == "pure" else 1e-4
    one = published.publish(
        source, mechanism, Budget(4.0, delta), Ledger(tmp_path / "ledger"), "a", Budget(9.0, 1e-2)
    )
    assert all(np.isfinite(values).all() for values in one.columns.values())


# -- the order in which files are read ---------------------------------------------------------------


def long_text(values, ids=None):
    """A long file sorted by value, with the ids that belong to the values."""
    named = sorted(zip(values, range(len(values)) if ids is None else ids, strict=True))
    return "id,time,value\n" + "".join(
        f"p{who},{t},{value + t}\n" for value, who in named for t in (1, 2, 3)
    )


def wide_text(values):
    named = sorted(zip(values, range(len(values)), strict=True))
    return "id,1,2,3\n" + "".join(
        f"p{who},{value + 1},{value + 2},{value + 3}\n" for value, who in named
    )


def sorted_file(n, uneven=False):
    text = long_text([10 + 0.5 * k for k in range(n)])
    if uneven:  # every other person lacks the last reading
        text = "".join(line for k, line in enumerate(text.splitlines(True)) if k % 6 or not k)
    return upload_of(text.encode(), declare(0, 100, 0, 4, "a manual", **files.EVEN))


def people_of_curves(text):
    found = curves_in(text.encode(), {"id": "id"})
    return list(zip(found.ids, found.values.reshape(-1, 3)[:, 0].tolist(), strict=True))


def people_of_rows(text):
    found = rows_in(text.encode(), {"id": "id"}, features=["1", "2", "3"])
    return list(zip(found.ids, found.covariates[:, 0].tolist(), strict=True))


@pytest.mark.parametrize(
    ("written", "read"),
    [(long_text, people_of_curves), (wide_text, people_of_curves), (wide_text, people_of_rows)],
    ids=["long", "wide", "records"],
)
@pytest.mark.parametrize("place", range(12))
def test_replacing_anybody_in_a_sorted_file_moves_nobody_else(written, read, place):
    """The person becomes the smallest, the largest or one in the middle of the sorted file."""
    values = [20.0 + k for k in range(12)]
    before = read(written(values))
    for other in (1.0, 25.5, 90.0):
        changed = [*values[:place], other, *values[place + 1 :]]
        after = read(written(changed))
        assert [who for who, _ in after] == [who for who, _ in before]
        assert sum(a != b for a, b in zip(after, before, strict=True)) == 1


def test_the_same_people_have_the_same_order_however_the_file_is_sorted():
    text = long_text([20.0 + k for k in range(30)])
    header, *lines = text.splitlines()
    assert people_of_curves("\n".join([header, *lines[::-1]])) == people_of_curves(text)
    assert people_of_curves(text) != sorted(people_of_curves(text), key=lambda one: one[1])


def test_records_of_a_file_without_ids_are_in_a_fixed_order_that_is_not_that_of_the_file():
    content = b"age,sex\n" + b"\n".join(b"%d,0" % age for age in range(18, 90))
    first, again = (rows_in(content, {"id": None}, features=["age"]) for _ in range(2))
    assert (first.covariates == again.covariates).all() and (
        np.diff(first.covariates[:, 0]) < 0
    ).any()
    assert first.ids == ()
    facts = declare_rows(DENSITY.key, [StatedCovariate("age", 0.0, 105.0)], "a law")
    assert UploadRows(rows=first, declared=facts).sizes.n_curves == 72
