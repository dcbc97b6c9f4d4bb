"""Releases of any size: the same from many files in little memory as from one in memory."""

import dataclasses
import errno
import io
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import __main__
from engine import api as pc
from engine.core.errors import InputError
from engine.noise.hardened import LatticeNoise
from engine.release import certified
from engine.release.ledger import Ledger
from engine.release.people import RecordHashes
from engine.uploads import buckets, scratch, stored_table
from engine.uploads.scratch import Resources
from engine.uploads.stored_curves import StoredCurves
from engine.uploads.stored_table import StoredTable
from tests import large
from tests.large import COMMON, EVEN, KINDS, UNKNOWN

KEY = b"k" * 32


def in_memory(table, folder, **stated):
    """The request of the same table as one small file."""
    large.written(table, folder / "whole.csv")
    return large.asked(large.plain("whole.csv", **stated), folder)


def in_files(table, folder, sizes, kinds, **stated):
    """A request of parts of the table in files of such kinds, read with hardly any memory."""
    parts = folder / "parts"
    parts.mkdir()
    cuts = np.cumsum(sizes) * len(table) // max(sum(sizes), 1)
    pieces = np.split(np.arange(len(table)), cuts[:-1])
    for k, (places, kind) in enumerate(zip(pieces, kinds, strict=True)):
        large.written(table.iloc[places], parts / f"{k}.{kind}", kind)
    memory = stated.pop("memory", 50_000)
    return large.asked(large.plain("parts", **stated), folder, Resources(memory, folder))


# -- the same bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [EVEN, UNKNOWN, COMMON])
def test_messages_from_files_are_those_from_memory(design, tmp_path):
    table = large.frame(common=design is COMMON)
    whole = in_memory(table, tmp_path, design=design)
    many = in_files(table, tmp_path, [1] * 5, KINDS, design=design)
    assert isinstance(many.source, StoredCurves) and not isinstance(whole.source, StoredCurves)
    large.assert_same(large.messages(many), large.messages(whole))


@settings(max_examples=12)
@given(
    order=st.integers(0, 2**31),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any),
    kind=st.sampled_from(KINDS),
    memory=st.sampled_from([20_000, 300_000, 10**8]),
)
def test_no_order_split_kind_or_memory_changes_a_message(
    order, sizes, kind, memory, tmp_path_factory
):
    folder, table = tmp_path_factory.mktemp("split"), large.frame()
    want = large.messages(in_memory(table, folder))
    shuffled = table.sample(frac=1, random_state=order)
    many = in_files(shuffled, folder, sizes, [kind] * len(sizes), memory=memory)
    large.assert_same(large.messages(many), want)


@pytest.mark.parametrize("names", ["P{:04d}", "{}"])
def test_tables_in_order_of_rising_ids_are_not_copied(names, tmp_path, monkeypatch):
    table = large.frame()
    number = table["id"].str[1:].astype(int)
    table = table.assign(id=number.map(names.format))
    want = large.messages(in_memory(table, tmp_path))
    monkeypatch.setattr(Resources, "file", None)
    rising = table.iloc[np.argsort(number, kind="stable")]
    many = in_files(rising, tmp_path, [1, 2, 2, 1, 3], KINDS)
    large.assert_same(large.messages(many), want)


def test_a_person_who_comes_back_is_one_person(tmp_path):
    table = large.frame().sort_values("id")
    table = large.pd.concat([table[1:], table[:1]])
    want = large.messages(in_memory(table, tmp_path))
    many = in_files(table, tmp_path, [1, 1], ["csv", "parquet"])
    assert many.source.sizes.n_curves == 240
    large.assert_same(large.messages(many), want)


def test_people_and_contents_are_known_again_wherever_they_are_kept(tmp_path):
    table = large.frame()
    whole, many = in_memory(table, tmp_path), in_files(table, tmp_path, [1, 1], ["gz", "arrow"])
    one, other = (RecordHashes.of(each.source.traces(), KEY) for each in (whole, many))
    assert one.digest == other.digest
    first, second = (certified.publishable_data(each.source) for each in (whole, many))
    assert first.content() == second.content()
    assert first.sizes == second.sizes and first.public_facts() == second.public_facts()


