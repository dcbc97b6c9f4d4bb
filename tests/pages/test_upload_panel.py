"""Use my data: a first look without a question, then a reading that its holder confirms."""

import json
import re

import pandas as pd
import pytest

from engine.core.types import Budget, Sizes
from engine.language.numbers import in_unit
from engine.mechanisms import mechanisms
from engine.release import ledger
from engine.release.ledger import Ledger
from engine.release.published import publish
from engine.topics.release.prices import price
from engine.uploads.bounded import BOUNDS
from engine.uploads.bounds_library import public_bounds
from engine.uploads.reading_of_files import Reading
from pages.shared.uploads import files as own_files
from pages.shared.uploads import questions
from tests import files
from tests.pages.opening import visit
from tests.pages.own_file import (
    FIRST,
    answer,
    back,
    bring,
    choose,
    confirm,
    dropped,
    fill,
    holds,
    is_open,
    key_of,
    onward,
    opened,
    question,
    ran,
    said,
    show,
    state,
    table,
    trust,
    typed_limits,
    when,
)
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("upload")

GROWTH = files.growth_frame(30, 5)


def visits(people=30, each=2):
    """A row for every visit, with readings at four times."""
    rows = [
        (f"p{k % people}", *(100.0 + k + 2 * t for t in range(4))) for k in range(people * each)
    ]
    return pd.DataFrame(rows, columns=["id", "x_1", "x_2", "x_3", "x_4"])


def with_hospitals():
    return GROWTH.assign(hospital=GROWTH.child.str[-1].astype(int) % 3)


def dated(order):
    """Dates that fit day/month, month/day or both."""

    def cell(k, a):
        day, month = 1 + k % 12, 1 + a
        return f"{day:02d}/{month:02d}/2024" if order != "mdy" else f"{month:02d}/{day:02d}/2024"

    return pd.DataFrame(
        [(f"p{k}", cell(k, a), 100.0 + k % 7 + a) for k in range(40) for a in range(6)],
        columns=["id", "date", "value"],
    )


def published(monkeypatch, frame):
    """*Publish* with a file."""
    bring(monkeypatch, frame)
    return visit("publish")


# -- the first look --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (GROWTH, "Range 90 to 180 and 2 to 18 come from this file"),
        (files.days_frame(60), "0 to 23 and the grid of 1 come from this file"),
        (dated("both"), "come from this file"),
        (files.melted(files.days_frame(20)), "the grid of 1 come from this file"),
    ],
    ids=["long", "wide", "dates of either order", "long grid"],
)
def test_a_file_is_on_screen_without_a_question_and_marked_as_not_private(
    monkeypatch, frame, sentence
):
    bring(monkeypatch, frame)
    at = visit("explore", upload_open=True)
    assert not at.error and not at.session_state["upload_open"]
    wording.found("private eyes", said(at))
    assert sentence in said(at)
    wording.found("first look mean", at.title[0].value)
    source = at.session_state["upload"]
    assert source.facts.is_proposed and source.reading is None
    assert not at.query_params.get("s")


@pytest.mark.parametrize(
    ("frame", "words_said"),
    [
        (files.growth_frame(7, 5), "10 people are the fewest for a picture; this file has 7"),
        (GROWTH.assign(height=3), "One value fills nine tenths of “height” or more"),
        (GROWTH.assign(age=3), "All times are the same"),
        (b"child;age;height\n1;2;x\n", "hold"),
    ],
)
def test_where_there_is_no_picture_the_dialog_says_why_and_stays(monkeypatch, frame, words_said):
    bring(monkeypatch, frame)
    at = visit("explore", upload_open=True)
    assert words_said in said(at) and at.session_state["upload_open"]
    assert "upload" not in at.session_state and "Simulated" not in said(at)


