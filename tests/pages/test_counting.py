"""Lab, survival and other counts: what stands on the page for each curve, and when nothing can."""

import re

import pytest

from engine.core.tasks import COUNTED
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.sources.event_times import EventTimes
from pages.shared.state import links, settings
from tests.heavy import all_but, slow
from tests.pages.opening import visit
from tests.sentences import of_topic

wording = of_topic("counting")


def page(token=""):
    at = visit("lab", "~".join(filter(None, ("estimand-survival", token))))
    assert not at.exception
    return at


def text(at):
    return "\n".join(element.value for element in at.markdown)


@pytest.mark.parametrize("task", COUNTED)
def test_every_curve_is_drawn_with_its_error_and_the_odds(task):
    at = page(f"counted-{task}")
    assert not at.error
    assert [header.value for header in at.header][:2] == ["Error", "Attacker"]
    wording.found("root mean squared", text(at))
    assert "is noise" in text(at)
    assert at.session_state.settings.estimated == task


def test_the_part_that_is_noise_is_that_of_the_two_errors_beside_it():
    said = text(page("counted-survival"))
    error, non_private = (
        float(found)
        for found in re.search(
            r"\*\*([\d.]+)\*\*.*?[Ww]ithout privacy[^\d]*([\d.]+\d)", said, re.DOTALL
        ).groups()
    )
    share = int(re.search(r"\*\*(\d+) % of the squared error is noise", said)[1])
    assert abs(share - 100 * (1 - (non_private / error) ** 2)) < 2  # of rounded numbers


def test_two_groups_are_compared_with_and_without_noise():
    at = page("a-event_times~a.comparison-hazard ratio~a.n_curves-500")
    wording.found("comparison two groups", [header.value for header in at.header])
    assert "Private log-rank test" in text(at) and "ordinary test" in text(at)


def test_scores_have_their_calibration():
    at = page("counted-roc")
    assert "Calibration" in [header.value for header in at.header]
    wording.found("area under curve", text(at))


def test_too_few_people_are_told_so_and_nothing_is_drawn_or_spent():
    at = page("epsilon-0.05~a-event_times~a.n_curves-100")
    assert "Too few people" in at.error[0].value and "people, or ε" in at.error[0].value
    wording.found("nothing published", text(at))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("counting_table", "cells: when, and how"),
        ("counting_coverage", "simulated data sets"),
        slow(("counting_power", "For a power of 80 % the private test needs")),
    ],
)
def test_the_drawer_has_the_counts_the_coverage_and_the_planner(detail, said):
    at = page(f"a-event_times~a.comparison-hazard ratio~a.n_curves-300~open-{detail}")
    assert said in text(at)
    if detail == "counting_table":
        assert (
            len(at.dataframe[0].value) == 22
        )  # two groups, five intervals of two outcomes, and the end


def test_people_seen_at_visits_have_a_cell_for_every_two_of_them():
    at = page("a-event_times~a.visits-6~open-counting_table")
    assert not at.error
    wording.found("missed visits", text(at))
    assert len(at.dataframe[0].value) == 28


@pytest.mark.parametrize(
    "tab", all_but(("theory", "papers"), ("compare", "theory", "verify", "papers"))
)
def test_every_tab_works_for_counts(tab):
    at = page(f"tab-{tab}")
    assert not at.error


@pytest.mark.parametrize("task", COUNTED)
def test_links_bring_back_people_and_method_of_every_curve(task):
    wanted = settings.Settings(estimand="survival", counted_task=task).with_study(
        task,
        EventTimes(n_curves=321, design="cure") if task == "survival" else None,
        NoisyCounts(task=task, intervals=9),
    )
    assert links.decode(links.encode(wanted)) == (wanted, [])
