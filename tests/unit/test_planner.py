"""Plans: any one dial is solved for, honestly, and the answer holds up when it is run."""

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from engine import __main__ as command
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.exports import memo
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.privacy import accounting
from engine.privacy.failure import usual_delta
from engine.running import executors
from engine.simulation.experiments import Cell, Run, run_cells
from engine.sources.bundled import SeaTemperature
from engine.sources.numbers import Numbers
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.percentiles.answer import percentiles_answer
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import (
    HIGHEST_EPSILON,
    PlannedStudy,
    bounds,
    error_map,
    measure,
    plain,
    plan,
)
from engine.topics.planning.beyond import Beyond
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("plan")

pytestmark = pytest.mark.usefixtures("few_data_sets")

HERE = PlannedStudy(SparseCurves(mean="growth"), AdaptiveMean(), 1.0, 150, 10)
FACTS = HERE.source.facts


@cache
def answer(setting=HERE, unknown="epsilon", target=2.0, **rest):
    steps = plan(setting, unknown, target, **rest)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.slow
@pytest.mark.usefixtures("enough_data_sets")
def test_planned_settings_meet_their_targets_and_four_fifths_of_them_do_not():
    """16 random questions about ε and people, each checked on other data sets.

    The error at the answer is at most the target, within the bars of both runs, in at least 95 %,
    and above it at 0.8 times the answer. Of 8 data sets the bars of an error are as wide as the
    fifth that is taken off, so as many are drawn as by planners.
    """
    rng, met, missed = np.random.default_rng(4), [], []
    for k in range(16):
        setting = replace(
            HERE,
            people=int(rng.integers(100, 400)),
            source=SparseCurves(mean=["mu1", "mu2", "wiggly"][k % 3]),
            mechanism=[AdaptiveMean(), NoisyGradientMean()][k % 2],
        )
        unknown = ["epsilon", "people"][k // 2 % 2]
        usual = measure(replace(setting, epsilon=1.0), 3).error
        found = answer(setting, unknown, usual * float(rng.uniform(0.7, 1.3)))
        assert found.is_possible
        there = setting.moved(unknown, found.value)
        checked = measure(there, 900 + k)
        bar = 2.58 * math.hypot(found.reached.log_se, checked.log_se)
        met.append(math.log(checked.error / found.target) <= bar)
        less = measure(setting.moved(unknown, 0.8 * found.value), 900 + k)
        missed.append(less.error > found.target)
    print(np.mean(met), np.mean(missed))
    assert np.mean(met) >= 0.95
    assert np.mean(missed) >= 0.95


def test_the_error_is_measured_with_its_bar_where_it_is_what_is_asked_for():
    found = answer(unknown="error")
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(measure(HERE, 7).error, rel=0.15)


@pytest.mark.slow
def test_readings_and_sites_can_be_solved_for():
    few = replace(HERE, readings=2, epsilon=2.0)
    target = 1.1 * measure(replace(few, readings=12), 1).error
    readings = answer(few, "readings", target).value
    assert 3 <= readings <= 40
    sites = answer(replace(HERE, epsilon=0.7), "sites", 1.2).value
    assert 2 <= sites <= 10


@pytest.mark.slow
def test_a_question_that_no_value_answers_says_so_and_what_would():
    found = answer(replace(HERE, people=20), "epsilon", 0.5)
    assert not found.is_possible
    assert found.reached.setting.epsilon == HIGHEST_EPSILON
    assert found.fixes["people"] > 100
    words = planning_words.verdict(found, FACTS)
    wording.found("possible", words)
    wording.found("error at most", words, 10)
    wording.found("children work", planning_words.fixes(found, FACTS), 10)


def test_where_nothing_would_be_published_the_plan_says_that():
    found = answer(replace(HERE, people=5, epsilon=0.05), "readings", 1.0, with_fixes=False)
    assert math.isinf(found.reached.error)
    wording.found("nothing useful could", planning_words.verdict(found, FACTS))
    assert plain(found)["reached"]["error"] is None
    json.dumps(plain(found), allow_nan=False)


def test_a_target_that_the_least_value_meets_is_said_to_be_easy():
    found = answer(
        replace(HERE, people=3000, readings=2, mechanism=NoisyGradientMean()), "epsilon", 500.0
    )
    assert found.too_easy and found.value == bounds(HERE, "epsilon")[0]
    assert "already enough" in planning_words.verdict(found, FACTS)


def test_steps_lie_on_either_side_of_the_answer():
    found = answer(HERE, "people", 1.5)
    below, above = (step.setting.people for step in found.steps)
    assert below < found.value < above
    assert found.steps[0].error > found.steps[1].error


@pytest.mark.parametrize(
    ("unknown", "target", "words"),
    [
        ("weight", 1.0, "no dial"),
        ("epsilon", 0.0, "above zero"),
        ("people", math.nan, "above zero"),
        ("epsilon", -1.0, "above zero"),
        ("epsilon", math.inf, "above zero"),
    ],
)
def test_a_question_without_sense_is_refused_kindly(unknown, target, words):
    with pytest.raises(InputError, match=words):
        answer(HERE, unknown, target)


def test_real_curves_are_planned_with_by_a_twin_of_their_facts_and_sizes():
    real = SeaTemperature()
    setting = PlannedStudy.of(real, AdaptiveMean(), 4.0)
    assert setting.source == Twin.of(real.facts, real.sizes)
    assert setting.people == min(real.sizes.n_curves_per_server)
    found = answer(setting, "error")
    assert found.value is None or 0 < found.value < real.facts.value_half_width
    with pytest.raises(InputError, match="simulated curves"):
        answer(replace(HERE, source=real), "epsilon", 1.0)


def test_the_question_and_the_verdict_are_plain_sentences():
    words = planning_words.question(HERE, "epsilon", 2.0, FACTS)
    wording.found("error most cm", words, 2, 150, 10, 1, 200, alone=True)
    found = answer()
    wording.found("enough error", planning_words.verdict(found, FACTS), f"{found.value:g}", 2, 99)
    people = answer(HERE, "people", 1.5)
    assert planning_words.verdict(people, FACTS).startswith(
        f"**{people.value:.0f} children are enough"
    )
    assert found.protection.odds.right > 0.5


def test_the_map_falls_with_people_and_with_epsilon_and_is_empty_where_nothing_is_published():
    rows = np.stack(list(error_map(HERE, [20, 100, 400], [0.1, 1.0, 8.0])))
    assert np.isnan(rows[0, 0])
    assert rows[2, 2] < rows[1, 1] and rows[2, 1] < rows[1, 1] and rows[1, 2] < rows[1, 1]


def test_a_scenario_with_sites_is_taken_apart_into_dials():
    source = SparseCurves(n_curves=600, n_servers=3, n_observations_per_curve=7)
    setting = PlannedStudy.of(source, AdaptiveMean(), 0.5, 1e-5)
    assert (setting.people, setting.sites, setting.readings) == (200, 3, 7)
    assert setting.curves == source and setting.budget == Budget(0.5, 1e-5)


def test_a_plan_shows_the_protection_that_the_noise_really_gives():
    """Isotropic noise as printed is too small at ε = 10: the plan says so, and so does the memo."""
    loose = replace(
        HERE,
        epsilon=10.0,
        delta=1e-3,
        mechanism=NoisyGradientMean(constants="published", noise="isotropic", truncation=3),
    )
    found = answer(loose, "error")
    assert found.protection.proved.epsilon > 10.5 and not found.protection.keeps_promise
    wording.found("not budget", planning_words.broken_promise(found), 10)
    wording.found("explored but released", memo.decision_memo(loose, found, FACTS).decode())
    honest = answer(HERE, "error")
    assert honest.protection.keeps_promise and planning_words.broken_promise(honest) == ""
    assert honest.protection.odds.curve.mu == pytest.approx(
        accounting.exact_mu(1.0, usual_delta(150)), rel=1e-6
    )
    nothing = answer(replace(NUMBERS, mechanism=UnivariateMean(setting="none")), "error")
    wording.found("protection", planning_words.broken_promise(nothing))
    assert nothing.protection.odds.right == 1.0


def test_the_command_line_plans(tmp_path, capsys):
    file = tmp_path / "plan.json"
    file.write_text(
        json.dumps(
            {
                "source": {
                    "key": "sparse_curves",
                    "parameters": {"mean": "growth", "n_curves": 150},
                },
                "mechanism": {"key": "adaptive_mean"},
                "budgets": [{"epsilon": 1, "delta": 1e-5}],
            }
        )
    )
    assert command.main(["plan", str(file), "--target", "2"]) == 0
    out = capsys.readouterr().out
    wording.found("enough error root", out, 2)
    assert "δ is" not in out
    file.write_text(file.read_text().replace(', "delta": 1e-05', ""))  # it follows the people
    assert (
        command.main(["plan", str(file), "--unknown", "people", "--target", "1.5", "--json"]) == 0
    )
    people = json.loads(capsys.readouterr().out)
    assert people["value"] > 100 and people["reached"]["delta"] == usual_delta(people["value"])
    file.write_text(file.read_text().replace('"epsilon": 1', '"epsilon": 1, "delta": 1e-3'))
    assert command.main(["plan", str(file), "--unknown", "error"]) == 0
    wording.found("large above tenth", capsys.readouterr().out, 1, 0.00667)
    with pytest.raises(SystemExit) as end:
        command.main(["plan", str(file), "--target", "-1"])
    assert end.value.code == 2 and "a number from" in capsys.readouterr().err
    file.write_text(
        file.read_text()
        .replace('"n_curves": 150', '"n_curves": 150, "n_servers": 2')
        .replace("}]}", '}, {"epsilon": 2, "delta": 1e-5}]}')
    )
    assert command.main(["plan", str(file)]) == 2
    wording.found("one budget sites", capsys.readouterr().err)


# -- exact answers --------------------------------------------------------------------------

NUMBERS = PlannedStudy(Numbers(), UnivariateMean(setting="site"), 0.5, 1, 50, 200, 0.0)


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.8])
def test_the_variance_of_a_mean_of_held_numbers_is_that_of_many_draws(spread):
    """4000 means of 200 numbers; five standard errors of a variance are 11 %."""
    source = Numbers(n_servers=10, n_items=20, mean=0.7, item_sd=spread)
    data = source.draw(4000, np.random.default_rng(3))
    assert data.values.mean(axis=1).var() == pytest.approx(source.variance_of_mean, rel=0.11)
    assert Numbers(person_sd=0.1).variance_of_mean is None


