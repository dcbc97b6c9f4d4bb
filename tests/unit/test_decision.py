"""A decision takes the least budget that reaches the target, with the numbers of every page."""

import re
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.exports.memo import study_memo
from engine.language import odds_words
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.simulation import studies
from engine.sources import sources
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words
from engine.topics.decision.better import less
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning import answer as planning_topic
from engine.topics.sites.answer import without_baseline
from engine.topics.sites.site_table import SiteRow, pasted
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS
from tests.heavy import all_but, few
from tests.sentences import of_topic

wording = of_topic("decide")

GROWTH = SparseCurves(mean="growth", n_curves=360, n_observations_per_curve=8, n_servers=3)
AT_TWO = EPSILON_STEPS.index(2.0)


@pytest.fixture(scope="module")
def few_data_sets():
    yield from fewer_data_sets(FEW_DATA_SETS)


@pytest.fixture(scope="module")
def profiles(few_data_sets):
    rows = decision_topic.equal_sites(GROWTH, "School")
    return {
        noise: decision_topic.profile_of(GROWTH, AdaptiveMean(), rows, None, noise, 1)
        for noise in ("sites", "centre")
    }


@pytest.mark.slow
def test_each_site_adding_noise_has_the_numbers_of_the_solver_and_of_the_sites(profiles):
    option = profiles["sites"].option(AT_TWO)
    setting = planning_topic.PlannedStudy.of(GROWTH, AdaptiveMean(), 2.0)
    measured = planning_topic.measure(setting, 1)
    assert option.accuracy.error == pytest.approx(measured.error, rel=1e-9)
    assert option.accuracy.within == pytest.approx(measured.within, rel=1e-9)
    assert option.odds.right == pytest.approx(
        planning_topic.protection(setting).odds.right, rel=1e-9
    )
    rows = tuple(replace(row, epsilon=2.0) for row in decision_topic.equal_sites(GROWTH, "School"))
    federation = without_baseline(GROWTH, AdaptiveMean(), rows, 1)
    assert option.accuracy.error == pytest.approx(federation.together.error, rel=1e-9)
    central = profiles["centre"].option(AT_TWO)
    assert central.accuracy.error == pytest.approx(federation.pooled.error, rel=1e-9)
    assert central.accuracy.error < option.accuracy.error


def made(profile, distances):
    """The same profile where all releases of a step are equally far off."""
    errors = np.repeat(np.array(distances)[:, None, None], 4, axis=1)
    return replace(profile, errors=errors)


@pytest.mark.slow
def test_the_least_step_from_which_on_all_reach_the_target_is_chosen(profiles):
    steps = len(EPSILON_STEPS)
    falling = made(profiles["sites"], [np.nan, np.nan, *np.linspace(5, 1, steps - 2)])
    answer = decision_topic.decision(falling, 3.0, "19")
    distance = falling.distance(0.95)
    index = EPSILON_STEPS.index(answer.chosen.budget.epsilon)
    assert distance[index] <= 3.0 < distance[index - 1]
    assert [EPSILON_STEPS.index(option.budget.epsilon) for _, option in answer.options] == [
        index - 1,
        index,
        index + 1,
    ]
    assert (
        decision_topic.decision(falling, 5.0, "19").more_private is None
    )  # nothing is published there
    missed = decision_topic.decision(falling, 0.5, "19")
    assert missed.chosen is None
    least, moderate = less(missed)
    assert least.apply["target"] >= distance[-1]
    assert moderate.apply["target"] >= distance[EPSILON_STEPS.index(1.0)]
    assert moderate.gain.then <= 1.0
    nothing = decision_topic.decision(made(profiles["sites"], [np.nan] * steps), 1.0, "19")
    assert (nothing.chosen, nothing.options, less(nothing)) == (None, [], ())
    wording.found("budget reaches target", words.verdict(nothing))


def test_what_is_offered_instead_of_a_target_out_of_reach_is_met_and_begins_with_the_smallest_change(
    profiles,
):
    profile = profiles["sites"]
    nearly = float(profile.distance(0.95)[-1]) / 1.04
    missed = decision_topic.decision(profile, nearly, "19")
    offered = less(missed)
    for entry in offered:
        again = decision_topic.decision(profile, **entry.apply)
        assert again.chosen.budget.epsilon == entry.gain.then
    targets = [e.apply["target"] for e in offered if e.apply["confidence"] == "19"]
    assert targets == sorted(targets) and targets[0] <= 1.2 * nearly
    fewer = [entry for entry in offered if entry.apply["confidence"] != "19"]
    assert all(e.apply["target"] == nearly for e in fewer) and offered[:1] == (*fewer,)[:1]


