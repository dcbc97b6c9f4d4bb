"""Compare: methods beside budgets, pins that come back through the link, questions of shape."""

import dataclasses
import json
import re

import pytest

from engine.language import numbers
from engine.language.grammar import escape
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.sites.site_table import SiteRow
from engine.uploads.facts import declare
from pages.parts.compare import pins as pin_cards
from pages.shared import places
from pages.shared.state import links, pins, run, settings
from pages.shared.state.lab_tasks import ESTIMANDS
from pages.shared.state.pins import Pin
from tests import files
from tests.heavy import few
from tests.pages.opening import open_page, upload_of, visit
from tests.pages.reading import error_in_lab
from tests.sentences import of_topic

wording = of_topic("compare")

PINNED = (Pin("A", "explore", ""), Pin("B", "explore", "m-frl~epsilon-2"))


def words(at):
    return " ".join(element.value for element in at.markdown)


def charts(at):
    """Names of the charts on screen, by the alternative text of each."""
    plain = [json.loads(e.proto.mixed.json or e.proto.json) for e in at.get("bidi_component")]
    return [data["alts"][0] for data in plain if isinstance(data, dict) and data.get("alts")]


def may_leave(at):
    """Whether each chart on screen may be saved as a picture."""
    plain = [json.loads(e.proto.mixed.json or e.proto.json) for e in at.get("bidi_component")]
    return [bool(data["leaving"]) for data in plain if isinstance(data, dict) and "leaving" in data]


def strip(at):
    plain = [json.loads(e.proto.mixed.json or e.proto.json) for e in at.get("bidi_component")]
    return next(data for data in plain if isinstance(data, dict) and "chips" in data)


def upload():
    return upload_of(
        files.growth_frame(80, 8), declare(60, 210, 2, 18, "growth chart", **files.EVEN)
    )


@pytest.fixture(scope="module")
def usual():
    return visit("compare")


# -- methods beside budgets -------------------------------------------------------------------


def test_the_page_shows_every_method_at_every_budget_and_answers_its_title(usual):
    assert usual.session_state.settings.lab_tab == "compare"
    small = [alt for alt in charts(usual) if "minus the non-private mean" in alt]
    assert len(small) == 9
    assert all(may_leave(usual))
    for name in ("Adaptive mean", "Noisy gradient descent", "A few coefficients (FRL)"):
        assert sum(alt.startswith(f"{name}, ε") for alt in small) == 3
    wording.found("adaptive mean smallest", words(usual), 1)
    assert not usual.error


def test_numbers_are_those_of_explore(usual):
    now = settings.Settings()
    answer = run.mean_at_every_step(now.source, now.mechanism, 1 / 200**2, now.seed, EPSILON_STEPS)
    one = EPSILON_STEPS.index(1.0)
    written = numbers.error(answer.study.error[one], "cm", answer.study.within[one])
    wording.found("smallest error", words(usual), escape(written))
    table = usual.dataframe[0].value
    row = table[(table["Method"] == "Adaptive mean") & (table["ε"] == "1")].iloc[0]
    assert row["Error"] == written
    assert row["Privacy noise"] == f"{100 * answer.study.shares[one, 0]:.0f} %"
    assert "56 %" in row["Accuracy"]


def test_a_method_that_never_fails_beside_one_that_may_is_pointed_out(usual):
    notice = " ".join(info.value for info in usual.info)
    wording.found("few coefficients frl", notice, 0)
    alike = visit("compare", "methods-adaptive_mean.noisy_gradient_mean")
    assert not alike.info


def test_methods_and_budgets_are_chosen_and_go_into_the_link():
    at = visit("compare")
    at.multiselect(key="w_compare_methods").set_value(["gaussian_process", "iclp:1"]).run()
    at.multiselect(key="w_compare_budgets").set_value([4.0, 0.25]).run()
    assert at.query_params["s"] == "tab-compare~methods-gaussian_process.iclp:1~budgets-0.25_4"
    assert "ICLP, absolute penalty" in " ".join(h.value for h in at.subheader)
    again = visit("lab", at.query_params["s"])
    assert charts(again) == charts(at)