@pytest.mark.slow
@pytest.mark.parametrize("setting", few(["central_item", "site", "local_item", "none"], 2))
def test_exact_risks_are_those_of_many_releases(setting):
    """2000 data sets; five standard errors of a mean square with Laplace tails are 25 %."""
    here = replace(NUMBERS, mechanism=UnivariateMean(setting=setting))
    exact = here.mechanism.exact_risk(here.curves, (here.budget,))
    cell = Cell({}, here.curves, here.mechanism, (here.budget,))
    with executors.make("serial") as executor:
        (outcome,) = run_cells([cell], Run(2000, 1, 3), executor)
    assert outcome.accuracy.error**2 == pytest.approx(exact, rel=0.25)
    voted = UnivariateMean.independent("central_user")
    assert voted.exact_risk(replace(here, readings=20_000).curves, (here.budget,)) is None


def test_plans_by_formula_are_exact_and_say_so():
    found = answer(NUMBERS, "readings", 0.002)
    assert found.low == found.value == found.high
    assert (
        found.reached.error <= 0.002 < measure(NUMBERS.moved("readings", found.value - 1), 1).error
    )
    words = planning_words.verdict(found, NUMBERS.source.facts)
    wording.found("formula simulation", words)
    assert "By formula" in planning_words.verdict(answer(NUMBERS, "error"), NUMBERS.source.facts)


