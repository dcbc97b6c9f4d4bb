"""Explore through the framework's own tester: it draws, reacts, refuses kindly and links."""

import dataclasses
import json

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.language import numbers, odds_words, quality
from engine.mechanisms import mechanisms
from engine.privacy import risk
from engine.sources import sources
from engine.topics.mean.answer import EPSILON_STEPS, mean_over_budgets
from pages.shared.state import links, run, session, settings
from tests.heavy import few
from tests.pages.opening import open_page, own_curves
from tests.pages.reading import components, words
from tests.sentences import of_topic

wording = of_topic("mean")

PRESETS = [(cls, chosen) for cls in sources.for_task(settings.TASK) for _, chosen in cls.presets()]
METHODS = [
    (cls, chosen) for cls in mechanisms.for_task(settings.TASK) for _, chosen in cls.presets()
]


def first_of_each(ways):
    """One way for every class; its others draw the same page and are left to `test-all`."""
    first = {cls: chosen for cls, chosen in reversed(ways)}
    return [
        pytest.param(cls, chosen, marks=() if chosen is first[cls] else pytest.mark.slow)
        for cls, chosen in ways
    ]


def test_the_front_page_is_drawn_on_arrival_without_a_click():
    at = open_page()
    wording.found("mean growth curve", at.title[0].value, 200, alone=True)
    sent, one = components(at, "figure")[0]["curves"], EPSILON_STEPS.index(1.0)
    assert sent["attacker"][one] == "≤ 56 %" and sent["errors"][one][0].endswith(" cm")
    assert not at.error


DETAILS = ("accuracy", "attacker", "more", "shape", "steps", "ledger", "formula", "numbers", "code")


@pytest.mark.parametrize("detail", DETAILS)
def test_a_link_opens_each_detail_and_the_button_closes_it(detail):
    at = open_page(f"open-{detail}")
    assert not at.error and not at.exception
    assert at.selectbox(key="drawer_choice").value == detail
    at.button(key="drawer_close").click().run()
    assert not [box for box in at.selectbox if box.key == "drawer_choice"]
    assert "s" not in at.query_params


def test_one_detail_takes_the_place_of_another_and_the_address_keeps_it():
    at = open_page()
    at.button(key="details").click().run()
    assert at.selectbox(key="drawer_choice").value == "accuracy"
    at.selectbox(key="drawer_choice").set_value("ledger").run()
    assert "".join(at.query_params["s"]) == "open-ledger"
    wording.missing("root mean squared", words(at))


@pytest.mark.parametrize("view", ["releases", "ranges", "one"])
def test_a_link_of_the_first_edition_shows_the_figure(view):
    at = open_page(f"view-{view}~shown-curves.truth~epsilon-2")
    assert not at.warning and at.session_state.settings.explore_view == "look"
    now = components(at, "figure")[0]["now"]
    assert now["view"] == "look" and now["with_truth"]


def test_a_link_opens_the_attackers_game():
    assert components(open_page("view-attack"), "figure")[0]["now"]["view"] == "attack"


def test_numbers_on_screen_are_those_of_the_engine():
    at, usual = open_page("open-accuracy"), settings.Settings()
    result = mean_over_budgets(usual.source, usual.mechanism, 1 / 200**2, usual.seed)
    one = EPSILON_STEPS.index(1.0)
    error, within = result.study.error[one], result.study.within[one]
    assert quality.accuracy(usual.source.facts, error, within, result.study.baseline) in words(at)


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "chosen"), few(first_of_each(PRESETS)), ids=lambda x: str(x))
def test_every_source_draws(cls, chosen):
    now = settings.Settings().with_study(settings.TASK, cls(**chosen))
    at = open_page(f"{links.encode(now)}~open-attacker".strip("~"))
    assert not at.error
    wording.found("pick right one", words(at))


@pytest.mark.parametrize(("cls", "chosen"), few(first_of_each(METHODS), 2), ids=lambda x: str(x))
def test_every_method_draws(cls, chosen):
    now = settings.Settings().with_study(settings.TASK, mechanism=cls(**chosen))
    assert not open_page(links.encode(now)).error


def test_choosing_other_curves_changes_the_page_and_the_address():
    at = open_page("open-data")
    at.selectbox(key="w_source").set_value("Smooth wave, simulated").run()
    assert "child" not in at.title[0].value
    assert "c-sparse_curves" in at.query_params["s"]
    at.selectbox(key="w_source").set_value("Growth, simulated").run()
    assert "".join(at.query_params["s"]) == "open-data"