def test_an_emptied_list_is_refused_and_the_page_stays():
    at = visit("compare")
    at.multiselect(key="w_compare_methods").set_value([]).run()
    wording.found("least one method", at.error[0].value)
    assert len(charts(at)) > 9


def test_the_method_of_explore_stands_first_with_its_settings():
    at = visit("compare", "m-bernstein~m.degree-4")
    assert at.subheader[0].value == "Bernstein polynomials"
    assert at.session_state.settings.mechanism.degree == 4


def test_a_method_that_refuses_says_why_and_the_others_stand():
    at = visit("compare", "m-noisy_gradient_mean~m.scheme-split~m.n_iterations-500")
    wording.found("need least curves", words(at), 500)
    assert any(alt.startswith("Adaptive mean, ε") for alt in charts(at))


def test_where_nothing_would_be_published_no_line_is_drawn():
    at = visit("compare", "methods-adaptive_mean~budgets-0.05_1")
    assert re.search(
        r"\*\*ε = 0.05\*\* · Too few \w+ for this ε: nothing would be published", words(at)
    )
    wording.found("none these methods", words(at), 0.05)
    assert at.dataframe[0].value.iloc[0]["Error"] == "nothing published"


@pytest.mark.slow
def test_real_curves_have_one_aim_for_all_methods():
    wording.found(
        "one non private",
        words(visit("compare", "c-sea_temperature~methods-adaptive_mean.noisy_gradient_mean")),
    )


# -- curves of one's own ----------------------------------------------------------------------


@pytest.mark.slow
def test_own_curves_are_compared_without_a_link_a_pin_or_a_download():
    at = visit("compare", "shape-crossing", upload=upload(), show_upload=True)
    assert len([alt for alt in charts(at) if "minus the non-private mean" in alt]) == 9
    assert "s" not in at.query_params and strip(at)["link"] is False
    assert may_leave(at) and not any(may_leave(at))
    assert len(at.get("arrow_table")) + len(at.table) > 0 and not at.dataframe
    wording.found("non private mean", words(at), 135)


def test_own_curves_cannot_be_pinned_and_the_button_says_why():
    at = open_page("open-numbers", upload=upload(), show_upload=True)
    assert strip(at)["pin"] == {
        "name": "",
        "reason": "Your own curves cannot be pinned: a pin is a link.",
    }
    at.session_state["strip"] = {"pin": True}
    at.run()
    assert "pins" not in at.session_state or not at.session_state.pins


# -- pins -------------------------------------------------------------------------------------


def test_pins_survive_the_address_whatever_is_in_their_settings():
    odd = (*PINNED, Pin("C", "lab", "c.mean-2*t~d.x-*2~~*1"))
    token = pins.join("epsilon-2", odd)
    assert pins.split(token) == ("epsilon-2", odd, [])
    assert pins.split(pins.join("", ())) == ("", (), [])


@pytest.mark.parametrize("word", ["A-nowhere*2", "B-explore*2" + "x" * 5000, "D-", "A-*"])
def test_a_pin_that_cannot_be_is_named_and_left_out(word):
    rest, found, problems = pins.split(f"epsilon-2~{word}")
    assert (rest, found, problems) == ("epsilon-2", (), [f"pin {word[0]}"])


def test_a_link_of_compare_brings_the_pins_back_and_writes_the_same_address():
    token = pins.join("epsilon-2", PINNED)
    at = visit("compare", token)
    assert at.session_state.pins == PINNED
    assert at.query_params["s"] == pins.join("epsilon-2~tab-compare", PINNED)
    table = at.table[0].value
    assert list(table.columns) == ["A · Explore", "B · Explore"]
    assert table.loc["ε"].tolist() == ["1", "2 (2 times)"]
    brief = pin_cards.pinned_facts(PINNED[1]).brief
    assert table.loc["Error"].iloc[1].startswith(brief.error_in_words)
    assert any("δ" in w.value for w in at.warning)


