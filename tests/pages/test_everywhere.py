"""What every page has: the strip, controls that a link brings back, and words that keep the rules."""

import ast
import dataclasses
import json
import re
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some

import reproductions
from engine import handbook, lessons
from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.language import glossary
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning.budget_split import RULES, OutputShare, Split
from engine.topics.rates.answer import PRESETS as RATE_PRESETS
from engine.topics.regression.answer import NETWORKS, Group, Network
from engine.topics.sites.site_table import PRESETS as SITE_PRESETS
from engine.topics.sites.site_table import SiteRow
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.state import links, settings
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.state.sweep_choice import SweepChoice
from tests.pages.opening import open_page, own_curves, visit
from tests.pages.reading import words
from tests.pages.test_explore import State, moved
from tests.sentences import of_topic

wording = of_topic("pages")

ROOT = Path(__file__).parents[2]
_SMALL = "c-sparse_curves~c.n_curves-60~c.n_observations_per_curve-6"
SMALL = {  # a view of every page that computes, with controls and folds that are quick
    "explore": f"{_SMALL}~m-noisy_gradient_mean~epsilon-2~open-more",
    "plan": f"{_SMALL}~unknown-error~epsilon-2~target-1~open-plan_more",
    "sites": "open-hospitals",
    "rates": f"{_SMALL}~open-rate_options.rate_formula",
    "regression": "open-regression_more",
    "summaries": "summary-density~open-summaries_more",
    "sweeps": f"{_SMALL}~sweep.across-source.n_curves~open-sweeps_more",
    "reproduce": "open-published",
    "coefficients": "epsilon-2~open-coefficients_more",
    "sparse": "open-sparse_more",
}
QUICK = ("explore", "sites", "rates", "sweeps", "reproduce")
EACH = pytest.mark.parametrize(
    "page",
    [page if page in QUICK else pytest.param(page, marks=pytest.mark.slow) for page in SMALL],
)


@dataclasses.dataclass
class Seen:
    """A page with its strips, as (chips, budget, more), and its bound widgets by key."""

    at: object
    strips: list
    bound: dict


@cache
def seen(page, token=None):
    """The page, drawn once for all tests, while what it hands over is written down."""
    strips, bound, before = [], {}, (components.strip, controls.bound)

    def strip(chips, budgets, at, **more):
        strips.append((chips, budgets[at], more))

    def noted(widget, label, value, write, key, **options):
        bound[key] = (widget, value, write, options)
        before[1](widget, label, value, write, key, **options)

    components.strip, controls.bound = strip, noted
    try:
        token = SMALL[page] if token is None else token
        at = visit(page, token)
    finally:
        components.strip, controls.bound = before
    assert not [e.value for e in at.error if "our side" in e.value]
    return Seen(at, strips, bound)


# -- the strip ------------------------------------------------------------------------------


@EACH
def test_every_page_has_the_strip_with_data_unit_budget_odds_and_a_link(page):
    token = f"{_SMALL}~open-numbers" if page == "explore" else None  # where its link is shared
    chips, budget, more = seen(page, token).strips[-1]
    assert [chip.kind for chip in chips][:2] == ["gray", "blue"] and all(
        chip.help for chip in chips
    )
    assert "ε" in budget.chip and more.get("link", True)
    if page == "plan":  # no ε reaches the target with so few people
        return
    if page == "explore":  # odds and error stand above its figure
        assert (budget.odds, budget.error) == ("", "")
        return
    if page != "reproduce":  # every exhibit has its own
        assert "%" in budget.odds
    if page not in ("reproduce", "sweeps"):  # a sweep has errors when it has run
        assert re.match(r"[\d\u202f.]+", budget.error), budget


ODDS = {"audit": "≤ 56 %", "compare": "≤ ", "teach": ""}  # lessons ask for them


