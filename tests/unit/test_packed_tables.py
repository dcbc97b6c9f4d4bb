"""Compressed text, Parquet and Arrow are read as the text table of the same cells is."""

import bz2
import gzip
import io
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.errors import InputError
from engine.uploads.batches import batches
from engine.uploads.bounded import read_people
from engine.uploads.files import files_of
from engine.uploads.packed import ROWS, EndsEarlyError, TypedTable
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.reading_of_files import Reading
from tests.files import csv, growth_frame


def zstd(content):
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return out.getvalue().to_pybytes()


def typed(table, kind="parquet"):
    """The bytes of a table of typed columns."""
    table = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
    out = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(table, out)
        return out.getvalue()
    make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with make(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


PACKED = {
    "gzip": lambda frame: gzip.compress(csv(frame)),
    "bzip2": lambda frame: bz2.compress(csv(frame)),
    "zstd": lambda frame: zstd(csv(frame)),
    "parquet": typed,
    "arrow": lambda frame: typed(frame, "arrow"),
    "arrow stream": lambda frame: typed(frame, "stream"),
}
READING = Reading.of(
    {
        "frame": {"encoding": "utf-8", "separator": ",", "header": ["child", "age", "height"]},
        "person": {"column": "child"},
        "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
    }
)


def read_typed(columns, **column):
    """A person and a time column of a typed table; options are those of the time."""
    reading = {
        "frame": {"header": ["id", "t"]},
        "person": {"column": "id"},
        "columns": {"time": {"name": "t", **column}},
    }
    return read(typed(pa.table(columns)), Reading.of(reading))


@pytest.mark.parametrize("packing", PACKED)
def test_a_packed_table_is_proposed_and_read_as_its_text(packing):
    frame = growth_frame()
    packed, plain = PACKED[packing](frame), csv(frame)
    assert propose(packed).reading == propose(plain).reading
    found, want = read_people(packed, READING), read(plain, READING)
    assert (found.ids, found.person.tolist()) == (want.ids, want.person.tolist())
    for role, numbers in want.columns.items():
        assert (found.columns[role] == numbers).all()


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("use", [propose, lambda content: read_people(content, READING)])
def test_a_packed_table_that_ends_early_is_refused(packing, use):
    content = PACKED[packing](growth_frame(200))
    with pytest.raises(EndsEarlyError):
        use(content[: 2 * len(content) // 3])


def test_a_gzip_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(InputError, match="larger than 100 MB"):
        read(gzip.compress(bytes(200_000_000)), READING)


def test_an_encrypted_parquet_file_is_called_so():
    with pytest.raises(InputError, match="encrypted"):
        read(b"PARE" + bytes(100) + b"PARE", READING)


@pytest.mark.parametrize(
    ("ids", "hint"),
    [
        (pa.array([7.0, 8.0]), "007 and 7.0"),
        (pa.array([[1], [2]]), "unnest"),
        (pa.array([{"a": 1}, {"a": 2}]), "unnest"),
        (pa.array([b"a", b"b"]), "numbers, moments or text"),
    ],
)
def test_ids_are_text_or_whole_numbers(ids, hint):
    with pytest.raises(InputError) as refusal:
        read_typed({"id": ids, "t": [1.0, 2.0]})
    assert hint in refusal.value.hint


@pytest.mark.parametrize(
    "numbers",
    [
        pa.array([1, None], pa.int16()),
        pa.array([1.0, np.nan]),
        pa.array([1, None], pa.decimal128(9, 2)),
        pa.array(["1", None]),
        pa.array(["1", ""]).dictionary_encode(),
    ],
)
def test_null_and_no_number_are_missing(numbers):
    people = read_typed({"id": ["a", "b"], "t": numbers})
    assert people.columns["time"][0] == 1
    assert np.isnan(people.columns["time"][1])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("use", [propose, lambda content: read_people(content, READING)])
def test_text_that_is_no_text_is_refused_without_its_bytes(use, kind):
    texts = pa.array([b"ann", b"secret\xff", b"bob"], pa.binary())
    ids = pa.StringArray.from_buffers(3, *texts.buffers()[1:])
    table = pa.table([ids, [1.0, 2.0, 3.0], [80.0, 90.0, 95.0]], names=["child", "age", "height"])
    with pytest.raises(InputError) as refusal:
        use(typed(table, kind))
    assert refusal.value.field == "encoding"
    assert "child" in str(refusal.value) and "secret" not in str(refusal.value)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_long_rows_come_in_batches_of_fewer(kind, tmp_path):
    table = pa.table([[f"{k:02d}" + "x" * 1_000_000 for k in range(60)]], names=["note"])
    path = tmp_path / "notes"
    path.write_bytes(typed(table, kind))
    (file,) = files_of(str(path))
    found = list(TypedTable(path, file.packing).batches(["note"]))
    assert max(each.num_rows for each in found) < 40
    assert pa.Table.from_batches(found).equals(table)
    path.write_bytes(typed(table[:0], kind))
    assert not sum(each.num_rows for each in TypedTable(path, file.packing).batches(["note"]))


@pytest.mark.parametrize("write", [csv, typed])
def test_ids_that_would_fill_the_memory_are_refused_without_one(write):
    long = "secret" + "\N{GREEK SMALL LETTER ALPHA}" * 498  # 1002 bytes
    frame = pd.DataFrame({"child": ["a", long, long[:-1]], "age": 1.0, "height": 80.0})
    with pytest.raises(InputError) as refusal:
        read_people(write(frame), READING)
    assert "1 line" in str(refusal.value) and "secret" not in str(refusal.value)
    assert len(read_people(write(frame[frame.child != long]), READING).ids) == 2


def test_whole_ids_and_ids_as_text_are_the_same_people():
    found = read_typed({"id": pa.array([7, 12]), "t": [1.0, 2.0]})
    assert found.ids == read_typed({"id": ["7", "12"], "t": [1.0, 2.0]}).ids


STAMPS = pa.array([1_704_067_200_000_000, 1_720_000_000_000_000], pa.timestamp("us", "UTC"))


def test_moments_with_a_zone_need_a_place_for_times_of_day():
    column = {"kind": "date", "order": "ymd", "from": "hours of day"}
    for more in ({}, {"offset": "to UTC"}):
        with pytest.raises(InputError, match="moments with a time zone"):
            read_typed({"id": ["a", "b"], "t": STAMPS}, **column, **more)
    placed = {"offset": "to UTC", "time_zone": "Europe/Berlin"}
    people = read_typed({"id": ["a", "b"], "t": STAMPS}, **column, **placed)
    assert people.columns["time"] == pytest.approx([1.0, 11 + 46 / 60 + 40 / 3600])
    text = pa.array(["2024-01-01T00:00:00Z", "2024-07-03 09:46:40+00:00"])
    again = read_typed({"id": ["a", "b"], "t": text}, **column, **placed)
    assert again.columns["time"] == pytest.approx(people.columns["time"], abs=1e-9)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_stamps_that_are_read_as_numbers_are_called_dates(kind):
    frame = pd.DataFrame(
        {"child": ["a", "b"], "age": pd.to_datetime(["2024-02-03", "2024-02-04"]), "height": 1.0}
    )
    for content in (typed(frame, kind), csv(frame)):
        with pytest.raises(InputError) as refusal:
            read_people(content, READING)
        assert "2 lines" in str(refusal.value) and "date" in refusal.value.hint


def test_dates_and_naive_stamps_are_the_clock_on_the_wall():
    days = {"kind": "date", "order": "ymd", "from": "days since 2024-01-01"}
    dates = pa.array([date(2024, 1, 2), date(2024, 1, 3)])
    assert read_typed({"id": ["a", "b"], "t": dates}, **days).columns["time"].tolist() == [1, 2]
    naive = STAMPS.cast(pa.timestamp("ns"))
    found = read_typed({"id": ["a", "b"], "t": naive}, **days).columns["time"]
    assert found == pytest.approx([0, 184 + 9 / 24 + 46 / 1440 + 40 / 86400])


def test_a_place_is_of_moments_alone():
    with pytest.raises(InputError, match="to UTC"):
        read_typed({"id": ["a"], "t": ["1"]}, kind="date", order="ymd", time_zone="Europe/Berlin")
    with pytest.raises(InputError, match="no such"):
        read_typed(
            {"id": ["a"], "t": ["1"]}, kind="date", order="ymd", offset="to UTC", time_zone="Mars"
        )


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_progress_through_a_typed_file_follows_its_rows(tmp_path, kind):
    number = 3 * ROWS
    columns = {"child": np.arange(number), "age": np.zeros(number), "height": np.ones(number)}
    table = pa.table(columns)
    path = tmp_path / f"table.{kind}"
    with path.open("wb") as out:
        if kind == "parquet":
            parquet.write_table(table, out)
        else:
            make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
            with make(out, table.schema) as writer:
                writer.write_table(table, max_chunksize=ROWS)
    told = [0]
    pieces = batches(files_of(str(path)), READING, lambda step: told.append(told[-1] + step))
    assert sum(lines.n_lines for lines in pieces) == number
    shares = np.array(told) / path.stat().st_size
    assert shares[-1] == 1 and (np.diff(shares) >= 0).all()
    assert np.isclose(shares, 1 / 3, atol=0.05).any() and np.isclose(shares, 2 / 3, atol=0.05).any()
