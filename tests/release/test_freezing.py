"""Choices after looking: facts are frozen before a file is compared, and changes stand on the card."""

import hashlib
import json

import pytest

from engine import __main__
from engine.release import request as release_request
from engine.release.freezing import flat, freeze
from engine.release.ledger import Ledger
from engine.release.plan import Declaration
from engine.release.published import planned
from tests.sentences import of_topic

wording = of_topic("release")

FACTS = {
    "value_low": 60,
    "value_high": 210,
    "time_low": 2,
    "time_high": 18,
    "origin": "a chart",
    "design": {"law": "even"},
    "observations_per_curve": 4,
}

READING = {
    "frame": {"encoding": "utf-8", "separator": ",", "header": ["id", "age", "height"]},
    "person": {"column": "id"},
    "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
}


def people(n_with_one):
    """100 people with four observations, of whom some have one alone."""
    return "id,age,height\n" + "".join(
        f"p{k},{2.25 + 4 * j + (k * 0.37) % 3.5:.2f},{80 + 20 * j + k % 7}\n"
        for k in range(100)
        for j in range(1 if k < n_with_one else 4)
    )


@pytest.fixture
def study(tmp_path):
    """Writes a file and a request with stated facts, and runs a command on them."""

    def run(command, *options, n_with_one=6, name="growth", **stated):
        (tmp_path / "few.csv").write_text(people(n_with_one))
        (tmp_path / "request.json").write_text(
            json.dumps(
                {
                    "version": 1,
                    "name": name,
                    "data": {
                        "file": "few.csv",
                        "reading": READING,
                        "facts": {
                            key: value
                            for key, value in {**FACTS, **stated}.items()
                            if value is not None
                        },
                    },
                    "mechanism": {"key": "adaptive_mean", "parameters": {}},
                    "budgets": [{"epsilon": 2.0, "delta": 1e-5}],
                }
            )
        )
        out = ("--out", str(tmp_path / "out")) if command == "release" else ()
        return __main__.main(
            [
                command,
                str(tmp_path / "request.json"),
                "--ledger",
                str(tmp_path / "ledger"),
                *out,
                *options,
            ]
        )

    def card():
        return json.loads((tmp_path / "out" / "guarantee.json").read_text())

    run.card, run.folder, run.ledger = card, tmp_path, tmp_path / "ledger"
    return run


def frozen_in(path):
    if not path.exists():
        return []
    with Ledger(path).log.reading() as log:
        return [logged.entry for logged in log.entries if logged.entry["kind"] == "frozen"]


@pytest.mark.parametrize(("n_with_one", "is_doubted"), [(5, False), (6, True)])
def test_one_person_decides_whether_there_is_a_doubt_and_it_comes_after_the_facts_are_frozen(
    study, capsys, n_with_one, is_doubted
):
    assert study("state", n_with_one=n_with_one) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("observations stated" in line for line in lines) is is_doubted
    (entry,) = frozen_in(study.ledger)
    assert entry["unseen"] is False
    with Ledger(study.ledger).log.reading() as log:
        assert json.loads(log.content(entry["stated"]))["observations_per_curve"] == 4


def test_a_change_after_a_doubt_stands_on_the_card_and_nothing_else_differs(study, tmp_path):
    study("state")
    assert study("release", "--yes", observations_per_curve=2) == 0
    changed = study.card()
    assert changed["changed_after_looking"] == ["observations_per_curve"]
    assert changed["looked_before_stating"] is True
    text = (tmp_path / "request.json").read_text()
    (request,) = release_request.from_json(text, tmp_path)
    plans = [
        planned(
            request.source, request.mechanism, request.budget, "growth", declaration=declaration
        )
        for declaration in (Declaration(("observations_per_curve",)), Declaration(()))
    ]
    first, second = (dict(plan.plain) for plan in plans)
    assert first.pop("declaration") != second.pop("declaration")
    assert json.dumps(first) == json.dumps(second)


def test_files_that_differ_by_a_person_with_one_observation_give_the_same_plan(study):
    plans = []
    for n_with_one in (5, 6):
        study("state", n_with_one=n_with_one, name=f"growth {n_with_one}")
        text = (study.folder / "request.json").read_text()
        (request,) = release_request.from_json(text, study.folder)
        plans.append(
            planned(request.source, request.mechanism, request.budget, "growth").to_bytes()
        )
    assert plans[0] == plans[1]


def test_without_a_change_the_card_says_that_there_was_none(study):
    study("state")
    assert study("release", "--yes") == 0
    assert study.card()["changed_after_looking"] == []


