"""Lab: one scenario and an estimand, five tabs of which one runs, and links of earlier pages."""

import re

import pytest

from engine.core.tasks import TASKS
from engine.language import numbers
from engine.privacy.failure import usual_delta
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.mean.notes import notes
from pages.parts.lab import estimands, tabs
from pages.shared import places
from pages.shared.state import links, run, settings
from pages.shared.state.lab_tasks import ESTIMANDS
from tests.heavy import few
from tests.pages.opening import own_curves, visit
from tests.pages.reading import components, words

_SMALL = "c-sparse_curves~c.n_curves-60~c.n_observations_per_curve-6"


def there(page, token=""):
    """Where a link of an earlier page leads: estimand, tab and the settings."""
    page, token = places.present(page, token)
    now, problems = links.decode(token)
    assert (page, problems) == ("lab", [])
    return now


def test_every_estimand_of_a_task_has_its_record_and_every_tab_is_drawn_by_something():
    assert tuple(estimands.ESTIMANDS) == ESTIMANDS
    assert tuple(tab.key for tab in tabs.TABS) == settings.TABS


@pytest.mark.parametrize(
    ("link", "estimand", "tab", "part"),
    [
        (("coefficients", "epsilon-2"), "coefficients", "estimate", {"epsilon": 2.0}),
        (("summaries", "summary-density"), "summaries", "estimate", {"estimated": "density"}),
        (("regression",), "regression", "estimate", {"estimated": "wavelet_regression"}),
        (("sparse",), "sparse", "estimate", {"estimated": "sparse_regression"}),
        (("compare", "budgets-0.5_1"), "mean", "compare", {"compare_part": "methods"}),
        (
            ("sweeps", "sweep.task-covariance"),
            "summaries",
            "compare",
            {"compare_part": "sweep", "estimated": "covariance"},
        ),
        (("rates", "r-sparse_regression"), "sparse", "theory", {"theory_part": "rates"}),
        (("rates", "r-univariate_mean"), "mean", "theory", {"theory_part": "rates"}),
        (
            ("methods", "about-frl"),
            "mean",
            "theory",
            {"theory_part": "notes", "notes_method": "frl"},
        ),
        (
            ("audit", "audited-iclp.density~part-attack"),
            "summaries",
            "verify",
            {"audit_part": "attack"},
        ),
        (
            ("audit", "part-coverage~limits-effect"),
            "coefficients",
            "verify",
            {"coverage_limits": "effect"},
        ),
        (("reproduce",), "mean", "papers", {}),
    ],
)
def test_links_of_earlier_pages_open_the_right_estimand_and_tab(link, estimand, tab, part):
    now = there(*link)
    assert (now.estimand, now.lab_tab) == (estimand, tab)
    assert {name: getattr(now, name) for name in part} == part


def test_only_the_open_tab_is_computed(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        tabs,
        "TABS",
        tuple(
            tabs.Tab(
                tab.key,
                tab.title,
                lambda estimand, key=tab.key: drawn.append(key) or tabs.Shown(key, []),
            )
            for tab in tabs.TABS
        ),
    )
    visit("lab", "tab-verify")
    assert drawn == ["verify"]


def test_the_mean_curve_has_the_numbers_of_explore():
    at = visit("lab", f"{_SMALL}~epsilon-2")
    assert not at.error
    now = at.session_state.settings
    answer = run.mean_at_every_step(
        now.source, now.mechanism, usual_delta(60), now.seed, EPSILON_STEPS
    )
    error = answer.study.error[EPSILON_STEPS.index(2.0)]
    assert f"{error:.3g}" in words(at)


@pytest.mark.usefixtures("every_gain")
def test_the_heading_and_the_list_state_what_a_change_gains_by_one_number():
    at = visit("lab", _SMALL)
    now = at.session_state.settings
    study = run.mean_at_every_step(now.source, now.mechanism, usual_delta(60), now.seed).study
    one, two = (float(study.error[EPSILON_STEPS.index(epsilon)]) for epsilon in (1.0, 2.0))
    before, after = numbers.together((one, two))
    assert re.search(rf"error {re.escape(after)}[^0-9]* instead of {re.escape(before)}", words(at))
    best = re.search(r": take (\d+) people to reach ([\d.]+)$", at.title[0].value)
    assert at.title[0].value.startswith("Privacy noise is ") and float(best[2]) < one
    assert f"Take {best[1]} people" in {button.label for button in at.button}


def test_every_method_stands_in_a_table_with_the_error_of_the_figure():
    at = visit("lab", _SMALL)
    (table,) = [each.value for each in at.dataframe if "Method" in each.value]
    assert len(table) == len(table["Method"].unique()) >= 6
    assert table["Error"].is_monotonic_increasing
    chosen = table.set_index("Method").loc["Adaptive mean"]
    now = at.session_state.settings
    study = run.mean_at_every_step(now.source, now.mechanism, usual_delta(60), now.seed).study
    assert chosen["Error"] == float(f"{study.error[EPSILON_STEPS.index(1.0)]:.3g}")
    assert chosen["Attacker, at most"] >= 50


