"""Words of a file and of a visitor stay words: none becomes a link, a formula, an image or a colour."""

import re
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.sources.upload import Upload, declare, read_curves, suggest_layout
from engine.tables import read_table
from pages.shared import settings
from tests import files
from tests.server import ROOT

EVIL = ["[x](javascript:1)", "![x](http://x/y)", "$x$ $\\href{a}{b}$", ":red[x]", "**x** `y`",
        "<script>x</script>", ":material/home:", "# x"]
# What Markdown would act on: no backslash before it.
ACTIVE = re.compile(r"(?<!\\)(\[x\]|!\[|\$x|\$\\|:red\[|\*\*x\*\*|`y`|<script|:material/home:)|^# x", re.M)
LABELS = ("button", "checkbox", "multiselect", "number_input", "radio", "selectbox", "slider",
          "text_input", "toggle", "expander", "tabs", "download_button", "segmented_control")
TEXTS = ("markdown", "caption", "title", "header", "subheader", "error", "warning", "info",
         "success", "badge")


def said(at):
    """Everything on the page that is read as Markdown."""
    texts = [element.value for kind in TEXTS for element in at.get(kind)]
    return [*texts, *(element.label for kind in LABELS for element in at.get(kind)),
            *(element.help for kind in LABELS for element in at.get(kind)
              if getattr(element, "help", None))]


def active(at):
    assert not at.exception
    return [text for text in said(at) if text and ACTIVE.search(text)]


def page(script, **state):
    at = AppTest.from_file(str(ROOT / "pages" / "shared" / "shell.py"), default_timeout=60)
    for name, value in state.items():
        at.session_state[name] = value
    at.run()
    return at


def own(word):
    frame = files.growth_frame().assign(**{word: 1.0})
    curves = read_curves(table := read_table(files.csv(frame.assign(child=f"{word}1"))),
                         suggest_layout(table))
    return Upload(curves=curves, declared=declare(
        60, 210, 2, 18, word, value_name=word, value_unit=word, time_name=word, time_unit=word,
        person=word, people=word))


@pytest.mark.parametrize("word", EVIL)
def test_what_is_said_of_curves_with_evil_names_is_plain(word):
    at = page("explore", upload=own(word), show_upload=True)
    assert any("x" in text for text in said(at)) and not active(at)


@pytest.mark.parametrize("word", EVIL)
def test_the_panel_shows_names_of_columns_and_words_as_they_are(monkeypatch, word):
    frame = files.growth_frame().assign(**{word: 1.0, f"{word} site": "a"})
    given = SimpleNamespace(file_id="1", getvalue=lambda: files.csv(frame))
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: given)
    at = page("explore", upload_open=True, upload_value_name=word, upload_value_unit=word,
              upload_time_name=word, upload_person=word, upload_covariates=[word])
    assert not active(at)


@pytest.mark.parametrize("word", EVIL)
def test_a_link_shows_what_it_asked_for_as_it_is(word):
    chosen, problems = settings.decode(f"c-{word}~{word}-1~epsilon-{word}")
    assert chosen == settings.Settings() and problems
    at = AppTest.from_file(str(ROOT / "pages" / "shared" / "shell.py"), default_timeout=60)
    at.query_params["s"] = f"c-{word}~{word}-1"
    at.run()
    assert at.warning and not active(at)
