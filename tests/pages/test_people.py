"""How people differ, on Lab and Explore; releases over time on Decide."""

import pytest

from pages.shared.state import links
from tests.pages.opening import open_page, visit
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("summaries")

PEOPLE = "c-sparse_curves~c.n_curves-600~c.n_observations_per_curve-24~c.times-common~epsilon-2"


@pytest.fixture(autouse=True)
def _quick(few_data_sets):
    """Errors of few data sets."""


def test_lab_shows_directions_of_people_beside_a_covariance_alone():
    at = visit("lab", f"estimand-components~{PEOPLE}")
    assert not at.error and not at.exception
    assert at.session_state.settings.estimand == "components"
    assert at.session_state.settings.estimated == "mean_function"
    wording.found("covariance alone", words(at))
    (table,) = [each.value for each in at.dataframe if "True share" in each.value]
    assert len(table) == 3


@pytest.mark.slow
def test_too_few_people_are_told_so_in_lab():
    at = visit("lab", "estimand-components~c-sparse_curves~c.n_curves-60~epsilon-0.5")
    assert not at.exception and "nan" not in words(at)


@pytest.mark.slow
def test_the_drawer_of_explore_tells_how_people_differ():
    at = open_page(f"{PEOPLE}~open-components")
    assert not at.exception and not at.error
    wording.found("share of people", words(at))


def test_decide_plans_levels_and_changes_over_time():
    at = visit("decide", "open-over_time~periods-36~stays-12")
    assert not at.exception and not at.error
    (table,) = [each.value for each in at.dataframe if "Released" in each.value]
    assert table["Released"].tolist()[-1] == "changes"
    assert table["Releases"].tolist()[0] == 36 and table["Releases"].tolist()[-1] == 35
    assert links.decode("periods-36~stays-12")[1] == []


def test_a_period_out_of_range_is_refused_where_it_is_typed():
    at = visit("decide", "open-over_time")
    at.text_input(key="w_periods").set_value("5000").run()
    assert not at.exception
    assert at.session_state.settings.periods is None
