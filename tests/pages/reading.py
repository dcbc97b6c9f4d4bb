"""What a page says, for the tests of pages: also what the browser shows of one step of a slider."""

import json
from types import SimpleNamespace

from engine.topics.mean.answer import EPSILON_STEPS


def words(at):
    """All text of a page at the budget it stands at, with spaces as they are typed."""
    return typed(" ".join([element.value for element in at.markdown] + said(at)))


def warnings(at):
    """The texts of all boxes of warning."""
    return [element.value for element in at.warning] + said(at, "warning")


def said(at, kind=None):
    """Paragraphs on cards that follow the slider, at the chosen step."""
    epsilon = at.session_state.settings.epsilon
    steps = sorted({*EPSILON_STEPS, at.session_state.own_epsilon, epsilon})
    return [
        typed(text)
        for sent in components(at, "said_")
        for name, text in sent["steps"][steps.index(epsilon)]
        if kind in (None, name)
    ]


def typed(text):
    """A text with spaces at which a line may break, as it is written in tests."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def components(at, key):
    """What is sent to those browser pieces whose key begins like this."""
    rows = [piece.proto for piece in at.get("bidi_component") if f"-{key}" in piece.proto.id]
    return [json.loads(proto.mixed.json or proto.json) for proto in rows]


def error_in_lab(at):
    """The error that *Lab* states: beside a mean curve, and in the strip of another estimand."""
    if in_strip := strip(at).error:
        return in_strip
    label, value = at.metric[0].label, at.metric[0].value
    return value + label[label.index(" (") :]


def strip(at, key=""):
    """The words of the budget that a page stands at, and its chips."""
    (sent,) = [one for one in components(at, key) if "chips" in one]
    return SimpleNamespace(
        **sent["budgets"][sent["budget"]], chips=[chip["text"] for chip in sent["chips"]]
    )