def test_a_first_look_stays_on_pages_for_looking_and_gives_no_code(monkeypatch):
    bring(monkeypatch, GROWTH)
    at = visit("explore", "open-code", upload_open=True)
    wording.found("code first look", said(at))
    assert not at.code
    at.switch_page("../decide.py")
    assert "of 30 children" not in said(ran(at)) and not at.error
    at.switch_page("../publish.py")
    ran(at)
    assert FIRST in [header.value for header in at.header]
    assert table(at)[0][0] == "child"  # the file is there, and its reading is to be accepted


# -- how a file is read ----------------------------------------------------------------------------


LONG = [("child", "person", "id"), ("age", "time", "number"), ("height", "value", "number")]


@pytest.mark.parametrize(
    ("frame", "rows", "people"),
    [
        (GROWTH, LONG, "30 different “child”: one id is one person"),
        (
            GROWTH.rename(columns={"child": "Patient ID"}),
            [("Patient ID", "person", "id"), *LONG[1:]],
            "30 different “Patient ID”",
        ),
        (
            files.days_frame(20).rename(columns={"id": "patient"}),
            [("patient", "person", "id"), ("0 … 23", "values", "number")],
            "20 different “patient”",
        ),
        (
            pd.DataFrame({"age": [2, 6, 10], **{f"p{k}": [86, 115, 138 + k] for k in range(12)}}),
            [("age", "time", "number"), ("all other columns", "values", "number")],
            "12 columns beside the first: each column is one person",
        ),
    ],
    ids=["long", "another name", "wide", "transposed"],
)
def test_the_screen_says_how_each_column_is_read_and_who_one_person_is(
    monkeypatch, frame, rows, people
):
    at = dropped(monkeypatch, frame)
    assert [row[:3] for row in table(at)] == rows and people in said(at)
    assert not is_open(at) and not at.error


def test_examples_are_invented_and_read_as_the_reading_says(monkeypatch):
    at = answer(dropped(monkeypatch, dated("both")), "columns.time.order", "Month first")
    example = next(row[3] for row in table(at) if row[1] == "time")
    wording.found("date read", example, "03", "04", 2024, 4, 2024)


@pytest.mark.parametrize(
    ("frame", "field", "option"),
    [
        (
            dated("both").assign(date=lambda t: pd.to_datetime(t.date, dayfirst=True)),
            "columns.time.from",
            "calendar",
        ),
        (
            GROWTH.rename(columns={"child": "sex"}).assign(sex=lambda t: t.sex.str[-1]),
            "person",
            "Each “sex”",
        ),
        (GROWTH.drop(columns="child"), "person", "Every line"),
    ],
    ids=["what dates count", "people by a left column", "people not named"],
)
def test_what_only_the_holder_knows_is_asked_and_nothing_is_confirmed_before(
    monkeypatch, frame, field, option
):
    at = dropped(monkeypatch, frame)
    assert question(at, field).value is None and is_open(at)
    wording.found("only you", said(at))
    answer(at, field, option)
    assert not is_open(at)


def lines(header, *rows):
    return "\n".join([header, *rows])


HEIGHTS = [(k, a, 90 + 5 * a + k % 7) for k in range(40) for a in (2, 4, 6, 8)]
STAMPS = [f"2024-03-{day:02d}T{hour:02d}:00" for day in (1, 2, 3) for hour in range(24)]
PEOPLE = [  # small files that went wrong: who is one person, and what the screen says of it
    (
        lines("sex,age,height", *(f"{'fm'[k % 2]},{a},{h}" for k, a, h in HEIGHTS)),
        "People are not named",
        None,
    ),
    (
        lines(",age,height", *(f"{n},{a},{h}" for n, (_, a, h) in enumerate(HEIGHTS))),
        "it differs in every line, as row numbers do",
        None,
    ),
    (
        lines("visit,age,height", *(f"{n % 4},{a},{h}" for n, (_, a, h) in enumerate(HEIGHTS))),
        "“visit”",
        None,
    ),
    (lines("class,age,height", *(f"{k % 3},{a},{h}" for k, a, h in HEIGHTS)), "“class”", None),
    (
        lines("date,glucose", *(f"{stamp},{5 + n % 9}" for n, stamp in enumerate(STAMPS))),
        "People are not named in this file",
        None,
    ),
    (
        lines(
            "stamp," + ",".join(f"meter{k}" for k in range(12)),
            *(
                f"{stamp}," + ",".join(str(1 + (n + k) % 5) for k in range(12))
                for n, stamp in enumerate(STAMPS)
            ),
        ),
        "12 columns beside the first",
        12,
    ),
    (
        lines(
            "id,age,height", *(f"p{k}{chr(0x200B) * (a % 4 == 0)},{a},{h}" for k, a, h in HEIGHTS)
        ),
        "40 different “id”",
        40,
    ),
]


