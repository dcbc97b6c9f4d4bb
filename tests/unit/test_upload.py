"""From a table to curves: who is one person, what is left out, and what must be stated."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources import sources
from engine.uploads import examples
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.proposal import propose
from tests import files
from tests.readings import curves_in
from tests.sentences import of_topic

wording = of_topic("upload")

STATED = {
    "value_low": 60,
    "value_high": 210,
    "time_low": 2,
    "time_high": 18,
    "origin": "growth chart",
    **files.EVEN,
}


def curves_of(content, roles=None, **stated):
    return curves_in(content, roles, **stated)


def roles_in(content, **columns):
    """The columns that are proposed as people, time and value."""
    reading = propose(content, data="curves", stated={"columns": columns}).reading
    return (reading.person.column, *(reading.columns[role].name for role in ("time", "value")))


def equal(one, other):
    return all(
        np.allclose(getattr(one, name), getattr(other, name))
        for name in ("times", "values", "counts", "server")
    )


def assert_refused(content, words, **options):
    """It is refused in these words, and told where the fault is and what to do."""
    with pytest.raises(InputError, match=words) as caught:
        curves_of(content, **options)
    assert caught.value.hint and caught.value.field
    return caught.value


def noted(curves, words):
    return any(words in note for note in curves.notes)


PLAIN = curves_of(files.csv())


@pytest.mark.parametrize(
    "content",
    [
        files.csv(sep="\t"),
        files.csv(sep=";"),
        files.csv(sep="|"),
        files.csv(sep=";", decimal=","),
        files.csv(sep="\t", decimal=","),
        files.xlsx(),
        b"\xef\xbb\xbf" + files.csv(),
        files.csv().decode().encode("utf-16"),
        files.csv().replace(b"\n", b"\r\n"),
        files.csv().replace(b"\n", b"\r"),
        files.csv().replace(b"child", b" CHILD "),
        files.csv().replace(b",", b" , "),
        files.csv()[:-1],
        files.csv(quoting=1),
    ],
    ids=[
        "tabs",
        "semicolons",
        "bars",
        "decimal commas",
        "tabs and decimal commas",
        "xlsx",
        "utf-8 mark",
        "utf-16",
        "crlf",
        "cr",
        "header with blanks and capitals",
        "blanks",
        "no last newline",
        "quotes",
    ],
)
def test_every_common_form_of_a_table_gives_the_same_curves(content):
    assert equal(curves_of(content), PLAIN)


def test_the_long_and_the_wide_form_give_the_same_curves():
    wide = files.wide_frame()
    assert equal(curves_of(files.csv(wide)), curves_of(files.csv(files.melted(wide))))
    assert equal(curves_of(files.xlsx(wide)), curves_of(files.csv(wide)))
    assert equal(
        curves_of(
            files.csv(wide.rename(columns=lambda c: c.replace(".", ",")), sep=";", decimal=",")
        ),
        curves_of(files.csv(wide)),
    )


def test_text_that_is_not_utf_8_is_read_in_the_usual_encoding():
    content = files.csv().decode().replace("c001", "é1").encode("latin-1")
    assert equal(curves_of(content), curves_of(content.decode("latin-1").encode()))


def test_every_curve_keeps_its_readings_and_its_id():
    frame = files.growth_frame()
    ends = np.cumsum(PLAIN.counts)
    for child, end, count in zip(PLAIN.ids, ends, PLAIN.counts, strict=True):
        result = frame[frame["child"] == child].sort_values("age")
        assert PLAIN.times[end - count : end].tolist() == result["age"].tolist()
        assert PLAIN.values[end - count : end].tolist() == result["height"].tolist()


def test_the_example_file_is_read():
    curves = curves_of(examples.growth_curves().encode())
    assert curves.n_curves == 1000 and (curves.counts == 8).all()


# -- which column is what


@pytest.mark.parametrize(
    "header",
    [
        "id,time,value",
        "child_id,age,height",
        "Subject,Day,y",
        "person,t,reading",
        "participant_id,Age (years),Height [cm]",
        "id,age,bmi",
        "who_id,hour,value",
    ],
)
def test_usual_names_of_columns_are_recognised_and_one_unknown_value_is_proposed(header):
    assert roles_in(f"{header}\na,1,2\na,2,3\n".encode()) == tuple(header.split(","))


@pytest.mark.parametrize(
    "content",
    [b"site_id,child_id,age,height\nA,a,1,2\nA,a,2,3\n", b"site_id,child_id,0,0.5,1\nA,a,1,2,3\n"],
)
def test_a_site_is_offered_and_never_taken_neither_as_a_site_nor_as_an_id(content):
    proposal = propose(content)
    assert "columns.site" in [question.field for question in proposal.ask]
    assert "site" not in proposal.reading.columns and proposal.reading.person.column == "child_id"
    stated = propose(content, stated={"columns": {"server": "SITE_ID"}}).reading
    assert stated.columns["site"].name == "site_id"


def test_a_persons_choice_of_roles_wins():
    content, stated = (
        b"id,time,value,other\na,1,2,3\na,2,3,4\n",
        {"value": "OTHER", "covariates": []},
    )
    assert roles_in(content, **stated) == ("id", "time", "other")
    assert curves_of(content, stated).values.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("header", "times"),
    [
        ("0,0.5,1", [0, 0.5, 1]),
        ("-1,0,2e1", [-1, 0, 20]),
        ("x_01,x_02,x_10", [1, 2, 10]),
        ("X0.5,X1,X1.5", [0.5, 1, 1.5]),
        ("age 2,age 4,age 6", [2, 4, 6]),
        ("h1_1,h1_2,h1_3", [1, 2, 3]),
    ],
)
def test_times_are_read_from_the_names_of_the_columns(header, times):
    curves = curves_of(f"id,{header}\na,7,8,9\n".encode())
    assert curves.times.tolist() == times
    assert curves.values.tolist() == [7, 8, 9]


def test_a_wide_table_needs_no_id_where_every_line_is_said_to_be_another_person():
    content = b"0,0.5,1\n1,2,3\n1,2,3\n"
    assert curves_of(content, {"id": None}).n_curves == 2
    assert [gap.field for gap in propose(content).gaps] == ["person"]


def test_a_table_that_looks_long_and_wide_is_refused_with_the_reason_until_one_is_chosen():
    content = b"id,time,value,0.1,0.2,0.3\na,1,1,2,3,4\n"
    error = assert_refused(
        content,
        "both long and wide: “time” and “value” would be one line an observation, "
        "3 numbered columns such as “0.1” one line a curve",
    )
    assert error.field == "columns"
    assert curves_of(content, {"time": "time", "value": "value"}).values.tolist() == [1]


def test_a_column_cannot_have_two_roles():
    with pytest.raises(InputError, match="role"):
        curves_of(b"id,time,value\na,1,2\n", {"time": "value", "value": "value"})


def test_a_chosen_column_that_does_not_exist_is_refused_by_name():
    assert_refused(
        files.csv(), "no column “child_id”.*nearest name is “child”", roles={"id": "child_id"}
    )


# -- who is one person


def test_ids_that_differ_as_text_are_different_people():
    content = files.rows(
        "x007,1,2\nx7,1,2\nx7.0,1,2\nx1e2,1,2\nx100,1,2\n"
        "12345678901234567890123,1,2\n12345678901234567890124,1,2"
    )
    assert curves_of(content).n_curves == 7


def test_lines_without_an_id_or_a_site_are_refused_with_their_number():
    error = assert_refused(files.rows("a,1,2\n,1,2\n  ,1,2"), "2 lines of column “id” have no id")
    assert error.field == "id"
    assert_refused(
        b"id,site,time,value\na,,1,2\nb,N,1,2\n", "1 without a site", roles={"server": "site"}
    )


def test_several_lines_of_one_person_are_averaged_if_that_is_stated():
    frame = pd.concat(
        [files.wide_frame(), files.wide_frame().iloc[:2].assign(**{"0": np.nan, "1": 9.0})]
    )
    averaged = curves_of(files.csv(frame), several="average")
    assert averaged.n_curves == averaged.n_people == 6
    start = averaged.ids.index("p0") * 4
    first = files.wide_frame().iloc[0]
    assert averaged.values[start : start + 4] == pytest.approx(
        [first["0"], first["0.25"], first["0.5"], (first["1"] + 9) / 2]
    )
    assert_refused(files.csv(frame), "2 of 6 people have several lines", several="keep")


def test_averages_of_huge_readings_stay_finite():
    curves = curves_of(b"id,0,1,2\na,1.5e308,1,1\na,1.5e308,1,1\n", several="average")
    assert curves.values[0] == 1.5e308


def test_the_same_id_at_two_sites_is_two_people():
    curves = curves_of(b"id,site,time,value\n1,S,1,2\n1,N,1,3\n2,N,1,4\n", {"server": "site"})
    assert curves.n_curves == 3 and curves.server.tolist() == [0, 0, 1]
    assert curves.server_names == ("N", "S")
    wording.found("one id several", curves.notes, 1)


def test_sites_come_first_in_the_order_of_curves():
    frame = files.growth_frame()
    frame["site"] = np.where(frame["child"] < "c006", "north", "south")
    curves = curves_of(files.csv(frame), {"server": "site"})
    assert curves.server.tolist() == [0] * 6 + [1] * 6
    assert {child < "c006" for child in curves.ids[:6]} == {True}


def test_the_order_of_curves_does_not_follow_their_values():
    """Sorted files are common; positions decide who shares a round, so they are shuffled."""
    frame = pd.DataFrame({"id": np.arange(50), "time": 0.5, "value": np.arange(50.0)})
    values = curves_of(files.csv(frame)).values
    assert (np.diff(values) < 0).any()
    frame["value"] = 1000 - frame["value"]
    assert (1000 - curves_of(files.csv(frame)).values == values).all()


def test_replacing_one_curve_moves_no_other():
    other = files.growth_frame()
    changed = other["child"] == "c003"
    other.loc[changed, ["age", "height"]] = [3.0, 9999.0]
    replaced = curves_of(files.csv(other))
    assert replaced.ids == PLAIN.ids
    assert (replaced.counts == PLAIN.counts).all()
    same = np.repeat(np.array(PLAIN.ids) != "c003", PLAIN.counts)
    assert (replaced.values[same] == PLAIN.values[same]).all()


def test_covariates_have_one_value_for_each_curve():
    frame = files.growth_frame()
    frame["dose"] = frame["child"].str[-1].astype(float)
    curves = curves_of(files.csv(frame), {"covariates": ["Dose"]})
    assert curves.covariate_names == ("dose",)
    assert curves.covariates[:, 0].tolist() == [float(child[-1]) for child in curves.ids]
    error = assert_refused(
        files.csv(frame),
        "“age” changes within the lines of 12 of 12",
        roles={"time": "dose", "covariates": ["age"]},
    )
    assert error.field == "covariates"


# -- what is left out, and what is noted


def test_missing_and_infinite_readings_are_left_out_and_counted():
    frame = files.growth_frame()
    frame.loc[:2, "height"] = [np.nan, np.inf, -np.inf]
    curves = curves_of(files.csv(frame))
    assert len(curves.values) == len(frame) - 3
    assert noted(
        curves,
        "3 observations left out, because a time or a value is missing; how many a "
        "curve has left stays private",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            files.csv(files.growth_frame().assign(height="tall")),
            "72 lines of column “height” hold no number",
        ),
        (files.rows("a,1,x"), "1 line of column “value” holds no number"),
        (b"id,0,1,2,3,4\na,x,x,x,x,1\nb,x,1,1,1,1\n", "2 lines of column “0” hold no number"),
        (files.rows("a,1/2/24,1"), "column “time”.*dates"),
        (files.rows("a,,1\nb,1,"), "No line has both a time and a value"),
        (files.rows("\n".join(f"a,{k},1" for k in range(10_001))), "more than 10,000 observations"),
        (
            files.rows("\n".join(f"{k},1,1" for k in range(100_001))),
            "100,001 curves; at most 100,000",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_cells_and_sizes_are_refused_with_column_and_count(content, words):
    assert_refused(content, words)


def test_curves_at_the_limit_are_read():
    assert curves_of(files.rows("\n".join(f"a,{k},1" for k in range(10_000)))).counts[0] == 10_000
    assert curves_of(files.rows("\n".join(f"{k},1,1" for k in range(100_000)))).n_curves == 100_000


def test_a_curve_without_readings_still_counts_as_a_person():
    frame = files.growth_frame()
    frame.loc[frame["child"] == "c000", "height"] = np.nan
    curves = curves_of(files.csv(frame))
    assert curves.n_curves == 12 and (curves.counts == 0).sum() == 1
    wording.found("curve without observation", curves.notes, 1)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,1,5\nb,2,6", "one observation per curve"),
        ("a,1,5\nb,1,6", "all observations at the same time"),
        ("a,1,5\nb,2,5", "no variation"),
        ("a,1,5\na,1,6\nb,2,5", "1 observation at the same time as another of the same curve"),
        ("a,1,5\na,1,5\na,1,6\nb,2,5", "same person, time and value: 1"),
        (
            "a,1,5\na,1,5\na,1,6\nb,2,5",
            "1 observation at the same time as another of the same curve",
        ),
        ("a,1,5\na,2,6", "only one curve"),
        ("\n".join(["a,1,5", "b,1,5"] + [f"c,{k},5" for k in range(11)]), "over ten times as many"),
    ],
)
def test_what_limits_a_picture_is_noted_and_accepted(rows, words):
    assert noted(curves_of(files.rows(rows)), words)
    assert not noted(PLAIN, words)


def test_constant_values_can_be_released():
    upload = Upload(
        curves=curves_of(files.rows("\n".join(f"p{k},{k},5" for k in range(60)))),
        declared=declare(0, 10, 0, 60, "a law", **files.EVEN),
    )
    estimate = NoisyGradientMean().release_many(
        upload.draw(1, generator(1, 0, 0)), [(Budget(1.0, 1e-3),)], 1, generator(1, 1, 0)
    )
    assert np.isfinite(estimate.coefficients).all()


def test_no_message_or_note_holds_a_reading_or_an_id():
    collected = []
    for column, bad in (("height", "secret-77"), ("age", "secret-77"), ("child", "")):
        frame = files.growth_frame().astype(object).assign(child="canary")
        frame.loc[3, column] = bad
        collected.append(str(assert_refused(files.csv(frame), ".")))
    curves = curves_of(files.csv(files.growth_frame().assign(child="canary", height=123.456)))
    frame = files.growth_frame()
    for text in [*collected, *curves.notes, *PLAIN.notes]:
        assert "secret" not in text and "canary" not in text and "123.4" not in text
    for extreme in (frame["height"].min(), frame["height"].max(), frame["age"].min()):
        assert not noted(PLAIN, str(extreme))


# -- facts and data


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"value_low": None},
            "State the lowest and highest possible height. Without them there "
            "is no limit on what one child can change",
        ),
        ({"time_high": None}, "first and last possible age."),
        ({"origin": "  "}, "where these bounds come from"),
        ({"value_low": 300}, "lowest height must be below the highest"),
        ({"time_low": 18}, "must be below the highest"),
        ({"value_high": float("inf")}, "finite"),
        ({"value_low": float("nan")}, "finite"),
        ({"value_high": 1e200}, "between"),
    ],
)
def test_facts_must_be_stated_in_full(changes, words):
    with pytest.raises(InputError, match=words):
        declare(**{**STATED, **changes}, value_name="Height", time_name="Age", person="child")


def test_stated_facts_are_an_uploads_facts():
    facts = declare(**STATED, value_name="Height", value_unit="", person="child", people="children")
    assert (facts.kind, facts.origin, facts.person) == ("upload", "growth chart", "child")
    assert Upload(curves=PLAIN, declared=facts).facts == facts


def test_times_in_the_header_of_a_wide_table_are_public_only_if_they_are_stated():
    curves = curves_of(b"child,2,6,18\na,80,110,170\nb,82,,172\n")
    unconfirmed = Upload(curves=curves, declared=declare(**STATED))
    assert unconfirmed.facts.common_times == ()
    stated = StatedDesign(law="common", times=curves.header_times)
    upload = Upload(
        curves=curves, declared=declare(**{**STATED, "design": stated, "observations": 3})
    )
    assert upload.facts.common_times == (0.0, 0.25, 1.0)
    for one in (upload, unconfirmed):
        data = one.draw(1, generator(1, 0, 0))
        assert data.facts == one.facts and sorted(data.times[0]) == [0, 0, 0.25, 1, 1]


def test_readings_outside_the_stated_ranges_are_counted_and_times_moved():
    """Values stay as they are, so that methods can count them before they are moved."""
    upload = Upload(curves=PLAIN, declared=declare(**{**STATED, "value_high": 150, "time_low": 5}))
    data = upload.draw(1, generator(1, 0, 0))
    assert upload.n_clipped.values == (PLAIN.values > 150).sum() > 0
    assert upload.n_clipped.times == (PLAIN.times < 5).sum() > 0
    assert data.values.max() == PLAIN.values.max()
    assert data.times.min() == 0 and data.times.max() <= 1


def test_an_upload_is_one_data_set_the_same_in_every_draw():
    upload = Upload(curves=PLAIN, declared=declare(**STATED))
    one, other = (upload.draw(1, generator(seed, 0, 0)) for seed in (1, 2))
    assert (one.values == other.values).all() and one.sizes == upload.sizes
    with pytest.raises(InputError, match="same in every repeat"):
        upload.draw(2, generator(1, 0, 0))


def test_an_upload_is_not_among_the_sources_of_links():
    assert Upload not in sources.all()
    assert not Upload.is_random


def test_an_upload_travels_to_another_process_and_keeps_its_name():
    upload = Upload(curves=PLAIN, declared=declare(**STATED))
    assert digest(pickle.loads(pickle.dumps(upload))) == digest(upload)


def test_two_uploads_that_differ_in_one_reading_have_different_names():
    frame = files.growth_frame()
    frame.loc[0, "height"] += 0.1
    one, other = (
        Upload(curves=curves_of(files.csv(f)), declared=declare(**STATED))
        for f in (files.growth_frame(), frame)
    )
    assert digest(one) != digest(other)


def test_curves_cannot_be_changed_after_reading():
    with pytest.raises(ValueError, match="read-only"):
        PLAIN.values[0] = 0


def test_bounds_do_not_follow_the_data():
    """Changing one curve changes nothing that is fixed before a release."""
    other = files.growth_frame()
    other.loc[other["child"] == "c003", "height"] = 9998.0
    declared = declare(**STATED)

    def plan(content):
        upload = Upload(curves=curves_of(content), declared=declared)
        data = upload.draw(1, generator(1, 0, 0))
        return NoisyGradientMean().plan(data.public, (Budget(1.0, 1e-3),)).spends, data.facts

    assert plan(files.csv()) == plan(files.csv(other))


@pytest.mark.parametrize(
    ("header", "time", "value"),
    [
        ("patient_id,age_years,height_cm", "age_years", "height_cm"),
        ("child,visit_date,glucose_mmol_l", "visit_date", "glucose_mmol_l"),
    ],
)
def test_a_name_that_says_its_unit_is_known_by_its_first_word(header, time, value):
    assert roles_in(
        f"{header}\na,2020-01-01,1\na,2020-01-02,2\n".replace(
            "2020-01-0", "2020-01-0" if "date" in time else ""
        ).encode()
    )[1:] == (time, value)


@pytest.mark.parametrize(
    "time",
    [
        "visit_week",
        "Visit Date",
        "obs_time",
        "study_day",
        "weeks",
        "t",
        "Hours",
        "days_since_surgery",
        "age_at_visit",
        "months_from_entry",
        "visit_age",
        "week_of_visit",
    ],
)
def test_a_name_that_says_when_somebody_was_seen_is_one_of_time(time):
    content = f"patient_id,{time},hba1c,hospital,sex\na,1,7.5,Bern,F\na,2,8,Bern,F\n".encode()
    assert roles_in(content) == ("patient_id", time, "hba1c")


@pytest.mark.parametrize(
    "name",
    [
        "birth_year",
        "birth_date",
        "age_group",
        "age_at_diagnosis",
        "bp_min",
        "mother_age",
        "time_zone",
    ],
)
def test_a_name_of_something_each_person_has_once_is_none_of_time(name):
    content = f"id,{name},height,sex\na,1,2,F\na,2,3,F\n".encode()
    assert "columns.time" in [gap.field for gap in propose(content, data="curves").gaps]


def test_of_two_columns_that_could_be_the_value_none_is_taken():
    content = b"id,age_years,height_cm,weight_kg\na,1,2,3\na,2,3,4\n"
    assert [gap.field for gap in propose(content).gaps] == ["columns.value"]


def test_curves_that_repeat_an_earlier_one_are_counted():
    rows = [line.split(",") for line in files.csv().decode().splitlines()]
    copied = "\n".join(
        ",".join(row)
        for row in [*rows, *(["c-copy", *row[1:]] for row in rows if row[0] == rows[1][0])]
    )
    repeated = [
        Upload(curves=curves, declared=declare(**STATED)).n_repeated
        for curves in (PLAIN, curves_of(copied.encode()))
    ]
    assert repeated == [0, 1]


# -- traps of real files


@pytest.mark.parametrize(
    ("header", "times"),
    [
        ("id,week-4,week0,week8", (-4, 0, 8)),
        ("id,t-2,t-1,t0,t1", (-2, -1, 0, 1)),
        ("id,w_-1,w_0,w_1", (-1, 0, 1)),
        ("id,−1,0,1", (-1, 0, 1)),
        ("id,week-4,week-8,week-12", (4, 8, 12)),
    ],
)
def test_a_hyphen_before_some_numbers_of_a_name_is_a_minus_sign(header, times):
    row = ",".join(["", *"123456"][: len(times) + 1])
    reading = propose(f"{header}\nann{row}\nbob{row}\n".encode()).reading
    assert tuple(time for _, time in reading.at) == times


@pytest.mark.parametrize(
    ("ids", "words", "field"),
    [
        (("NA", "NA", "ann"), "2 lines of column “id” have no id", "id"),
        (("ann", "bob", "Total"), "called like a total", "id"),
        (("1.23E+11", "1.23E+11", "1.24E+11"), "3 lines .* such as 1.2E.11", "id"),
        (("12345678901234567", "1.234567890123457e+16"), "1 line .* such as 1.2E.11", "id"),
    ],
)
def test_ids_that_are_no_ids_are_refused(ids, words, field):
    rows = "\n".join(f"{name},{k},100" for k, name in enumerate(ids, start=2))
    assert assert_refused(files.rows(rows), words).field == field


def test_a_site_in_two_spellings_is_refused_and_is_no_site_of_a_single_person():
    content = b"id,site,time,value\na,St Mary,2,80\nb,St. Mary,2,81\nc,Hill,2,82\nd,Hall,3,83\n"
    error = assert_refused(content, "1 site is spelled in several ways", roles={"server": "site"})
    assert error.field == "site" and "Mary" not in str(error)


def test_the_holder_is_told_of_sites_with_few_people_whose_number_is_published():
    rows = "".join(f"p{k},{'AB'[k == 0]},2,80\n" for k in range(12))
    curves = curves_of(f"id,site,time,value\n{rows}".encode(), roles={"server": "site"})
    wording.found("small site", curves.notes, 1, 10)
    assert not noted(
        curves_of(
            f"id,site,time,value\n{rows.replace(',B,', ',A,')}".encode(), roles={"server": "site"}
        ),
        "fewer than",
    )


def test_who_is_in_none_of_the_stated_groups_is_counted():
    def groups(second):
        content = f"id,sex,time,value\na,girl,2,80\nb,boy,2,81\nc,{second},2,82\n".encode()
        declared = declare(**STATED)
        return Upload(
            curves=curves_of(content, roles={"group": "sex"}, groups=["girl", "boy"]),
            declared=declared,
            groups=("girl", "boy"),
        )

    wording.found("curve none groups", groups("unknown").remarks(), 1)
    assert not any("groups" in remark for remark in groups("boy").remarks())


@pytest.mark.parametrize("name", ["sex", "kid", "monday"])
def test_the_only_column_left_beside_observations_names_nobody(name):
    assert propose(f"{name},2,6,10\nM,86,115,138\nF,84,112,135\n".encode()).reading.person is None


@pytest.mark.parametrize(
    ("header", "times"),
    [
        ("0000,0600,1200,1800", (0, 6, 12, 18)),
        ("08:00,08:30,09:00", (8, 8.5, 9)),
        ("0830,0900,0930,1000", (8.5, 9, 9.5, 10)),
        ("2 years,4 years", (2, 4)),
        ("24 months,36 months", (24, 36)),
        ("h_2 (cm),h_4 (cm),h_6 (cm)", (2, 4, 6)),
        ("week 0,week 12", (0, 12)),
        ("V3,V4,V5", (3, 4, 5)),
        ("day7,day14", (7, 14)),
        ("height_2y,height_4y", (2, 4)),
        ("hba1c (0 weeks),hba1c (12 weeks)", (0, 12)),
        ("0 min,30 min,120 min", (0, 30, 120)),
    ],
)
def test_times_in_names_of_columns_may_have_a_unit_or_a_word(header, times):
    row = ",".join("1" for _ in times)
    assert curves_of(f"id,{header}\nann,{row}\nbob,{row}\n".encode()).header_times == times


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("6 months,1 year,2 years", "several units"),
        ("2023-12,2024-01,2024-02", "months without a day"),
        ("baseline,week 4,week 8", "says no time"),
        ("bp_baseline,bp_w4,bp_w8,bp_w12", "says no time"),
        ("800,830,900,930", "without a colon"),
        ("20231224,20240131,20240201", "dates without dashes"),
        ("0800,0830,1000", "without a colon"),
    ],
)
def test_names_of_columns_that_may_be_read_wrongly_are_refused_with_what_to_do(header, words):
    row = ",".join("1" for _ in header.split(","))
    assert_refused(f"id,{header}\nann,{row}\nbob,{row}\n".encode(), words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (files.rows("a,1,2\nb,1,3\nMin,1,2\nMax,1,3"), "total or an average"),
        (files.rows("a,1,2\nb,1,3\nSD,1,.5"), "total or an average"),
        (files.rows("a,1,2\nb,1,3\nN = 2,,"), "total or an average"),
        (b"id,time,value,unit\na,1,95,mg/dL\nb,1,5.2,mmol/L\n", "2 units, and “value”"),
        (files.rows("a,1,2\nid,time,value\nb,1,3"), "leave those lines out"),
        (files.rows("a,1,<2\nb,1,<3"), "write the limit alone"),
        (files.rows("a,1,72 kg\nb,1,80 kg"), "write one number alone"),
        (files.rows("a,week 1,72\nb,week 2,80"), "as 6 for week 6"),
        (files.rows("a,1,1 050\nb,1,980"), "between thousands"),
        (b"id,time,test,value\na,1,Na,140\nb,1,K,4\n", "2 kinds of measurement"),
        (b"id,wt_0,wt_6,wt_12,ht_0,ht_6\na,1,2,3,4,5\nb,1,2,3,4,5\n", "numbered alike"),
    ],
)
def test_lines_and_cells_that_are_no_observations_are_refused_with_what_to_do(content, words):
    assert_refused(content, words)


def test_ids_units_and_names_that_only_resemble_these_are_read():
    curves = curves_of(b"id,time,value,unit\nMax,1,95,mg/dL\nn,1,5.2,MG/DL\nmina,2,7,\n")
    assert curves.n_curves == 3
    assert curves_of(b"week,id,101,102\n0,a,70,80\n4,b,71,79\n").n_curves == 2


def test_three_digits_behind_every_mark_are_pointed_out():
    text = "id;time;value\na;1;1.065\nb;1;1.234\n"
    pointed_out = [
        any("three digits behind it" in note for note in propose(each.encode()).notes)
        for each in (text, text.replace("1.234", "1.23"))
    ]
    assert pointed_out == [True, False]


def test_numbers_in_other_columns_of_a_long_file_refuse_nothing():
    content = b"id,time,value,bmi 6 months,bmi 1 year,2023-12,2024-01\nann,1,2,3,4,5,6\n"
    assert propose(content).reading.columns["value"].name == "value"


@pytest.mark.parametrize(
    ("times", "is_refused"),
    [
        (range(0, 2400, 100), False),
        ((0, 30, 100, 130, 200), True),
        ((0, 10, 20, 30, 40, 50, 100), False),
        ((0, 30, 60, 90), False),
        ((2, 4, 10), False),
        ([100 * (k // 60) + k % 60 for k in range(0, 1440, 37)], True),
        (range(0, 2000, 50), False),
    ],
)
def test_clock_times_without_a_colon_are_no_numbers(times, is_refused):
    content = files.rows("\n".join(f"ann,{time:04d},1\nbob,{time:04d},2" for time in times))
    if is_refused:
        assert_refused(content, "without a colon")
    else:
        assert curves_of(content).times.max() == max(times)


@pytest.mark.parametrize(
    "header", ["id,sbp_1,sbp_2,sbp_3,dbp_1,dbp_2,dbp_3", "id,1,2,3,dbp_1,dbp_2,dbp_3"]
)
def test_of_two_sets_of_columns_that_are_numbered_alike_none_is_taken(header):
    content = f"{header}\nann,120,121,122,80,81,82\nbob,130,131,132,70,71,72\n".encode()
    assert_refused(content, "numbered alike")


def test_a_code_within_the_bounds_is_pointed_out_to_the_holder_alone():
    content = files.rows(
        "\n".join(
            f"p{k},{time},{value}"
            for k in range(6)
            for time, value in ((1, 80 + k), (2, 999 if k < 2 else 120))
        )
    )
    upload = Upload(
        curves=curves_of(content), declared=declare(**STATED | {"value_low": 0, "value_high": 1000})
    )
    assert any("999" in remark and "missing" in remark for remark in upload.remarks())
    zeros = files.rows("\n".join(f"p{k},2,{0 if k < 3 else 300 + k}" for k in range(40)))
    assert any(
        remark.startswith("0 stands in several cells")
        for remark in replace(upload, curves=curves_of(zeros)).remarks()
    )
    assert not replace(upload, curves=curves_of(files.rows("a,2,0\nb,2,0\nc,2,300"))).remarks()
    bounded = Upload(curves=curves_of(content.replace(b"999", b"500")), declared=upload.declared)
    assert not any("missing" in remark for remark in bounded.remarks())


def test_a_visit_of_many_at_a_time_that_was_not_planned_is_no_code():
    content = files.rows("\n".join(f"p{k},{time},{80 + k}" for k in range(6) for time in (0, 3, 9)))
    declared = declare(**STATED | {"time_low": 0, "time_high": 3})
    assert Upload(curves=curves_of(content), declared=declared).n_clipped.times == 6
    with pytest.raises(InputError, match="codes for missing ones"):
        Upload(curves=curves_of(content.replace(b",9,", b",999,")), declared=declared)


def test_rows_that_a_filter_hides_are_read_and_pointed_out():
    workbook = files.repacked(
        files.sheet(("id", "time", "value"), ("a", 1, 2), ("b", 1, 3)),
        lambda name, content: (
            content.replace(b'<row r="2"', b'<row r="2" hidden="1"')
            if "sheet1" in name
            else content
        ),
    )
    assert (
        noted(curves_of(workbook), "1 hidden row read as well")
        and curves_of(workbook).n_curves == 2
    )


def test_shares_are_no_percent():
    content = files.rows("\n".join(f"p{k},{time},0.{12 + k}" for k in range(6) for time in (2, 5)))
    stated = STATED | {"value_low": 0, "value_high": 100}
    assert Upload(curves=curves_of(content), declared=declare(**stated)).curves.n_curves == 6
    with pytest.raises(InputError, match="look like shares"):
        Upload(curves=curves_of(content), declared=declare(**stated, value_unit="%"))


def test_dates_that_a_spreadsheet_shows_as_numbers_are_recognised():
    content = files.rows("\n".join(f"p{k},{43836 + k},{80 + k}" for k in range(6)))
    with pytest.raises(InputError, match="format their column as dates"):
        Upload(
            curves=curves_of(content),
            declared=declare(**STATED | {"time_low": 2019, "time_high": 2021}),
        )


@pytest.mark.parametrize(
    ("values", "low", "high", "is_refused"),
    [
        ((80, 81, -999), 60, 210, True),
        ((3, 5, -99), 0, 1000, True),
        ((-3, 5, -999), -10, 40, True),
        ((80, 81, -400), 60, 210, False),
        ((-3, 5, -99), -90, 40, False),
        ((80, -812, -999), 60, 210, False),
        ((80, 999, 999), 60, 210, True),
        ((9, 99, 99), 0, 80, False),
        ((9, 999, 888), 0, 80, False),
        ((999.9, 999.9, 75), 60, 76, True),
        ((80, 999, 999, 870), 60, 210, False),
        ((80, 500, 500), 60, 210, False),
        ((80, 210, 210, 210), 60, 210, False),
        ((80, 99, 99), 60, 90, False),
        ((-9, -9, 30), 20, 40, True),
    ],
)
def test_a_code_for_a_missing_number_is_no_observation(values, low, high, is_refused):
    content = files.rows(
        "\n".join(
            f"{name},{k},{value}" for name in "abcd" for k, value in enumerate((70, 75, 30, 20))
        )
    )
    content += "".join(f"\ne,{k},{value}" for k, value in enumerate(values)).encode()
    declared = declare(
        **STATED | {"value_low": low, "value_high": high, "time_low": 0, "time_high": 18}
    )
    if not is_refused:
        assert Upload(curves=curves_of(content), declared=declared).curves.n_curves == 5
        return
    with pytest.raises(InputError, match="codes for missing ones") as refused:
        Upload(curves=curves_of(content), declared=declared)
    assert refused.value.field == "value_low"
