"""Publish: a file with two periods of the same people becomes the mean of each person's change."""

import numpy as np
import pytest

from tests.pages.opening import visit
from tests.pages.own_file import (
    answer,
    bring,
    fill,
    onward,
    question,
    ran,
    said,
    trust,
    typed_limits,
    when,
)
from tests.sentences import of_topic

wording = of_topic("upload")
PERIOD = "columns.period"
RISE = 5.0  # of everybody from the first period to the second


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVACY_CURVES_LEDGER", str(tmp_path / "ledger.sqlite3"))


@pytest.fixture
def at(monkeypatch):
    """Publish with a file of 80 people at six hours, before and after."""
    rows = ["patient,period,hour,pressure"]
    rng = np.random.default_rng(3)
    for k in range(80):
        for period in ("after", "before"):
            for hour in range(6):
                value = 120 + 8 * rng.standard_normal() + RISE * (period == "after")
                rows.append(f"p{k},{period},{hour},{value:.1f}")
    bring(monkeypatch, "\n".join(rows) + "\n")
    return visit("publish", "publish-mean_function")


def test_a_period_is_asked_about_and_not_used_unless_its_holder_says_so(at):
    asked = question(at, PERIOD)
    assert len(asked.options) == 3 and asked.value.startswith("Not used")
    onward(at)
    wording.missing("range of change", said(at), "after", "before")
    wording.missing("range of change", said(at), "before", "after")


def test_the_change_is_taken_in_the_stated_order_with_bounds_of_a_change(at):
    answer(at, PERIOD, "from “before” to “after”")
    onward(at)
    when(at, "common", times="0, 1, 2, 3, 4, 5", time_low=0, time_high=5)
    wording.found("range of change", said(at), "before", "after")
    fill(typed_limits(at), value_low=-60, value_high=60, origin="a manual")
    onward(trust(at))
    assert not at.error
    source = at.session_state["upload"]
    assert source.reading.is_of_changes and source.reading.paired
    assert source.reading.periods == ("before", "after")
    assert source.curves.n_curves == 80
    assert source.curves.values.mean() == pytest.approx(RISE, abs=1.5)
    assert (source.facts.value_low, source.facts.value_high) == (-60, 60)
    onward(at)
    at.text_input(key="w_release_epsilon").set_value("2")
    ran(at)
    assert not at.error