@pytest.mark.parametrize(
    ("content", "sentence", "people"),
    PEOPLE,
    ids=[
        "sex left over",
        "unnamed index",
        "visit",
        "class label",
        "one person’s series",
        "meters as columns",
        "hidden characters",
    ],
)
def test_nobody_is_a_person_by_elimination(monkeypatch, content, sentence, people):
    bring(monkeypatch, content)
    at = visit("publish")
    asked = [radio for radio in at.radio if "ask_person" in radio.key]
    assert sentence in said(at) and bool(asked) == (people is None) and not at.error
    if people is None:
        assert asked[0].value is None and is_open(at)
    else:
        for radio in at.radio:
            if "columns.time.from" in radio.key:
                at = answer(at, "columns.time.from", "calendar")
        confirm(at)
        assert len(at.session_state["upload_draft"].observations.counts) == people


CELLS = [  # small files that went wrong: how a cell is read
    (
        lines(
            "id,date,value", *(f"p{k},{1 + k % 12:02d}/{1 + a:02d}/2024,{h}" for k, a, h in HEIGHTS)
        ),
        "columns.time.order",
    ),
    (
        lines(
            "id,stamp,value",
            *(f"p{k},2024-03-0{1 + a}T10:00:00{('+01:00', 'Z')[k % 2]},{h}" for k, a, h in HEIGHTS),
        ),
        "columns.time.offset",
    ),
]


@pytest.mark.parametrize(("content", "field"), CELLS, ids=["order of dates", "offsets"])
def test_how_dates_and_offsets_are_meant_is_asked_and_never_told_by_a_majority(
    monkeypatch, content, field
):
    bring(monkeypatch, content)
    at = visit("publish")
    assert question(at, field) and not at.error
    assert (question(at, field).value is None) == field.endswith("order")


def test_columns_whose_names_say_nothing_are_chosen_by_hand(monkeypatch):
    frame = pd.DataFrame(
        [(f"q{k}", a, 2 * a + k) for k in range(20) for a in range(5)], columns=["aa", "bb", "cc"]
    )
    at = dropped(monkeypatch, frame)
    assert is_open(at)
    choose(at, time="bb", value="cc")
    answer(at, "person", "Each “aa”")
    confirm(at)
    assert not at.error
    read = at.session_state["upload_draft"].observations
    assert (len(read.counts), len(read.values)) == (20, 100)


def test_a_column_is_changed_and_its_kind_proposed_anew(monkeypatch):
    at = dropped(
        monkeypatch, GROWTH.assign(date=[f"2024-01-{1 + k % 28:02d}" for k in range(len(GROWTH))])
    )
    choose(at, time="date")
    assert next(row[:2] for row in table(at) if row[1] == "time") == ("date", "time")
    assert "date" in next(row[2] for row in table(at) if row[1] == "time")
    assert not at.error


@pytest.mark.parametrize(
    ("mark", "counted"),
    [("c001,x,y\n", "1 with an unreadable cell"), ("c001,5\n", "1 with another number of cells")],
)
def test_the_confirmed_reading_alone_reads_the_bytes_and_refuses_with_counts(
    monkeypatch, mark, counted
):
    """A saved reading meets a file of next year: it reads it in the same way, or says what is wrong."""
    at = confirm(published(monkeypatch, GROWTH))
    reading = at.session_state["upload_draft"].reading
    at.button(key="other_data").click()
    bring(monkeypatch, files.csv(GROWTH) + mark.encode())
    ran(at)
    at.session_state["upload_brought"] = reading
    confirm(ran(at))
    assert counted in said(at) and "Nothing was read" in said(at)
    wording.found("correct those lines", said(at))
    assert "upload_draft" not in at.session_state and table(at)


