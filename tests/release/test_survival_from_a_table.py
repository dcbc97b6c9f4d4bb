"""Late entry and strata of one's own file: from options of the command line to files and answers."""

import csv
import json

import jsonschema
import numpy as np
import pytest

from engine import __main__ as command_line
from engine.commands.exit_codes import Exit
from engine.core.random_streams import generator
from engine.exports.schemas import schema
from engine.release.ledger import Ledger
from engine.sources.event_times import EventTimes
from tests.sentences import of_topic

wording = of_topic("counting")
N = 600


@pytest.fixture
def table(tmp_path):
    """People of four strata of whom three in five enter late, in a file."""
    source = EventTimes(n_curves=N, late_share=0.6, comparison="strata", follow_up=10.0)
    data = source.draw(1, generator(8, 0, 0))
    with (tmp_path / "events.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["who", "from", "to", "end", "stratum"])
        for k in range(N):
            end = "death" if data.status[0, k] else "alive"
            stratum = "ABCD"[data.group[0, k]]
            rows.writerow([f"p{k}", data.entry[0, k], data.time[0, k], end, stratum])
    return tmp_path / "events.csv"


def run(table, *options):
    folder = table.parent
    return command_line.main(
        [
            *("release", str(table), "--id", "who", "--time", "to", "--status", "end"),
            *("--event", "death", "--follow-up", "10", "--unit", "years", "--origin", "a plan"),
            *("--ledger", str(folder / "ledger"), "--witness", str(folder / "witness")),
            *("--out", str(folder / "out"), "--quiet", *options),
        ]
    )


def asked(table, capsys, *words):
    capsys.readouterr()
    command_line.main(["ask-card", "--json", str(table.parent / "out" / "guarantee.json"), *words])
    return json.loads(capsys.readouterr().out)


def test_late_entry_is_published_with_both_tables_and_the_card_answers(table, capsys):
    assert run(table, "--entry", "from", "--epsilon", "2", "--yes") == 0
    files = {path.name for path in (table.parent / "out").iterdir()}
    assert {"counts.csv", "entries.csv", "at_risk.csv"} <= files
    card = json.loads((table.parent / "out" / "guarantee.json").read_text())
    assert not [*jsonschema.Draft202012Validator(schema("guarantee")).iter_errors(card)]
    assert "counts" in schema("guarantee")["properties"]
    epsilons = [message["epsilon"] for message in card["accounting"]["messages"]]
    assert len(epsilons) == 2 and sum(epsilons) == pytest.approx(2.0) and sum(epsilons) <= 2.0
    (entry,) = Ledger(table.parent / "ledger", table.parent / "witness").entries()
    assert entry.budget.epsilon <= 2.0
    answer = asked(table, capsys, "milestone", "--time", "2.5")["milestone"]
    assert answer["verdict"] == "told" and 0 < answer["pieces"][0][0] < answer["value"] < 100
    again = table.parent / "again"
    assert (
        command_line.main(
            [
                *("release", "--again", card["release"]["id"], "--out", str(again)),
                *("--ledger", str(table.parent / "ledger")),
                *("--witness", str(table.parent / "witness")),
            ]
        )
        == 0
    )
    for name in ("counts.csv", "entries.csv", "release.csv"):
        assert (again / name).read_bytes() == (table.parent / "out" / name).read_bytes()


def test_one_adjusted_curve_of_four_strata_is_published_and_names_the_one_that_ends_it(
    table, capsys
):
    sizes = ",".join(str(int(share * N)) for share in (0.4, 0.3, 0.2, 0.1))
    strata = ("--group", "stratum", "--groups", "A,B,C,D", "--group-sizes", sizes)
    code = run(table, *strata, "--group-weights", "0.25,0.25,0.25,0.25", "--epsilon", "2", "--yes")
    assert code == 0
    wording.found("left of stratum", capsys.readouterr().out)
    with (table.parent / "out" / "release.csv").open() as file:
        names = next(csv.reader(file))
    assert len([name for name in names if name.startswith("value")]) == 1
    answers = asked(table, capsys)
    assert answers["adjusted"]["verdict"] == "told"
    one = asked(table, capsys, "adjusted", "--weights", "1,0,0,0")["adjusted"]
    assert np.isfinite(one["value"]) and one["value"] != answers["adjusted"]["value"]


def test_what_the_options_leave_open_is_refused_and_nothing_is_charged(table, capsys):
    for options, told in (
        (("--entry", "from"), "State ε"),
        (("--entry", "from", "--start", "from", "--epsilon", "1"), "a start or an entry"),
        (("--entry", "nothing", "--epsilon", "1"), "no column"),
        (("--group", "stratum", "--groups", "A", "--epsilon", "1"), "2 to 12 groups"),
        (("--group-sizes", "a", "--epsilon", "1"), "numbers"),
    ):
        assert run(table, *options, "--yes") == Exit.REFUSED
        assert told in capsys.readouterr().err
    assert not Ledger(table.parent / "ledger", table.parent / "witness").entries()


def test_a_plan_takes_the_facts_and_the_people_of_a_request_and_no_time(table, capsys):
    header = ["who", "from", "to", "end", "stratum"]
    ends = {"name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"}
    request = {
        "version": 1,
        "data": {
            "file": table.name,
            "reading": {
                "frame": {"encoding": "utf-8", "separator": ",", "header": header},
                "person": {"column": "who"},
                "columns": {"entry": {"name": "from"}, "time": {"name": "to"}, "status": ends},
            },
            "facts": {"time_high": 10, "time_unit": "years", "origin": "a plan"},
        },
        "mechanism": {"key": "noisy_counts"},
        "budgets": [{"epsilon": 1.0}],
    }
    answers = []
    for times in (1.0, 0.5):  # the same people with other times
        lines = table.read_text().splitlines()
        moved = [line.split(",") for line in lines[1:]]
        rows = [
            ",".join([who, start, str(times * float(to)), *rest]) for who, start, to, *rest in moved
        ]
        table.write_text("\n".join([lines[0], *rows]) + "\n")
        path = table.parent / "request.json"
        path.write_text(json.dumps(request))
        assert command_line.main(["plan", str(path), "--unknown", "error", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]


@pytest.fixture
def visits(tmp_path):
    """People who are seen at four visits, in a file of two columns."""
    data = EventTimes(n_curves=N, visits=4, follow_up=12.0).draw(1, generator(8, 0, 0))
    lines = [
        f"p{k},{data.without[0, k]:g},{'' if np.isnan(first) else f'{first:g}'}"
        for k, first in enumerate(data.time[0])
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["who,free,found", *lines]) + "\n")
    return tmp_path / "visits.csv"


def of_visits(table, *options):
    folder = table.parent
    return command_line.main(
        [
            *("release", str(table), "--id", "who", "--without", "free", "--time", "found"),
            *("--follow-up", "12", "--unit", "months", "--origin", "a plan", "--epsilon", "2"),
            *("--ledger", str(folder / "ledger"), "--witness", str(folder / "witness")),
            *("--out", str(folder / "out"), "--quiet", "--yes", *options),
        ]
    )


def test_visits_are_published_from_two_columns_and_the_card_answers(visits, capsys):
    assert of_visits(visits, "--edges", "0,3,6,9,12") == 0
    card = json.loads((visits.parent / "out" / "guarantee.json").read_text())
    assert not [*jsonschema.Draft202012Validator(schema("guarantee")).iter_errors(card)]
    assert card["counts"]["version"] == 2 and len(card["counts"]["exits"]) == 15
    answer = asked(visits, capsys, "milestone", "--time", "6")["milestone"]
    (low, high), true = answer["pieces"][0], 100 * EventTimes().survival(np.array(0.5))
    assert low - 3 < true < high + 3
    mean = asked(visits, capsys, "restricted_mean", "--until", "9")["restricted_mean"]
    assert mean["verdict"] == answer["verdict"] == "told" and mean["value"] < 12


def test_visits_without_public_times_are_refused_before_anything_is_spent(visits, capsys):
    assert of_visits(visits) == Exit.REFUSED
    wording.found("public times visits", capsys.readouterr().err)
    assert not (visits.parent / "out").exists()