@pytest.mark.parametrize(
    "page", [pytest.param("compare", marks=pytest.mark.slow), "audit", "teach"]
)
def test_pages_without_one_scenario_say_what_is_protected_at_which_odds(page):
    chips, budget, more = seen(page, "").strips[-1]
    assert [chip.kind for chip in chips][:2] == ["gray", "blue"]
    assert "ε" in budget.chip and ODDS[page] in budget.odds and more.get("link", True)
    assert more.get("pin") is None  # what could be compared stands on the page of its method
    if page == "compare":
        assert re.match(r"[\d.]+ to [\d.]+ cm", budget.error)


@pytest.mark.parametrize(("draw", "odds"), [("same", "100 %"), ("fresh", "≤ ")])
def test_the_strip_of_reused_noise_says_that_nothing_is_hidden(draw, odds):
    _, budget, _ = seen("audit", f"part-reuse~draw-{draw}").strips[-1]
    assert budget.odds.startswith(odds)
    wording.found("then", budget.chip, 1, 2, alone=True)


FORMULAS = {
    "plan": "plan_formula",
    "compare": "compare_formula",
    "sweeps": "sweeps_formula",
    "reproduce": "exhibit_formula",
    "teach": "teach_formula",
    "audit": "audit_formula",
    "explore": "formula",
    "rates": "rate_formula",
    "coefficients": "coefficients_formula",
    "regression": "regression_formula",
    "summaries": "summaries_formula",
    "sparse": "sparse_formula",
    "methods": "method_formula",
}


@pytest.mark.parametrize(
    "page",
    [
        page
        if page in ("explore", "teach", "sweeps")
        else pytest.param(page, marks=pytest.mark.slow)
        for page in FORMULAS
    ],
)
def test_a_formula_is_one_click_away_on_every_page(page):
    token = SMALL.get(page, "").split("~open-")[0]
    token = "~".join(
        filter(None, [token if "open-" not in token else "", f"open-{FORMULAS[page]}"])
    )
    at = seen(page, token).at
    assert not at.error or page == "plan"
    assert at.latex or any("$" in one.value for one in at.markdown)


@pytest.mark.parametrize("key", reproductions.names())
def test_each_exhibit_names_methods_with_formulas(key):
    result = handbook.methods_of(*reproductions.find(key))
    assert result and all(cls.formula for cls in result)


@pytest.mark.parametrize("lesson", lessons.names()[1:])
def test_each_lesson_has_its_words_and_a_formula(lesson):
    one = lessons.lessons.get(lesson)
    found = [glossary.find(name) for name in one.terms]
    assert found and (one.formula or any(term.formula for term in found))


@pytest.mark.parametrize(
    "method",
    [
        cls.key if cls.key == "bernstein" else pytest.param(cls.key, marks=pytest.mark.slow)
        for cls in mechanisms.for_task("mean_function")
    ],
)
def test_no_method_of_explore_lacks_its_formula_or_a_budget_between_the_steps(method):
    at = open_page(f"{_SMALL}~m-{method}~epsilon-0.7~open-formula")
    assert not at.error and at.latex


def test_the_strip_of_a_sweep_over_budgets_tells_their_span_and_that_of_the_odds():
    _, budget, _ = seen("sweeps").strips[-1]
    wording.found("budgets from to", budget.chip, 0.25, 4, alone=True)
    assert budget.weak
    assert re.fullmatch(r"≤ \d\d to \d\d %", budget.odds)


# -- links ----------------------------------------------------------------------------------

_WHOLE, _SHARE = some.integers(1, 1000), some.floats(0, 1)
_EPSILON = some.floats(settings.LOWEST_EPSILON, settings.HIGHEST_EPSILON)


def member(shelf, task, letter):
    """Any member of a task with one parameter moved to any end of its range."""

    def build(cls, name, value):
        chosen = links.fixed_by(letter, cls)
        try:
            return cls(**{**chosen, name: value})
        except InputError:
            return cls(**chosen)

    ways = [
        (cls, p.name, value)
        for cls in shelf.for_task(task)
        if links.has_a_page(letter, cls)
        for p in cls.parameters()
        if p.name != "task"
        for value in moved(p)
        if value is None or len(str(value)) < 300
    ]
    return some.integers(0, len(ways) - 1).map(lambda k: build(*ways[k]))


