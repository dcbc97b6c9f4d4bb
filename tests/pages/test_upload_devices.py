"""Exports of devices in the upload dialog: each is recognised, and its days are one record of a person."""

from types import SimpleNamespace

import pytest
import streamlit as st

from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.unit.test_device_exports import (
    CLARITY,
    GGIR_2,
    GGIR_5,
    GREEN_BUTTON,
    LIBREVIEW,
    NIGHTSCOUT,
    archive,
)


def panel(monkeypatch, content, name):
    result = SimpleNamespace(file_id="1", name=name, getvalue=lambda: content)
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: result)
    return visit("explore", upload_open=True)


@pytest.mark.parametrize(("text", "name"), few([
    (CLARITY, "Dexcom Clarity"), (LIBREVIEW, "LibreView"), (NIGHTSCOUT, "Nightscout"), (GGIR_2, "GGIR part 2"),
    (GGIR_5, "GGIR part 5"), (GREEN_BUTTON, "Green Button")]))
def test_the_dialog_says_which_export_it_is_and_never_takes_a_day_for_a_person(monkeypatch, text, name):
    at = panel(monkeypatch, archive(**{"ada.csv": text, "bo.csv": text}), "exports.zip")
    assert not at.exception
    assert not [error.value for error in at.error]
    assert f"{name} export, recognised by its header" in words(at)
    assert "averaged" in words(at)
    assert "row is protected" not in words(at)


def test_the_dialog_refuses_a_bomb_and_stays_open(monkeypatch):
    at = panel(monkeypatch, archive(**{"a.csv": "0" * 5_000_000}), "a.zip")
    assert not at.exception
    assert "times what it takes" in at.error[0].value
