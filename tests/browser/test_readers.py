"""Each of the three readers gets their answer in three interactions or fewer."""

import json
import re

import pytest
from playwright.sync_api import expect

from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.rates.functional_mean import FunctionalMeanRate
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage.words import target
from engine.topics.planning.answer import PlannedStudy
from engine.topics.rates import check as rate_check
from engine.topics.rates.answer import sweep_values
from tests.conftest import fewer_data_sets
from tests.few import VERY_FEW_DATA_SETS
from tests.waiting import choose, download


@pytest.fixture
def arrive(server, open_app):
    def visit(path="/", **context):
        page = open_app(server.url + path, **context)
        page.locator("[data-testid=stHeading]").first.wait_for()
        return page

    return visit


def show_code(page):
    """The code of a page of Lab, which is one of its details."""
    page.get_by_role("button", name="All settings").click()
    choose(page, "drawer_choice", "Code")


@pytest.mark.slow
def test_a_teacher_shows_a_figure_of_the_paper(arrive):
    page = arrive("/rates")
    choose(page, "w_example", "Figure 1, more observations")
    expect(
        page.get_by_role(
            "figure",
            name=re.compile("here it is “privacy and sparse observations”.* Privacy rules 19 %"),
        )
    ).to_be_visible()
    expect(page.get_by_text("n = 400, m = 9, S = 1, ε = 0.05")).to_be_visible()
    expect(page).to_have_url(re.compile("example-figure-1-middle"))
    assert page.problems == []


def checked(people, readings, smoothness):
    """What the engine finds where the statistician asks, at ε = 1 and with the seed of the page."""
    source = SparseCurves(mean="growth", n_curves=people, n_observations_per_curve=readings)
    rate, own, delta = FunctionalMeanRate(smoothness=smoothness), AdaptiveMean(), 1 / people**2
    settings = tuple(
        PlannedStudy(source, one, 1.0, people, readings, 1, delta)
        for one in (rate.attained_by(), own)
    )
    point = {"n": people, "m": readings, "S": 1.0, "epsilon": 1.0, "delta": delta}
    budget = rate_check.RateCheck(
        rate,
        point,
        "n",
        settings,
        tuple(sweep_values(settings[0], "people")),
        coverage_topic.Experiment("curve", source, own, Budget(1.0, delta)),
    )
    return budget, rate_check.joined(budget, list(rate_check.check(budget)))


@pytest.fixture
def as_the_server_has_them():
    yield from fewer_data_sets(VERY_FEW_DATA_SETS)


@pytest.mark.slow
def test_a_statistician_checks_slope_and_coverage_at_their_own_sizes(
    arrive, as_the_server_has_them
):
    page = arrive("/rates?s=along-n")  # 1
    for label, value in (
        ("People on each site (n)", "300"),
        ("Observations each (m)", "20"),
        ("Smoothness (α)", "2"),
    ):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Measure", exact=True).click()  # 2: one form
    asked, found = checked(300, 20, 2.0)
    for line in found.compared(asked):
        slope = f"{line.slope:.2f} ± {line.half_width:.2f} (95 %); the rate’s is {line.theory:.2f}"
        expect(page.get_by_text(f"Measured slope in n: {slope}".replace("-", "−"))).to_be_visible()
    expect(page.locator("[aria-label*='6 measured errors']")).to_be_visible()
    for name, limits in (
        ("The published bands", found.limits.proper),
        ("Naive bands, which ignore privacy noise,", found.limits.naive),
    ):
        count, n = int(limits.missed.sum()), coverage_topic.REPEATS
        text = f"{name} missed the {target('curve')} in {count} of {n} repetitions"
        expect(page.get_by_text(text)).to_be_visible()
    show_code(page)  # 3
    expect(page.get_by_text("question = ask(")).to_be_visible()
    notebook = download(page, page.get_by_role("button", name="Get the notebook"))
    cells = json.loads(notebook.path().read_text())["cells"]
    assert any("limits=Experiment(" in "".join(cell["source"]) for cell in cells)
    assert page.problems == []


@pytest.mark.slow
def test_a_link_opens_the_same_folds_and_back_closes_them(arrive):
    page = arrive("/reproduce")
    show_code(page)
    expect(page.get_by_text("ask(quick")).to_be_visible()
    expect(page).to_have_url(re.compile("open-code.reproduce_code"))
    again = arrive("/reproduce?s=open-reproduce_code")
    expect(again.get_by_text("ask(quick")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("ask(quick")).not_to_be_visible()
    expect(page).not_to_have_url(re.compile("reproduce_code"))


@pytest.mark.slow
def test_points_of_earlier_settings_stay_and_are_called_old(arrive):
    page = arrive("/rates?s=along-n")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_text("Measured slope in n")).to_have_count(2)
    expect(page.get_by_text("Naive bands, which ignore")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    choose(page, "w_along", "Observations per curve (m)")
    expect(page.get_by_text("These points are of earlier settings")).to_be_visible()
    expect(page.get_by_text("Measured slope in n")).to_have_count(2)


@pytest.mark.slow
def test_dragging_the_budget_of_the_coefficients_changes_the_sentence(arrive):
    page = arrive("/coefficients")
    sentence = page.get_by_text("The error of the published mean curve is")
    expect(sentence).to_be_visible()
    before = sentence.inner_text()
    slider = page.get_by_role("slider").first
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(sentence).not_to_have_text(before)
    expect(page.get_by_role("button", name="ε = 2.5 · δ")).to_be_visible()
    assert page.problems == []


@pytest.mark.slow
def test_back_leads_from_a_page_of_the_menu_to_the_page_before_with_its_study(arrive):
    study = "c-sparse_curves~c.mean-growth~c.n_curves-120~target-3"
    page = arrive(f"/decide?s={study}")
    expect(page.get_by_role("heading", name="Memo")).to_be_visible()
    page.get_by_role("link", name="Lab", exact=True).click()
    expect(page).to_have_url(re.compile("lab.*n_curves-120"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("is enough for the"))
    expect(page).to_have_url(re.compile("decide.*n_curves-120.*target-3"))
    assert page.problems == []
