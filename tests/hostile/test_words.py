"""Words of a file and of a visitor stay words: none becomes a link, a formula, an image or a colour."""

import re

import pytest

from engine.core.errors import InputError
from engine.uploads.curves import Upload
from engine.uploads.facts import StatedCovariate, declare
from pages.shared.state import links, run, settings
from tests import files
from tests.heavy import few
from tests.pages.opening import open_page, visit
from tests.pages.own_file import confirm, dropped, key_of, opened, ran, typed_limits, when
from tests.readings import curves_in

pytestmark = pytest.mark.usefixtures("few_data_sets")

EVIL = [
    "[x](javascript:1)",
    "![x](http://x/y)",
    "$x$ $\\href{a}{b}$",
    ":red[x]",
    "**x** `y`",
    "<script>x</script>",
    ":material/home:",
    "# x",
]
# What Markdown would act on: no backslash before it.
ACTIVE = re.compile(
    r"(?<!\\)(\[x\]|!\[|\$x|\$\\|:red\[|\*\*x\*\*|`y`|<script|:material/home:)|^# x", re.M
)
LABELS = (
    "button",
    "checkbox",
    "multiselect",
    "number_input",
    "radio",
    "selectbox",
    "slider",
    "text_input",
    "toggle",
    "expander",
    "tabs",
    "download_button",
    "segmented_control",
)
TEXTS = (
    "markdown",
    "caption",
    "title",
    "header",
    "subheader",
    "error",
    "warning",
    "info",
    "success",
    "badge",
)


def said(at):
    """Everything on the page that is read as Markdown."""
    texts = [element.value for kind in TEXTS for element in at.get(kind)]
    return [
        *texts,
        *(element.label for kind in LABELS for element in at.get(kind)),
        *(
            element.help
            for kind in LABELS
            for element in at.get(kind)
            if getattr(element, "help", None)
        ),
    ]


def active(at):
    assert not at.exception
    return [text for text in said(at) if text and ACTIVE.search(text)]


def own(word):
    """Curves whose ids, column and source of bounds are that word."""
    frame = files.growth_frame().assign(**{word: lambda t: (t["child"] < "c006") * 1.0})
    content = files.csv(frame.assign(child=lambda t: word + t["child"]))
    return Upload(
        curves=curves_in(content, {"covariates": [word]}),
        declared=declare(60, 210, 2, 18, word, [StatedCovariate(word, 0, 1, "cm")], **files.EVEN),
    )


@pytest.mark.parametrize("word", EVIL)
@pytest.mark.parametrize(
    "role", ["person", "people", "value_name", "value_unit", "time_name", "time_unit"]
)
def test_words_that_stand_in_sentences_hold_no_markup(role, word):
    with pytest.raises(InputError, match="cannot be a name or a unit here") as refused:
        declare(60, 210, 2, 18, "a law", **{role: word}, **files.EVEN)
    assert refused.value.field == role and "Leave out" in refused.value.hint
    assert declare(60, 210, 2, 18, "a law", **{role: "kg/m² (å’s 5%)"}, **files.EVEN)


@pytest.mark.parametrize("word", few(EVIL))
def test_what_is_said_of_curves_with_evil_names_is_plain(word):
    at = open_page(upload=own(word), show_upload=True)
    assert not active(at)


@pytest.mark.parametrize("script", few(["summaries", "sites", "coefficients", "plan", "rates"]))
def test_other_pages_that_know_the_curves_are_plain(script):
    word = "[x](a) $x$ :red[x] **x** `y`"
    upload = own(word)
    at = visit(script, upload=upload, show_upload=True)
    assert not active(at)


@pytest.mark.parametrize("word", few(EVIL))
def test_the_panel_shows_names_of_columns_and_words_as_they_are(monkeypatch, word):
    frame = files.growth_frame().assign(**{word: 1.0, f"{word} site": "a"})
    at = dropped(monkeypatch, frame)
    assert not active(at)
    opened(at).multiselect(key=key_of(at, "upload_role_covariates")).set_value([word])
    at = confirm(ran(at))
    assert not active(at)
    at = typed_limits(when(at, "even", time_low=2, time_high=18, observations=5))
    assert not active(at)
    for name in ("value_name", "value_unit", "person"):
        at.text_input(key=f"upload_{name}").set_value(word)
    assert not active(ran(at))


@pytest.mark.parametrize("word", few(EVIL, 3))
def test_a_link_shows_what_it_asked_for_as_it_is(word):
    chosen, problems = links.decode(f"c-{word}~{word}-1~epsilon-{word}")
    assert chosen == settings.Settings() and problems
    at = open_page(f"c-{word}~{word}-1")
    assert at.warning and not active(at)


@pytest.mark.parametrize(
    "script", few(["explore", "coefficients", "summaries", "sites", "plan", "rates"], 1)
)
def test_a_single_curve_ends_on_every_page_in_a_picture_or_a_sentence(script):
    upload = Upload(
        curves=curves_in(files.rows("a,0.1,5\na,0.5,6")),
        declared=declare(0, 10, 0, 1, "a law", **files.EVEN),
    )
    at = visit(script, upload=upload, show_upload=True)
    assert not any("on our side" in error.value for error in at.error)


def test_what_a_page_did_not_expect_is_said_with_a_reference_and_logged_without_a_reading(
    monkeypatch, logged
):
    def breaks(*_):
        reading = 100 + 23.456
        raise ValueError(f"cannot use {reading:.3f}")

    monkeypatch.setattr(run, "mean_at_every_step", breaks)
    at = open_page(fine=False)
    (box,) = at.error
    assert "on our side" in box.value and re.search(r"[0-9a-f]{8}", box.value)
    assert "123.456" not in str(at)
    assert "breaks" in logged.getvalue() and "123.456" not in logged.getvalue()
