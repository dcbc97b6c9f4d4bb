"""A file of one's own on a page of the tester: dropped, its questions answered, confirmed, stated."""

from types import SimpleNamespace

import streamlit as st

from pages.shared.uploads import questions
from tests import files
from tests.pages.opening import visit

FIRST = questions.WORDS["who"].heading  # the first question about a file


def bring(monkeypatch, content, name="own.csv"):
    """Have a file in the uploader from the next run on."""
    content = (
        content
        if isinstance(content, bytes)
        else (content.encode() if isinstance(content, str) else files.csv(content))
    )
    file = SimpleNamespace(file_id=str(hash(content)), name=name, getvalue=lambda: content)
    holds(monkeypatch, file)


def holds(monkeypatch, file):
    """Have this in the uploader from the next run on; None as in a dialog that is opened again."""
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: file)


def dropped(monkeypatch, content, page="explore", token="", name="own.csv"):
    """A page whose dialog has a file; after a first look it is open again."""
    bring(monkeypatch, content, name)
    at = visit(page, token, upload_open=True)
    if not at.session_state["upload_open"]:
        at.session_state["upload_open"] = True
        ran(at)
    return at


def ran(at):
    at.run()
    assert not at.exception
    return at


def key_of(at, name):
    """The key of a choice about the file that is in the uploader."""
    number = at.session_state["upload_files"]
    return f"{name}_{number}" if number else name


def opened(at):
    """The first question with its fold, *How this file is read*, open."""
    fold = key_of(at, "reading_fold")
    if fold not in at.session_state or not at.session_state[fold]:
        at.session_state[fold] = True
        ran(at)
    return at


def question(at, field):
    """The radio of a question about the reading."""
    return opened(at).radio(key=key_of(at, f"upload_ask_{field}"))


def answer(at, field, words):
    """Answer a question by the option whose label holds these words."""
    asked = question(at, field)
    labels = [option.replace("\\", "") for option in asked.options]
    asked.set_value(next(label for label in labels if words in label))
    return ran(at)


def choose(at, **roles):
    """Choose columns by role, such as ``time="age"``."""
    if "id" in roles and [radio for radio in at.radio if radio.key == key_of(at, "upload_who")]:
        at.radio(key=key_of(at, "upload_who")).set_value("another")
        ran(at)
    opened(at)
    for role, name in roles.items():
        at.selectbox(key=key_of(at, f"upload_role_{role}")).set_value(name)
    return ran(at)


def onward(at):
    at.button(key="question_next").click()
    return ran(at)


def back(at):
    at.button(key="question_back").click()
    return ran(at)


def is_open(at):
    """Whether *Next* has to wait for an answer."""
    return at.button(key="question_next").disabled


def confirm(at):
    """Accept who is one person, and how the file is read."""
    return onward(at)


def when(at, law=None, **fields):
    """Answer when people were measured, and go on to the range."""
    if law:
        at.radio(key="upload_law").set_value(law)
        ran(at)
    fill(at, **fields)
    return onward(at)


def fill(at, **fields):
    """Type into the fields that are on screen."""
    for name, text in fields.items():
        at.text_input(key=f"upload_{name}").set_value(str(text))
    return ran(at)


def typed_limits(at):
    """Have fields for a range, in place of an entry of the library."""
    chosen = at.radio(key=key_of(at, "upload_bounds"))
    return at if chosen.value == "other" else ran(chosen.set_value("other") and at)


def state(at, low=0, high=300, first=1, last=4, observations=4, law="even", **more):
    """When people were measured, and the range with its source; the range stays on screen."""
    when(at, law, time_low=first, time_high=last, observations=observations)
    return fill(
        typed_limits(at), **{"value_low": low, "value_high": high, "origin": "manual", **more}
    )


def trust(at, answer="centre"):
    """Go on from the range to the question of trust, and answer it."""
    onward(at)
    at.radio(key=key_of(at, "upload_trust")).set_value(answer)
    return ran(at)


def show(at, answer=None):
    """Answer who is trusted, freeze what is stated, and have it on screen."""
    if key_of(at, "upload_trust") not in {radio.key for radio in at.radio}:
        onward(at)
    if answer:
        at.radio(key=key_of(at, "upload_trust")).set_value(answer)
        ran(at)
    return onward(at)


def said(at):
    """All words beside the fields."""
    return " ".join(
        element.value for kind in (at.error, at.info, at.warning, at.markdown) for element in kind
    ).replace("\\", "")


def table(at):
    """The lines of the table of columns on the screen of a reading, as tuples."""
    text = next(each.value for each in opened(at).markdown if each.value.startswith("| Column"))
    return [
        tuple(cell.strip().replace("\\", "") for cell in line.strip("|").split(" | "))
        for line in text.splitlines()[2:]
    ]