_GROUP = some.builds(
    Group, sites=some.integers(1, 5), readings=some.integers(1, 1000), epsilon=some.floats(0.05, 10)
)
_ROW = some.tuples(
    some.integers(2, 500),
    some.integers(1, 60),
    some.floats(0.05, 10),
    some.none() | some.floats(1e-9, 1e-3),
    some.booleans(),
)
_VALUES = some.lists(some.floats(0.01, 1e6), max_size=6, unique=True).map(
    lambda values: tuple(sorted(values))
)
_SWEEP = some.builds(
    SweepChoice,
    task=some.sampled_from([*LAB_TASKS]),
    along=some.sampled_from(["budgets.epsilon", "source.n_curves"]),
    values=_VALUES,
    across=some.sampled_from(["", "mechanism.smoothness"]),
    levels=_VALUES,
    repeats=_WHOLE,
)
_LOOKS = some.dictionaries(some.sampled_from(list(settings.LOOKS)), some.integers(0, 1)).map(
    lambda looks: tuple(sorted(looks.items()))
)
_FOLDS = some.lists(some.from_regex(r"[a-z_]{1,30}", fullmatch=True), unique=True, max_size=9).map(
    lambda names: tuple(sorted(names))
)


def rows(drawn):
    made = tuple(SiteRow(f"Site {k}", *fields) for k, fields in enumerate(drawn, start=1))
    return (dataclasses.replace(made[0], included=True), *made[1:])


FIELDS = {
    "studies": some.fixed_dictionaries(
        {
            task: some.builds(
                settings.DataAndMethod,
                *(
                    some.just(usual) | member(shelf, task, letter)
                    for usual, shelf, letter in zip(
                        (study.source, study.mechanism),
                        (sources, mechanisms),
                        LAB_TASKS[task].letters,
                        strict=True,
                    )
                ),
            )
            for task, study in settings.FRONT_PAGE.studies.items()
        }
    ),
    "rate": some.sampled_from([cls() for cls in rates.all()]),
    "epsilon": _EPSILON,
    "delta": some.none() | some.floats(0, 0.01),
    "seed": some.integers(0, 2**31 - 1),
    "evaluation_point": _SHARE,
    "further_lines": some.sets(some.sampled_from(settings.LINES)).map(
        lambda chosen: tuple(line for line in settings.LINES if line in chosen)
    ),
    "budget_split": some.builds(
        Split,
        some.floats(0.05, 100),
        some.sampled_from(RULES),
        some.lists(
            some.builds(OutputShare, some.floats(0.01, 1000))
            | some.builds(OutputShare, some.just(1.0), some.floats(0.01, 100)),
            min_size=1,
            max_size=6,
        ).map(tuple),
    ),
    "epsilon_limit": some.none() | some.floats(0.01, 100),
    "attacker_accuracy": some.floats(50.1, 99.9),
    "target_distance": some.none() | some.floats(1e-6, 1e6),
    "typical_error": some.none() | some.floats(1e-6, 1e6),
    "looks": _LOOKS,
    "open_folds": _FOLDS,
    "sites": some.lists(_ROW, min_size=1, max_size=5).map(rows)
    | some.sampled_from([preset.rows for preset in SITE_PRESETS.values()]),
    "network": some.sampled_from([Network(groups) for groups in NETWORKS.values()])
    | some.lists(_GROUP, min_size=1, max_size=3).map(lambda groups: Network(tuple(groups))),
    "sweep": _SWEEP,
    "second_epsilon": _EPSILON,
    "group_size": some.integers(1, settings.MAX_OF_ONE),
    "periods": some.none() | some.integers(1, 1000),
    "stays": some.none() | some.integers(1, 1000),
    "population": some.none() | some.integers(2, 10_000),
    "compared_methods": some.lists(
        some.sampled_from(sorted(settings.METHODS)), min_size=1, max_size=4, unique=True
    ).map(tuple),
    "compared_budgets": some.sets(
        some.sampled_from(EPSILON_STEPS), min_size=1, max_size=settings.MAX_BUDGETS
    ).map(lambda steps: tuple(sorted(steps))),
    "class_code": some.sampled_from(("", "BCDFGH")),
    **{
        name: some.none() | some.floats(-1e6, 1e6)
        for name in (*settings.SHAPE_NUMBERS, *settings.POWER_NUMBERS)
    },
    "planned_percentile": some.none() | some.floats(0.1, 99.9),
    "percentile_target": some.none() | some.floats(1e-6, 1e6),
    **{name: some.sampled_from(list(links.choices(name))) for name in links.CHOICES},
}


