"""Changes of the same people, published from a file on the command line with a card."""

import json

import pytest

from engine import __main__
from engine.answers.card import read
from engine.answers.value import Value
from tests.unit.test_changes import MONTHS, READING, content, file


def request(**facts):
    return {
        "version": 1,
        "name": "scores",
        "data": {
            "file": "scores.csv",
            "reading": READING,
            "facts": {
                "value_low": -8,
                "value_high": 8,
                "time_low": 0,
                "time_high": 12,
                "origin": "protocol",
                "value_name": "Score",
                "design": {"law": "common", "times": list(MONTHS)},
                "observations_per_curve": len(MONTHS),
                **facts,
            },
        },
        "mechanism": {"key": "adaptive_mean", "parameters": {}},
        "budgets": [{"epsilon": 2.5, "delta": 1e-6}],
    }


def published(folder, **facts):
    (folder / "scores.csv").write_bytes(content(file(400)))
    (folder / "r.json").write_text(json.dumps(request(**facts)))
    words = ["release", str(folder / "r.json"), "--ledger", str(folder / "l.db")]
    words += ["--witness", str(folder / "w"), "--out", str(folder / "out"), "--yes"]
    return __main__.main(words)


def test_a_request_with_two_periods_publishes_the_mean_change(tmp_path):
    assert published(tmp_path) == 0
    card = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    assert card["reading"]["paired"] is True
    curve = read(card)
    assert curve.facts.value_name == "Change in score"
    answer = Value(time=6.0).answer(curve)
    assert answer.value == pytest.approx(2.0, abs=1.0) and answer.holds(answer.value)


def test_bounds_of_levels_are_refused_before_anything_is_charged(tmp_path):
    assert published(tmp_path, value_low=0, value_high=30) == 2
    assert not (tmp_path / "out").exists()
