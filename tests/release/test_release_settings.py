"""The settings that are saved with a release: they hold the public facts, and state them again."""

import io
import json
import zipfile

import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION, RISK_MINIMISATION, ROC, SURVIVAL
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import files as release_files
from engine.release import published
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.release.request import stated_in
from engine.uploads.design import StatedDesign
from engine.uploads.events import counted_for, declare_events
from engine.uploads.facts import StatedCovariate, declare
from tests import files, large
from tests.files import requested
from tests.readings import events_upload_of, rows_upload_of, upload_of
from tests.unit.test_upload_rows import declared as declared_rows
from tests.unit.test_upload_rows import frame as rows_frame

CHILDREN = files.csv(files.growth_frame(120, 8))
STATED = declare(
    60,
    210,
    2,
    18,
    "growth chart",
    value_name="Height",
    value_unit="cm",
    person="child",
    people="children",
    design=StatedDesign(law="visits", gap=0.5),
    observations=8,
    symmetric=True,
)


def children():
    return upload_of(CHILDREN, STATED)


def saved(tmp_path, source, task=MEAN_FUNCTION):
    mechanism = mechanisms.default(task.mechanism, task.key)
    delta = 0.0 if mechanism.guarantee == "pure" else 1e-5
    one = published.publish(
        source, mechanism, Budget(1.0, delta), Ledger(tmp_path / "ledger"), "a", Budget(10.0, 1e-2)
    )
    with zipfile.ZipFile(io.BytesIO(release_files.archive(one))) as packed:
        assert {*packed.namelist()} == {*release_files.all_files(one)}
        assert release_files.archive(one) == release_files.archive(one)
        return packed.read("again.json").decode()


def test_the_settings_state_what_was_stated_of_a_file_and_how_it_was_read(tmp_path):
    settings = saved(tmp_path, children())
    stated = stated_in(settings)
    assert stated.numbers == {
        "value_low": 60,
        "value_high": 210,
        "time_low": 2,
        "time_high": 18,
        "observations_per_curve": 8,
    }
    assert (stated.words["origin"], stated.words["people"]) == ("growth chart", "children")
    assert stated.design == StatedDesign(law="visits", gap=0.5) and stated.flags["symmetric"]
    assert json.loads(settings)["data"]["reading"] == children().reading.to_plain()


def test_with_the_name_of_a_file_the_settings_ask_for_a_release_of_the_same_facts(tmp_path):
    again = json.loads(saved(tmp_path, children()))
    again["data"] |= {"file": "heights.csv", "reading": children().reading.to_plain()}
    (tmp_path / "heights.csv").write_bytes(CHILDREN)
    request = requested(json.dumps(again), tmp_path)
    assert request.source.facts == children().facts and request.budget.epsilon == 1


def test_settings_of_some_rows_publish_a_larger_table_that_is_charged_alone(tmp_path, capsys):
    """The page takes some rows of a table, and the command all of it, by the same statements."""
    table = files.growth_frame(400, 8)
    some = upload_of(files.csv(table[: 60 * 8]), STATED)
    mechanism = mechanisms.default(MEAN_FUNCTION.mechanism, MEAN_FUNCTION.key)
    plan = published.planned(some, mechanism, Budget(1.0, 1e-4), "growth")
    plain = published.settings(plan)
    assert "delta" not in plain["budgets"][0] and published.settings(plan, 1e-7)["budgets"] == [
        {"epsilon": 1.0, "delta": 1e-7}
    ]
    parts = tmp_path / "parts"
    parts.mkdir()
    large.written(table[:1000], parts / "a.gz", "gz")
    large.written(table[1000:], parts / "b.csv")
    plain["data"]["file"] = "parts"
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(plain))
    words = [f"--{name}={tmp_path / name}" for name in ("ledger", "witness", "out")]
    assert __main__.main(["release", str(path), "--yes", *words]) == 0
    assert "wrote" in capsys.readouterr().out
    ledger = Ledger(tmp_path / "ledger", tmp_path / "witness")
    (entry,) = ledger.entries()
    assert (entry.name, entry.state, entry.budget.epsilon) == ("growth", "drawn", 1.0)
    assert ledger.receipt(entry.release_id).standing.people == 400


def test_ranges_of_records_and_their_response_are_kept(tmp_path):
    rows = rows_upload_of(
        files.csv(rows_frame()),
        declared_rows(RISK_MINIMISATION.key, ["f0"]),
        {"value": "y"},
        features=["f0"],
    )
    stated = stated_in(saved(tmp_path, rows, RISK_MINIMISATION))
    names = [covariate.name for covariate in stated.covariates]
    assert names == ["f0", "y"] and [each.name for each in stated.features] == ["f0"]
    assert all(each.low < each.high for each in stated.covariates)


def test_planned_follow_up_and_intervals_are_kept(tmp_path):
    text = "days,end\n" + "".join(
        f"{1 + k % 90},{'death' if k % 3 else 'alive'}\n" for k in range(300)
    )
    people = events_upload_of(
        text.encode(),
        lambda named: declare_events(0, 90, "a protocol", named, (0, 30, 60, 90), time_step=1),
        columns={"time": "days", "status": "end"},
        events=["death"],
    )
    settings = saved(tmp_path, people, SURVIVAL)
    stated = stated_in(settings)
    assert stated.numbers["time_high"] == 90 and stated.edges == (0, 30, 60, 90)
    assert stated.numbers["time_step"] == 1
    assert "events" not in json.loads(settings)["data"]


@pytest.mark.parametrize(
    ("task", "header", "columns", "events"),
    [
        (SURVIVAL, "id,time,status", {"time": "time", "status": "status", "id": "id"}, ["a"]),
        (ROC, "score,label", {"time": "score", "status": "label"}, ["a", "b"]),
    ],
    ids=["survival", "roc"],
)
def test_with_the_name_of_a_file_a_release_of_counts_is_asked_for_again(
    tmp_path, task, header, columns, events
):
    lines = [f"p{k},{k % 7 + 1 + k % 9},{'abc'[k % 3]}" for k in range(200)]
    text = "\n".join(
        [header, *(line if task is SURVIVAL else line.split(",", 1)[1] for line in lines)]
    )
    step = 1 if task is SURVIVAL else None
    people = events_upload_of(
        text.encode(),
        lambda named: declare_events(0, 20, "a protocol", named, time_step=step),
        counted_for(task.key),
        columns,
        events=events,
    )
    again = json.loads(saved(tmp_path, people, task))
    (tmp_path / "people.csv").write_text(text)
    again["data"] |= {"file": "people.csv", "reading": people.reading.to_plain()}
    source = requested(json.dumps(again), tmp_path).source
    assert source.facts == people.facts and content_of(source) == content_of(people)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "object"),
        ('{"version": 1}', "state no bounds"),
        ("{", "JSON"),
        ('{"version": 1, "data": {"facts": {"value_low": "sixty"}}}', "must be a number"),
    ],
)
def test_other_files_are_refused_in_a_sentence(text, words):
    with pytest.raises(InputError, match=words):
        stated_in(text)


def test_columns_that_explain_curves_are_stated_with_their_ranges():
    plain = {
        "version": 1,
        "data": {"facts": {"covariates": [{"name": "sex", "low": 0, "high": 1, "unit": ""}]}},
    }
    assert stated_in(json.dumps(plain)).covariates == [StatedCovariate("sex", 0, 1, "")]