def test_every_field_of_the_settings_is_drawn_at_random():
    assert set(FIELDS) == {f.name for f in dataclasses.fields(settings.Settings)}


@examples(max_examples=40)
@given(some.fixed_dictionaries({}, optional=FIELDS))
def test_any_settings_come_back_from_their_address(chosen):
    wanted = settings.Settings(**chosen)
    token = links.encode(wanted)
    assert links.decode(token) == (wanted, [])
    assert re.fullmatch(r"[\w.~:,/ +\-]*", token), token


TYPED = (
    "0.5, 2",
    "1, 2",
    "60",
    "6",
    "0.5, 0.1, 0.1, 0.1, 0.1, 0.1",
    "0.6, 0.1, 0.1, 0.1, 0.1",
    "0.3",
    "0.1",
)  # of some such form is whatever is typed as text


def near(value):
    """Numbers close to one."""
    return [value + 1, value * 2, value / 2, value - 1]


def near_text(text):
    """The same as people type them; none where the text is no number."""
    try:
        return [f"{one:.9g}" for one in near(float(text))]
    except ValueError:
        return []


def other(widget, value, options):
    """Values that a visitor could choose instead."""
    if "options" in options:
        return [one for one in options["options"] if one != value]
    if widget is st.toggle:
        return [not value]
    if widget is st.text_input:
        return [text for text in (*TYPED, *near_text(value)) if text != value]
    low, high = options.get("min_value"), options.get("max_value")
    close = [] if value is None else [*near(value), 1.0]
    return [
        one
        for one in (*close, low, high, 3)
        if one is not None
        and one != value
        and (low is None or one >= low)
        and (high is None or one <= high)
    ]


def changed(monkeypatch, found, write, choices):
    """The settings after a control was moved, by the first value that is not refused."""
    for choice in choices:
        state = State(settings=found.at.session_state.settings, rev=1)
        monkeypatch.setattr(st, "session_state", state)
        try:
            write(choice)
        except InputError:
            continue
        finally:
            monkeypatch.undo()
        if state["settings"] != found.at.session_state.settings:
            return state["settings"]
    return None


@EACH
def test_every_control_changes_the_address_which_brings_its_value_back(page, monkeypatch):
    result = seen(page)
    assert result.bound
    for key, (widget, value, write, options) in result.bound.items():
        choices = other(widget, value, options)
        if not choices:  # a list of one
            continue
        after = changed(monkeypatch, result, write, choices)
        assert after is not None, key
        token = links.encode(after)
        assert token != links.encode(result.at.session_state.settings), key
        again, problems = links.decode(token)
        assert problems == [] and links.encode(again) == token, key


@pytest.mark.parametrize(
    "page",
    ["explore"]
    + [pytest.param(page, marks=pytest.mark.slow) for page in SMALL if page != "explore"],
)
def test_a_page_opened_at_its_own_address_is_the_same_page(page):
    first = seen(page).at
    token = "".join(first.query_params.get("s", ""))
    again = seen(page, token).at
    assert again.session_state.settings == first.session_state.settings
    assert words(again) == words(first)


