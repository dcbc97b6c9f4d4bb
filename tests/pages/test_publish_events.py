"""Publish: survival and other counts from a file, or of public patients, to one release with its files."""

import pytest

from engine.release import files as release_files
from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.own_file import bring, choose, confirm, opened, ran, said, show
from tests.pages.test_upload_events import TRIAL, events, state
from tests.sentences import of_topic

wording = of_topic("counting")


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVACY_CURVES_LEDGER", str(tmp_path / "ledger.sqlite3"))


@pytest.mark.parametrize(
    ("what", "data"),
    few(
        [
            ("survival", "Survival with heart failure"),
            ("survival", "Heart failure by blood pressure"),
            ("distribution", "Creatinine with heart failure"),
            ("roc", "Creatinine with heart failure"),
        ]
    ),
)
def test_public_patients_are_released_with_their_counts(what, data):
    at = visit("publish", f"publish-{what}")
    at.selectbox(key=f"w_release_source_{what}").set_value(data)
    ran(at)
    at.button(key="wizard_next").click()
    ran(at)
    assert not at.error
    wording.found("simulated stated facts", said(at))
    at.button(key="wizard_next").click()
    ran(at)
    publish(at)
    (release,) = at.session_state.released
    written = release_files.all_files(release)
    assert {"counts.csv", "release.csv", "guarantee.json", "release.html"} <= set(written)
    assert ("at_risk.csv" in written) == (what == "survival")
    assert release.card["guarantee"]["delta"] == 0
    assert f"Released: {release.name}" in [header.value for header in at.header]


def publish(at):
    name = next(text for text in at.text_input if str(text.key).startswith("release_name"))
    name.set_value("hearts-2026")
    ran(at)
    at.button(key="release_publish").click()
    ran(at)
    assert not at.error


def test_a_file_of_ones_own_goes_through_the_wizard_to_a_release(monkeypatch):
    bring(monkeypatch, TRIAL)
    at = choose(events(visit("publish", "publish-survival"), "death"), group="arm")
    opened(at).multiselect(key="upload_ask_columns.group.words").set_value(["A", "B"])
    show(state(confirm(ran(at)), time_high=900))
    at.button(key="question_next").click()
    ran(at)
    assert not at.error
    at.text_input(key="w_release_epsilon").set_value("1.5")
    ran(at)
    at.button(key="wizard_next").click()
    ran(at)
    publish(at)
    (release,) = at.session_state.released
    assert list(release.columns) == ["A", "B"] and release.sizes.n_curves == 300
    report = release_files.report(release).decode()
    assert "At risk" in report
    assert "Log-rank test" in report
    wording.missing("ends band cover", report)
    assert "p17" not in report