def test_a_reading_is_saved_and_brought_again_for_another_file(monkeypatch):
    at = answer(published(monkeypatch, dated("both")), "columns.time.order", "Month first")
    confirm(answer(at, "columns.time.from", "calendar"))
    saved = json.loads(json.dumps(at.session_state["upload_draft"].reading.to_plain()))
    later = dated("both").assign(value=lambda t: t["value"] + 1)
    at.button(key="other_data").click()
    bring(monkeypatch, later)
    ran(at)
    at.session_state["upload_brought"] = Reading.of(saved)
    confirm(ran(at))
    assert not at.error and at.session_state["upload_draft"].reading == Reading.of(saved)


def test_several_curves_of_a_person_are_averaged_so_that_the_person_is_protected(monkeypatch):
    at = confirm(dropped(monkeypatch, visits()))
    assert len(at.session_state["upload_draft"].observations.counts) == 30


@pytest.fixture
def reading(monkeypatch):
    """Put something around the reading of files, which it gets first."""

    def put(around):
        usual = own_files.computed
        monkeypatch.setattr(own_files, "computed", lambda *a, **k: around(usual, *a, **k))

    return put


def test_a_file_is_read_once_for_each_choice_and_within_bounds(monkeypatch, reading):
    asked = []

    def computed(usual, key, reader, *arguments, bounds):
        asked.append((getattr(reader, "func", reader).__name__, bounds.seconds))
        return usual(key, reader, *arguments, bounds=bounds)

    reading(computed)
    at = ran(dropped(monkeypatch, GROWTH))
    steps = [name for name, _ in asked]
    assert sorted(steps) == ["first_look", "likely_task", "propose"]
    confirm(at)
    assert [name for name, _ in asked[3:]] == ["observations_of"]
    assert {seconds for _, seconds in asked} == {BOUNDS.seconds}


def test_a_file_that_takes_too_much_is_refused_in_a_sentence(monkeypatch, reading):
    def computed(*_, **__):
        raise own_files.Ended("memory")

    reading(computed)
    bring(monkeypatch, GROWTH)
    at = visit("explore", upload_open=True)
    wording.found("file needs seconds", said(at), BOUNDS.seconds)
    wording.found("memory read", said(at))


# -- public bounds ---------------------------------------------------------------------------------


def confirmed(monkeypatch, frame=GROWTH):
    return confirm(dropped(monkeypatch, frame))


def test_a_broken_ledger_is_named_at_the_last_question_and_the_file_stays(tmp_path, monkeypatch):
    broken = tmp_path / "broken.sqlite3"
    broken.write_text("this is no database, and long enough to be read as one " * 40)
    at = trust(state(confirmed(monkeypatch)))
    monkeypatch.setenv(ledger.VARIABLE, str(broken))
    onward(at)
    assert not at.exception and [error.value for error in at.error]
    assert at.radio(key=key_of(at, "upload_trust")).value == "centre"


def test_a_range_is_never_filled_from_the_file_and_its_source_is_asked_for(monkeypatch):
    at = dropped(monkeypatch, GROWTH.rename(columns={"height": "zz"}))
    choose(at, value="zz")
    when(confirm(at))
    assert at.radio(key=key_of(at, "upload_bounds")).value == "other"
    assert at.text_input(key="upload_value_low").value == ""
    first = "State the lowest and highest possible zz"
    assert not at.error and any(first in box.value for box in at.info) and is_open(at)
    at.text_input(key="upload_value_high").set_value("200")
    assert any(first in box.value for box in ran(at).error)