def test_coefficients_are_read_block_by_block(tmp_path):
    table = large.frame()
    ages = table["id"].str[1:].astype(int) % 10
    table = table.assign(age=ages.where(ages != 3))
    stated = {
        "header": [*large.HEADER, "age"],
        "columns": {"covariates": [{"name": "age"}]},
        "facts": {"covariates": [large.COVARIATE]},
        "mechanism": "adaptive_coefficients",
    }
    whole = in_memory(table, tmp_path, **stated)
    many = in_files(table, tmp_path, [1, 1, 1], ["csv", "parquet", "arrow"], **stated)
    large.assert_same(large.messages(many), large.messages(whole))


def test_sites_and_folders_that_state_them(tmp_path):
    table = large.frame()
    table = table.assign(site=np.where(table["id"] < "P0100", "north", "south"))
    words = {"north": "north", "south": "south"}
    stated = {
        "header": [*large.HEADER, "site"],
        "columns": {"site": {"name": "site", "kind": "word", "words": words}},
    }
    want = large.messages(in_memory(table, tmp_path, **stated))
    for site in words:
        folder = tmp_path / "hive" / f"site={site}"
        folder.mkdir(parents=True)
        mine = table[table["site"] == site].drop(columns="site")
        large.written(mine, folder / "part.parquet", "parquet")
    hive = large.asked(large.plain("hive", **stated), tmp_path, Resources(50_000, tmp_path))
    assert hive.source.sizes.n_curves_per_server == (100, 140)
    large.assert_same(large.messages(hive), want)


def test_every_file_is_a_person_and_no_name_is_told(tmp_path):
    table = large.frame(n=60)
    (tmp_path / "people").mkdir()
    for name, mine in table.groupby("id"):
        large.written(mine.drop(columns="id"), tmp_path / "people" / f"{name}.csv")
    stated = {"header": ["time", "value"], "person": {"file": True}, "epsilon": 20.0}
    many = large.asked(large.plain("people", **stated), tmp_path)
    assert many.source.sizes.n_curves == 60
    want = large.messages(in_memory(table, tmp_path, epsilon=20.0))
    large.assert_same(large.messages(many), want)
    (tmp_path / "people" / "P0003.csv").write_text("time,value\n0.5,secret\n")
    with pytest.raises(InputError) as refusal:
        large.asked(large.plain("people", **stated), tmp_path)
    assert "P0003" not in str(refusal.value) and "secret" not in str(refusal.value)


def test_a_curve_in_each_row_is_read_in_batches(tmp_path):
    rng = np.random.default_rng(3)
    at = [[f"w{k}", k / 4] for k in range(5)]
    table = large.pd.DataFrame(rng.normal(0, 0.3, (90, 5)).round(2), columns=[n for n, _ in at])
    table.insert(0, "id", [f"p{k}" for k in range(90)])
    stated = large.plain("whole.csv", COMMON, ["id", *(name for name, _ in at)])
    stated["data"]["reading"]["columns"] = {"values": {"at": at}}
    large.written(table, tmp_path / "whole.csv")
    want = large.messages(large.asked(stated, tmp_path))
    large.written(table[:50], tmp_path / "a.parquet", "parquet")
    large.written(table[50:], tmp_path / "b.gz", "gz")
    stated["data"]["file"] = ["a.parquet", "b.gz"]
    large.assert_same(
        large.messages(large.asked(stated, tmp_path, Resources(30_000, tmp_path))), want
    )


def test_people_without_an_observation_are_known_again(tmp_path):
    table = large.frame()
    table.loc[table["id"] < "P0010", "value"] = np.nan
    whole, many = in_memory(table, tmp_path), in_files(table, tmp_path, [1, 1], ["csv", "gz"])
    one, other = (RecordHashes.of(each.source.traces(), KEY) for each in (whole, many))
    assert len(one.contents) == 240 and one.digest == other.digest


def test_rows_that_are_people_are_known_again(tmp_path):
    table = large.frame(n=300, m=1)
    stated = {"person": {"rows": True}, "observations": 1}
    whole, many = (
        in_memory(table, tmp_path, **stated),
        in_files(table, tmp_path, [1, 1], ["csv", "gz"], **stated),
    )
    one, other = (RecordHashes.of(each.source.traces(), KEY) for each in (whole, many))
    assert one.digest == other.digest


# -- refusals --------------------------------------------------------------------------------------


