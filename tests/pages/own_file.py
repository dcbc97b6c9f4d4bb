"""A file of one's own on a page of the tester: dropped, its questions answered, confirmed, stated."""

from types import SimpleNamespace

import streamlit as st

from tests import files
from tests.pages.opening import visit


def bring(monkeypatch, content, name="own.csv"):
    """Have a file in the uploader from the next run on."""
    content = (
        content
        if isinstance(content, bytes)
        else (content.encode() if isinstance(content, str) else files.csv(content))
    )
    file = SimpleNamespace(file_id=str(hash(content)), name=name, getvalue=lambda: content)
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


def question(at, field):
    """The radio of a question about the reading."""
    return at.radio(key=key_of(at, f"upload_ask_{field}"))


def answer(at, field, words):
    """Answer a question by the option whose label holds these words."""
    asked = question(at, field)
    labels = [option.replace("\\", "") for option in asked.options]
    asked.set_value(next(label for label in labels if words in label))
    return ran(at)


def choose(at, **roles):
    """Choose columns by role, such as ``time="age"``."""
    for role, name in roles.items():
        at.selectbox(key=key_of(at, f"upload_role_{role}")).set_value(name)
    return ran(at)


def confirm(at):
    at.button(key="confirm_reading").click()
    return ran(at)


def state(at, low=0, high=300, first=1, last=4, observations=4, law="even", **more):
    """The public bounds, in their part of the form."""
    facts = {
        "value_low": low,
        "value_high": high,
        "time_low": first,
        "time_high": last,
        "observations": observations,
        "origin": "manual",
        **more,
    }
    for name, text in facts.items():
        at.text_input(key=f"upload_{name}").set_value(str(text))
    at.selectbox(key="upload_law").set_value(law)
    return ran(at)


def show(at):
    """Freeze what is stated, and have it on screen."""
    at.button(key="upload_show").click()
    return ran(at)


def said(at):
    """All words beside the fields."""
    return " ".join(
        element.value for kind in (at.error, at.info, at.warning, at.markdown) for element in kind
    ).replace("\\", "")


def table(at):
    """The lines of the table of columns on the screen of a reading, as tuples."""
    text = next(each.value for each in at.markdown if each.value.startswith("| Column"))
    return [
        tuple(cell.strip().replace("\\", "") for cell in line.strip("|").split(" | "))
        for line in text.splitlines()[2:]
    ]
