"""Odds on every page: for one record or several, in the link, and with a declared sample only."""

import dataclasses

import pytest

from engine.privacy import risk
from engine.topics.mean.answer import EPSILON_STEPS, mean_over_budgets
from engine.uploads.curves import Upload
from engine.uploads.facts import declare
from pages.shared.state import links, settings
from tests import files
from tests.pages.opening import open_page
from tests.pages.reading import words
from tests.readings import curves_in
from tests.sentences import of_topic

wording = of_topic("odds")

DETAIL = "open-attacker"
OPEN = {f"fold_{key}": True for key in ("why", "trade_off", "several")}


@pytest.fixture(scope="module")
def several():
    return open_page(f"group-3~population-2000~{DETAIL}", **OPEN)


@pytest.fixture(scope="module")
def changed():
    """What the drawer says is not usual, where all of that can be changed back."""
    return words(open_page("group-3~population-2000~open-more"))


@pytest.mark.slow
def test_a_child_with_three_curves_is_told_what_they_cost_together(several, changed):
    usual = settings.Settings()
    result = mean_over_budgets(usual.source, usual.mechanism, 1 / 200**2, usual.seed)
    at_one = EPSILON_STEPS.index(1.0)
    odds = risk.of_ledger(result.spends[at_one], 3)
    assert f"at most {-(-odds.right * 100 // 1):.0f} %" in words(several)
    assert "**ε = 3.46" in words(several)
    wording.found("attacker’s accuracy together", changed, 3, 1)


def test_a_declared_sample_in_the_link_is_shown_with_whom_it_does_not_hold_against(
    several, changed
):
    assert several.checkbox(key="w_declared").value is True
    wording.found("sample larger group", words(several), 10)
    wording.found("who holds data", words(several))
    wording.found("secret sample declared", changed, "2,000")


def test_what_delta_is_and_that_it_is_large_stands_with_the_careful_attacker(several):
    assert "δ is above" in words(several)
    wording.found("default", words(open_page(DETAIL, **OPEN)), "2.5×10⁻⁵")


def test_the_number_of_curves_goes_into_the_link_and_reset_takes_it_back():
    at = open_page(DETAIL, **OPEN)
    at.text_input(key="w_group").set_value("4").run()
    assert "group-4" in at.query_params["s"]
    at.selectbox(key="drawer_choice").set_value("more").run()
    at.button(key="reset").click().run()
    assert at.session_state.settings.group_size == 1
    assert "group" not in "".join(at.query_params["s"])


def test_a_sample_counts_only_once_it_is_declared():
    at = open_page(DETAIL, **OPEN)
    at.text_input(key="w_population").set_value("5000").run()
    assert "The sample is" not in words(at)
    assert "population" not in "".join(at.query_params["s"])
    at.checkbox(key="w_declared").check().run()
    wording.found("sample larger group", words(at), 4)
    assert "population-5000" in at.query_params["s"]
    at.checkbox(key="w_declared").uncheck().run()
    assert "The sample is" not in words(at)
    assert "population" not in "".join(at.query_params["s"])


def test_a_larger_group_that_is_not_larger_is_refused_beside_the_box():
    at = open_page(DETAIL, **OPEN)
    at.text_input(key="w_population").set_value("150").run()
    wording.found("larger group people", " ".join(error.value for error in at.error), 200, 150)


@pytest.mark.parametrize("token", ["group-0", "group-x", "population-1", "group-99999999"])
def test_a_link_with_numbers_that_cannot_be_says_so(token):
    found, problems = links.decode(token)
    assert found == settings.Settings() and problems == [token.split("-")[0]]


def test_a_declaration_in_a_link_is_none_about_ones_own_curves():
    """Somebody else vouched for other people: the box is empty for a file of one's own."""
    own = Upload(
        curves=curves_in(files.csv(files.growth_frame(80, 8))),
        declared=declare(60, 210, 2, 18, "growth chart", **files.EVEN),
    )
    at = open_page(f"population-2000~{DETAIL}", upload=own, show_upload=True, **OPEN)
    assert at.session_state.settings.population == 2000
    assert at.checkbox(key="w_declared").value is False
    assert "The sample is" not in words(at) and "as declared" not in words(at)
    at.checkbox(key="w_declared").check().run()
    assert "The sample is" in words(at)


def test_settings_of_odds_survive_a_link():
    now = dataclasses.replace(settings.Settings(), group_size=30, population=10**6)
    assert links.decode(links.encode(now)) == (now, [])


@pytest.mark.parametrize(
    ("token", "detail"),
    [("group-2", "attacker"), ("population-2000", "attacker"), ("shape-peak", "shape")],
)
def test_a_link_that_asks_about_a_detail_opens_it_until_it_is_closed(token, detail):
    at = open_page(token)
    assert at.selectbox(key="drawer_choice").value == detail
    at.button(key="drawer_close").click().run()
    assert not [box for box in at.selectbox if box.key == "drawer_choice"]
    assert token in "".join(at.query_params["s"])
