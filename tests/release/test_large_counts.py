"""Counts of people of any size: many files are the one table that they are parts of."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import __main__
from engine import api as pc
from engine.core.errors import InputError
from engine.release import certified, request
from engine.release.ledger import Ledger
from engine.release.people import RecordHashes
from engine.running.partitions import HomeExecutor
from engine.uploads.scratch import Resources
from engine.uploads.stored_events import StoredEvents
from tests import large
from tests.large import KINDS

KEY = b"k" * 32
STATUS = {
    "name": "end",
    "kind": "word",
    "words": {"death": "death", "relapse": "relapse"},
    "other": "censored",
}
START = {"name": "start", "from": "each start"}
ARMS = {"name": "arm", "kind": "word", "words": {"a": "a", "b": "b"}, "other": "missing"}
SITES = {"name": "site", "kind": "word", "words": {"north": "north", "south": "south"}}
FOLLOW_UP = {"time_high": 1000, "time_unit": "days", "origin": "the protocol"}
SCORES = {"time_low": 0, "time_high": 1, "origin": "the manual"}


def people(n=120, seed=0):
    """Intervals of people in random order, with an arm and a site of each, and a score."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "id": [f"P{k:03d}" for k in range(n)],
            "start": np.zeros(n),
            "days": rng.integers(1, 1200, n).astype(float),
            "end": rng.choice(["death", "relapse", "alive"], n),
            "arm": rng.choice(["a", "b"], n),
            "site": rng.choice(["north", "south"], n),
            "score": rng.random(n).round(3),
        }
    )
    table.loc[rng.random(n) < 0.05, "score"] = np.nan
    goes_on = table[table["end"] != "alive"][:15]
    first = goes_on.assign(days=goes_on["days"] / 2, end="alive")
    table.loc[goes_on.index, "start"] = goes_on["days"] / 2
    return pd.concat([table, first]).sample(frac=1, random_state=seed)


def plain(file, task="survival", several="join", facts=FOLLOW_UP, **columns):
    """A request of counts; by default of survival in two arms at two sites."""
    return {
        "version": 1,
        "name": "study",
        "data": {
            "file": file,
            "reading": {
                "frame": {"encoding": "utf-8", "separator": ",", "header": [*people(20).columns]},
                "person": {"column": "id"},
                "columns": {name: column for name, column in columns.items() if column},
                "missing": [""],
                "several": several,
            },
            "facts": facts,
        },
        "mechanism": {"key": "noisy_counts", "parameters": {"task": task}},
        "budgets": [{"epsilon": 1.0}],
    }


def survival(file, **columns):
    usual = {"start": START, "time": {"name": "days"}, "status": STATUS}
    return plain(file, **{**usual, "group": ARMS, "site": SITES, **columns})


def entering(file):
    times = {"entry": {"name": "start"}, "time": {"name": "days"}, "status": STATUS}
    return plain(file, **times)


def incidence(file):
    times = {"start": START, "time": {"name": "days"}, "status": STATUS}
    return plain(file, "cumulative_incidence", **times)


def values(file):
    return plain(file, "distribution", "average", SCORES, time={"name": "score"})


def scores(file):
    label = {"name": "arm", "kind": "word", "words": {"a": "a"}, "other": "censored"}
    return plain(file, "roc", "average", SCORES, time={"name": "score"}, status=label)


REQUESTS = (survival, entering, incidence, values, scores)


def in_memory(table, folder, stated=survival):
    large.written(table, folder / "whole.csv")
    return large.asked(stated("whole.csv"), folder)


def in_files(table, folder, sizes, kinds, stated=survival, memory=50_000):
    parts = folder / "parts"
    parts.mkdir()
    cuts = np.cumsum(sizes) * len(table) // max(sum(sizes), 1)
    pieces = np.split(np.arange(len(table)), cuts[:-1])
    for k, (places, kind) in enumerate(zip(pieces, kinds, strict=True)):
        large.written(table.iloc[places], parts / f"{k}.{kind}", kind)
    return large.asked(stated("parts"), folder, Resources(memory, folder))


def assert_same_counts(many, whole):
    """Same messages, people, contents, and words to the holder."""
    assert isinstance(many.source, StoredEvents) and not isinstance(whole.source, StoredEvents)
    large.assert_same(large.messages(many), large.messages(whole))
    one, other = (RecordHashes.of(each.source.traces(), KEY) for each in (whole, many))
    assert one.digest == other.digest
    first, second = (certified.publishable_data(each.source) for each in (whole, many))
    assert first.content() == second.content()
    assert first.sizes == second.sizes and first.public_facts() == second.public_facts()
    assert many.source.observations.notes == whole.source.observations.notes
    assert many.source.remarks() == whole.source.remarks()


