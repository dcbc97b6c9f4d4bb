"""Mutated files end in curves or in one sentence, never in a fault.

They are read as pages and commands read them. A workbook of which one cell has moved far off makes
its reader ask for all memory and end its process; archives hold the time they were made, so
that some runs have such a mutant and others have none.
"""

import io
import resource
import warnings
import zipfile

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.tasks import SPARSE_REGRESSION, DataType
from engine.uploads import examples
from engine.uploads.bounded import read_people
from engine.uploads.curves import Upload
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.proposal import propose_within
from engine.uploads.records import curves_of, rows_of
from engine.uploads.regressors import MAX_COVARIATES
from engine.uploads.rows import UploadRows
from tests import files
from tests.heavy import few

KINDS = files.growth_frame().assign(sex="f", dose=1.5)
WIDE = files.wide_frame()
SEEDS = [
    files.csv(),
    files.csv(KINDS),
    files.csv(sep=";", decimal=","),
    files.csv(WIDE),
    files.xlsx(),
    files.csv().decode().encode("utf-16"),
    files.csv(sep="\t"),
    files.csv(sep="|"),
    files.csv(WIDE, sep=";", decimal=","),
    files.xlsx(WIDE),
    files.xlsx(KINDS),
    files.xlsx(other=WIDE),
    b"\xef\xbb\xbf" + files.csv(),
    files.csv().replace(b"\n", b"\r\n"),
    files.csv(quoting=1),
    examples.growth_curves(100, 4).encode(),
    examples.temperatures(200).encode(),
    examples.records(200).encode(),
    files.csv(files.growth_frame(40, 12)),
    files.sheet(["id", "time", "value"], ["a", 1, 2.5], ["b", 2, 3], ["c", None, 4]),
]
STATED = {
    "age": (0, 20),
    "height": (50, 220),
    "sex": (0, 1),
    "dose": (0, 2),
}  # of what else, 0 to 1
MAX_MEGABYTES = 200


def mutated(content, rng):
    """Bytes flipped, cut off, lines shuffled, a nasty token put in; of workbooks also inside."""
    if content.startswith(b"PK") and rng.integers(4):
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
        chosen = str(
            rng.choice([name for name in names if "sheet" in name or rng.integers(3) == 0])
        )
        return files.repacked(
            content, lambda name, old: _mutated(old, rng) if name == chosen else old
        )
    return _mutated(content, rng)


def _mutated(content, rng):
    kind = rng.integers(5)
    if kind == 0:
        cut = bytearray(content)
        for place in rng.integers(len(cut), size=rng.integers(1, 8)):
            cut[place] = rng.integers(256)
        return bytes(cut)
    if kind == 1:
        return content[: rng.integers(len(content))]
    if kind == 2:
        lines = content.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    token = files.NASTY[rng.integers(len(files.NASTY))].encode()
    if kind == 3:
        place = rng.integers(len(content))
        return content[:place] + token + content[place:]
    parts = content.split(b",")
    parts[rng.integers(len(parts))] = token
    return b",".join(parts)


def proposed(content, data=None, **stated):
    """The likely reading of a file within the bounds of pages and commands."""
    return propose_within(content, data=data, stated=stated).likely.complete()


def described(content):
    """Every other column is taken for a covariate: a refusal of those is a sentence, too."""
    try:
        reading = proposed(content, DataType.CURVES)
        used = {*reading.used, reading.person.column}
        free = [name for name in reading.frame.header if name not in used][:MAX_COVARIATES]
        curves = curves_of(
            read_people(content, proposed(content, DataType.CURVES, columns={"covariates": free}))
        )
        ranges = [StatedCovariate(name, 0, 1) for name in free]
        Upload(
            curves=curves, declared=declare(0, 1, 0, 1, "a law", ranges, **files.EVEN)
        ).check_regressors()
    except InputError as problem:
        assert str(problem)


def as_records(content):
    """Every column but the last is a feature: records that stay within what is stated, or why not."""
    try:
        reading = proposed(content, DataType.RECORDS)
        numbers = [column.name for column in (*reading.features, *reading.columns.values())]
        if not numbers:  # a row of numbers alone beside ids: nothing that could be a feature
            return 0
        *names, last = numbers
        reading = proposed(content, DataType.RECORDS, columns={"value": last}, features=names)
        rows = rows_of(read_people(content, reading))
        *features, response = [
            StatedCovariate(name, *STATED.get(name, (0, 1)))
            for name in (*rows.covariate_names, rows.value_name)
        ]
        facts = declare_rows(SPARSE_REGRESSION.key, features, "a law", response, 0.1, 4.0)
        data = UploadRows(rows=rows, declared=facts).draw(1, np.random.default_rng(0))
        for numbers, stated in zip(
            (*np.moveaxis(data.x, -1, 0), data.y), (*features, response), strict=True
        ):
            assert (np.isnan(numbers) | ((numbers >= stated.low) & (numbers <= stated.high))).all()
        return rows.n_rows
    except InputError as problem:
        assert str(problem)
        return 0


def outcome(content):
    try:
        as_records(content)
        n_curves = curves_of(read_people(content, proposed(content, DataType.CURVES))).n_curves
        described(content)
        return n_curves
    except InputError as problem:
        assert str(problem)
        return 0


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def run(count, seed):
    """How many of so many mutants gave curves; together they may not take much memory."""
    rng, accepted, before = np.random.default_rng(seed), 0, peak_megabytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parsers, about files that are broken on purpose
        for k in range(count):
            accepted += outcome(mutated(SEEDS[k % len(SEEDS)], rng)) > 0
    assert peak_megabytes() - before < MAX_MEGABYTES
    return accepted


def test_valid_files_are_all_read():
    assert all(outcome(content) or as_records(content) for content in SEEDS)


@pytest.mark.parametrize("count", few([100, 400]))
def test_mutants_end_in_curves_or_in_a_sentence(count):
    accepted = run(count, 1)
    assert count / 10 < accepted < 0.98 * count


@pytest.mark.slow
@pytest.mark.parametrize("count", few([100, 400]))
def test_mutants_of_records_end_in_records_or_in_a_sentence_without_a_cell(count):
    rng, accepted = np.random.default_rng(3), 0
    table = KINDS.assign(height=lambda t: t["height"] + 0.123).drop(columns="child")
    seeds = [files.csv(table), files.xlsx(table), files.csv(table, sep=";", decimal=",")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(count):
            try:
                accepted += as_records(mutated(seeds[k % 3], rng)) > 0
            except InputError as problem:
                assert ".123" not in str(problem) and str(problem)
    assert count / 40 < accepted < 0.98 * count


@pytest.mark.slow
def test_ten_thousand_mutants_end_in_curves_or_in_a_sentence():
    assert run(10_000, 2) > 1000