def test_limits_of_the_library_are_proposed_where_name_and_values_fit(monkeypatch):
    at = when(confirm(dropped(monkeypatch, GROWTH)))
    assert at.radio(key=key_of(at, "upload_bounds")).value == "height" and not is_open(at)
    facts = at.session_state["upload_draft"].declared
    assert (facts.value_low, facts.value_high) == (70, 205) and facts.origin.startswith("WHO")


def test_a_range_of_the_file_is_for_exploring_only(monkeypatch):
    at = when(confirm(dropped(monkeypatch, GROWTH)))
    at.radio(key=key_of(at, "upload_bounds")).set_value("file")
    assert is_open(ran(at)) and at.session_state["upload_draft"].declared is None


@pytest.mark.parametrize(
    ("frame", "law", "times"),
    [
        (files.melted(files.days_frame(20)), "common", "0 to 23 by 1"),
        (GROWTH.assign(age=lambda t: t.age + [k % 7 / 10 for k in range(len(t))]), None, ""),
    ],
    ids=["a grid", "times of their own"],
)
def test_when_people_were_measured_is_proposed_as_a_plan_and_never_as_single_times(
    monkeypatch, frame, law, times
):
    at = confirm(dropped(monkeypatch, frame))
    chosen = at.radio(key="upload_law").value
    assert chosen == law if law else chosen != "common"
    assert times in {text.value for text in at.text_input} | {""}


def test_the_file_says_nothing_to_facts_before_they_are_frozen(monkeypatch):
    """Fewer than half of the stated observations: no doubt, and no refusal, before the button."""
    at = state(confirmed(monkeypatch), first=2, last=18, observations=40)
    assert not at.warning and "as stated" not in said(at)
    show(at)
    wording.found("fewer half observations", [box.value for box in at.warning], 40)


def test_a_fact_that_is_changed_after_the_file_has_answered_is_named_and_stands_on_the_card(
    monkeypatch, tmp_path
):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))
    at = show(
        state(confirmed(monkeypatch, files.growth_frame(300, 5)), first=2, last=18, observations=40)
    )
    at.session_state["upload_open"] = True
    ran(at)
    assert any("fewer than half" in box.value for box in at.warning)
    assert "changed after looking" not in said(at)
    onward(fill(back(back(at)), observations=5))
    assert "*planned observations" in said(at)
    show(at)
    frozen = at.session_state["upload_frozen"]
    assert frozen.changed == ("observations_per_curve",) and frozen.looked
    release = publish(
        at.session_state["upload"],
        mechanisms.build("adaptive_mean", {}),
        Budget(1.0, 1e-4),
        Ledger(),
        "growth",
        declaration=frozen.declaration(),
    )
    assert release.card["changed_after_looking"] == ["observations_per_curve"]


@pytest.mark.parametrize("page", ["explore", "publish"])
def test_the_card_says_that_whoever_answered_questions_had_looked_at_the_file(
    monkeypatch, tmp_path, page
):
    """Each question shows its holder what the file says to it."""
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))
    bring(monkeypatch, files.growth_frame(31, 5))
    at = visit(page, upload_open=page == "explore")
    at.session_state["upload_open"] = page == "explore"
    show(state(confirm(ran(at)), first=2, last=18, observations=5))
    assert at.session_state["upload_frozen"].looked


def test_a_file_that_refutes_what_is_stated_is_not_shown(monkeypatch):
    at = show(state(confirmed(monkeypatch), low=200, high=300, first=2, last=18))
    wording.found("outside stated range", said(at))
    assert at.session_state["upload_open"]
    assert at.session_state["upload"].facts.is_proposed  # the first look is on screen still
    show(fill(back(at), value_low=50))
    assert not at.error and not at.session_state["upload"].facts.is_proposed


def test_where_every_line_is_protected_nothing_claims_that_it_is_one_person(monkeypatch):
    at = answer(dropped(monkeypatch, files.wide_frame(20)), "person", "Every line")
    show(state(confirm(at), low=-5, high=5, first=0, last=1))
    facts = at.session_state["upload"].facts
    assert (facts.person, facts.people) == ("row", "rows")
    assert re.fullmatch(
        r"The mean .*curve of \d+ rows, released with differential privacy", at.title[0].value
    )