def test_a_changed_option_shows_as_a_chip_until_it_is_reset():
    at = open_page("m-noisy_gradient_mean~m.truncation-7~seed-9")
    badges = " ".join(m.value for m in at.markdown if "badge" in m.value)
    wording.found("number basis functions", badges, 7)
    assert "Seed 9" in badges
    at.button(key="reset").click().run()
    assert at.session_state.settings.mechanism == mechanisms.get("noisy_gradient_mean")()
    assert at.session_state.settings.seed == settings.Settings().seed


def test_a_refused_setting_is_explained_and_the_controls_stay():
    at = open_page("m-noisy_gradient_mean~m.scheme-split~m.n_iterations-500~open-more")
    wording.found("need least curves", at.error[0].value, 500)
    assert at.selectbox(key="w_mechanism")
    at.button(key="reset").click().run()
    assert not at.error


def test_a_damaged_link_shows_the_usual_values_and_says_so():
    at = open_page("c-nowhere~epsilon-99~seed-x~colour-red~m-noisy_gradient_mean~m.truncation-0")
    names = " ".join(warning.value for warning in at.warning)
    for name in ("nowhere", "epsilon", "seed", "colour", "truncation"):
        assert name in names
    assert at.session_state.settings.epsilon == 1.0


def test_a_budget_that_cannot_work_is_refused_before_any_data_are_read_and_the_controls_stay():
    at = open_page("epsilon-0.05~open-accuracy")
    wording.found("nothing published", words(at))
    wording.missing("root mean squared", words(at))
    assert not at.error
    at.selectbox(key="drawer_choice").set_value("numbers").run()
    assert at.get("download_button")[-2].proto.disabled
    assert at.selectbox(key="w_mechanism")


def test_what_follows_the_slider_is_sent_once_for_all_steps_and_below_600_kilobytes():
    at = open_page("open-accuracy")
    sent = {key: components(at, key) for key in ("figure", "said_", "chart_")}
    curves, cards = sent["figure"][0]["curves"], sent["said_"]
    assert len(cards) == 3 and all(len(card["steps"]) == len(EPSILON_STEPS) for card in cards)
    assert any("Not visible here" in str(card["steps"]) for card in cards)
    assert sum(len(json.dumps(part)) for part in sent.values()) < 600_000
    at.session_state["figure"] = {"picked": {"budget": 20, "rev": at.session_state.rev}}
    at.run()
    assert at.session_state.settings.epsilon == EPSILON_STEPS[20]
    assert components(at, "said_") == cards
    assert components(at, "figure")[0]["curves"] == curves
    by_step = [chart for chart in sent["chart_"] if len(chart["figures"]) > 1]
    assert len(by_step) == 2
    assert [c for c in components(at, "chart_") if len(c["figures"]) > 1] == by_step


def test_cards_say_at_every_step_what_the_engine_found_there():
    usual = settings.Settings()
    accuracy, attacker = (
        components(open_page(f"open-{key}"), "said_") for key in ("accuracy", "attacker")
    )
    result = mean_over_budgets(usual.source, usual.mechanism, 1 / 200**2, usual.seed)
    for k in (6, 23):
        odds = odds_words.odds_main(risk.of_ledger(result.spends[k]), "child")
        close = quality.accuracy(
            usual.source.facts,
            float(result.study.error[k]),
            float(result.study.within[k]),
            result.study.baseline,
        )
        assert numbers.unbroken(close) in [
            text for card in accuracy for _, text in card["steps"][k]
        ]
        assert numbers.unbroken(odds) in [text for card in attacker for _, text in card["steps"][k]]


def test_what_was_known_before_any_reading_stands_on_the_accuracy_card():
    assert "Forecast: **usable**." in words(open_page("open-accuracy"))
    wording.found("coarse level trend", words(open_page("epsilon-0.4~open-accuracy")))


@pytest.mark.slow
def test_waves_that_do_not_suit_the_curves_are_warned_of():
    wording.found("fourier basis periodic", words(open_page("m-adaptive_mean~m.basis-fourier")))
    suited = words(open_page("c-sparse_curves~m-adaptive_mean~m.basis-fourier"))
    assert suited and "Fourier" not in suited and "Caution]" not in suited