def test_pinning_on_explore_keeps_the_scenario_and_compare_shows_it():
    at = open_page("epsilon-2~m-frl~open-numbers")
    assert strip(at)["pin"] == {"name": "", "reason": ""}
    at.session_state["strip"] = {"pin": True}
    at.run()
    assert at.session_state.pins == (
        Pin(
            "A",
            "explore",
            links.encode(dataclasses.replace(at.session_state.settings, open_folds=())),
        ),
    )
    assert strip(at)["pin"]["name"] == "A"
    at.query_params["s"] = "tab-compare~epsilon-2"
    at.switch_page("../lab.py").run()
    assert "A-explore*2" in at.query_params["s"]
    assert at.table[0].value.loc["Method"].tolist() == ["A few coefficients (FRL)"]


def test_unpinning_takes_it_out_of_the_page_and_the_link():
    at = visit("compare", pins.join("", PINNED))
    at.button(key="unpin_A").click().run()
    assert at.session_state.pins == PINNED[1:]
    assert at.query_params["s"] == pins.join("tab-compare", PINNED[1:])
    at.button(key="unpin_B").click().run()
    wording.found("nothing pinned yet", words(at))
    assert at.query_params["s"] == "tab-compare"


def test_back_to_an_address_without_pins_loses_none_and_is_no_trap():
    at = visit("compare", pins.join("", PINNED))
    at.query_params["s"] = "tab-compare"
    at.run()
    assert at.session_state.pins == PINNED and at.query_params["s"] == "tab-compare"
    at.button(key="unpin_A").click().run()
    assert at.query_params["s"] == pins.join("tab-compare", PINNED[1:])


def test_no_fifth_scenario_and_none_that_a_link_could_not_hold_is_pinned():
    four = tuple(Pin(name, "explore", f"seed-{k}") for k, name in enumerate(pins.NAMES, 2))
    at = open_page("open-numbers", pins=four)
    wording.found("unpin one lab", strip(at)["pin"]["reason"])
    assert pins.reason_against("x" * 5000)
    assert pins.reason_against("") == ""


@pytest.mark.parametrize(
    ("page", "token"),
    few(
        [(page, "") for page in pins.PAGES if page not in ("decide", "lab")]
        + [("lab", f"estimand-{estimand}") for estimand in ESTIMANDS],
        2,
    ),
)
def test_every_page_and_estimand_that_pins_is_found_again_with_its_numbers(page, token):
    facts = pin_cards.pinned_facts(Pin("A", page, token))
    assert facts.brief.people > 1
    assert 0.5 < facts.odds.right < 1 and facts.brief.error > 0


def test_a_pin_has_the_sites_of_its_table_and_says_what_the_strip_says(few_data_sets):
    rows = (SiteRow("One", 300, 4), SiteRow("Two", 200, 6))
    token = links.encode(settings.Settings(sites=rows))
    brief = pin_cards.pinned_facts(Pin("A", "lab", token)).brief
    at = visit("lab", token)
    here = strip(at)
    assert brief.people == 500
    assert error_in_lab(at) == numbers.error(brief.error, brief.error_unit, brief.within)
    assert here["budgets"][here["budget"]]["chip"] == brief.budgets


def test_a_plan_is_pinned_with_its_answer():
    facts = pin_cards.pinned_facts(Pin("A", *places.present("plan", "unknown-epsilon~target-4")))
    assert facts.brief.error <= 4 and facts.brief.budget.epsilon != 1.0


def test_a_pin_that_its_page_would_refuse_says_why_and_can_be_unpinned():
    refused = Pin("A", "explore", "m-noisy_gradient_mean~m.scheme-split~m.n_iterations-500")
    at = visit("compare", pins.join("", (refused,)))
    wording.found("need least curves", words(at), 500)
    assert at.button(key="unpin_A") and not at.table