@pytest.mark.parametrize("stated", REQUESTS)
def test_counts_of_files_are_those_of_the_table(stated, tmp_path):
    table = people()
    whole = in_memory(table, tmp_path, stated)
    assert_same_counts(in_files(table, tmp_path, [1] * 5, KINDS, stated), whole)


@settings(max_examples=25)
@given(
    stated=st.sampled_from(REQUESTS),
    seed=st.integers(0, 2**31),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    kind=st.sampled_from(KINDS),
    memory=st.sampled_from([20_000, 300_000, 10**8]),
    is_sorted=st.booleans(),
)
def test_no_order_split_kind_or_memory_changes_a_count(
    stated, seed, sizes, kind, memory, is_sorted, tmp_path_factory
):
    folder, table = tmp_path_factory.mktemp("split"), people()
    whole = in_memory(table, folder, stated)
    shuffled = table.sample(frac=1, random_state=seed)
    if is_sorted:
        shuffled = shuffled.sort_values("id")
    sizes = sizes if len(sizes) > 1 else [*sizes, 1]
    assert_same_counts(
        in_files(shuffled, folder, sizes, [kind] * len(sizes), stated, memory), whole
    )


def test_rising_ids_are_read_without_a_copy_of_the_lines(tmp_path, monkeypatch):
    table = people(2000).sort_values("id")
    whole = in_memory(table, tmp_path)
    monkeypatch.setattr("engine.uploads.buckets.Buckets.add", None)
    assert_same_counts(in_files(table, tmp_path, [1, 2], ["csv", "parquet"]), whole)


def rows(file):
    stated = survival(file, start=None, site=None)
    stated["data"]["reading"] |= {"person": {"rows": True}, "several": "keep"}
    return stated


def test_rows_that_are_people_have_no_ids(tmp_path):
    table = people()
    assert_same_counts(
        in_files(table, tmp_path, [1, 1], ["csv", "gz"], rows), in_memory(table, tmp_path, rows)
    )


def left_out(source, ids):
    """The same people without those of some hashes of ids."""
    return source.without(np.isin(RecordHashes.of(source.traces(), KEY).ids, ids))


def test_people_are_left_out_by_their_ids_wherever_they_stand(tmp_path):
    table = people()
    whole, many = in_memory(table, tmp_path), in_files(table, tmp_path, [1, 1, 1], ["csv"] * 3)
    ids = np.sort(RecordHashes.of(whole.source.traces(), KEY).ids)
    for gone in (ids[:30], ids[40:44]):
        one, other = left_out(whole.source, gone), left_out(many.source, gone)
        assert one.draw(1, None).content() == other.draw(1, None).content()
        hashes = [RecordHashes.of(each.traces(), KEY) for each in (one, other)]
        assert hashes[0].digest == hashes[1].digest
    twice = left_out(left_out(many.source, ids[:30]), ids[40:44])
    both = left_out(whole.source, np.append(ids[:30], ids[40:44]))
    assert RecordHashes.of(twice.traces(), KEY).digest == RecordHashes.of(both.traces(), KEY).digest


# -- refusals --------------------------------------------------------------------------------------


def several(table):
    return pd.concat([table, table[table["id"] < "P030"].assign(start=2000, days=3000)])


def in_two_arms(table):
    return pd.concat([table, table[:9].assign(arm="a"), table[:9].assign(arm="b")])


def in_neither(table):
    return table.assign(arm="c")


def without_events(table):
    return table.assign(end="alive")


def with_codes(table):
    return table.assign(days=table["days"].where(table["id"] > "P004", -999))


def beyond(table):
    return table.assign(days=table["days"] + 5000, start=0)


def at_one_site(table):
    return table.assign(site="north")


def outside(table):
    return table.assign(score=table["score"] + 7)


def without_scores(table):
    return table.assign(score=np.nan)


def of_two_labels(table):
    return pd.concat([table, table[:9].assign(arm="a"), table[:9].assign(arm="c")])


CASES = [
    *((survival, fault) for fault in (several, in_two_arms, in_neither, without_events)),
    *((survival, fault) for fault in (with_codes, beyond, at_one_site)),
    (values, outside),
    (values, without_scores),
    (scores, of_two_labels),
    (rows, beyond),
]


@pytest.mark.parametrize(("stated", "fault"), CASES)
def test_files_are_refused_in_the_sentence_of_the_whole_table(stated, fault, tmp_path):
    table = fault(people())
    with pytest.raises(InputError) as whole:
        in_memory(table, tmp_path, stated)
    with pytest.raises(InputError) as many:
        in_files(table, tmp_path, [1, 2, 1], ["csv", "gz", "csv"], stated)
    first, second = (
        (each.value.message, each.value.field, each.value.hint) for each in (whole, many)
    )
    assert first == second