@pytest.mark.slow
@pytest.mark.parametrize("page", SMALL)
def test_no_widget_that_asks_for_something_is_left_out_of_links(page):
    """What is not bound is a button, an uploader, about the visitor's own file, or in a form.

    The form of sizes on Rates writes into settings that other widgets are bound to, and the choice
    of details into those that are open. The author of a memo stands in no link.
    """
    at, bound = seen(page).at, seen(page).bound
    kinds = (
        "selectbox",
        "multiselect",
        "number_input",
        "slider",
        "select_slider",
        "toggle",
        "text_input",
        "button_group",
    )
    keys = {element.key for kind in kinds for element in at.get(kind) if element.key}
    free = {key for key in keys if key.removeprefix("w_") not in bound}
    known = ("upload_", "rows_", "found_", "sizes_", "drawer_choice", "memo_author")
    assert {key for key in free if not key.startswith(known)} == set()


def test_an_open_fold_is_in_the_address_and_back_closes_it():
    at = open_page(f"{_SMALL}~open-attacker")
    at.session_state["fold_why"] = True
    at.run()
    assert "open-attacker.why" in "".join(at.query_params["s"])
    at.query_params["s"] = _SMALL
    at.run()
    assert "open-" not in "".join(at.query_params["s"])
    assert at.session_state.settings.open_folds == ()


def test_own_curves_are_in_no_address_with_any_fold_open():
    at = open_page("open-attacker", upload=own_curves(), show_upload=True, fold_why=True)
    assert "s" not in at.query_params
    assert at.session_state.settings.open_folds == ("attacker", "why")


# -- states ---------------------------------------------------------------------------------


def test_a_place_is_kept_only_for_the_first_picture_of_a_page(monkeypatch):
    collected = []
    monkeypatch.setattr(st, "skeleton", lambda height: collected.append(height))
    at = open_page(_SMALL)
    assert collected == [layout.STRIP, 640]
    at.run()
    assert len(collected) == 2


@pytest.mark.slow
def test_sites_that_can_publish_nothing_together_are_told_so_in_red_and_the_table_stays():
    at = visit("sites", "sites-A_20_3_0.05__B_20_3_0.05~open-hospitals.table")
    wording.found("together nothing published", [error.value for error in at.error])
    assert at.button(key="add_site") and not at.exception


# -- words ----------------------------------------------------------------------------------

BANNED = re.compile(
    r"\b(safe|safely|secure(?! aggregation)|securely|anonymous\w*|anonymi[sz]\w+|compliant|"
    r"leak-free|simply|just|true privacy|guarantee of privacy)\b",
    re.I,
)
BETWEEN_STRINGS = re.compile(r"""["']\s+[bfr]{0,2}["']""", re.I)  # that are put together
PLAIN_MINUS = re.compile(r"(?<![\w^{(.\-])-\d")
COMPUTER_NUMBER = re.compile(r"\b\d(\.\d+)?e[-+]\d\d\b|\bnan\b|\binf\b")
MAX_WORDS = 50  # of a sentence, about twice what is aimed at


def faults(text):
    """What is wrong with words on screen."""
    found = [
        match[0] for rule in (BANNED, PLAIN_MINUS, COMPUTER_NUMBER) for match in rule.finditer(text)
    ]
    long = [one for one in re.split(r"(?<=[.:;!?])\s|\n", text) if len(one.split()) > MAX_WORDS]
    return found + long


def texts(found):
    """All words of a drawn page: of its elements, the strips and the charts."""
    for kind in ("title", "header", "subheader", "markdown", "error", "warning", "info", "success"):
        yield from (element.value for element in found.at.get(kind))
    for kind in (
        "selectbox",
        "number_input",
        "select_slider",
        "button",
        "toggle",
        "text_input",
        "button_group",
        "download_button",
        "expandable",
        "page_link",
    ):
        for element in found.at.get(kind):
            plain = MessageToDict(element.proto)
            yield from (str(plain.get(name, "")) for name in ("label", "help", "placeholder"))
            yield from (one for one in plain.get("options", []) if isinstance(one, str))
    for element in found.at.get("bidi_component"):
        given_to = json.loads(element.proto.mixed.json or element.proto.json or "{}")
        yield str(given_to.get("alt", ""))
    for chips, budget, _ in found.strips:
        yield from (word for chip in chips for word in (chip.text, chip.help))
        yield from (budget.chip, budget.odds, budget.error)