# -- questions of shape -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", few(["peak", "sign", "crossing"]))
def test_a_question_is_answered_on_explore_from_the_link(kind):
    at = open_page(f"shape-{kind}~open-shape")
    assert "A private release" in words(at) and re.search(r"\*\*\d+ of \d+\*\*", words(at))
    assert any(alt.startswith("Releases that keep the answer") for alt in charts(at))
    assert not at.error


@pytest.mark.slow
def test_its_numbers_are_stated_and_go_into_the_link():
    at = open_page("shape-crossing~open-shape")
    assert at.text_input(key="w_shape_level").value == "130"
    at.text_input(key="w_shape_level").set_value("150").run()
    assert at.query_params["s"] == "shape-crossing~shape_level-150~open-shape"
    wording.found("true mean first", words(at), 150)
    at.text_input(key="w_shape_level").set_value("500").run()
    wording.found("lie between", " ".join(error.value for error in at.error), 60, 200)


@pytest.mark.slow
def test_the_next_person_is_asked_and_synthetic_people_are_drawn_with_their_watermark():
    at = open_page("shape-next~open-synthetic~epsilon-3")
    wording.found("new children lie", words(at))
    assert re.search(r"\*\*\d+( to \d+)? %\*\* of the observations of simulated new", words(at))
    wording.found("row person", charts(at))
    wording.found("keeps no bands", words(at))
    assert not at.error


def test_one_release_is_asked_any_question_with_any_times():
    at = open_page("open-all_answers~epsilon-3")
    at.selectbox(key="w_asked_question").set_value("Change between two times").run()
    at.text_input(key="w_asked_difference_first").set_value("8").run()
    assert re.search(r"\*\*Change from age 8 to 18 years.+cm \(95 %", words(at).replace("\\", ""))
    at.text_input(key="w_asked_difference_first").set_value("30").run()
    wording.found("lie between", " ".join(error.value for error in at.error), 2, 18)


def test_how_many_people_show_a_difference_of_two_groups_is_planned_beside_the_questions():
    at = open_page("open-power~power_difference-3~power_at-12~epsilon-3")
    assert re.search(
        r"\d+ children in each of two groups.+difference of 3 cm at age 12 years", words(at)
    )
    at.text_input(key="w_power_difference").set_value("0").run()
    wording.found(
        "difference number other", words(at) + " ".join(error.value for error in at.error), 0
    )


def test_where_noise_is_as_large_as_the_signal_there_is_no_answer():
    at = open_page("shape-sign~epsilon-0.05~open-shape")
    wording.found("answered", [warning.value for warning in at.warning], 0.05)
    wording.missing("private release says", words(at))


@pytest.mark.slow
def test_real_curves_are_compared_with_the_average_without_protection():
    at = open_page("c-sea_temperature~shape-peak~open-shape")
    wording.found("non private", words(at))
    wording.missing("private mean", words(at))


def test_compare_asks_all_methods_the_same_question():
    at = visit("compare", "shape-crossing~methods-adaptive_mean.frl")
    wording.found("true mean first", words(at), 130)
    assert "Adaptive mean: **" in words(at)
    wording.found("method with number", words(at))


def test_settings_of_compare_and_of_shape_survive_a_link():
    now = dataclasses.replace(
        settings.Settings(),
        compared_methods=("iclp:1", "adaptive_mean"),
        compared_budgets=(0.05, 10.0),
        shape_question="sign",
        shape_first=-2.5,
        shape_second=3.0,
        shape_tolerance=0.1,
        shape_level=-1e-9,
        power_difference=-2.5,
        power_at=4.0,
    )
    assert links.decode(links.encode(now)) == (now, [])


@pytest.mark.parametrize(
    "word",
    [
        "methods-nowhere",
        "methods-",
        "budgets-0.07",
        "budgets-x",
        "budgets-1_2_3_4_5",
        "shape-valley",
        "shape_level-nan",
        "shape_first-inf",
    ],
)
def test_what_cannot_be_compared_or_asked_is_named_and_left_out(word):
    assert links.decode(word) == (settings.Settings(), [word.split("-")[0]])