@pytest.mark.parametrize(
    ("page", "chosen", "many"),
    few(
        [
            (
                "explore",
                "c-sparse_curves~c.n_curves-200~m-noisy_gradient_mean~m.scheme-split",
                "250",
            ),
            (
                "compare",
                "c-sparse_curves~c.n_curves-200~m-noisy_gradient_mean~m.scheme-split",
                "250",
            ),
            (
                "sites",
                "c-sparse_curves~m-noisy_gradient_mean~m.scheme-split~m.n_iterations-200",
                None,
            ),
            (
                "coefficients",
                "k-noisy_gradient_coefficients~k.scheme-split~k.n_iterations-300",
                None,
            ),
        ]
    ),
)
def test_every_page_with_rounds_of_few_curves_says_so(page, chosen, many):
    def said(token):
        at = open_page(token, page)
        return any(
            "A round has only" in text
            for text in [*(warning.value for warning in at.warning), words(at)]
        )

    assert said(chosen)
    assert not said(
        chosen.replace("n_curves-200", f"n_curves-{many}")
        if many
        else chosen.rpartition("~")[0] + "~epsilon-2"
    )


@pytest.mark.slow
def test_without_delta_the_adaptive_mean_draws():
    at = open_page("delta-0~epsilon-4~open-ledger")
    wording.found("together", words(at), "4.00", 0)
    at = open_page("delta-0~epsilon-4~open-why")
    wording.found("computed noise releases", words(at))
    wording.found("bound given never", words(at), 0)
    assert not at.error


@pytest.mark.slow
def test_text_and_shares_can_be_given_in_the_form_and_come_back_from_the_address():
    at = open_page("open-more")
    at.text_input(key="w_m_adaptive_mean_prior").set_value("1, 2").run()
    assert at.session_state.settings.mechanism.prior == "1, 2"
    assert "m.prior-1, 2" in "".join(at.query_params["s"])
    at.text_input(key="w_m_adaptive_mean_split").set_value("0.5, 0.6").run()
    wording.found("positive shares sum", [error.value for error in at.error], 1)
    assert at.session_state.settings.mechanism.split is None
    at.text_input(key="w_m_adaptive_mean_prior").set_value("").run()
    assert at.session_state.settings.mechanism.prior is None


@pytest.mark.slow
def test_a_delta_of_zero_is_refused_only_where_the_noise_needs_one():
    at = open_page("m-noisy_gradient_mean~open-more")
    at.text_input(key="w_delta").set_value("0").run()
    wording.found("needs above", [error.value for error in at.error], 0)
    at = open_page("open-more")
    at.text_input(key="w_delta").set_value("0").run()
    assert at.session_state.settings.delta == 0.0


def test_weak_protection_is_said_in_words():
    def said(token):
        return "weak protection for one child" in words(open_page(token))

    assert said("epsilon-8~open-attacker") and not said("open-attacker")


def test_published_constants_that_break_their_promise_are_not_shown_as_if_they_kept_it():
    token = "m-noisy_gradient_mean~m.constants-published~m.noise-isotropic~epsilon-10~delta-0.001"
    at = open_page(token)
    wording.found("these settings method", [error.value for error in at.error])


def test_own_curves_are_marked_not_private_and_cannot_leave():
    at = open_page("open-numbers", upload=own_curves(), show_upload=True)
    assert "s" not in at.query_params
    assert all(button.proto.disabled for button in at.get("download_button")[-2:])
    assert (
        at.button(key="save_SVG").disabled
        and not components(at, "figure")[0]["curves"]["downloads"]
    )
    at.selectbox(key="drawer_choice").set_value("accuracy").run()
    wording.found("own mean", words(at))


def test_own_curves_never_enter_the_cache_that_visitors_share():

    before = set(run._SHARED._results)
    open_page(upload=own_curves(), show_upload=True)
    assert set(run._SHARED._results) == before


# -- the address ----------------------------------------------------------------------------


def variations():
    """Settings with every parameter of every source and method moved from its usual value."""
    usual = settings.Settings()
    yield usual
    for name, value in (
        ("epsilon", 0.7),
        ("delta", 1e-6),
        ("seed", 12),
        ("explore_view", "attack"),
        ("theory_along", "people"),
        ("theory_sites", "10"),
        ("further_lines", ("truth",)),
        ("further_lines", ()),
    ):
        yield dataclasses.replace(usual, **{name: value})
    for shelf, name in ((sources, "source"), (mechanisms, "mechanism")):
        for cls in shelf.for_task(settings.TASK):
            for parameter in cls.parameters():
                if parameter.name == "task":  # the page says it
                    continue
                for value in moved(parameter):
                    try:
                        member = cls(**{parameter.name: value})
                    except InputError:
                        continue
                    yield usual.with_study(settings.TASK, **{name: member})