@pytest.mark.slow
def test_fewer_releases_within_the_target_need_no_larger_budget(profiles):
    chosen = [
        decision_topic.decision(profiles["sites"], 2.0, share).chosen.budget.epsilon
        for share in decision_topic.SHARES
    ]
    assert chosen == sorted(chosen)


@pytest.mark.parametrize(("target", "confidence"), [(0.0, "19"), (float("nan"), "19"), (1.0, "21")])
def test_a_target_or_confidence_that_cannot_be_is_refused(profiles, target, confidence):
    with pytest.raises(InputError):
        decision_topic.decision(profiles["sites"], target, confidence)


def test_an_option_and_the_recommendation_state_one_attackers_accuracy(profiles):
    distance = profiles["sites"].distance(0.95)
    for step in np.flatnonzero(np.isfinite(distance))[1:-1]:
        answer = decision_topic.decision(profiles["sites"], float(distance[step]), "19")
        name = next(name for name, option in answer.options if option is answer.chosen)
        bound = re.search(r"[\d.]+(?=\s%)", " ".join(words.on_card(answer, name, answer.chosen)[1]))
        assert bound and f"at most {bound.group()} " in words.verdict(answer).replace("\xa0", " ")


def test_bands_of_options_are_of_the_releases_whose_errors_they_have(profiles):
    """Of 100 releases or so 95 % are within the band at each place: their errors average no more."""
    profile = profiles["centre"]
    off = np.abs(profile.bands.limits - profile.bands.truth).max(axis=1)  # (steps, places)
    assert (np.sqrt((off[AT_TWO:] ** 2).mean(axis=-1)) > profile.distance(0.5)[AT_TWO:]).all()


def test_a_profile_is_the_same_in_parts_as_for_each_budget_alone(profiles):
    profile = profiles["sites"]
    budgets = [(Budget(EPSILON_STEPS[step], profile.delta.value),) for step in (3, AT_TWO)]
    alone = studies.errors(profile.study, studies.data(profile.study), budgets)
    np.testing.assert_allclose(alone, profile.errors[[3, AT_TWO]], rtol=1e-9)


def test_the_map_reaches_from_the_smallest_to_the_largest_budget_and_has_its_size_after_two_rows():
    assert (decision_topic.MAP_EPSILONS[0], decision_topic.MAP_EPSILONS[-1]) == (
        EPSILON_STEPS[0],
        EPSILON_STEPS[-1],
    )
    people = [
        sum(row.n_curves for row in rows)
        for rows in decision_topic.map_tables((SiteRow("A", 100, 8), SiteRow("B", 60, 8)))
    ]
    assert {*people[:2]} == {min(people), max(people)} and len(people) == 3


def test_a_twin_can_have_sites_of_different_sizes():
    twin = Twin.of(GROWTH.facts, GROWTH.sizes)
    rows = (SiteRow("A", 50, 8), SiteRow("B", 90, 8), SiteRow("C", 10, 8, included=False))
    assert decision_topic.sized(twin, rows).sizes.n_curves_per_server == (50, 90)


@pytest.mark.parametrize(
    "text",
    [
        "North\t150\t30\nSouth\t1 200\t30",
        "North;150;30\nSouth;1.200;30",
        "North,150,30\nSouth,1200,30",
        "Hospital\tPatients\tObservations\r\nNorth\t150\t30\r\n\r\nSouth\t1,200\t30\r\n",
    ],
)
def test_a_table_is_pasted_with_any_separator_and_heading(text):
    assert pasted(text) == (SiteRow("North", 150, 30), SiteRow("South", 1200, 30))


def test_numbers_alone_are_sites_and_names_that_do_not_fit_are_numbered():
    assert [row.name for row in pasted("150\n90")] == ["Site 1", "Site 2"]
    assert pasted("A_1;20\nA_1;30", 12) == (SiteRow("A 1", 20, 12), SiteRow("A 1 2", 30, 12))
    assert [row.name for row in pasted("A;1\nA;2\nA;3")] == ["A", "A 2", "A 3"]
    assert pasted("UKE Hamburg, Haus 2;20")[0].name == "UKE Hamburg, Haus 2"
    assert pasted("A;20", 12)[0].n_observations_per_curve == 12


@pytest.mark.parametrize(
    "text",
    [
        "North, 1,200, 30\nSouth, 90, 30",
        "North, -5, 30",
        "North\t80.5\t30",
        "North\t80\t30.5",
        "North, 80, 30\nSouth, many, 30",
        "North, ward 3, 80, 30",
        "North;80;30;7",
    ],
)
def test_a_cell_that_does_not_fit_is_refused_and_never_skipped(text):
    with pytest.raises(InputError, match=r"Line [12]\b"):
        pasted(text)


