"""Cards of earlier versions open for ever: they are asked, compared, checked and drawn from."""

import json
from pathlib import Path

import pytest

from engine import __main__
from engine.answers import card as answers_card
from engine.answers import curve_questions
from engine.release.checked_files import check

CARD = Path(__file__).with_name("guarantee_2.json")
TABLE = Path(__file__).with_name("release_of_guarantee_2.csv")


@pytest.fixture
def card():
    return json.loads(CARD.read_text())


def test_a_card_of_version_2_is_asked_every_question(card):
    assert card["version"] == 2 and card["versions"]["privacy_curves"] == "0.5.0"
    curve = answers_card.read(card)
    answers = {cls.key: cls().answer(curve).text for cls in curve_questions.all()}
    assert all(answers.values()) and curve.n_people == 1092


def test_the_numbers_and_the_table_of_a_card_of_version_2_fit_together():
    files = {"guarantee.json": CARD.read_bytes(), "release.csv": TABLE.read_bytes()}
    assert {finding.holds for finding in check(files, None)} == {True, None}


@pytest.mark.parametrize("command", [["ask-card"], ["synthetic"]])
def test_commands_take_a_card_of_version_2(command, capsys):
    assert __main__.main([*command, str(CARD)]) == 0
    assert capsys.readouterr().out


def test_cards_of_versions_1_and_2_are_compared_with_one_another(card, tmp_path, capsys):
    """Version 1 said less: neither verdict nor groups."""
    other = {key: value for key, value in card.items() if key not in ("accuracy", "not_covered")}
    other |= {"version": 1, "release": {**card["release"], "id": "0" * 16, "of": "others"}}
    other["answers"] = {**card["answers"], "centre": [-each for each in card["answers"]["centre"]]}
    (tmp_path / "other.json").write_text(json.dumps(other))
    assert (
        __main__.main(["compare-cards", str(CARD), str(tmp_path / "other.json"), "--disjoint"]) == 0
    )
    assert capsys.readouterr().out


def test_a_record_asks_for_a_card_of_this_version(capsys):
    assert (
        __main__.main(["record", str(CARD), "--curator", "A", "--use", "B", "--region", "C"]) == 2
    )
    assert "--again" in capsys.readouterr().err