def moved(parameter):
    if parameter.choices:
        return list(parameter.choices)
    if parameter.kind is bool:
        return [True, False]
    values = [parameter.kind(parameter.low), parameter.kind(parameter.high)]
    return [*values, None] if parameter.optional else values


def test_a_link_brings_back_every_setting():
    tried = list(variations())
    assert len(tried) > 60
    for chosen in tried:
        token = links.encode(chosen)
        again, problems = links.decode(token)
        assert (again, problems) == (chosen, []), token
        assert len(token) < 400


def test_random_tokens_never_fail():
    rng = np.random.default_rng(3)
    alphabet = [*"cmse.-~_19xε \\<>\"'", "truncation", "sparse_curves", "epsilon", "none"]
    for _ in range(500):
        found, _ = links.decode("".join(rng.choice(alphabet, size=rng.integers(40))))
        assert links.decode(links.encode(found)) == (found, [])


class State(dict):
    """A session's state with attributes, as streamlit has it."""

    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


def load_with(monkeypatch, state, address):
    asked = {"s": address} if address else {}
    for name, value in (("session_state", state), ("query_params", asked)):
        monkeypatch.setattr(session.st, name, value)
    session.load("explore")


def test_an_address_that_the_browser_has_not_replaced_yet_does_not_undo_a_movement(monkeypatch):
    """The second of two quick movements comes with the address from before the first."""
    state = State()
    load_with(monkeypatch, state, "")
    state.settings, state.written = settings.Settings(epsilon=1.2), "epsilon-1.2"
    state[session.FIGURE] = {"picked": {"budget": 16, "rev": state.rev}}
    load_with(monkeypatch, state, "")
    assert state.settings.epsilon == 1.2
    session.change(seed=7)
    load_with(monkeypatch, state, "")
    assert (state.settings.epsilon, state.settings.seed) == (1.2, 7)
    load_with(monkeypatch, state, "")  # nothing was asked for since: this is Back
    assert state.settings == settings.Settings() and state.rev == 2


def test_a_release_can_be_taken_apart_and_a_link_remembers_which_parts_are_off():
    at = open_page("c-sparse_curves~c.n_curves-150~c.n_observations_per_curve-8~open-steps")
    wording.found("clipping smoothing move", words(at))
    wording.found("sources error", words(at))
    at.toggle(key="w_part_noise").set_value(False).run()
    wording.found("selected sources", words(at))
    assert "look.parts-6" in at.query_params["s"]
    at = open_page(at.query_params["s"])
    assert at.toggle(key="w_part_noise").value is False
    assert at.toggle(key="w_part_bias").value is True


def test_the_figure_keeps_its_place_on_the_page_whatever_is_said_above_it():
    """In another place the browser would draw it anew: it would flash, and lose the keyboard."""

    def places_in(block, before=()):
        for k, part in block.children.items():
            if part.type == "bidi_component" and part.proto.component_name.endswith("figure"):
                yield (*before, k)
            elif hasattr(part, "children"):
                yield from places_in(part, (*before, k))

    def place(at):
        (found,) = places_in(at.main)
        return found

    at = open_page()
    before = place(at)
    assert place(at.run()) == before
    for said in ("epsilon-2~rule-1.5", "open-accuracy", "never-heard-of", "c-sea_temperature"):
        assert place(open_page(said)) == before


def test_a_rule_of_ones_own_is_marked_pointed_out_and_kept_by_the_link():
    at = open_page("c-sea_temperature~epsilon-2~open-rule")
    at.text_input(key="w_rule").set_value("1.5").run()
    wording.found("above own rule", [warning.value for warning in at.warning])
    assert "rule-1.5" in at.query_params["s"]
    marks = components(at, "figure")[0]["now"]["anchors"]
    assert [mark["word"] for mark in marks if mark["is_own"]] == ["your rule"]
    assert {mark["word"] for mark in marks if not mark["is_own"]} >= {"Google", "Apple"}
    wording.found("comparable they stand", words(at))
    at.text_input(key="w_rule").set_value("2.5").run()
    wording.missing("above own rule", [warning.value for warning in at.warning])


def test_an_error_on_real_data_is_called_a_forecast_on_the_strip_and_in_the_figure():
    at = open_page("m-bernstein~open-numbers", upload=own_curves(), show_upload=True)
    wording.found("forecast", components(at, "strip")[0]["error"], alone=True)
    figure = components(at, "figure")[0]["curves"]
    wording.found("forecast", figure["words"]["error"], alone=True)
    wording.found("forecast", words(at))
    assert components(open_page("m-bernstein~open-numbers"), "strip")[0]["error"] == "Error"
