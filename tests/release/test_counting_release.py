"""Noised counts of one's own file: read, quoted, published once, and made again from the ledger."""

import csv
import json

import numpy as np
import pytest

from engine import __main__ as command_line
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.noise.hardened import CountNoise
from engine.release import captions, files, published, request
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.sources.event_times import EventTimes
from tests.files import requested
from tests.ledgers import spent
from tests.sentences import of_topic

wording = of_topic("counting")

N = 240
ARMS = {"name": "arm", "kind": "word", "words": {"A": "A", "B": "B"}, "other": "missing"}
ENDS = {"name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"}
READING = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["patient", "days", "end", "arm"]},
    "person": {"column": "patient"},
    "columns": {"time": {"name": "days"}, "status": ENDS, "group": ARMS},
}
STATED = {
    "reading": READING,
    "group_sizes": [N // 2, N // 2],
    "facts": {
        "time_high": 1000,
        "time_name": "Time",
        "time_unit": "days",
        "origin": "the protocol",
        "person": "patient",
        "people": "patients",
    },
}


def trial(seed=1, strange=True):
    """A file of a trial: two arms, some strange rows, one patient twice."""
    data = EventTimes(n_curves=N, comparison="hazard ratio", follow_up=1.0).draw(
        1, np.random.default_rng(seed)
    )
    lines = ["patient,days,end,arm"]
    for k in range(N):
        end = "death" if data.status[0, k] else "alive"
        lines.append(f"p{k},{1000 * data.time[0, k]:.3f},{end},{'AB'[data.group[0, k]]}")
    if strange:
        lines[3] = lines[3].replace("alive", "").replace("death", "")
        lines[4] = ",".join([lines[4].split(",")[0], "", "death", lines[4].split(",")[3]])
        lines.append(lines[5].replace("A", "A"))
    return "\n".join(lines) + "\n"


def asked_of(stated):
    return {
        "version": 1,
        "name": "trial-2026",
        "data": {"file": "trial.csv", **stated},
        "mechanism": {"key": "noisy_counts", "parameters": {}},
        "budgets": [{"epsilon": 2.0, "delta": 0.0}],
    }


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "trial.csv").write_text(trial())
    return requested(json.dumps(asked_of(STATED)), tmp_path)


def columns(**changes):
    """The same reading with other entries of columns."""
    return {"reading": READING | {"columns": READING["columns"] | changes}}


def test_lines_that_are_stated_to_be_people_are_people_and_ids_are_never_guessed(tmp_path):
    (tmp_path / "trial.csv").write_text(trial())
    plain = asked_of({**STATED, "reading": {**READING, "person": None}})
    with pytest.raises(InputError, match="No column names people yet"):
        requested(json.dumps(plain), tmp_path)
    plain = asked_of(
        {**STATED, "group_sizes": [], "reading": {**READING, "person": {"rows": True}}}
    )
    assert requested(json.dumps(plain), tmp_path).source.sizes.n_curves == N + 1


def test_a_file_is_read_row_by_row_and_strange_rows_stay_in_the_count(asked):
    source = asked.source
    assert source.sizes.n_curves == N and source.serves("survival")
    assert not source.serves("cumulative_incidence")
    notes = " ".join(source.events.notes)
    assert "1 further line" in notes and "1 time missing" in notes
    assert (source.events.status == -1).sum() == 1 and np.isnan(source.events.time).sum() == 1
    table = (
        NoisyCounts()
        .release(source.draw(1, np.random.default_rng(0)), (Budget(1e6),), np.random.default_rng(0))
        .released[0]
    )
    assert table.noisy.sum(axis=-1).ravel().tolist() == [N / 2, N / 2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (columns(status={**ENDS, "words": {"deth": "death"}}), "No line has a text"),
        (columns(status={**ENDS, "words": {}}), "does not say what the texts"),
        ({"reading": READING | {"columns": {"status": ENDS}}}, "role time"),
        (columns(time={"name": "patient"}), "two roles"),
        (columns(time={"name": "days", "kind": "date"}), "day/month"),
        ({"facts": {"origin": "x"}}, "planned follow-up"),
        ({"facts": {"time_high": 9.0}}, "comes from"),
        ({"edges": [0, 500]}, "edges"),
        (columns(group={**ARMS, "words": {"A": "A"}}), "2 to 12 groups"),
        (columns(group={**ARMS, "other": "left out"}), "not left out"),
        ({"events": ["death"]}, "looking"),
    ],
)
def test_what_is_not_stated_or_does_not_fit_is_told_kindly(tmp_path, change, told):
    (tmp_path / "trial.csv").write_text(trial())
    plain = {
        "version": 1,
        "data": {"file": "trial.csv", **STATED, **change},
        "mechanism": {"key": "noisy_counts", "parameters": {}},
        "budgets": [{"epsilon": 1.0, "delta": 0.0}],
    }
    with pytest.raises(InputError, match=told):
        requested(json.dumps(plain), tmp_path)


