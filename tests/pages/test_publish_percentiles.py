"""Publish: percentile curves of public days, previewed on the twin, released with bands and time in range."""

import csv

import pytest

from engine.release import files as release_files
from tests.pages.opening import visit
from tests.pages.test_publish_events import publish
from tests.pages.test_upload_events import ran, said
from tests.sentences import of_topic

wording = of_topic("percentiles")


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVACY_CURVES_LEDGER", str(tmp_path / "ledger.sqlite3"))


@pytest.mark.slow
def test_percentile_curves_of_public_days_are_previewed_and_released_with_their_time_in_range():
    at = visit("publish", "publish-percentile_curves")
    at.selectbox(key="w_release_source_percentile_curves").set_value(
        "Temperatures at New York airports"
    )
    ran(at)
    at.button(key="wizard_next").click()
    ran(at)
    at.text_input(key="w_m_percentile_curves_limits").set_value("0, 25")
    ran(at)
    assert not at.error
    wording.found("simulated stated facts", said(at))
    assert "all curves together" in said(at)
    at.button(key="wizard_next").click()
    ran(at)
    publish(at)
    (release,) = at.session_state.released
    assert [*release.columns] == ["5 %", "25 %", "50 %", "75 %", "95 %"]
    written = release_files.all_files(release)
    rows = [*csv.DictReader(written["time_in_range.csv"].decode().splitlines())]
    assert [row["range"] for row in rows] == ["up to 0 °C", "0 to 25 °C", "above 25 °C"]
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    wording.found("share observations", said(at), 0, 25)