@pytest.mark.slow
def test_public_groups_of_a_file_are_stated_and_compared_on_explore(monkeypatch):
    frame = files.growth_frame(80, 4).assign(
        arm=lambda rows: [f"arm {sum(map(ord, str(person))) % 2}" for person in rows.iloc[:, 0]]
    )
    at = choose(dropped(monkeypatch, frame), group="arm")
    asked = opened(at).multiselect(key="upload_ask_columns.group.words")
    assert asked.value == [] and is_open(at)
    at.button(key="all_of_upload_ask_columns.group.words").click()
    assert ran(at).multiselect(key="upload_ask_columns.group.words").value == ["arm 0", "arm 1"]
    show(state(confirm(at), 60, 220, 2, 18))
    holds(monkeypatch, None)
    at = visit(
        "explore",
        "shape-groups~epsilon-3~open-shape",
        upload=at.session_state["upload"],
        show_upload=True,
    )
    wording.found("two arms", words(at), 0, 1)
    assert "released apart" in words(at)


def test_one_centre_and_each_site_are_what_is_stated_of_a_column_of_sites(monkeypatch):
    at = dropped(monkeypatch, with_hospitals())
    show(state(confirm(at), first=2, last=18), "centre")
    kept = at.session_state["upload"]
    assert kept.sizes.n_servers == 1 and kept.curves.server_names == ()
    assert at.switch_page("../decide.py").run().segmented_control(key="w_noise").value == "centre"


def test_sites_that_add_their_own_noise_are_those_of_the_column(monkeypatch):
    at = dropped(monkeypatch, with_hospitals())
    show(state(confirm(at), first=2, last=18), "sites")
    assert at.session_state["upload"].sizes.n_servers == 3
    wording.found("sites own noise", words(at), 3)
    assert at.switch_page("../decide.py").run().segmented_control(key="w_noise").value == "sites"


def test_masked_sums_and_devices_are_priced_and_not_published_from_one_file(monkeypatch):
    at = state(confirm(dropped(monkeypatch, with_hospitals())), first=2, last=18)
    for answer_ in ("sums", "nobody"):
        assert is_open(trust(at, answer_)) and at.info
        back(at)
    assert not is_open(trust(at, "centre"))


def test_the_times_of_a_header_are_proposed_and_stated_with_the_answer(monkeypatch):
    at = confirm(answer(dropped(monkeypatch, visits(30, 1)), "person", "Each “id”"))
    assert at.radio(key="upload_law").value == "common"
    fill(at, times="")
    wording.found("state times everybody", [box.value for box in at.error])
    assert is_open(at)
    when(at, times="1 to 4 by 1")
    facts = show(fill(typed_limits(at), value_low=0, value_high=300, origin="manual"))
    facts = at.session_state["upload"].facts
    assert facts.design.times == (0, 1 / 3, 2 / 3, 1) and facts.observations_per_curve == 4
    assert not facts.symmetric


@pytest.mark.slow
def test_common_times_of_a_long_file_are_typed_in_and_a_bad_list_keeps_the_question_whole(
    monkeypatch,
):
    at = confirmed(monkeypatch)
    at.radio(key="upload_law").set_value("common")
    fill(ran(at), times="2, six")
    assert at.error and is_open(at)
    when(at, times="2 to 18 by 4", observations=5)
    fill(typed_limits(at), value_low=60, value_high=220, origin="manual")
    at.selectbox(key="upload_symmetric").set_value(True)
    facts = show(ran(at)).session_state["upload"].facts
    assert any(
        "does not look as stated" in box.value or "About your file" in box.value
        for box in at.warning
    )
    assert facts.design.times == (0, 0.25, 0.5, 0.75, 1) and facts.symmetric


def test_a_fact_that_is_changed_in_the_moment_of_the_press_is_stated_as_changed(monkeypatch):
    at = state(confirmed(monkeypatch), first=2, last=18)
    at.text_input(key="upload_value_high").set_value("250")
    show(at)  # both arrive at once
    assert at.session_state["upload"].facts.value_high == 250