def test_a_change_that_is_taken_back_is_none(study):
    study("state")
    study("state", observations_per_curve=2)
    assert study("release", "--yes") == 0
    assert study.card()["changed_after_looking"] == [] and len(frozen_in(study.ledger)) == 3


def test_a_release_that_nobody_stated_before_is_frozen_when_its_file_is_read(study):
    assert (
        study("release", value_high=100) == 2
    )  # the file contradicts it, or only the cost is shown
    assert study("release", "--yes", value_high=210) == 0
    assert study.card()["changed_after_looking"] == ["value_high"]


def test_a_corrected_file_of_the_same_name_is_the_same_study(study):
    study("state", n_with_one=6)
    assert study("release", "--yes", n_with_one=0, observations_per_curve=2) == 0
    assert study.card()["changed_after_looking"] == ["observations_per_curve"]


def test_the_same_file_under_another_name_is_the_same_study(study):
    study("state", name="first")
    assert study("release", "--yes", name="second", observations_per_curve=2) == 0
    assert study.card()["changed_after_looking"] == ["observations_per_curve"]


@pytest.mark.parametrize("first_options", [("--unseen",), ()])
def test_a_holder_can_state_that_nobody_has_looked_and_only_the_first_time(study, first_options):
    study("state", *first_options)
    study("state", "--unseen")
    assert study("release", "--yes") == 0
    assert study.card()["looked_before_stating"] is (not first_options)


@pytest.mark.parametrize(
    "stated",
    [
        {"value_high": None},
        {"observations_per_curve": None},
        {"design": {"law": "never"}},
        {"value_low": "60"},
        {"typo": 3},
    ],
)
def test_a_request_that_is_incomplete_without_its_file_freezes_nothing(study, stated):
    assert study("state", **stated) == 2
    assert frozen_in(study.ledger) == []


def test_a_refusal_of_the_file_comes_after_the_facts_are_frozen(study, capsys):
    assert study("state", value_low=300, value_high=400) == 2
    wording.found("outside stated range", capsys.readouterr().err)
    assert len(frozen_in(study.ledger)) == 1


def test_an_incomplete_reading_is_refused_before_anything_is_frozen(study, tmp_path, capsys):
    study("state")
    capsys.readouterr()
    request = json.loads((tmp_path / "request.json").read_text())
    request["name"] = "other"
    request["data"]["reading"] = {"frame": {"header": ["id", "age", "height"]}, "columns": {}}
    (tmp_path / "request.json").write_text(json.dumps(request))
    assert (
        __main__.main(
            ["state", str(tmp_path / "request.json"), "--ledger", str(tmp_path / "ledger")]
        )
        == 2
    )
    assert "names people" in capsys.readouterr().err and len(frozen_in(study.ledger)) == 1


def test_published_data_have_nothing_to_freeze(tmp_path, capsys):
    (tmp_path / "request.json").write_text(
        json.dumps(
            {
                "source": {"key": "sea_temperature"},
                "mechanism": {"key": "adaptive_mean"},
                "budgets": [{"epsilon": 2, "delta": 1e-4}],
            }
        )
    )
    assert (
        __main__.main(
            ["state", str(tmp_path / "request.json"), "--ledger", str(tmp_path / "ledger")]
        )
        == 2
    )
    assert "public" in capsys.readouterr().err and not (tmp_path / "ledger").exists()


def test_the_ledger_holds_neither_the_file_nor_a_hash_that_confirms_a_guess_without_its_key(study):
    study("state")
    content = (study.folder / "few.csv").read_bytes()
    (entry,) = frozen_in(study.ledger)
    for guess in (
        hashlib.sha256(content),
        hashlib.blake2b(content, digest_size=16),
        hashlib.blake2b(content, digest_size=16, person=b"bytes of a file"),
    ):
        assert guess.hexdigest() != entry["file"]
    assert b"p1,2.6" not in study.ledger.read_bytes()


def test_a_reading_is_compared_part_by_part(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    reading = {
        "frame": {"separator": ","},
        "missing": [""],
        "ask": ["a gap"],
        "columns": {"time": {"name": "visit", "order": "dmy"}},
    }
    data = {"file": "a.csv", "facts": {"value_low": 0, "person": "child"}, "reading": reading}
    assert freeze(ledger, b"bytes", data).changed == ()
    mended = {
        **reading,
        "missing": ["", "NA"],
        "columns": {"time": {"name": "visit", "order": "mdy"}},
    }
    changed = freeze(
        ledger,
        b"bytes",
        {
            **data,
            "facts": {"value_low": 0.0, "person": "pupil", "symmetric": False},
            "reading": mended,
        },
    )
    assert changed.changed == ("reading.columns.time.order", "reading.missing")
    assert "ask" not in json.dumps(flat(data)) and changed.looked