@pytest.mark.parametrize(
    "text",
    ["", "North", "North;many", "North;0", "x" * 30_000, "\n".join("A;5" for _ in range(51))],
)
def test_a_paste_without_people_is_refused_and_no_cell_is_repeated(text):
    with pytest.raises(InputError) as refused:
        pasted(text)
    assert "many" not in str(refused.value)


def test_the_memo_has_the_options_and_what_the_author_typed_is_no_markup(profiles):
    answer = decision_topic.decision(profiles["sites"], 2.0, "19")
    memo = study_memo(
        answer, author="<b>A</b>", date="1 May 2030", link="https://here", rule=0.1
    ).replace("\N{NO-BREAK SPACE}", " ")
    for _, option in answer.options:
        assert f">{odds_words.odds_short(option.odds)}<" in memo
        assert words.typical_error(option, answer.profile) in memo
        assert words.within(answer, option) in memo
    assert "&lt;b&gt;A" in memo and "1 May 2030" in memo and "https://here" in memo
    assert "<svg" in memo
    wording.found("above own rule", memo)


# -- every estimand -------------------------------------------------------------------------------


SIZES = {
    "mean_function": (60, 8, 3),
    "varying_coefficients": (300, 6, 2),
    "univariate_mean": (60, 5, 3),
    "wavelet_regression": (500, 1, 4),
    "density": (150, 1, 2),
}


def study_of(key, noise="sites"):
    """A small study of an estimand, with its usual data and method."""
    data = TASKS[key].data_of or key
    source = sources.default(TASKS[data].source, data).resized(*SIZES[key])
    mechanism = mechanisms.default(TASKS[key].mechanism, key)
    return decision_topic.profile_of(
        source, mechanism, decision_topic.equal_sites(source, "Site"), None, noise, 1
    )


@pytest.mark.parametrize("key", few([*decision_topic.DECIDED], 2))
def test_every_estimand_has_its_own_sentences_and_errors_that_fall_with_epsilon(key, few_data_sets):
    profile = study_of(key)
    distance = profile.distance(0.95)
    assert profile.task.key == key and distance[-1] < np.nanmax(distance)
    answer = decision_topic.decision(profile, 1.001 * float(distance[-1]), "19")
    subject = words.estimand(profile.task, profile.facts)
    assert subject in words.question(answer) and subject in words.memo_title(profile)
    assert subject in words.distance(profile.task, profile.facts)
    assert (
        words.protected_unit(profile.task, profile.facts) in words.protection(profile)["Protected"]
    )
    assert (profile.unit == "") == (not profile.task.has_value_unit or not profile.facts.value_unit)


@pytest.mark.parametrize("key", few(all_but({"varying_coefficients"}, decision_topic.DECIDED)))
def test_a_trusted_centre_needs_no_more_than_sites_that_add_noise(key, few_data_sets):
    at_one = EPSILON_STEPS.index(2.0)
    sites, centre = (study_of(key, noise) for noise in ("sites", "centre"))
    assert centre.distance(0.5)[at_one] <= 1.05 * sites.distance(0.5)[at_one]
    assert centre.option(at_one).odds.right <= sites.option(at_one).odds.right + 1e-9


def test_an_average_of_curves_is_about_their_mean_over_the_times_at_which_they_are_seen():
    """4 000 people of 30 observations: the mean of all is within five standard errors."""
    source = SparseCurves(mean="growth", n_curves=4000)
    data = source.draw(1, generator(3, 0, 0))
    means = data.values.reshape(4000, -1).mean(axis=1)
    truth = UnivariateMean.by_person().truth_of(data).node_values
    assert np.ptp(truth) == 0
    assert abs(means.mean() - truth[0]) <= 5 * means.std() / np.sqrt(4000) + 0.05


def test_the_average_of_devices_has_a_ledger_of_one_device_that_spends_epsilon(few_data_sets):
    profile = study_of("univariate_mean", "person")
    for epsilon, spends in zip(EPSILON_STEPS, profile.spends, strict=True):
        assert sum(spend.epsilon * spend.count for spend in spends) == pytest.approx(epsilon)
    assert words.rounds(profile) == 1


def test_errors_of_a_study_are_scaled_to_the_exact_risk_where_there_is_one(few_data_sets):
    profile = study_of("wavelet_regression")
    step = EPSILON_STEPS.index(1.0)
    budget = Budget(1.0, profile.delta.value)
    exact = profile.study.mechanism.exact_risk(profile.study.source, (budget,))
    assert exact is not None
    assert profile.option(step).accuracy.error == pytest.approx(np.sqrt(exact), rel=1e-9)
    alone = studies.errors(profile.study, studies.data(profile.study), [(budget,)])
    assert alone[0] == pytest.approx(profile.errors[step], rel=1e-9)
