"""Files of every kind: the good ones give the same curves, the bad ones one clear sentence."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError
from engine.experiments import generator
from engine.identity import digest
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources.upload import Upload, declare, read_curves, suggest_layout
from engine.tables import MOST_BYTES, read_table
from engine.types import Budget
from tests import files


def curves_of(content, **options):
    table = read_table(content, **options)
    return read_curves(table, suggest_layout(table))


def equal(one, other):
    return all(np.allclose(getattr(one, name), getattr(other, name))
               for name in ("times", "values", "counts", "server"))


PLAIN = curves_of(files.csv())


def comma_decimals():
    return files.csv(files.growth_frame(), sep=";", decimal=",")


@pytest.mark.parametrize("content", [
    files.csv(sep="\t"), files.csv(sep=";"), comma_decimals(), files.xlsx(),
    b"\xef\xbb\xbf" + files.csv(), "\ufeff".encode("utf-16-le") + files.csv().decode().encode(
        "utf-16-le"), files.csv().replace(b"\n", b"\r\n"), files.csv().replace(b"child", b" Child "),
    files.csv()[:-1]],
    ids=["tabs", "semicolons", "decimal commas", "xlsx", "utf-8 mark", "utf-16", "crlf",
         "blanks in the header", "no last newline"])
def test_every_common_form_of_a_table_gives_the_same_curves(content):
    assert equal(curves_of(content), PLAIN)


def test_latin_1_is_read_when_it_is_chosen():
    content = files.csv().decode().replace("c001", "é1").encode("latin-1")
    with pytest.raises(InputError, match="not UTF-8") as caught:
        read_table(content)
    assert caught.value.field == "encoding"
    assert curves_of(content, encoding="latin-1").n_curves == 12


def test_every_curve_keeps_its_readings():
    frame = files.growth_frame()
    assert PLAIN.n_curves == frame["child"].nunique()
    assert sorted(PLAIN.counts) == sorted(frame.groupby("child").size())
    ends = np.cumsum(PLAIN.counts)
    found = {tuple(sorted(PLAIN.values[e - c:e])) for e, c in zip(ends, PLAIN.counts, strict=True)}
    assert found == {tuple(sorted(group)) for _, group in frame.groupby("child")["height"]}


def test_the_order_of_curves_does_not_follow_their_values():
    """Sorted files are common; positions decide who shares a round, so they are shuffled."""
    frame = pd.DataFrame({"id": np.arange(50), "time": 0.5, "value": np.arange(50.0)})
    values = curves_of(files.csv(frame)).values
    assert (np.diff(values) < 0).any()
    frame["value"] = 1000 - frame["value"]
    assert (1000 - curves_of(files.csv(frame)).values == values).all()


def test_wide_tables_have_one_row_per_curve():
    curves = curves_of(files.csv(files.wide_frame()))
    assert curves.n_curves == 6
    assert (curves.times.reshape(6, 4) == [0, 0.25, 0.5, 1]).all()


def test_numbered_columns_are_positions():
    frame = pd.DataFrame(np.ones((3, 5)), columns=[f"cca_{k:02d}" for k in range(1, 6)])
    assert (curves_of(files.csv(frame)).times.reshape(3, 5) == [1, 2, 3, 4, 5]).all()


def test_rows_of_one_person_can_be_averaged_or_kept():
    frame = pd.concat([files.wide_frame(), files.wide_frame().iloc[:2]])
    table = read_table(files.csv(frame))
    layout = suggest_layout(table)
    assert read_curves(table, layout, "average").n_curves == 6
    kept = read_curves(table, layout, "keep")
    assert kept.n_curves == 8
    assert any("not one person" in note for note in kept.notes)


def test_sites_come_first_in_the_order_of_curves():
    frame = files.growth_frame()
    frame["site"] = np.where(frame["child"] < "c006", "north", "south")
    curves = curves_of(files.csv(frame))
    assert curves.server.tolist() == [0] * 6 + [1] * 6


def test_covariates_are_kept_with_their_names():
    frame = files.growth_frame().assign(sex=1.0)
    curves = curves_of(files.csv(frame))
    assert curves.covariate_names == ("sex",)
    assert (curves.covariates == 1).all()


def test_missing_and_infinite_readings_are_left_out_and_counted():
    frame = files.growth_frame()
    frame.loc[:2, "height"] = [np.nan, np.inf, -np.inf]
    curves = curves_of(files.csv(frame))
    assert len(curves.values) == len(frame) - 3
    assert any("3 readings" in note and "2 infinite" in note for note in curves.notes)


def test_a_curve_without_readings_still_counts_as_a_person():
    frame = files.growth_frame()
    frame.loc[frame["child"] == "c000", "height"] = np.nan
    curves = curves_of(files.csv(frame))
    assert curves.n_curves == 12
    assert (curves.counts == 0).sum() == 1


def test_constant_values_and_one_reading_per_curve_are_accepted():
    frame = pd.DataFrame({"id": [1, 2, 3], "time": [0.1, 0.5, 0.9], "value": [5.0, 5.0, 5.0]})
    curves = curves_of(files.csv(frame))
    assert any("one reading per curve" in note for note in curves.notes)


def test_looking_alike_ids_are_one_person():
    frame = pd.DataFrame({"id": ["Zoë", "Zoe\u0308"], "time": [0.1, 0.2], "value": [1.0, 2.0]})
    assert curves_of(files.csv(frame)).n_curves == 1


def bad(**changes):
    return files.csv(files.growth_frame().assign(**changes))


@pytest.mark.parametrize(("content", "words"), [
    (b"", "file is empty"),
    (b"child,age,height\n", "no data rows"),
    (b"x" * (MOST_BYTES + 1), "larger than 20 MB"),
    ((",".join(f"a{k}" for k in range(300)) + "\n").encode(), "300 columns; at most 200"),
    (b"a\n1\n2\n", "only one column"),
    (b"a,b,c\n" + b"1,2,3\n" * 1_400_000, "cells; at most"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "not a text table"),
    (b"MZ\x90\x00\x03", "not a text table"),
    (b"\xd0\xcf\x11\xe0" + b"x" * 600, "old or password-protected Excel"),
    (files.zip_of(a_dot_csv=files.csv()), "not an Excel workbook"),
    (files.zip_of(xl__workbook_dot_xml="<x/>", xl__vbaProject_dot_bin="x"), "macros"),
    (files.zip_of(xl__workbook_dot_xml="<x/>", bomb="0" * 120_000_000), "expands to 120 MB"),
    (files.zip_of(xl__workbook_dot_xml="<x/>", **{f"m{k}": str(k) for k in range(250)}),
     "at most 200"),
    (b"PK\x03\x04broken", "damaged"),
    (files.zip_of(xl__workbook_dot_xml="<x/>"), "cannot be read"),
    (b"id,time,value\n1,2,3,4,5\n1,2,3\n", "same columns"),
    (b"id,,value\n1,2,3\n", "column has no name"),
    (b"id,time,Value,value\n1,2,3,4\n", "Two columns"),
    (bad(height="tall"), "rows of column “height” hold no number"),
    (bad(height="1,234.5"), "rows of column “height” hold no number"),
    (bad(age="01.02.2024"), "rows of column “age” hold no number"),
    (b"id,colour,shape\n1,red,round\n", "no column “time”"),
    (b"id,time\n1,0.5\n", "no column “value”"),
    (b"id,time,value,0.1,0.2,0.3\n1,1,1,1,1,1\n", "both long and wide"),
    (b"id,time,value\n1,,\n2,,\n", "No row has both"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_bad_file_is_refused_in_one_clear_sentence(content, words):
    with pytest.raises(InputError, match=words) as caught:
        curves_of(content)
    assert caught.value.hint


def test_messages_hold_no_reading_and_no_id():
    content = files.csv(files.growth_frame().assign(height="secret-77", child="canary"))
    with pytest.raises(InputError) as caught:
        curves_of(content)
    assert "secret" not in str(caught.value)
    assert "canary" not in str(caught.value)


def test_other_sheets_are_named_and_can_be_chosen():
    content = files.xlsx(other=files.growth_frame(3))
    assert any("not read: other" in note for note in read_table(content).notes)
    assert curves_of(content, sheet="other").n_curves == 3


STATED = {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18,
          "origin": "growth chart"}


@pytest.mark.parametrize(("changes", "words"), [
    ({"value_low": None}, "lowest and highest possible height first"),
    ({"time_high": None}, "first and last possible time"),
    ({"origin": "  "}, "where these bounds come from"),
    ({"value_low": 300}, "must be below the highest; got 300 and 210"),
    ({"time_low": 18}, "must be below the highest"),
    ({"value_high": float("inf")}, "finite"),
])
def test_facts_must_be_stated_in_full(changes, words):
    with pytest.raises(InputError, match=words):
        declare(**{**STATED, **changes}, value_name="Height")


def test_readings_outside_the_stated_ranges_are_moved_and_counted():
    upload = Upload(curves=PLAIN, declared=declare(**{**STATED, "value_high": 120,
                                                      "time_low": 5}))
    data = upload.draw(1, generator(1, 0, 0))
    times, values = upload.clamped
    assert values == (PLAIN.values > 120).sum() > 0
    assert times == (PLAIN.times < 5).sum() > 0
    assert data.values.max() == 120
    assert data.times.min() == 0
    assert data.times.max() <= 1


def test_bounds_do_not_follow_the_data():
    """Changing one curve changes nothing that is fixed before a release."""
    other = files.growth_frame()
    other.loc[other["child"] == "c003", "height"] = 9999.0
    declared = declare(**STATED)
    def plan(content):
        upload = Upload(curves=curves_of(content), declared=declared)
        data = upload.draw(1, generator(1, 0, 0))
        return NoisyGradientMean().plan(data, (Budget(1.0, 1e-3),)).spends, data.facts
    assert plan(files.csv()) == plan(files.csv(other))


def test_two_uploads_that_differ_in_one_reading_have_different_names():
    frame = files.growth_frame()
    frame.loc[0, "height"] += 0.1
    declared = declare(**STATED)
    one, other = (Upload(curves=curves_of(files.csv(f)), declared=declared)
                  for f in (files.growth_frame(), frame))
    assert digest(one) != digest(other)
