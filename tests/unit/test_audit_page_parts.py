"""What the Audit page is made of: attacks, repetitions, noise used twice, and their words."""

import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy.special import ndtr, ndtri

from engine import audit
from engine.__main__ import main
from engine.audit import black_box, broken, replay
from engine.audit.black_box import parts
from engine.audit.cases import case_like
from engine.audit.neighbours import enlarged, usual_curves, usual_readings
from engine.audit.statistic import CountedStatistic
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.figures.theme import in_theme
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.simulation.agreement import AgreementVerdict
from engine.sources.sparse_curves import SparseCurves
from engine.sources.sparse_rows import SparseRows
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import charts
from engine.topics.audit import words as audit_words
from engine.topics.audit.answer import Attack
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import charts as coverage_charts
from engine.topics.coverage import words as coverage_words
from engine.topics.reuse import answer as reuse_topic
from engine.topics.reuse import charts as reuse_charts
from engine.topics.reuse import words as reuse_words
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("audit")

pytestmark = pytest.mark.usefixtures("unhurried")
BUDGET = Budget(1.0, 1e-5)
GRADIENT = NoisyGradientMean(truncation=3, n_iterations=3)
THEMES = ("light", "dark")


def report_of(asked, tries=400, runs=4000):
    return audit_topic.finished(asked, asked.seed, tries=tries, runs=runs)


# -- attacks --------------------------------------------------------------------------------


def test_every_mechanism_can_be_chosen_and_comes_with_simulated_data():
    result = audit_topic.audited_methods()
    assert {one.cls for one in result} == set(mechanisms.all())
    for one in result:
        source = one.usual_source()
        assert source.is_random and source.facts.kind == "simulated"
        assert one.default().served & source.tasks or one.task == "mean_function"
        assert audit_topic.audited_method(one.key) == one
    with pytest.raises(InputError, match="nothing to audit"):
        audit_topic.audited_method("adaptive_mean.density")


def test_variants_offered_are_those_of_the_mechanism_and_its_task():
    names = {one.name for one in audit_topic.variants_of(GRADIENT)}
    assert {"NoClipping", "QuieterThanSaid"} < names and "LabelsInTheirOwnRange" not in names
    offered = {
        one.name
        for s in audit_topic.audited_methods()
        for one in audit_topic.variants_of(s.default())
    }
    assert offered == {one.name for one in broken.bugs()}


@pytest.mark.slow
def test_a_claim_that_holds_is_neither_broken_nor_proved():
    report = report_of(Attack(GRADIENT, BUDGET), runs=40_000)
    assert report.verdict == "holds"
    assert 0.95 <= report.ratio <= 1 + 1e-9 and report.bound <= report.worst_epsilon
    assert report.worst_epsilon == pytest.approx(1.0, rel=1e-6)
    result = audit_words.attacked(report)
    wording.found("claim", result, 1)
    wording.found("not proved", result)


@pytest.mark.slow
def test_a_planted_fault_is_caught_with_the_budget_of_the_page():
    for name in (
        "NoClipping",
        "MissingNumbersPass",
        "QuieterThanSaid",
        "EachRoundSpendsEverything",
    ):
        report = report_of(Attack(GRADIENT, BUDGET, variant=name))
        assert report.is_broken, name
        assert report.claimed_epsilon == pytest.approx(1.0, rel=1e-6)
        assert "false" in audit_words.attacked(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug",
    few([one for one in broken.bugs() if one.case.budget.epsilon > 4], 3),
    ids=lambda bug: bug.name,
)
def test_faults_of_methods_that_need_many_records_are_caught_at_one_epsilon(bug):
    """Those whose small data release nothing at ε = 1 unless there are more of them."""
    budget = Budget(1.0, 0.0 if bug.case.budget.is_pure else 1e-5)
    report = report_of(Attack(bug.case.mechanism, budget, variant=bug.name), 200, runs=0)
    assert report.is_broken


@pytest.mark.slow
def test_around_a_source_a_claim_holds_too():
    result = Attack(AdaptiveMean(truncation=3), BUDGET, SparseCurves(n_curves=200))
    report = report_of(result, 100, 1000)
    assert report.verdict == "holds" and report.attains == 0


def test_an_upload_is_never_attacked():
    source = SparseCurves()

    class Own(SparseCurves):
        @property
        def facts(self):
            return source.facts.__class__(kind="upload")

    with pytest.raises(InputError, match="never an upload"):
        next(audit_topic.steps_of(Attack(GRADIENT, BUDGET, Own())))