def refused(stated, folder):
    with pytest.raises(InputError) as refusal:
        large.asked(stated, folder)
    return str(refusal.value)


def test_lines_outside_the_reading_are_counted_over_all_files(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text("id,time,value\na,0.1,x\nb,0.2\nc,0.3,0.1\n")
    told = refused(large.plain("*.csv"), tmp_path)
    assert "6 lines" in told and "3 with" in told


def test_broken_files_and_other_columns_are_counted_once(tmp_path):
    table = large.frame(n=40)
    for k in range(6):
        large.written(table, tmp_path / f"{k}.parquet", "parquet")
    content = (tmp_path / "0.parquet").read_bytes()
    (tmp_path / "0.parquet").write_bytes(content[: len(content) // 2])
    large.written(table.rename(columns={"value": "kwh"}), tmp_path / "1.parquet", "parquet")
    told = refused(large.plain("*.parquet"), tmp_path)
    assert told.count("of 6") == 2


def test_an_empty_folder_a_pattern_without_files_and_a_file_twice(tmp_path):
    (tmp_path / "empty").mkdir()
    large.written(large.frame(n=20), tmp_path / "a.csv")
    assert "no files" in refused(large.plain("empty"), tmp_path)
    assert "No file" in refused(large.plain("none/*.csv"), tmp_path)
    assert "twice" in refused(large.plain(["a.csv", "a*"]), tmp_path)


@pytest.mark.parametrize("stated", ["parts", "parts/*.csv"])
@pytest.mark.parametrize("kind", ["dead link", "link to itself", "pipe"])
def test_no_file_is_left_out_because_it_cannot_be_read(kind, stated, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    large.written(large.frame(), parts / "a.csv")
    (parts / ".hidden.csv").write_bytes(b"\0")
    large.asked(large.plain(stated), tmp_path)
    other = parts / "P0003.csv"
    if kind == "pipe":
        os.mkfifo(other)
    else:
        other.symlink_to(other.name if kind == "link to itself" else "nowhere")
    told = refused(large.plain(stated), tmp_path)
    assert "1 of 2" in told and "P0003" not in told


def test_a_folder_behind_a_link_is_not_left_out(tmp_path):
    for name in ("parts", "others"):
        (tmp_path / name).mkdir()
        large.written(large.frame(), tmp_path / name / "a.csv")
    (tmp_path / "parts" / "more").symlink_to(tmp_path / "others")
    assert "1 of 2" in refused(large.plain("parts"), tmp_path)
    (tmp_path / "parts" / "more").unlink()
    (tmp_path / "parts" / "b.csv").symlink_to(tmp_path / "others" / "a.csv")
    with pytest.raises(InputError, match="twice"):
        large.asked(large.plain(["parts", "others"]), tmp_path)


def test_a_method_that_needs_all_in_memory_says_so(tmp_path):
    large.written(large.frame(n=40), tmp_path / "a.csv")
    large.written(large.frame(n=40, seed=1), tmp_path / "b.csv")
    told = refused(large.plain(["a.csv", "b.csv"], mechanism="iclp"), tmp_path)
    assert "20 MB" in told
    assert "Adaptive mean" in told


def test_a_file_that_changes_between_rounds_is_refused(tmp_path):
    table = large.frame()
    many = in_files(table, tmp_path, [1, 1], ["csv", "csv"])
    with (tmp_path / "parts" / "0.csv").open("a") as file:
        file.write("P9999,0.5,0.5\n")
    with pytest.raises(InputError, match="nothing was published"):
        large.messages(many)


@pytest.mark.parametrize("line", ["P9999,0.5,0.5", "A0001,0.5,0.5"])
def test_a_file_that_grows_during_a_pass_is_refused_behind_it(line, tmp_path):
    many = in_files(large.frame().sort_values("id"), tmp_path, [1, 1], ["csv", "csv"])
    path, people = tmp_path / "parts" / "1.csv", []

    def counted(tables):
        for each in tables:
            people.append(each.n_curves)
            if len(people) == 1:
                with path.open("a") as file:
                    file.write(line + "\n")
        return sum(people)

    with pytest.raises(InputError, match="nothing was published"):
        many.source.table.of_parts(counted)
    assert people


def test_too_little_room_is_seen_before_anything_is_read(tmp_path, monkeypatch):
    large.written(large.frame(), tmp_path / "a.csv")
    large.written(large.frame(seed=1), tmp_path / "b.csv")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(InputError, match="scratch folder") as refusal:
        large.asked(large.plain(["a.csv", "b.csv"]), tmp_path, Resources(10_000, tmp_path))
    assert "--scratch" in refusal.value.hint


class Full(io.BytesIO):
    """A file on a disk that is full once it holds something."""

    def write(self, content):
        if self.tell():
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


@pytest.mark.parametrize("owner", [buckets, stored_table])
def test_a_disk_that_fills_up_while_rows_or_curves_are_kept_is_told(owner, tmp_path, monkeypatch):
    class Resources(scratch.Resources):
        def file(self, memory):
            return Full()

    if owner is buckets:
        monkeypatch.setattr(scratch.Resources, "file", Resources.file)
    else:
        kept = scratch.Arrays

        def arrays(resources, memory):
            return kept(Resources(resources.memory, resources.folder), memory)

        monkeypatch.setattr(stored_table, "Arrays", arrays)
    with pytest.raises(InputError, match="scratch folder is full"):
        in_files(large.frame(), tmp_path, [1, 1], ["csv", "gz"])


# -- on the command line ---------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path):
    """A folder with a request of two files."""
    table = large.frame()
    (tmp_path / "parts").mkdir()
    large.written(table[:700], tmp_path / "parts" / "a.gz", "gz")
    large.written(table[700:], tmp_path / "parts" / "b.parquet", "parquet")
    (tmp_path / "request.json").write_text(json.dumps(large.plain("parts")))
    return tmp_path


def command(folder):
    names = {"--ledger": "ledger", "--witness": "witness", "--out": "out", "--scratch": ""}
    paths = [word for name, each in names.items() for word in (name, str(folder / each))]
    request = str(folder / "request.json")
    return ["release", request, "--yes", "--memory", "200MB", *paths]


def test_a_release_from_a_folder_leaves_nothing_in_the_scratch_folder(study, capsys):
    before = {*study.iterdir()}
    assert __main__.main(command(study)) == 0
    added = {path.name for path in {*study.iterdir()} - before}
    assert {"ledger", "out"} <= added and not any("tmp" in name for name in added)
    assert "wrote" in capsys.readouterr().out
    (entry,) = Ledger(study / "ledger", study / "witness").entries()
    assert entry.state == "drawn"


def test_an_end_from_the_keyboard_says_what_was_charged(study, capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StoredTable, "tables", stopped)
        assert __main__.main(command(study)) == 130
    assert "Nothing was charged." in capsys.readouterr().err
    draw = LatticeNoise.__call__
    drawn = []

    def stopped_later(self, values):
        drawn.append(1)
        if len(drawn) == 3:
            raise KeyboardInterrupt
        return draw(self, values)

    with monkeypatch.context() as patch:
        patch.setattr(LatticeNoise, "__call__", stopped_later)
        assert __main__.main(command(study)) == 130
    assert "round 3 of" in capsys.readouterr().err
    assert __main__.main(command(study)) == 0
    (entry,) = Ledger(study / "ledger", study / "witness").entries()
    assert entry.state == "drawn"


def test_a_bad_size_of_memory_is_refused(study, capsys):
    words = [word if word != "200MB" else "plenty" for word in command(study)]
    assert __main__.main(words) == 2
    assert "500MB or 2GB" in capsys.readouterr().err


# -- in a program ----------------------------------------------------------------------------------


def test_curves_of_a_folder_are_published_from_a_program(tmp_path):
    table = large.frame()
    stated = large.plain("parts")["data"]
    one = in_files(table, tmp_path, [1, 1], ["zst", "parquet"])
    facts = {"origin": "the manual", "design": EVEN, "observations": 5}
    for data in (str(tmp_path / "parts"), [str(path) for path in (tmp_path / "parts").iterdir()]):
        source = pc.read_curves(
            data, reading=stated["reading"], values=(-1, 1), times=(0, 1), **facts
        )
        found = large.messages(dataclasses.replace(one, source=source))
        large.assert_same(found, large.messages(one))
    with pytest.raises(InputError, match="stated reading"):
        pc.read_curves(str(tmp_path / "parts"), values=(-1, 1), times=(0, 1), **facts)