def test_other_sizes_of_groups_than_stated_are_refused_before_anything_is_charged(tmp_path):
    wrong = {**STATED, "group_sizes": [N // 2 + 1, N // 2 - 1]}
    (tmp_path / "trial.csv").write_text(trial())
    result = requested(
        json.dumps(
            {
                "version": 1,
                "data": {"file": "trial.csv", **wrong},
                "mechanism": {"key": "noisy_counts", "parameters": {}},
                "budgets": [{"epsilon": 2.0, "delta": 0.0}],
            }
        ),
        tmp_path,
    )
    book = Ledger(tmp_path / "ledger")
    with pytest.raises(InputError, match="sizes of the groups"):
        published.publish(result.source, result.mechanism, result.budget, book, "wrong")


@pytest.mark.parametrize("epsilon", [0.25, 1 / 3, 0.5, 1.0, 3.0, 7.7])
def test_the_certified_cost_is_the_asked_one_and_never_more(epsilon):
    noise = CountNoise(epsilon, 5)
    assert epsilon * (1 - 1e-12) <= noise.cost <= epsilon
    assert noise.scale == pytest.approx(2 / epsilon)


def test_hardened_noise_on_counts_has_the_law_that_is_said():
    drawn, a = CountNoise(1.0, 20_000)(np.zeros(20_000)), np.exp(-0.5)
    assert (drawn == np.rint(drawn)).all()
    for k in (0, 1, -1, 3):
        chance = (1 - a) / (1 + a) * a ** abs(k)
        assert abs((drawn == k).mean() - chance) < 5 * np.sqrt(chance / 20_000)
    with pytest.raises(ArithmeticError, match="whole"):
        CountNoise(1.0, 1)(np.array([0.5]))


def test_a_release_is_its_table_and_is_made_again_from_the_ledger(asked, tmp_path):
    book = Ledger(tmp_path / "ledger")
    one = published.publish(asked.source, asked.mechanism, asked.budget, book, asked.name)
    assert one.cost.certified == Budget(2.0) and spent(book, asked.source) == 2.0
    assert one.card["unit_of_protection"] == "one patient’s record"
    written = files.all_files(one)
    rows = [*csv.DictReader(written["counts.csv"].decode().splitlines())]
    counts = np.array([float(row["noised count"]) for row in rows])
    assert (counts == np.rint(counts)).all() and len(rows) == one.cost.numbers
    assert {row["group"] for row in rows} == {"A", "B"} and rows[-1][
        "what"
    ] == "still under observation"
    estimated = np.array([float(row["estimated count"]) for row in rows])
    assert estimated.sum() == pytest.approx(N, abs=1e-3)
    for name in ("A", "B"):
        low, high = one.ranges[name]
        assert ((low <= one.columns[name] + 1e-9) & (one.columns[name] <= high + 1e-9)).all()
    wording.found("share without event", one.value, alone=True)
    assert one.value in written["release.svg"].decode()
    report = written["release.html"].decode()
    assert "Log-rank test" in report and "ε = 2" in report and "counts.csv" in report
    assert json.loads(written["guarantee.json"])["release"]["of"] == "Patients"
    said = captions.headline(one)
    assert "privacy noise" in said and "smoothing" not in said.lower()
    again = published.again(book, one.release_id)
    assert files.all_files(again) == written
    assert content_of(asked.source) == content_of(asked.source)


def test_a_custodian_may_ask_for_more_people_at_risk_and_pays_nothing_for_it(asked, tmp_path):
    book = Ledger(tmp_path / "ledger")
    few, many = (
        published.publish(
            asked.source, NoisyCounts(least_at_risk=least), Budget(1.0), book, f"least {least}"
        )
        for least in (10, 60)
    )
    assert many.x[-1] < few.x[-1] and many.cost.certified == few.cost.certified


def test_nobody_in_particular_stands_in_what_is_rehearsed(asked):
    one, other = (
        published.release_cost(source, NoisyCounts(), Budget(1.0))
        for source in (asked.source, _of(trial(seed=2, strange=False)))
    )
    assert one.certified == other.certified and one.spends == other.spends
    assert all((one.known[key] == other.known[key]).all() for key in one.known)


def _of(text):
    """The people of a file with their stated facts."""
    return request.uploaded(text.encode(), STATED, NoisyCounts())


def test_too_few_people_are_refused_before_anything_is_charged():
    lines = trial(strange=False).splitlines()[:13]
    source = request.uploaded(
        "\n".join(lines).encode(),
        {
            **STATED,
            "group_sizes": [],
            "reading": READING | {"columns": {"time": {"name": "days"}, "status": ENDS}},
        },
        NoisyCounts(),
    )
    with pytest.raises(InputError, match="Nothing would be published"):
        published.release_cost(source, NoisyCounts(), Budget(1.0))


def test_the_command_line_publishes_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trial.csv").write_text(trial())
    (tmp_path / "ask.json").write_text(
        json.dumps(
            {
                "version": 1,
                "name": "trial",
                "data": {"file": "trial.csv", **STATED},
                "mechanism": {"key": "noisy_counts", "parameters": {}},
                "budgets": [{"epsilon": 2.0, "delta": 0.0}],
            }
        )
    )
    arguments = ["release", "ask.json", "--ledger", "book"]
    assert command_line.main(arguments) == 0
    assert "Nothing was published" in capsys.readouterr().err
    assert command_line.main([*arguments, "--yes", "--out", "out"]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "release.csv",
        "counts.csv",
        "release.html",
    }
    said = capsys.readouterr().out
    assert all(line[0].isalnum() for line in said.splitlines())
