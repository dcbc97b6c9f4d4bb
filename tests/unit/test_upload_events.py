"""Times, values and scores from a file of one's own: columns, codes, dates, and rows that are strange."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, EventFacts
from engine.exports.code_for import release
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics.counts.cells import Cells, Counted
from engine.questions import ask
from engine.release import published, request
from engine.uploads import examples
from engine.uploads.events import EventColumns, UploadEvents, declare_events
from engine.uploads.own_file import OwnFile
from engine.uploads.proposal import propose
from tests.files import requested
from tests.readings import events_in, events_upload_of, reading_of
from tests.sentences import of_topic

wording = of_topic("counting")

DEATH = {"columns": {"time": "days", "status": "end"}, "events": ["death"]}
MEANT = EventColumns(events=("death",))


def read(text, stated=DEATH, counted=Counted.OUTCOMES):
    columns = {"id": None, **stated["columns"]}
    return events_in(text.encode(), counted, **stated | {"columns": columns})


def rows(events):
    return sorted(
        zip(np.nan_to_num(events.time, nan=-99).tolist(), events.status.tolist(), strict=True)
    )


def test_hostile_lines_stay_in_the_count_and_count_as_the_method_says():
    text = "days,end\n-3,death\n0,death\n,death\ninf,death\n-inf,alive\nNA,alive\n5,unknown\n6,\n1e400,death\n7,death\n"
    events = read(text)
    assert len(events.time) == 10
    assert rows(events) == [
        (-np.finfo(float).max, 0),
        (-99, 0),
        (-99, 1),
        (-3, 1),
        (0, 1),
        (5, 0),
        (6, -1),
        (7, 1),
        (np.finfo(float).max, 1),
        (np.finfo(float).max, 1),
    ]
    cells = (
        Cells((0.0, 4.0, 8.0))
        .counts(events.time[None], events.status[None], None, events.server, 1)
        .ravel()
    )
    # deaths: −3 and 0 in the first interval, 7 in the second; censored: no time (twice) and −∞ in the first, an
    # unknown and a missing status in the second; both infinite times are beyond
    assert cells.tolist() == [2, 1, 3, 2, 2]
    notes = " ".join(events.notes)
    assert "2 times missing" in notes
    wording.found("times less", notes, 3, 0)
    wording.found("status people", notes, 1)
    assert not any(word in notes for word in ("unknown", "-3"))


@pytest.mark.parametrize("strange", ["-3,death", ",odd", "12,", "inf,odd", "NA,NA", "1e9,death"])
def test_what_one_row_holds_changes_two_counts_at_most_and_never_how_many_people_there_are(strange):
    usual = "days,end\n" + "".join(f"{k},{'death' if k % 2 else 'alive'}\n" for k in range(1, 40))
    other = usual.replace("\n9,death\n", f"\n{strange}\n")
    assert usual != other
    cells = Cells(tuple(np.linspace(0.0, 40.0, 6).tolist()))
    one, two = (
        cells.counts(events.time[None], events.status[None], None, events.server, 1).ravel()
        for events in (read(usual), read(other))
    )
    assert one.sum() == two.sum() == 39 and abs(one - two).sum() <= 2


OF_PEOPLE = {"columns": {"time": "days", "status": "end", "id": "who"}, "events": ["death"]}
INTERVALS = OF_PEOPLE | {"columns": OF_PEOPLE["columns"] | {"start": "from"}}


def test_lines_of_a_person_that_say_the_same_are_one():
    text = "who,days,end\na,3,death\nb,4,alive\na,3,death\n"
    events = read(text, OF_PEOPLE)
    assert rows(events) == [(3, 1), (4, 0)] and "1 further line" in " ".join(events.notes)
    assert len(read(text).time) == 3


def test_several_values_of_a_person_are_averaged_only_where_that_is_stated():
    text, columns = "who,days\na,3\nb,4\na,9\n", {"time": "days", "id": "who"}
    assert rows(read(text, {"columns": columns, "several": "average"}, Counted.VALUES)) == [
        (4, 1),
        (6, 1),
    ]
    with pytest.raises(InputError, match="1 of 2 people have several lines"):
        read(text, {"columns": columns}, Counted.VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who,from,days,end\nb,0,4,alive\na,0,2,alive\na,2,5,\na,5,9,death\n", [(4, 0), (9, 1)]),
        ("who,from,days,end\na,2,5,death\nb,0,4,alive\na,0,2,alive\n", [(4, 0), (5, 1)]),
        (
            "who,from,days,end\na,2024-01-01,2024-01-31,alive\nb,2024-01-01,2024-01-11,death\n"
            "a,2024-02-01,2024-03-01,death\n",
            [(10, 1), (60, 1)],
        ),
    ],
)
def test_intervals_of_a_person_are_one_time_from_the_first_start_to_the_last_stop(text, expected):
    events = read(text, INTERVALS)
    assert sorted(rows(events)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("who,days,end\na,3,death\nb,4,alive\na,9,alive\n", OF_PEOPLE),  # which time is theirs?
        ("who,from,days,end\na,0,3,death\nb,0,4,alive\na,3,9,death\n", INTERVALS),  # two events
        ("who,from,days,end\na,0,3,alive\nb,0,4,alive\na,2,9,death\n", INTERVALS),  # overlap
        ("who,from,days,end\na,0,3,alive\nb,0,4,alive\na,5,9,death\n", INTERVALS),  # gap
        ("who,from,days,end\na,0,3,alive\nb,0,4,alive\na,0,9,death\n", INTERVALS),  # both from 0
        ("who,from,days,end\na,0,,alive\nb,0,4,alive\na,3,9,death\n", INTERVALS),
        (
            "who,from,days,end,arm\na,0,3,alive,A\nb,0,4,alive,B\na,3,9,death,B\n",
            INTERVALS | {"columns": INTERVALS["columns"] | {"group": "arm"}, "groups": ["A", "B"]},
        ),
    ],
)
def test_several_times_of_a_person_that_do_not_follow_each_other_are_refused(text, stated):
    with pytest.raises(
        InputError, match=r"1 of 2 people (have several lines|have lines|are in several groups)"
    ) as told:
        read(text, stated)
    assert told.value.field in ("several", "group")


DATES = {"columns": {"time": "to", "start": "from", "status": "end"}, "events": ["death"]}


def test_dates_of_start_and_end_become_days_and_leap_days_count():
    text = "from,to,end\n2024-02-28,2024-03-01,death\n2023-02-28,2023-03-01,alive\n2024-01-01,,alive\n2024-03-05,2024-03-01,death\n"
    events = read(text, DATES)
    assert rows(events) == [(-99, 0), (-4, 1), (1, 0), (2, 1)] and events.time_unit == "days"


def test_the_order_of_the_day_and_the_month_is_that_which_is_stated():
    text = "from,to,end\n3/4/2024,5/4/2024,death\n1/2/2024,2/2/2024,alive\n"
    by_day, by_month = (read(text, DATES | {"day_first": first}) for first in (True, False))
    assert rows(by_day) == [(1, 0), (2, 1)] and rows(by_month) == [(31, 0), (61, 1)]


def with_arm(*groups):
    return DEATH | {"columns": DEATH["columns"] | {"group": "arm"}, "groups": groups}


@pytest.mark.parametrize(
    ("text", "stated", "told"),
    [
        (
            "to,end\n2024-02-28,death\n2024-03-28,alive\n",
            {"columns": {"time": "to", "status": "end"}, "events": ["death"]},
            "start|own time begins",
        ),
        ("days,end\nsoon,death\nlate,alive\n", DEATH, "no number"),
        ('days,end\n12,death\n"1,095",alive\n', DEATH, "1 line of column “days” holds no number"),
        (
            "from,to,end\n2024-01-01,2024-02-28,death\n2024-01-01,2024-03-28,alive\n2024-01-01,1.3.24,alive\n",
            DATES,
            "1 line of column “to” holds no date",
        ),
        (
            "from,to,end\n20240105,20240201,death\n20240107,20240301,alive\n",
            DATES,
            "dates without dashes",
        ),
        ("days,end\n1,death\n", DEATH, "one person"),
        ("days,end\n1,death\n2,alive\n", DEATH | {"events": ["deth"]}, "No line has a text"),
        (
            "days,end\n1,death\n2,alive\n",
            DEATH | {"columns": {"time": "days", "status": "days"}},
            "role",
        ),
        ("days,end,arm\n1,death,A\n2,alive,B\n", with_arm("A"), "2 to 12 groups"),
        (
            "days,censored\n1,1\n2,0\n",
            {"columns": {"time": "days", "status": "censored"}, "events": ["1"]},
            "who is censored",
        ),
        ("days,end,who\n1,death,\n2,alive,b\n", OF_PEOPLE, "1 line of column “who” has no id"),
    ],
)
def test_what_cannot_be_read_is_told_without_a_value_of_the_data(text, stated, told):
    with pytest.raises(InputError, match=told) as problem:
        read(text, stated)
    assert not any(cell in str(problem.value) for cell in ("soon", "1.3.24", "late"))


def test_spellings_that_differ_in_case_alone_mean_the_same():
    assert rows(read("days,end\n12,death\n14,alive\n13,Death\n")) == [(12, 1), (13, 1), (14, 0)]
    assert rows(read("days,end\n12,1.0\n13,0.0\n", DEATH | {"events": ["1"]})) == [(12, 1), (13, 0)]


def test_a_cause_that_nobody_has_is_no_reason_to_refuse():
    assert rows(read("days,end\n1,death\n2,alive\n", DEATH | {"events": ["death", "relapse"]})) == [
        (1, 1),
        (2, 0),
    ]


@pytest.mark.parametrize(
    ("kind", "example", "columns"),
    [
        (
            Counted.OUTCOMES,
            examples.outcomes(),
            {"start": "start", "status": "status", "time": "end"},
        ),
        (Counted.VALUES, examples.concentrations(), {"time": "concentration"}),
        (Counted.LABELS, examples.scores(), {"time": "score", "status": "label"}),
    ],
)
def test_the_example_that_can_be_downloaded_is_read_as_it_is(kind, example, columns):
    texts = {Counted.OUTCOMES: ("death", "relapse"), Counted.LABELS: ("yes",)}.get(kind, ())
    reading = reading_of(example.encode(), kind, columns={"server": "site"}, events=texts)
    assert {role: column.name for role, column in reading.columns.items()} == columns | {
        "site": "site"
    }
    assert reading.person.column == "patient_id"
    events = events_in(example.encode(), kind, {"server": "site"}, events=texts)
    assert len(events.time) == 400 and np.isfinite(events.time).all() and (events.time > 0).all()
    assert events.server_names == ("North", "South")
    if texts:
        assert set(events.status.tolist()) == set(range(len(texts) + 1))


@pytest.mark.parametrize(
    ("text", "counted", "columns", "events", "serves"),
    [
        (
            "days,end\n1,death\n2,alive\n",
            Counted.OUTCOMES,
            ("days", "end"),
            ("death",),
            {"survival"},
        ),
        (
            "days,end\n1,death\n2,relapse\n",
            Counted.OUTCOMES,
            ("days", "end"),
            ("death", "relapse"),
            {"survival", "cumulative_incidence"},
        ),
        ("value,x\n1,a\n2,b\n", Counted.VALUES, ("value",), (), {"distribution"}),
        ("score,label\n.1,no\n.2,yes\n", Counted.LABELS, ("score", "label"), ("yes",), {"roc"}),
    ],
)
def test_a_file_serves_what_it_was_read_for_and_nothing_else(
    text, counted, columns, events, serves
):
    stated = {"columns": dict(zip(("time", "status"), columns, strict=False)), "events": events}
    source = UploadEvents(
        events=read(text, stated, counted),
        declared=declare_events(0, 10, "a plan", EventColumns(counted=counted, events=events)),
    )
    assert {task for task in UploadEvents.tasks if source.serves(task)} == serves


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"time_high": None}, "planned follow-up"),
        ({"origin": " "}, "comes from"),
        ({"time_high": float("nan")}, "finite"),
        ({"edges": (0, float("nan"))}, "must be numbers"),
        ({"edges": (0, 5)}, "must rise"),
        ({"time_step": -1.0}, "0 or more"),
        ({"time_step": 10.0}, "shorter"),
        ({"time_high": -1}, "time|low|range"),
    ],
)
def test_public_facts_are_stated_whole_or_asked_for(stated, told):
    with pytest.raises(InputError, match=told):
        declare_events(
            **{"time_low": 0.0, "time_high": 10.0, "origin": "a plan", "columns": MEANT, **stated}
        )


def test_public_sizes_of_groups_must_be_those_of_the_file():
    columns = EventColumns(events=("death",), groups=("A", "B"))
    events = read("days,end,arm\n1,death,A\n2,alive,B\n3,alive,C\n", with_arm("A", "B"))
    UploadEvents(
        events=events, declared=declare_events(0, 10, "a plan", columns, group_sizes=(2, 1))
    ).check_sizes()
    with pytest.raises(InputError, match="stated as public"):
        UploadEvents(
            events=events, declared=declare_events(0, 10, "a plan", columns, group_sizes=(1, 2))
        ).check_sizes()


def test_the_holder_alone_is_told_how_many_lie_outside_what_was_stated():
    source = UploadEvents(
        events=read("days,end\n-1,death\n5,alive\n30,death\n"),
        declared=declare_events(0, 10, "plan", MEANT),
    )
    assert source.moved == (1, 1)
    assert sorted(source.draw(1, np.random.default_rng(0)).time[0].tolist()) == [-1.0, 5.0, 30.0]


LARGE = "patient,from,to,end,arm\n" + "".join(
    f"p{k},01.02.2020,{1 + k % 27:02d}.0{1 + k % 9}.2021,{('alive', 'death')[k % 2]},{'AB'[k % 2]}\n"
    for k in range(240)
)


def test_code_and_command_read_the_same_file_in_the_same_way(tmp_path):
    source = events_upload_of(
        LARGE.encode(),
        lambda columns: declare_events(
            0,
            700,
            "protocol",
            columns,
            (0, 300, 700),
            (120, 120),
            time_name="Time",
            time_unit="days",
            person="patient",
            people="patients",
        ),
        columns={"time": "to", "start": "from", "status": "end", "group": "arm", "id": "patient"},
        events=["death"],
        groups=["A", "B"],
    )
    facts, result = source.facts, OwnFile("trial.csv", source.reading)
    (tmp_path / "trial.csv").write_text(LARGE)
    plain = request.to_plain(source, NoisyCounts(), Budget(2.0), result)
    from json import dumps

    again = requested(dumps(plain), tmp_path)
    assert again.source.facts == facts and again.budget == Budget(2.0)
    for name in ("time", "status", "group"):
        assert (getattr(again.source.events, name) == getattr(source.events, name)).all()
    code = release(ask(published.release_cost, source, NoisyCounts(), Budget(2.0)), result)
    assert "events_of" in code.python and "p17" not in code.python
    scope = {}
    exec(
        compile(code.run.replace('"trial.csv"', repr(str(tmp_path / "trial.csv"))), "code", "exec"),
        scope,
    )
    assert isinstance(scope["source"].facts, EventFacts) and scope["source"].facts == facts
    assert (scope["source"].events.time == source.events.time).all()


def test_times_in_another_unit_than_the_planned_follow_up_are_refused_and_long_follow_up_is_not():
    in_days = read(
        "time,end\n"
        + "".join(f"{200 + k},{'death' if k % 2 else 'alive'}\n" for k in range(1, 40)),
        DEATH | {"columns": {"time": "time", "status": "end"}},
    )
    with pytest.raises(
        InputError,
        match="Nearly all times lie beyond the planned follow-up of 3 years, and no event",
    ):
        UploadEvents(
            events=in_days, declared=declare_events(0, 3, "protocol", MEANT, time_unit="years")
        )
    long = read("days,end\n5,death\n" + "".join(f"{2000 + k},alive\n" for k in range(1, 40)))
    UploadEvents(events=long, declared=declare_events(0, 365, "protocol", MEANT, time_unit="days"))


def test_a_code_for_a_missing_time_is_no_time():
    text = "days,end\n" + "".join(f"{k},death\n" for k in range(1, 9)) + "-999,alive\n"
    with pytest.raises(InputError, match="codes for missing ones"):
        UploadEvents(events=read(text), declared=declare_events(0.0, 30.0, "protocol", MEANT))


@pytest.mark.parametrize(
    ("last", "is_refused"),
    [(["999", "999"], True), (["999"], False), (["999", "999", "850"], False)],
)
def test_a_large_code_for_a_missing_time_is_told_by_its_distance(last, is_refused):
    text = "days,end\n" + "".join(f"{k},{'death' if k % 2 else 'alive'}\n" for k in range(1, 40))
    events = read(text + "".join(f"{code},alive\n" for code in last))
    declared = declare_events(0.0, 30.0, "protocol", MEANT)
    if not is_refused:
        assert UploadEvents(events=events, declared=declared).moved.beyond == 9 + len(last)
        return
    with pytest.raises(InputError, match="codes for missing ones, such as 999"):
        UploadEvents(events=events, declared=declared)


@pytest.mark.parametrize(
    ("text", "columns", "unit", "words"),
    [
        (
            "months,end\n3,death\n9,alive\n",
            DEATH | {"columns": {"time": "months", "status": "end"}},
            "days",
            "as if it were in months",
        ),
        (
            "from,to,end\n2024-01-01,2024-03-01,death\n2024-01-01,2024-05-01,alive\n",
            DATES,
            "years",
            "are in days, and your range is in years",
        ),
        (
            "from,to,end\n2024-01-01,2024-03-01,death\n2024-01-01,,death\n2024-01-01,,death\n",
            DATES,
            "days",
            "More than half of the people have no time",
        ),
    ],
)
def test_times_that_cannot_be_what_is_stated_are_refused(text, columns, unit, words):
    with pytest.raises(InputError, match=words):
        UploadEvents(
            events=read(text, columns),
            declared=declare_events(0, 400, "protocol", MEANT, time_unit=unit),
        )


def test_the_holder_is_told_how_many_have_a_status_that_was_not_stated():
    events = read(
        "days,end\n" + "".join(f"{k},{('death', 'alive', '9')[k % 3]}\n" for k in range(1, 31))
    )
    wording.found("lines another text", " ".join(events.notes), 20)


def test_people_of_a_third_arm_are_not_counted_in_the_first():
    text = "days,end,arm\n" + "".join(f"{k},death,{'ABC'[k % 3]}\n" for k in range(1, 31))
    with pytest.raises(InputError, match="10 of 30 people are in no stated group"):
        read(text, with_arm("A", "B"))
    few = read(text.replace(",C", ",B").replace("3,death,A", "3,death,"), with_arm("A", "B"))
    assert few.group.sum() == 20


def test_who_is_censored_is_no_event():
    text = "days,censored\n3,1\n9,0\n"
    with pytest.raises(InputError, match="says who is censored"):
        read(text, {"columns": {"time": "days", "status": "censored"}, "events": ["1"]})
    assert rows(
        read(text, {"columns": {"time": "days", "status": "censored"}, "events": ["0"]})
    ) == [(3, 0), (9, 1)]
    assert dict(propose(text.encode()).likely.columns["status"].words) == {"0": "event"}


def test_times_that_mostly_lie_before_their_start_are_refused():
    swapped = read(
        "days,end\n" + "".join(f"{-k},{'death' if k % 2 else 'alive'}\n" for k in range(1, 40))
    )
    with pytest.raises(InputError, match="before their start"):
        UploadEvents(
            events=swapped, declared=declare_events(0, 365, "protocol", MEANT, time_unit="days")
        )
