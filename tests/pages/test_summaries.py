"""The page on whole functions: every summary is drawn by every method, says what it costs, and links."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.tasks import SUMMARIES
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.iclp import Iclp
from engine.questions import ask, kinds
from engine.sources import sources
from engine.sources.covarying_curves import CovaryingCurves
from engine.sources.dense_curves import DenseCurves
from engine.topics.summaries import answer as summaries_topic
from engine.topics.summaries import charts as summaries_charts
from engine.topics.summaries import words as summary_words
from pages.shared import places
from pages.shared.state import links
from tests.heavy import few
from tests.pages.opening import own_curves, visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.unit.test_chart_axes import axes_without_quantity

wording = of_topic("summaries")

BUDGET = Budget(1.0, 1e-5)


def first(shelf, task):
    cls = shelf.for_task(task)[0]
    return cls(**cls.presets_for(task)[0][1])


def small(task):
    """The first source of a task with few records."""
    source = first(sources, task)
    sizes = {"n_curves": 300, "n_observations_per_curve": 20}
    return replace(
        source, **{name: value for name, value in sizes.items() if name in source.values()}
    )


@pytest.mark.parametrize("task", few(SUMMARIES, 2))
def test_every_summary_draws_and_every_way_is_there_with_its_promise(task):
    at = visit("summaries", f"summary-{task}")
    assert not at.exception and not at.error
    text = [subheader.value for subheader in at.subheader]
    for cls in mechanisms.for_task(task):
        for label, _ in cls.presets_for(task):
            assert label in text
    assert "comes closest" in words(at) and "nan" not in words(at).split()


def test_the_numbers_on_screen_are_those_of_the_engine():
    at = visit("summaries", "summary-density")
    source = first(sources, "density")
    budget = Budget(1.0, source.sizes.n_curves**-2)
    view = summaries_topic.summaries_answer(
        source, first(mechanisms, "density"), "density", budget, 1
    )
    assert summary_words.compared(view) in words(at)
    assert summary_words.largest(view.results[0]) in words(at)


@pytest.mark.slow
def test_a_link_brings_back_the_summary_the_method_and_its_settings():
    token = "summary-covariance~q-frl~q.n_functions-4~h-covarying_curves~h.n_curves-500"
    at = visit("summaries", token)
    assert not at.exception and not at.warning
    now = at.session_state.settings
    assert now.summary_task == "covariance" and now.mechanism_of("covariance").task == "covariance"
    assert now.mechanism_of("covariance").n_functions == 4
    found, problems = links.decode(links.encode(now))
    assert not problems and found == now


@pytest.mark.slow
def test_a_method_of_another_task_is_a_problem_of_the_link():
    at = visit("summaries", "summary-covariance~q-adaptive_mean")
    assert any(r"adaptive\_mean" in warning.value for warning in at.warning)
    assert at.session_state.settings.mechanism_of("covariance").task == "covariance"


def test_choosing_on_the_data_is_never_shown_as_private():
    at = visit("summaries", "summary-density~n-iclp~n.selection_rule-cross_validated")
    assert not at.exception
    wording.found("protection chosen data", words(at))
    assert any("do not" in error.value or "not" in error.value for error in at.error)


def test_promises_of_different_kinds_are_told_apart():
    view = summaries_topic.summaries_answer(
        small("covariance"), Iclp(task="covariance"), "covariance", BUDGET, 1
    )
    assert "Gaussian process" in summary_words.not_comparable(view.results)
    pure = [result for result in view.results if result.guarantee.is_pure]
    assert summary_words.not_comparable(pure) == ""
    assert {result.guarantee.epsilon for result in pure} == {1.0}


@pytest.mark.parametrize("task", ["density", "covariance", "varying_coefficients"])
def test_shares_add_up_and_curves_without_noise_are_those_without_protection(task):
    source, chosen = small(task), first(mechanisms, task)
    view = summaries_topic.summaries_answer(source, chosen, task, BUDGET, 2)
    for result in view.results:
        assert result.parts is None or result.parts.sum() == pytest.approx(1)
        assert result.releases is None or result.releases.shape[1:] == view.ordinary.shape
    assert view.truth is None or view.truth.shape == view.ordinary.shape


@pytest.mark.parametrize(
    ("key", "task", "source"),
    [
        ("iclp", "mean_function", DenseCurves(n_curves=100)),
        ("bernstein", "mean_function", DenseCurves(n_curves=100)),
        ("frl", "covariance", CovaryingCurves(n_curves=100, n_observations_per_curve=30)),
    ],
)
def test_the_share_of_simulated_curves_that_are_clipped_is_told_and_that_of_real_ones_is_not(
    key, task, source
):
    def told(source, size):
        method = mechanisms.get(key)(task=task, size=size)
        view = summaries_topic.summaries_answer(source, method, task, Budget(1.0), 1)
        return view.clipped_share, summary_words.clipped_share(view)

    assert told(source, 1e3) == (0.0, "")
    share, said = told(source, 1e-3)
    assert share == 1
    wording.found("these simulated curves", said)
    assert told(sources.get("sea_temperature")(), 1e-3) == (None, "")


def test_components_of_a_release_are_orthonormal_and_hold_what_is_said():
    source = CovaryingCurves(n_curves=2000, n_observations_per_curve=40)
    view = summaries_topic.summaries_answer(
        source, Iclp(task="covariance"), "covariance", Budget(8.0), 1
    )
    result = summaries_topic.components(view, source, 1)
    gram = result.ordinary @ result.ordinary.T / summaries_topic.SURFACE
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-10)
    assert (result.releases * result.ordinary).sum(axis=-1).min() > 0
    assert 0 < result.removed < 0.2 and (result.shares[:, 0] >= result.shares[:, 1]).all()
    assert result.share[0] == pytest.approx(0.45, abs=0.05)  # of a Gaussian kernel of length 0.2


def test_the_worst_pair_costs_exactly_the_budget_with_tight_constants():
    source = DenseCurves()
    for constants in ("tight", "optimal"):
        budget = summaries_topic.worst_pair(Iclp(constants=constants), source, Budget(0.7))
        assert budget.epsilon == pytest.approx(0.7, rel=1e-6)
    assert (
        summaries_topic.worst_pair(Iclp(constants="published"), source, Budget(0.7)).epsilon < 0.3
    )
    assert summaries_topic.worst_pair(mechanisms.get("bernstein")(), source, Budget(0.7)) is None


@pytest.mark.parametrize("task", ["mean_function", "covariance"])
def test_the_best_shape_of_noise_never_has_more_energy_and_the_published_bound_never_less(task):
    pure = [
        cls
        for cls in mechanisms.for_task(task)
        if issubclass(cls, FunctionalRelease) and cls.guarantee == "pure"
    ]
    assert pure
    for cls in pure:
        result = summaries_topic.spectrum(cls(**cls.presets_for(task)[0][1]), small(task), BUDGET)
        assert result.energy["optimal"] <= result.energy["tight"] * (1 + 1e-9)
        assert result.energy["tight"] <= result.energy["published"] * (1 + 1e-9)


def test_every_chart_has_words_and_a_table():
    view = summaries_topic.summaries_answer(
        small("density"), Iclp(task="density"), "density", BUDGET, 1
    )
    charts = [summaries_charts.panel(view, result, 0) for result in view.results]
    charts += [summaries_charts.errors(view), summaries_charts.split(view)]
    surface = summaries_topic.summaries_answer(
        small("covariance"), Iclp(task="covariance"), "covariance", BUDGET, 1
    )
    charts.append(summaries_charts.surface(surface, surface.ordinary[0], "Without protection"))
    for chart in charts:
        assert chart.alt and chart.table and chart.spec["data"]
        assert not axes_without_quantity(chart.spec) and chart.spec["layout"]["hovermode"]


@pytest.mark.slow
def test_own_curves_are_summarised_without_a_link_and_rows_of_numbers_stay_simulated():
    at = visit("summaries", "summary-covariance", upload=own_curves(), show_upload=True)
    assert not at.exception and not at.error
    assert "s" not in at.query_params
    assert "Your curves" in str(at.selectbox(key="w_source_covariance").value)
    at.selectbox(key="w_summary").set_value("density").run()
    assert not at.exception and not at.error and "s" in at.query_params


def test_a_mean_that_only_a_grid_makes_possible_is_warned_of():
    at = visit("summaries", "p-iclp~p.eta-0.6", fold_summaries_grid=True)
    assert "Only the grid" in words(at)
    assert any("grows without end" in warning.value for warning in at.warning)
    assert "Only the grid" not in words(visit("summaries"))


@pytest.mark.parametrize(
    ("page", "token", "own"),
    [
        ("summaries", "", {}),
        ("lab", "estimand-summaries", {}),
        ("summaries", "summary-functional_summary~f-dense_curves~f.n_curves-90", {"n_curves": 90}),
        ("sweeps", "sweep.task-functional_summary~f-dense_curves~f.n_curves-90", {"n_curves": 90}),
    ],
)
def test_earlier_links_to_the_mean_as_a_summary_open_the_mean_with_its_data_and_method(
    page, token, own
):
    now, problems = links.decode(places.present(page, token)[1])
    assert not problems and now.estimand == "mean" and now.sweep.task == "mean_function"
    assert now.source == DenseCurves(**own) and now.mechanism == Iclp()
    assert links.decode(links.encode(now)) == (now, [])


def test_letters_of_the_earlier_task_change_nothing_elsewhere():
    assert links.decode("c-growth_curves~f-dense_curves~p-frl") == links.decode("c-growth_curves")
    density = "estimand-summaries~summary-density"
    assert links.decode(f"{density}~p-frl") == links.decode(density)
    assert links.encode(links.decode(density)[0]) == density


def test_an_earlier_question_about_the_mean_as_a_summary_is_still_read():
    asked = ask(summaries_topic.summaries_answer, DenseCurves(), Iclp(), "mean_function", BUDGET, 1)
    earlier = kinds.to_plain(asked) | {"task": "functional_summary"}
    assert kinds.from_plain(earlier) == asked


def test_methods_with_and_without_a_delta_stand_apart_in_the_choice():
    of_mean = visit("lab", "c-dense_curves").selectbox(key="w_mechanism").options
    is_pure = ["δ = 0" in label for label in of_mean]
    assert is_pure == sorted(is_pure) and 0 < sum(is_pure) < len(is_pure)
    of_density = visit("summaries", "summary-density").selectbox(key="w_mechanism_density").options
    assert "δ = 0" in of_density[0] and "δ = 0" not in of_density[-1]


@pytest.mark.parametrize("detail", ["spectrum", "worst"])
def test_the_mean_page_has_the_noise_of_a_method_that_releases_whole_functions(detail):
    at = visit("lab", f"c-dense_curves~m-iclp~open-{detail}")
    assert not at.error and at.selectbox(key="drawer_choice").value == detail
    at.selectbox(key="w_mechanism").set_value("Adaptive mean").run()
    assert not at.exception
    assert not [box for box in at.selectbox if box.key == "drawer_choice"]  # nothing to show


def test_printed_bounds_for_densities_are_refused_with_what_they_would_spend():
    at = visit("summaries", "summary-density~n-iclp~n.eta-2~n.constants-published")
    assert any("would spend 2.55" in error.value for error in at.error)
    assert not any("nan" in text for text in words(at).split())


@pytest.mark.parametrize(
    ("token", "said"),
    few(
        [
            ("l-labelled_points~l.response-classes", ""),
            ("l-labelled_points~l.response-classes~u-iclp~u.loss-hinge", "aims at the sign"),
            ("l-labelled_points~l.response-classes~u-iclp~u.loss-huber", "two classes"),
            ("u-iclp~u.loss-logistic", "They are numbers"),
        ],
        2,
    ),
)
def test_errors_are_from_the_truth_only_where_the_loss_aims_at_it(token, said):
    at = visit("summaries", f"summary-risk_minimisation~{token}")
    assert not at.exception and not at.error
    infos = " ".join(info.value for info in at.info)
    assert said in infos
    (wording.found if said else wording.missing)("non private estimate", words(at))


def test_all_methods_have_the_loss_and_the_width_of_the_chosen_one():
    chosen = Iclp(task="density", bandwidth=0.3)
    source = sources.get("density_points")(n_curves=200)
    view = summaries_topic.summaries_answer(source, chosen, "density", BUDGET, 1)
    assert {result.mechanism.bandwidth for result in view.results} == {0.3}


@pytest.mark.slow
def test_the_budget_is_divided_with_a_slider_and_the_ledger_follows():
    at = visit("summaries", "summary-covariance~open-summaries_ledger")
    at.slider(key="w_summaries_share").set_value(0.2).run()
    assert not at.exception
    assert at.session_state.settings.mechanism_of("covariance").share == 0.2
    ledger = next(frame.value for frame in at.dataframe if "What leaves it" in frame.value)
    np.testing.assert_allclose(ledger["ε of each"].astype(float), [0.2, 0.8], rtol=1e-6)
    assert not any(s.key == "w_summaries_share" for s in visit("summaries").slider)