# -- one of several curves -------------------------------------------------------------------------

HEIGHTS = PopulationReadings(population="growth", n_curves=500, n_observations_per_curve=4)
TALLEST = PlannedStudy.of(HEIGHTS, PercentileCurves(), 3.0, 1e-5, "95 %")


@pytest.mark.slow
def test_the_error_of_one_percentile_curve_is_the_one_that_lab_shows():
    shown = percentiles_answer(HEIGHTS, PercentileCurves(), Budget(3.0, 1e-5), 1)
    assert measure(TALLEST, 1).error == pytest.approx(shown.error_by_function[-1])
    assert measure(replace(TALLEST, function=""), 1).error == pytest.approx(shown.error)


@pytest.mark.slow
def test_people_are_found_for_one_percentile_curve():
    target = 0.8 * measure(TALLEST, 1).error
    found = answer(TALLEST, "people", target)
    assert found.is_possible and found.value > 500
    assert found.reached.error < 1.1 * target and found.baseline < found.reached.error
    wording.found("curve", planning_words.question(TALLEST, "people", target, HEIGHTS.facts))


@pytest.mark.slow
def test_where_no_size_of_percentile_curves_does_nothing_is_extrapolated():
    found = answer(TALLEST, "epsilon", 0.01, with_fixes=False)
    assert not found.is_possible and not found.is_extrapolated
    most = replace(found, unknown="people", beyond={"people": Beyond(20_000, 20_000)})
    wording.found("number children up", planning_words.verdict(most, HEIGHTS.facts), "20 000")


def test_a_curve_that_is_not_among_those_released_is_refused_by_name():
    with pytest.raises(InputError, match="no function") as problem:
        measure(replace(TALLEST, function="96 %"), 1)
    assert "95 %" in problem.value.hint


def test_real_curves_of_which_percentiles_are_asked_have_no_plan():
    with pytest.raises(InputError, match="nothing stands in"):
        PlannedStudy.of(SeaTemperature(), PercentileCurves(), 1.0)