def test_notes_are_numbered_on_the_figure_and_beside_it():
    at = visit("lab", _SMALL)
    texts = [element.value for element in at.markdown]
    beside = [text for text in texts if re.match(r":small\[\*\*\d\*\* ", text)]
    answer = run.mean_at_every_step(
        at.session_state.settings.source,
        at.session_state.settings.mechanism,
        usual_delta(60),
        at.session_state.settings.seed,
    )
    found = notes(answer, EPSILON_STEPS.index(1.0))
    assert 1 <= len(found) == len(beside) <= 3
    band, k = answer.band, EPSILON_STEPS.index(1.0)
    for note in found:
        at_time = abs(answer.times - note.x).argmin()
        edges = band.low[k, 0, at_time], band.high[k, 0, at_time]
        assert any(abs(note.y - edge) < 1e-3 * abs(edge) for edge in edges)


def odds_in_strip(token):
    """The attacker's accuracy in the strip of a tab of Lab, or beside its figure."""
    at = visit("lab", token)
    (sent,) = [one for one in components(at, "") if "chips" in one]
    beside = [metric.value for metric in at.metric if metric.label == "Attacker"]
    return sent["budgets"][sent["budget"]]["odds"] or beside[0]


@pytest.mark.parametrize(
    "scenario",
    few([_SMALL, "estimand-summaries~summary-density", "estimand-survival", "estimand-sparse"], 2),
)
def test_every_tab_of_a_scenario_has_the_attackers_accuracy_of_its_estimate(scenario):
    of_estimate = odds_in_strip(scenario)
    assert of_estimate.startswith("≤ ")
    coverage = ["tab-verify~part-coverage"] * (scenario == _SMALL)  # others have no band there
    for tab in (
        *coverage,
        "tab-theory",
        "tab-verify",
        "tab-compare~comparison-sweep~sweep.along-source.n_curves",
    ):
        assert odds_in_strip(f"{scenario}~{tab}") == of_estimate, tab


@pytest.mark.parametrize("shows", range(3))
def test_the_mean_curve_is_drawn_as_a_release_as_many_or_as_a_difference(shows):
    at = visit("lab", f"{_SMALL}~look.mean_show-{shows}~open-numbers")
    assert not at.error and len(at.dataframe) >= 3


def test_another_estimand_starts_without_what_hung_on_the_former_one():
    at = visit("lab", f"{_SMALL}~tab-verify~audited-frl.mean_function~part-coverage")
    at.selectbox(key="w_estimand").set_value("sparse").run()
    now = at.session_state.settings
    assert (now.estimand, now.audited_method, now.lab_tab) == ("sparse", "", "verify")
    assert not at.exception and not at.error


@pytest.mark.parametrize(
    "detail",
    few(
        [
            "options",
            "attacker",
            "label",
            "ledger",
            "numbers",
            "formula",
            "code",
            "shape",
            "steps",
            "rule",
        ],
        3,
    ),
)
def test_each_detail_of_the_mean_curve_opens_in_the_drawer_and_stays_in_the_link(detail):
    at = visit("lab", f"{_SMALL}~open-{detail}")
    assert not at.error and at.selectbox(key="drawer_choice").value == detail
    opened = re.search(r"open-([\w.]+)", "".join(at.query_params["s"]))[1]
    assert detail in opened.split(".")  # a detail that is a fold opens it as well


def test_the_visitors_own_curves_are_in_no_link_where_they_are_shown_and_simulated_in_checks():
    at = visit("lab", upload=own_curves(), show_upload=True)
    assert not at.error and "s" not in at.query_params
    at = visit("lab", "tab-verify", upload=own_curves(), show_upload=True)
    assert not at.error and at.query_params["s"] == "tab-verify"


def test_theory_and_checks_follow_the_estimand():
    at = visit("lab", "estimand-sparse~tab-theory")
    assert TASKS["sparse_regression"].key in at.session_state.settings.estimated
    assert "parse regression" in at.selectbox(key="w_rate").value
    at = visit("lab", "estimand-coefficients~tab-verify~part-coverage")
    assert "ovariate" in str(at.selectbox(key="w_audit_limits").options[0])
    at = visit("lab", "estimand-sparse~tab-verify")
    assert at.selectbox(key="w_audit_method").value.endswith("sparse_regression")


@pytest.mark.parametrize(
    ("estimand", "part"),
    few(
        [("mean", "attack"), ("mean", "coverage"), ("regression", "attack"), ("sparse", "coverage")]
    ),
)
def test_verify_asks_for_epsilon_once(estimand, part):
    at = visit("lab", f"estimand-{estimand}~tab-verify~part-{part}")
    asked = [slider for slider in at.select_slider if "ε" in slider.label]
    assert len(asked) == 1 and not at.error