@pytest.mark.parametrize("page", ["audit", "teach", "guide", "methods", "release"])
def test_pages_with_words_of_their_own_keep_the_rules_too(page):
    result = list(filter(None, texts(seen(page, ""))))
    assert {text: faults(text) for text in result if faults(text)} == {}


@EACH
def test_the_words_of_every_page_keep_the_rules(page):
    result = list(filter(None, texts(seen(page))))
    assert len(result) > 20
    assert {text: faults(text) for text in result if faults(text)} == {}


def of_registries():
    """The words of everything that is plugged in, of problems, and of exhibits."""
    for cls in (*sources.all(), *mechanisms.all(), *rates.all()):
        yield from (cls.label, *(label for label, _ in cls.presets()))
        for parameter in cls.parameters():
            yield from (parameter.label, parameter.help)
    yield from (term.name for cls in rates.all() for term in cls().terms)
    yield from (task.label for task in TASKS.values())
    yield from (preset.label for preset in (*SITE_PRESETS.values(), *RATE_PRESETS.values()))
    for key in reproductions.names():
        _, exhibit = reproductions.find(key)
        yield from (exhibit.title, exhibit.about)
        yield from (
            text
            for claim in exhibit.claims
            for text in (claim.says, claim.because, claim.place, claim.extent)
        )


def test_the_words_of_everything_that_is_registered_keep_the_rules():
    result = list(of_registries())
    assert len(result) > 400
    assert {text: faults(text) for text in result if faults(text)} == {}


def fixed_texts(file):
    """The strings of a file that are no documentation: what may come on screen.

    None of a file in which nothing banned stands at all, were its strings put together.
    """
    source = file.read_text("utf-8")
    if not BANNED.search(BETWEEN_STRINGS.sub("", source)):
        return []
    tree = ast.parse(source)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented
    ]


def test_no_fixed_text_of_pages_or_engine_says_a_word_that_promises_too_much():
    by_name = {
        (file.name, text)
        for folder in ("pages", "engine")
        for file in (ROOT / folder).rglob("*.py")
        for text in fixed_texts(file)
        if BANNED.search(text)
    }
    assert by_name == set()


def test_the_rules_catch_what_they_are_for():
    assert faults("This is perfectly safe.") == ["safe"]
    assert faults("slope -0.5") == ["-0"] and faults("slope −0.5") == []
    assert faults("δ = 2.5e-05") == ["2.5e-05"] and faults("δ = 2.5×10⁻⁵, ages 2-18") == []
    assert faults("word " * 60) != []


@pytest.mark.parametrize(
    ("page", "unit"),
    [
        ("explore", "One curve of"),
        ("regression", "One observation of"),
        pytest.param("coefficients", "One curve of", marks=pytest.mark.slow),
        pytest.param("summaries", "One record of", marks=pytest.mark.slow),
        pytest.param("sparse", "One row of", marks=pytest.mark.slow),
    ],
)
def test_every_model_says_what_is_protected_from_whom_and_what_that_rests_on(page, unit):
    token = f"{_SMALL}~open-{page}_label" if page == "explore" else f"open-{page}_label"
    token += "~summary-density" * (page == "summaries")
    text = words(visit(page, token))
    for part in (
        f"**Protected.** {unit}",
        "**From whom.**",
        "**Not from whom.**",
        "**Not covered.**",
        "**Assumptions.**",
    ):
        assert part in text, part


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["compare", "coefficients", "summaries", "sweeps", "rates", "release"]
)
def test_no_page_on_ones_own_curves_has_a_link_or_a_file_to_take_away(page):
    at = visit(page, "c-sea_temperature", upload=own_curves(), show_upload=True)
    taken = [button.key for button in at.get("download_button") if not button.proto.disabled]
    # The settings for a command on a larger table hold what was stated, and nothing of the file.
    assert taken == ["release_settings"] * (page == "release")
    if page in ("compare", "summaries"):
        assert "s" not in at.query_params