def test_one_person_alone_is_refused(tmp_path):
    table = people().iloc[:1]
    for k in range(2):
        large.written(table, tmp_path / f"{k}.csv")
    with pytest.raises(InputError, match="only one person"):
        large.asked(survival("*.csv", site=None), tmp_path)


def test_a_value_of_one_person_does_not_depend_on_the_lines_of_others(tmp_path):
    table = people().drop_duplicates("id")
    table.loc[table["id"] == "P007", "score"] = np.inf
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    large.written(table, one, "parquet")
    large.written(pd.concat([table, table[:1].assign(score=0.5)]), other, "parquet")
    counts = [
        large.asked(values([path.name]), tmp_path, Resources(10**8, tmp_path)).source
        for path in (one, other)
    ]
    assert [int(np.isinf(each.events.time).sum()) for each in counts] == [1, 1]


# -- workers ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workers():
    with HomeExecutor(2) as executor:
        yield executor


@pytest.mark.parametrize("stated", REQUESTS)
def test_workers_count_as_one_process_does(stated, tmp_path, workers):
    table = people()
    whole = in_memory(table, tmp_path, stated)
    (tmp_path / "parts").mkdir()
    number = table["id"].str[1:].astype(int) % 5
    for k in range(5):
        large.written(table[number == k], tmp_path / "parts" / f"{k}.csv")
    many = large.asked(stated("parts"), tmp_path, Resources(50_000, tmp_path, workers))
    assert_same_counts(many, whole)


def test_people_in_several_partitions_are_refused_and_ids_at_two_sites_are_not(tmp_path, workers):
    table = people().drop_duplicates("id").assign(start=0.0)
    resources = Resources(50_000, tmp_path, workers)
    both = pd.concat([table.assign(site=site) for site in ("north", "south")])
    for k, mine in enumerate((both[both["id"] < "P050"], both[both["id"] >= "P050"])):
        large.written(mine, tmp_path / f"{k}.csv")
    assert large.asked(survival("*.csv"), tmp_path, resources).source.sizes.n_curves == 240
    large.written(table[:3], tmp_path / "2.csv")
    with pytest.raises(InputError, match="several partitions"):
        large.asked(survival("*.csv"), tmp_path, resources)


# -- on the command line, and in Python ------------------------------------------------------------


def test_a_release_of_survival_from_a_folder_charges_each_person_once(tmp_path, capsys):
    table = people()
    (tmp_path / "parts").mkdir()
    large.written(table[:60], tmp_path / "parts" / "a.gz", "gz")
    large.written(table[60:], tmp_path / "parts" / "b.parquet", "parquet")
    large.written(table, tmp_path / "whole.csv")
    paths = {"--ledger": "ledger", "--witness": "witness", "--scratch": ""}
    words = [word for name, each in paths.items() for word in (name, str(tmp_path / each))]
    for k, file in enumerate(("parts", "whole.csv")):
        stated = survival(file) | {"name": f"study {k}"}
        (tmp_path / "request.json").write_text(json.dumps(stated))
        command = ["release", str(tmp_path / "request.json"), "--yes", *words]
        assert __main__.main([*command, "--out", str(tmp_path / f"out{k}")]) == 0
        ledger = Ledger(tmp_path / "ledger", tmp_path / "witness")
        assert [entry.state for entry in ledger.entries()] == ["drawn"] * (k + 1)
        assert ledger.entries()[-1].budget.epsilon == pytest.approx(1.0)
    capsys.readouterr()


def test_a_table_beyond_the_size_of_one_in_memory_is_read_in_batches(tmp_path, monkeypatch):
    table = people()
    whole = in_memory(table, tmp_path)
    monkeypatch.setattr(request, "MAX_BYTES", 1000)
    assert_same_counts(large.asked(survival("whole.csv"), tmp_path), whole)


def test_survival_of_several_files_is_read_in_python(tmp_path):
    table = people()
    for k in range(2):
        large.written(table[k::2], tmp_path / f"{k}.csv")
    stated = survival("")["data"]["reading"]
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    facts = {"follow_up": 1000, "origin": "the protocol", "time_unit": "days"}
    many = pc.read_survival(paths, reading=stated, **facts)
    large.written(table, tmp_path / "whole.csv")
    whole = pc.read_survival(tmp_path / "whole.csv", reading=stated, **facts)
    assert many.draw(1, None).content() == whole.draw(1, None).content()
    assert many.facts == whole.facts
