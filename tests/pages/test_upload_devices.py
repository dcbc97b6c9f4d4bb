"""Exports of devices in the upload dialog: each is recognised, and a file is one person."""

import pytest

from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.own_file import bring, dropped, said
from tests.sentences import of_topic
from tests.unit.test_device_exports import (
    CLARITY,
    GGIR_2,
    GGIR_5,
    GREEN_BUTTON,
    LIBREVIEW,
    NIGHTSCOUT,
    archive,
)

wording = of_topic("upload")


@pytest.mark.parametrize(
    ("text", "name"),
    few(
        [
            (CLARITY, "Dexcom Clarity"),
            (LIBREVIEW, "LibreView"),
            (NIGHTSCOUT, "Nightscout"),
            (GGIR_2, "GGIR part 2"),
            (GGIR_5, "GGIR part 5"),
            (GREEN_BUTTON, "Green Button"),
        ]
    ),
)
def test_the_dialog_reads_an_export_and_never_takes_a_day_for_a_person(monkeypatch, text, name):
    at = dropped(monkeypatch, archive(**{"ada.csv": text, "bo.csv": text}), name="exports.zip")
    assert f"{name} export" in said(at) and "is one person" in said(at)
    assert not at.button(key="question_next").disabled
    assert not at.error or "10 people" in said(at)


def test_the_dialog_refuses_a_bomb_and_stays_open(monkeypatch):
    bring(monkeypatch, archive(**{"a.csv": "0" * 5_000_000}), "a.zip")
    at = visit("explore", upload_open=True)
    wording.found("times takes", said(at))
    assert at.session_state["upload_open"]