# -- what stays ------------------------------------------------------------------------------------


def test_nothing_is_lost_when_the_dialog_is_opened_again(monkeypatch):
    at = dropped(monkeypatch, with_hospitals())
    show(state(confirm(at), first=2, last=18), "sites")
    at.session_state["upload_open"] = True
    ran(at)
    assert at.radio(key=key_of(at, "upload_trust")).value == "sites" and not at.error
    assert at.text_input(key="upload_value_high").value == "300" if back(at) else False
    assert back(at).radio(key="upload_law").value == "even"


def test_the_questions_of_a_second_file_are_asked_anew(monkeypatch):
    at = confirmed(monkeypatch)
    bring(monkeypatch, with_hospitals())
    ran(at)
    at.session_state["upload_open"] = True
    ran(at)
    assert FIRST in [header.value for header in at.header]


def test_what_was_stated_in_the_dialog_of_a_page_is_there_in_publish(monkeypatch):
    at = state(confirmed(monkeypatch), first=2, last=18)
    at.switch_page("../publish.py").run()
    assert not at.exception and FIRST in [header.value for header in at.header]
    assert confirm(at).radio(key="upload_law").value == "even"
    assert onward(at).text_input(key="upload_value_high").value == "300"


def test_whoever_states_a_file_on_another_page_is_asked_nothing_twice_in_publish(monkeypatch):
    at = show(state(confirmed(monkeypatch), first=2, last=18))
    at.switch_page("../publish.py").run()
    assert not at.exception
    wording.found("preview simulated data", [header.value for header in at.header], 2)
    assert "own.csv" in words(at)
    assert "0 to 300" in words(at)
    holds(monkeypatch, None)
    at.button(key="change_step_1").click().run()
    assert "own.csv" in words(at)
    assert onward(onward(at)).text_input(key="upload_value_high").value == "300"


def test_an_entry_of_the_library_fills_range_and_source_and_leaves_them_free(monkeypatch):
    at = typed_limits(when(confirmed(monkeypatch), observations=5))
    at.selectbox(key="upload_library").set_value("height").run()
    height = public_bounds()["height"]
    assert at.text_input(key="upload_value_high").value == f"{height.value_high:g}"
    assert at.text_input(key="upload_origin").value == height.source
    facts = show(fill(at, value_high=230)).session_state["upload"].facts
    assert (facts.value_high, facts.origin, facts.person) == (230, height.source, "child")


# -- prices ----------------------------------------------------------------------------------------


def captions(at, key):
    return [
        text.replace("\u202f", "").replace("\xa0", " ") for text in at.radio(key=key).proto.captions
    ]


def test_the_price_of_each_answer_stands_beside_it_and_follows_from_stated_facts_alone(monkeypatch):
    monkeypatch.setattr(questions.run, "knows", lambda *_: True)  # nothing waits
    at = confirm(published(monkeypatch, files.growth_frame(300, 8)))
    assert all("band ±" in text or not text for text in captions(at, "upload_law"))
    onward(at)
    limits, _, of_file = captions(at, "upload_bounds")
    assert limits.endswith("cm") and of_file == "exploring only"
    onward(at)
    facts = at.session_state["upload_draft"].declared
    budget = Budget(1.0, mechanisms.build("adaptive_mean", {}).delta(300, None).value)
    same = price(
        facts,
        Sizes((300,), 300 * facts.observations_per_curve, facts.observations_per_curve),
        mechanisms.build("adaptive_mean", {}),
        budget,
        1,
    )
    centre = captions(at, "upload_trust")[0]
    assert f"±{in_unit(same.half_width, 'cm', 2)}".replace("\xa0", " ") in centre
    assert captions(at, "upload_trust")[-1] == "nothing released"
    onward(at)
    half, one, two = (float(text.split()[-2]) for text in captions(at, "question_epsilon"))
    assert half > one > two