def test_small_data_grow_with_the_noise_and_stay_in_order():
    case = case_like(AdaptiveMean())
    assert case.at(Budget(40.0, 1e-3)).copies == 1 < case.at(BUDGET).copies
    assert case_like(GRADIENT).at(Budget(0.1, 1e-5)).copies == 1
    for default in (
        usual_curves(GRADIENT, unequal=True, n_servers=3),
        usual_readings(WaveletGlobal()),
    ):
        large = enlarged(default, 3)
        assert large.n_curves == 3 * default.n_curves and (np.diff(large.server) >= 0).all()
        np.testing.assert_allclose(large.values.sum(), 3 * default.values.sum())
        np.testing.assert_array_equal(
            large.values[0, : default.counts[0]], default.values[0, : default.counts[0]]
        )


def test_a_few_repeats_never_call_honest_noise_too_small():
    """1000 times four repeats of noise of the right size; five standard errors would fail 1 in 70."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(1000):
        squares = (rng.standard_normal((4, 50)) ** 2).mean(axis=1)
        error = squares.std() / 2
        wrong += squares.mean() < 1 - replay._beyond_chance(4) * error
    assert wrong == 0
    assert replay._beyond_chance(4) > 50 and 5 < replay._beyond_chance(400) < 5.2


def test_releases_come_in_parts_that_double():
    assert list(parts(40_000, 10_000)) == [1000, 1000, 2000, 4000, 8000, 10_000, 10_000, 4000]
    assert list(parts(700)) == [700] and list(parts(0)) == []


def test_the_report_is_json_with_everything_that_was_asked():
    result = Attack(GRADIENT, BUDGET, variant="NoClipping", seed=3)
    plain = json.loads(audit_topic.as_json([(result, report_of(result, runs=0))]))["audits"][0]
    assert plain["variant"] == "NoClipping" and plain["what"] == broken.get("NoClipping").what
    assert plain["seed"] == 3 and plain["verdict"] == "broken" and plain["source"] is None
    assert plain["claimed_epsilon"] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("name", few(list(THEMES)))
def test_the_chart_stays_valid_where_a_loss_is_unlimited(name):
    lines = [
        charts.AttackProgress("Method", _steps(Attack(GRADIENT, BUDGET)), False),
        charts.AttackProgress(
            "Fault", _steps(Attack(GRADIENT, BUDGET, variant="MissingNumbersPass")), True
        ),
    ]
    chart = charts.climbing(lines, 1.0)
    go.Figure(in_theme(chart.spec, name))
    json.dumps(chart.spec["data"], allow_nan=False)
    assert "unlimited" in chart.alt and len({len(c) for c in chart.table.values()}) == 1


@pytest.mark.parametrize("name", few(list(THEMES)))
def test_the_statistic_is_counted_once_for_every_release_of_both_neighbours(name):
    last = _steps(Attack(GRADIENT, BUDGET))[-1]
    counted = last.statistic
    assert sum(counted.first) == sum(counted.second) == last.runs
    chart = charts.statistic(counted, is_planted=False)
    go.Figure(in_theme(chart.spec, name))
    json.dumps(chart.spec["data"], allow_nan=False)
    assert len({len(column) for column in chart.table.values()}) == 1
    wording.found("right releases", chart.alt, f"{100 * counted.right:.3g}")


def test_the_attacker_is_right_as_often_as_the_bars_beside_the_threshold_say():
    """Gaussian scores, μ = 1: Φ(1/2) = 69.1 % at best; five standard errors of 64 000 guesses."""
    rng, n = np.random.default_rng(4), 40_000
    one, other = (end / 2 + rng.standard_normal(n) for end in (-1, 1))
    one[0], other[0] = -1e9, 1e9  # beyond the bars, and counted in the last of them
    errors = black_box._best_guesses(one, other)
    counted = errors.statistic
    assert counted.right == pytest.approx(0.6915, abs=5 * 0.46 / np.sqrt(64_000))
    is_above = np.array(counted.edges[:-1]) >= counted.threshold
    hits, alarms = (np.array(side)[is_above].sum() / n for side in (counted.second, counted.first))
    assert (hits + 1 - alarms) / 2 == pytest.approx(counted.right, abs=0.02)  # a bar is cut
    assert sum(counted.first) == sum(counted.second) == n and counted.edges[-1] < 5


def test_a_statistic_that_says_nothing_or_all_has_no_picture():
    same, given_away = np.zeros(1000), np.full(1000, np.inf)
    assert CountedStatistic.of(same, same, 0.0, 0.5) is None
    assert CountedStatistic.of(same, given_away, 0.0, 1.0) is None


def _steps(asked):
    return list(audit_topic.steps_of(asked, tries=100, runs=2000))


def test_counts_are_written_as_whole_numbers():
    step = audit.Progress(2000, 0.9, 1.0, "epsilon", 1.0, 0.0, runs=8000)
    for said in (audit_words.running(step), audit_words.worked_out(step)):
        assert "2\u202f000 pairs" in said and "." not in said.split(" pairs")[0]
    assert "8\u202f000 releases" in audit_words.running(step)


def test_at_least_numbers_are_rounded_down_and_claims_are_not():
    result = audit.Progress(500, 0.9999, 1.0, "epsilon", 1.0, 0.0, bound=0.9999, runs=1000)
    assert "ε = 0.999**" in audit_words.attacked(result)
    assert "**99.9 %**" in audit_words.worked_out(result)
    title = charts.climbing([charts.AttackProgress("Method", [result], False)], 1.0).spec["layout"][
        "title"
    ]["text"]
    assert "0.999," in title  # the same number as on the card
    beyond = audit.Progress(
        500, 2.0, 1.0, "epsilon", 1.0, 0.0, bound=1.678, runs=1000, is_beyond=True
    )
    wording.found("above claim claim", audit_words.attacked(beyond), 1.67, 1, 99.98)
    told = audit.Progress(500, math.inf, 1.0, "epsilon", 1.0, 0.0, reason="it tells")
    wording.found("claim false tells", audit_words.attacked(told), 1, alone=True)


# -- repetitions ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "source", "own"),
    few(
        [
            ("point", SparseCurves(), AdaptiveMean()),
            ("curve", SparseCurves(), AdaptiveMean()),
            ("coefficient", SparseRows(n_curves=100_000, n_features=20), SparseInference()),
        ]
    ),
)
def test_bands_cover_as_stated_and_naive_ones_do_not(kind, source, own):
    """500 repetitions at ε = 1: at 5 % more than 46 misses have a chance of one in 10 000."""
    mechanism = coverage_topic.mechanism_for(kind, own, 0.37)
    budget = coverage_topic.Experiment(kind, source, mechanism, Budget(1.0, 1e-6))
    result = coverage_topic.CoverageAnswer.joined(list(coverage_topic.repetitions(budget)))
    assert len(result.proper.off) == coverage_topic.REPEATS
    assert result.proper.missed.sum() <= 46 < 70 < result.naive.missed.sum()
    wording.found("coverage too low", coverage_words.misses(result.naive, "curve", True))
    assert result.naive.coverage.verdict == AgreementVerdict.BELOW
    assert result.times_as_wide > 1
    if not coverage_topic.KINDS[
        kind
    ].is_joint:  # else each stands where it comes closest to failing, not at one place
        assert (result.naive.half <= result.proper.half).mean() > 0.99


def repeated(probability, narrowed, n=coverage_topic.REPEATS):
    """Normal estimates with intervals that cover with a probability, and narrower ones beside."""
    off = np.random.default_rng(11).standard_normal(n)
    half = np.full(n, ndtri((1 + probability) / 2))
    return coverage_topic.CoverageAnswer(
        coverage_topic.Limits(off, half), coverage_topic.Limits(off, half / narrowed)
    )


def test_a_band_that_ignores_a_third_of_the_variance_is_shown_to_fail():
    """A deliberately naive band: 1.22 times too narrow, so that it covers 89 %, not 95."""
    result = repeated(0.95, np.sqrt(1.5))
    assert result.proper.coverage.verdict == AgreementVerdict.AGREES
    wording.found("agrees nominal", coverage_words.misses(result.proper, "curve"))
    wording.found("coverage too low", coverage_words.misses(result.naive, "curve", True))
    assert "22 % wider" in coverage_words.widths(result, "curve")
    assert f"**{100 * (2 * ndtr(1.959964 / np.sqrt(1.5)) - 1):.3g} %**" in coverage_words.widths(
        result, "curve"
    )


def test_a_naive_band_is_never_said_to_agree_even_where_privacy_noise_is_small():
    result = repeated(0.95, 1.02)
    coverage = coverage_words.misses(result.naive, "curve", True)
    wording.found("tell them correct", coverage)
    assert "agrees" not in coverage
    assert "**94.5 %**" in coverage_words.widths(result, "curve")


def test_from_few_repetitions_nothing_is_said_to_agree():
    result = repeated(0.95, 1.0, 60)
    wording.found("too imprecise tell", coverage_words.misses(result.proper, "curve"))


def test_of_joint_limits_the_place_that_fails_most_is_kept():
    off, half = np.array([[0.1, -3.0, 0.2]]), np.array([[1.0, 2.0, 0.1]])
    result = coverage_topic.Limits.of(off, half)
    assert (result.off[0], result.half[0], result.missed[0]) == (0.2, 0.1, True)


def test_nothing_released_gives_no_limits_and_says_so():
    budget = coverage_topic.Experiment(
        "point", SparseCurves(n_curves=20), AdaptiveMean(band="pointwise"), Budget(0.05, 1e-6)
    )
    with pytest.raises(InputError, match="nothing is released"):
        next(coverage_topic.repetitions(budget))


@pytest.mark.parametrize("name", THEMES)
def test_misses_stand_out_and_all_repetitions_are_drawn(name):
    result = coverage_topic.Limits(np.array([0.0, 2.0, -3.0]), np.array([1.0, 1.0, 1.0]))
    chart = coverage_charts.repetitions(
        result, coverage_charts.common_half([result]), "curve", "cm"
    )
    go.Figure(in_theme(chart.spec, name))
    json.dumps(chart.spec["data"], allow_nan=False)
    holds, misses, _ = chart.spec["data"]
    assert len(holds["x"]) == 3 and len(misses["x"]) == 6
    assert chart.alt.startswith("2 of 3")


@pytest.mark.parametrize("kind", coverage_topic.KINDS)
def test_the_number_of_misses_says_of_what_and_whether_that_is_all_of_the_truth(kind):
    said = coverage_words.misses(repeated(0.95, 1.2).proper, kind)
    assert coverage_words.target(kind) in said and coverage_words.noun(kind) in said
    kept = coverage_topic.KINDS[kind].task in ("mean_function", "varying_coefficients")
    assert bool(coverage_words.what_is_covered(kind)) == kept


# -- noise used twice -----------------------------------------------------------------------


def test_one_draw_at_two_budgets_gives_the_exact_average_away():
    found = reuse_topic.reuse_answer(0.05, 10.0, 1e-5, 1, is_fresh=False)
    assert found.largest_error < 1e-12 < found.noise[1] < found.noise[0]
    assert found.scales[0] > found.scales[1]
    assert "nothing but rounding" in reuse_words.recovered(found, False)


def test_with_fresh_noise_the_formula_fails():
    found = reuse_topic.reuse_answer(0.5, 2.0, 1e-5, 1, is_fresh=True)
    assert found.largest_error > found.noise[1]
    assert "fails" in reuse_words.recovered(found, True)


def test_at_one_budget_there_is_nothing_to_solve():
    with pytest.raises(InputError, match="must differ"):
        reuse_topic.reuse_answer(1.0, 1.0, 1e-5, 1, is_fresh=False)


@pytest.mark.parametrize("name", THEMES)
def test_the_two_releases_are_drawn_beside_what_they_give_away(name):
    chart = reuse_charts.reused(reuse_topic.reuse_answer(1.0, 2.0, 1e-5, 1, is_fresh=False))
    go.Figure(in_theme(chart.spec, name))
    wording.found("off up", chart.alt, 0)
    np.testing.assert_allclose(
        chart.table["Non-private"], chart.table["What the formula gives"], atol=1e-5
    )


# -- the command line -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        Attack(GRADIENT, BUDGET),
        Attack(GRADIENT, BUDGET, variant="NoClipping"),
        Attack(GRADIENT, BUDGET, SparseCurves(n_curves=100), "NoClipping"),
    ],
    ids=["", "fault", "source"],
)
def test_the_command_that_is_shown_repeats_the_attack(asked, typed, capsys):
    result = audit_topic.command(asked)
    first, _, rest = result.partition(" <<'END'\n")
    typed(rest.removesuffix("END").encode())
    words = [*first.split()[3:], "--json", "--tries", "100", "--runs", "0"]
    assert main(words) == 0
    plain = json.loads(capsys.readouterr().out)["audits"][0]
    assert plain["verdict"] == ("broken" if asked.variant else "holds")
    assert plain["claimed_epsilon"] == pytest.approx(1.0, rel=1e-6)
    assert plain["neighbours"] == asked.neighbours


def test_every_epsilon_that_is_given_is_audited_in_order(capsys):
    words = ["audit", "noisy_gradient_mean", "--epsilon", "0.5", "--epsilon", "4", "--tries", "100"]
    assert main([*words, "--runs", "0", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)["audits"]
    assert [round(one["claimed_epsilon"], 6) for one in plain] == [0.5, 4.0, 0.5, 4.0]
    assert all(0.9 < one["ratio"] <= 1 + 1e-9 for one in plain)


@pytest.mark.slow
def test_two_processes_find_what_one_finds(capsys):
    words = ["audit", "univariate_mean", "--tries", "100", "--runs", "0", "--json"]
    assert main(words) == 0
    one = json.loads(capsys.readouterr().out)
    assert main([*words, "--executor", "processes:2"]) == 0
    assert json.loads(capsys.readouterr().out) == one
