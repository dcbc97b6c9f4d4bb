"""One scenario, one number: every page, command and memo says the same of the same scenario."""

import functools
import inspect
import json
import math
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from engine.__main__ import main
from engine.core.errors import InputError
from engine.core.tasks import VARYING_COEFFICIENTS, WAVELET_REGRESSION
from engine.core.types import Budget
from engine.exports import memo
from engine.language import error_words, numbers, odds_words, quality
from engine.language.numbers import small
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.frl import Frl
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.mechanisms.study import Study
from engine.privacy import accounting, risk
from engine.privacy.failure import delta_rule
from engine.questions import ask, kinds
from engine.running import executors
from engine.running.steps import result_of
from engine.simulation import experiments, scenario, studies
from engine.simulation.experiments import Run
from engine.simulation.metrics import Accuracy
from engine.sources import Source, sources
from engine.sources.bundled import SeaTemperature
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.event_times import EventTimes
from engine.sources.hormone_study import HormoneStudy
from engine.sources.labelled_points import LabelledPoints
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves
from engine.sources.sparse_rows import SparseRows
from engine.topics.asking import WITHIN
from engine.topics.decision import answer as decision_topic
from engine.topics.mean.answer import EPSILON_STEPS, errors_and_shares, other_methods
from engine.topics.mean.better import error_after
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import words as planning_words
from engine.topics.sites.site_table import SiteRow, rows_of
from pages.parts.compare import pins
from pages.shared import places
from pages.shared.state import lab_tasks, links, run, settings
from pages.shared.state.lab_tasks import LAB_TASKS
from pages.shared.state.pins import Pin
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS, VERY_FEW_DATA_SETS
from tests.heavy import all_but, few
from tests.pages.opening import own_curves, visit
from tests.pages.reading import components, error_in_lab, strip, words
from tests.sentences import of_topic

AT_MOST = "attacker’s accuracy, at most"  # name of a number of every answer
wording = of_topic("odds")

TASK = "mean_function"
GROWTH = SparseCurves(mean="growth")


@dataclass(frozen=True)
class Case:
    """A scenario as somebody would set it: curves, method, ε, δ if one is chosen, and a seed."""

    source: Source
    mechanism: Mechanism = field(default_factory=AdaptiveMean)
    epsilon: float = 1.0
    delta: float | None = None
    seed: int = 1

    @property
    def stated(self):
        return delta_rule(
            self.source.sizes.n_curves, self.delta, self.mechanism.guarantee == "pure"
        )

    @property
    def budget(self):
        return Budget(self.epsilon, self.stated.value)

    @property
    def rows(self):
        """The sites of the scenario, as the table of Sites has them."""
        if not self.source.has_free_sites:
            rows = rows_of(self.source)
        else:
            sizes = self.source.sizes
            rows = tuple(
                SiteRow(f"Site {k}", n, round(sizes.n_observations_per_curve))
                for k, n in enumerate(sizes.n_curves_per_server, 1)
            )
        return tuple(replace(row, epsilon=self.epsilon) for row in rows)

    @property
    def settings(self):
        return settings.Settings(
            epsilon=self.epsilon,
            delta=self.delta,
            seed=self.seed,
            unknown_quantity="error",
            compared_methods=(_word(self.mechanism),),
            sites=self.rows,
            compared_budgets=(self.epsilon,) if self.epsilon in EPSILON_STEPS else (1.0,),
        ).with_study(settings.TASK, self.source, self.mechanism)


def _word(mechanism):
    label = mechanism.nearest_preset()[0]
    return next(
        word
        for word, (name, cls, _) in settings.METHODS.items()
        if (name, cls) == (label, type(mechanism))
    )


def grown(people, readings, sites=1, **rest):
    return replace(
        GROWTH, n_curves=people, n_observations_per_curve=readings, n_servers=sites, **rest
    )


FAST = [
    Case(grown(200, 12)),
    Case(grown(360, 8, 3), epsilon=2.0),
    Case(grown(150, 6), NoisyGradientMean(), 4.0, 1e-6),
    Case(grown(150, 10), Iclp(), 6.0),
    Case(grown(300, 10, 2), epsilon=0.7, delta=1e-5, seed=5),
]
SLOW = [
    Case(grown(1800, 30, 12)),
    Case(grown(120, 30), epsilon=8.0),
    Case(grown(100, 4), epsilon=0.3),
    Case(grown(400, 10, 4, deviation_tails="heavy"), epsilon=1.5),
    Case(SparseCurves(mean="mu1"), epsilon=0.5),
    Case(SparseCurves(mean="mu2", n_curves=500, n_servers=5), NoisyGradientMean(), 1.0),
    Case(SparseCurves(mean="wiggly", n_curves=1000), epsilon=3.0),
    Case(SparseCurves(mean="mu1", n_curves=300), Frl(), 10.0),
    Case(SparseCurves(mean="mu2", n_curves=400), Iclp(penalty="absolute"), 8.0),
    Case(HormoneStudy(), epsilon=1.0),
    Case(HormoneStudy(n_curves=700, n_servers=7), epsilon=3.0, delta=1e-6),
    Case(SparseCurves(mean="line", n_curves=350), AdaptiveMean(), 2.0, 0.0),
    Case(SparseCurves(mean="flat", n_curves=250), epsilon=5.0),
    Case(SeaTemperature(), epsilon=2.0),
    Case(SeaTemperature(n_servers=3), epsilon=1.0, seed=2),
]


@dataclass(frozen=True)
class Said:
    """What a scenario comes to; NaN where it is unknown or nothing would be published."""

    error: float
    within: float
    baseline: float | None
    delta: float
    right: float
    unit: str
    distance: str = "error"  # what it is called

    @property
    def written(self):
        return numbers.error(self.error, self.unit, self.within)

    @property
    def of_names(self):
        """Under the names that `show` prints."""
        unit = f" ({self.unit})" if self.unit else ""
        found = {f"{self.distance}{unit}": self.error, f"{WITHIN}{unit}": self.within}
        if self.baseline is not None:
            found[f"error without privacy{unit}"] = self.baseline
        return found | {"proved δ": self.delta, "attacker’s accuracy, at most": self.right}


def agree(found, said):
    """Every number that is found is the one that was said, and none of these is missing."""
    for name, value in said.of_names.items():
        assert found[name] == pytest.approx(value, rel=1e-9, nan_ok=True), name


@cache
def engine(case):
    """Explore's numbers, from the engine."""
    view = {"view": "curves", "scenario": plain(case)}
    result = showed(view)
    unit = case.source.facts.value_unit
    distance = error_words.error_name(case.source.facts)
    names = Said(0, 0, 0, 0, 0, unit, distance).of_names
    error, within, baseline, delta, right = (result.get(name) for name in names)
    return Said(error, within, baseline, delta, right, unit, distance)


def plain(case):
    return scenario.to_plain(
        case.source, case.mechanism, (case.budget,), Run(seed=case.seed, is_study=True)
    )


def showed(view):
    from engine.commands.show import from_json

    question = from_json(json.dumps(view))
    return question.numbers(question.answer())


# -- commands and the memo ------------------------------------------------------------------------


def check_commands(case, tmp_path, capsys):
    result = engine(case)
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(plain(case)))
    view = {"scenario": plain(case), "sites": [row.__dict__ for row in case.rows]}
    if case.delta is not None:
        view["sites"] = [{**row, "delta": case.delta} for row in view["sites"]]
    if case.source.is_random:  # real curves: these commands measure from their own mean
        check_run(file, result, capsys)
        agree(showed({**view, "view": "sites"}), result)
        agree(
            showed(
                {**view, "view": "plan", "unknown": "error", "target": 1.0, "delta": case.delta}
            ),
            result,
        )
        check_plan(case, file, result, capsys)
    if case.epsilon in EPSILON_STEPS:
        found = showed(
            {
                "view": "methods",
                "scenario": plain(case),
                "others": [],
                "units": 1,
                "epsilons": [case.epsilon],
            }
        )
        label = case.mechanism.nearest_preset()[0]
        agree(
            {
                name.removeprefix(f"ε = {case.epsilon:g}, {label}: "): value
                for name, value in found.items()
            },
            result,
        )


def check_run(file, said, capsys):
    assert main(["run", str(file), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    for name, value in (
        ("rms_error", said.error),
        ("within_95", said.within),
        ("rms_error_without_privacy", said.baseline),
        ("attacker_accuracy", said.right if cell["published"] else None),
    ):
        known = value is not None and math.isfinite(value)
        assert cell[name] == (pytest.approx(value, rel=1e-9) if known else None), name
    if cell["published"]:
        assert max(one["delta"] for one in cell["guarantee"]) == pytest.approx(said.delta)
    assert main(["run", str(file)]) == 0
    table = capsys.readouterr().out
    assert math.isnan(said.error) or numbers.number(said.error) in table


def check_plan(case, file, said, capsys):
    assert main(["plan", str(file), "--unknown", "error", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    if not found["possible"]:
        assert math.isnan(said.error)
        return
    assert found["reached"]["error"] == pytest.approx(said.error, rel=1e-9)
    assert found["reached"]["within_95"] == pytest.approx(said.within, rel=1e-9)
    assert found["reached"]["delta"] == case.stated.value
    assert found["without_privacy"] == pytest.approx(said.baseline, rel=1e-9)
    assert found["attacker_accuracy"] == pytest.approx(said.right, rel=1e-9)
    setting = planning_topic.PlannedStudy.of(case.source, case.mechanism, case.epsilon, case.delta)
    answer = result_of(planning_topic.plan(setting, "error", 1.0, case.seed))
    page = memo.decision_memo(setting, answer, case.source.facts).decode()
    assert (
        planning_words.accuracy(answer, case.source.facts)
        .replace("**", "<b>", 1)
        .split("**")[0]
        .split("<b>")[1]
        in page
    )
    for value in (said.error, said.within, said.baseline):
        assert numbers.number(value) in page
    assert odds_words.odds_short(answer.protection.odds) == odds_words.odds_short(
        risk.of_ledger(answer.protection.spends)
    )
    assert small(case.stated.value) in page or case.stated.value == 0


# -- pages ----------------------------------------------------------------------------------------


def check_pages(case, monkeypatch, simulating):
    said, token, facts = engine(case), links.encode(case.settings), case.source.facts
    others = {error_after: math.nan, other_methods: {}}  # which are about other scenarios
    simulating(
        lambda usual, function, *asked, **options: (
            others[function] if function in others else usual(function, *asked, **options)
        ),
        "answer",
    )
    # without the map around the study
    monkeypatch.setattr(decision_topic, "map_tables", lambda rows: ())
    odds = odds_words.odds_short(SimpleNamespace(right=said.right, group=1))
    amber = odds_words.delta_tag(case.stated)
    for page, key in (("explore", "strip"), ("rates", "rates_strip")):
        if case.source.is_random or page == "explore":
            opened = f"{token}~open-accuracy".strip("~") if page == "explore" else token
            check_page(visit(page, opened), page, key, said, odds, amber, facts)
    check_decide(case, token, said, facts)
    if case.epsilon in EPSILON_STEPS:
        at = visit("compare", token)
        table = at.dataframe[0].value.iloc[0]
        assert table["Error"] == (said.written or "nothing published")
        assert any(small(case.stated.value) in text.value for text in at.markdown)
        assert table["Accuracy"] == odds


def check_decide(case, token, said, facts):
    """The solver, the table of sites, and the study itself: cards, strip and memo."""
    if case.source.is_random and said.written:
        assert quality.accuracy(facts, said.error, said.within, said.baseline) in words(
            visit("plan", token)
        )
    if len(case.rows) > 1 and said.written:
        compared = words(visit("sites", token))
        assert numbers.with_unit(numbers.number(said.error), said.unit) in compared
        assert said.baseline is None or (
            f"Without privacy: {numbers.with_unit(numbers.number(said.baseline), said.unit)}"
            in compared
        )
    if case.source.is_random and said.written and case.epsilon in EPSILON_STEPS:
        target = f"~target-{said.within * 1.000001:.9g}"
        at = visit("decide", f"{token}{target}".strip("~"))
        by_step = run.mean_at_every_step(case.source, case.mechanism, said.delta, case.seed)
        smaller, larger = np.split(
            by_step.study.within[by_step.published],
            [int(by_step.published[: EPSILON_STEPS.index(case.epsilon)].sum())],
        )
        if (larger > 1.02 * said.within).any() or (smaller <= said.within).any():
            # errors do not fall with ε where more basis functions are kept: another one is advised
            assert f"ε = {case.epsilon:g} for every" not in words(at)
            return
        for value in (
            numbers.with_unit(numbers.number(each), said.unit) for each in (said.error, said.within)
        ):
            assert f" **{value}**" in words(at)
        assert strip(at, "decide_strip").error == said.written


def check_page(at, page, key, said, odds, amber, facts):
    if page == "explore":
        figure = components(at, "figure")[0]
        error, within, _ = figure["curves"]["errors"][figure["now"]["start"]]
        assert error == (
            numbers.with_unit(numbers.number(said.error, is_padded=True), said.unit)
            if said.written
            else "–"
        )
        assert not said.written or numbers.number(said.within, is_padded=True) in within
        assert figure["curves"]["attacker"][figure["now"]["start"]] == odds
    else:
        here = strip(at, key)
        assert (here.error, here.odds) == (said.written, odds), page
        large = [chip for chip in here.chips if chip.startswith("δ above")]
        assert large == [amber] * bool(amber), page
    if said.written and page == "explore":
        assert quality.accuracy(facts, said.error, said.within, said.baseline) in words(at)


def check_pins(case):
    if not case.source.is_random:
        return
    said, token = engine(case), links.encode(case.settings)
    for page in ("explore", "rates", "plan", "sites"):
        if page == "plan" and not said.written:
            continue
        pin = pins.pinned_facts(Pin("A", *places.present(page, token)))
        assert pin.brief.error == pytest.approx(said.error, rel=1e-9, nan_ok=True), page
        assert math.isnan(said.error) or pin.brief.within == pytest.approx(said.within, rel=1e-9), (
            page
        )
        assert pin.brief.budget == case.budget, page
        assert pin.odds.right == pytest.approx(said.right, rel=1e-9), page


def name(case):
    return f"{case.source.facts.name}, {case.mechanism.key}, {case.epsilon:g}, {case.seed}"


@pytest.fixture
def quick():
    """Few data sets, for everybody alike."""
    yield from fewer_data_sets(FEW_DATA_SETS)


@pytest.fixture
def quickest():
    """Very few of them."""
    yield from fewer_data_sets(VERY_FEW_DATA_SETS)


@pytest.mark.parametrize("case", few(FAST), ids=name)
def test_every_page_command_and_memo_says_the_same(
    case, tmp_path, capsys, monkeypatch, simulating, quick
):
    check_commands(case, tmp_path, capsys)
    check_pages(case, monkeypatch, simulating)
    check_pins(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=name)
def test_every_page_command_and_memo_says_the_same_of_further_scenarios(
    case, tmp_path, capsys, monkeypatch, simulating
):
    check_commands(case, tmp_path, capsys)
    check_pages(case, monkeypatch, simulating)
    check_pins(case)


def test_sites_whose_noise_differs_in_kind_have_one_guarantee_in_run_ask_and_pin(
    tmp_path, capsys, quickest
):
    """Laplace noise at one and Gaussian noise at the other: neither has the largest of all numbers."""
    source = grown(600, 8, 2)
    rows = (SiteRow("One", 300, 8, 1.1, 0.0), SiteRow("Two", 300, 8, 2.2, 1e-5))
    budgets = tuple(Budget(row.epsilon, row.delta) for row in rows)
    file = tmp_path / "scenario.json"
    file.write_text(
        json.dumps(scenario.to_plain(source, AdaptiveMean(), budgets, Run(is_study=True)))
    )
    assert main(["run", str(file), "--csv"]) == 0
    head, cell = (row.split(",") for row in capsys.readouterr().out.splitlines() if row[0] != "#")
    ran = dict(zip(head, cell, strict=True))
    assert (float(ran["epsilon"]), float(ran["delta"])) == (2.2, 1e-5)
    assert main(["run", str(file)]) == 0
    wording.found("budget", capsys.readouterr().out, 2.2, "1e-05")
    asked = showed(
        {"view": "sites", "scenario": plain(Case(source)), "sites": [row.__dict__ for row in rows]}
    )
    assert (asked["proved ε"], asked["proved δ"]) == (2.2, 1e-5)
    token = links.encode(settings.Settings(sites=rows).with_study(settings.TASK, source))
    pin = pins.pinned_facts(Pin("A", *places.present("sites", token)))
    assert pin.brief.budget == pin.odds.budget == Budget(2.2, 1e-5)
    right = float(ran["attacker_accuracy"])
    assert right == pytest.approx(asked[AT_MOST], rel=1e-9)
    assert right == pytest.approx(pin.odds.right, rel=1e-9)
    assert pin.odds.power > risk.of_ledger(accounting.by_server(pin.brief.spends)[0]).power


# -- every estimand of Lab ------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimated:
    """A scenario of Lab: a task, and what differs from the data and the method it begins with."""

    task: str
    source: Source | None = None
    mechanism: Mechanism | None = None
    epsilon: float = 1.0
    seed: int = 1

    @property
    def settings(self):
        usual = settings.Settings(
            **lab_tasks.settings_of(self.task), seed=self.seed, epsilon=self.epsilon
        )
        if (
            self.source is self.mechanism is None
        ):  # a task on the data of another has no study to change
            return usual
        return usual.with_study(self.task, self.source, self.mechanism)

    @property
    def parts(self):
        """Source, method and budgets: of a network those of its sites."""
        chosen = self.settings
        source, mechanism = chosen.source_of(self.task), chosen.mechanism_of(self.task)
        if self.task == WAVELET_REGRESSION.key:
            return chosen.network.source(source), mechanism, chosen.network.budgets
        delta = delta_rule(source.sizes.n_curves, None, mechanism.guarantee == "pure").value
        return source, mechanism, (Budget(self.epsilon, delta),)

    def answers(self):
        """What `ask` says to every question about one release of this scenario."""
        source, mechanism, budgets = self.parts
        known = {
            "source": source,
            "mechanism": mechanism,
            "budget": budgets[0],
            "seed": self.seed,
            "task": self.task,
            "network": self.settings.network,
        }
        for kind in kinds.kinds().values():
            wanted = inspect.signature(kind.function).parameters
            is_of_one_release = {*wanted} <= {*known} and {"budget", "network"} & {*wanted}
            if self.task in kind.tasks and is_of_one_release:
                question = ask(
                    kind.function,
                    *(
                        self.settings.source_of(self.task)
                        if name == "source" and "network" in wanted
                        else known[name]
                        for name in wanted
                    ),
                )
                yield kind.name, question


# In place of data that take long, as many as give the same paths.
SMALL = {
    "mean_function": grown(200, 12),
    "varying_coefficients": CoefficientCurves(n_curves=500),
    "sparse_regression": SparseRows(n_curves=20_000, n_features=12, n_shared=3),
    "percentile_curves": PopulationReadings(n_curves=700, n_observations_per_curve=8),
}
# What a scenario may differ in: percentiles, groups, a loss with another aim, too little to publish.
DIFFERENT = [
    Estimated(
        "percentile_curves",
        PopulationReadings(population="growth", n_curves=600, n_observations_per_curve=4),
        PercentileCurves(percentiles="10, 33.5, 90"),
        3.0,
        5,
    ),
    Estimated(
        "percentile_curves",
        PopulationReadings(population="growth", n_curves=100, n_observations_per_curve=4),
        epsilon=0.2,
    ),
    Estimated("survival", EventTimes(n_curves=400, comparison="hazard ratio"), epsilon=0.7, seed=3),
    Estimated("survival", EventTimes(n_curves=150, comparison="hazard ratio"), epsilon=0.2),
    Estimated("survival", EventTimes(n_curves=300, n_servers=3), epsilon=2.0),
    Estimated("risk_minimisation", LabelledPoints(), Iclp(task="risk_minimisation", loss="hinge")),
]
EVERY = [*(Estimated(key, SMALL.get(key)) for key in LAB_TASKS), *DIFFERENT]
LONG = [
    case
    for case in EVERY
    if case in DIFFERENT
    or case.task in {"varying_coefficients", "covariance", "percentile_curves", "sparse_regression"}
]


def of_case(case):
    changed = [part.key for part in (case.source, case.mechanism) if part is not None]
    return ", ".join([case.task, *changed, f"{case.epsilon:g}"])


@pytest.mark.parametrize("case", all_but(LONG, EVERY), ids=of_case)
def test_every_estimand_has_one_number_in_lab_run_ask_and_pin(case, tmp_path, capsys, quickest):
    """An answer's numbers begin with the error of the strip and what 95 % of releases are within."""
    source, mechanism, budgets = case.parts
    file = tmp_path / "scenario.json"
    file.write_text(
        json.dumps(
            scenario.to_plain(source, mechanism, budgets, Run(seed=case.seed, is_study=True))
        )
    )
    assert main(["run", str(file), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    said = [
        math.nan if cell[name] is None else cell[name]
        for name in ("rms_error", "within_95", "rms_error_without_privacy", "attacker_accuracy")
    ]
    if not cell["published"]:  # from nothing an attacker learns nothing
        assert math.isnan(said[3])
        said[3] = 0.5
    same = functools.partial(pytest.approx, rel=1e-9, nan_ok=True)
    asked = [*case.answers()]
    assert asked, "nothing asks for the answer of Lab"
    for name, question in asked:
        file.write_text(json.dumps(kinds.to_plain(question)))
        assert main(["ask", str(file), "--json"]) == 0
        numbers_of = json.loads(capsys.readouterr().out)
        values = [math.nan if value is None else value for value in numbers_of.values()]
        assert values[:2] == [same(said[0]), same(said[1])], name
        for other, value in numbers_of.items():
            if other.startswith("error without privacy"):
                assert value == same(said[2]), name
        assert numbers_of[AT_MOST] == same(said[3]), name
    token = links.encode(case.settings)
    pin = pins.pinned_facts(Pin("A", "lab", token))
    assert [pin.brief.error, pin.brief.within, pin.odds.right] == [
        same(said[0]),
        same(said[1]),
        same(said[3]),
    ]
    lab = visit("lab", token)
    if cell["published"]:
        assert error_in_lab(lab) == numbers.error(said[0], pin.brief.error_unit, said[1])
    else:
        assert not lab.metric and not strip(lab).error
    odds = strip(lab).odds or lab.metric[-1].value
    assert odds.startswith(odds_words.odds_short(SimpleNamespace(right=said[3], group=1)))


@pytest.mark.parametrize(
    "task", all_but({VARYING_COEFFICIENTS.key, "univariate_mean"}, [*decision_topic.DECIDED])
)
def test_what_decide_says_of_a_budget_is_what_run_says_of_its_study(task, quick):
    source, mechanism, _ = Estimated(task).parts
    rows = decision_topic.at_one_budget(decision_topic.equal_sites(source, "Site"))
    profile = decision_topic.profile_of(source, mechanism, rows, None, "sites")
    option = profile.option(EPSILON_STEPS.index(1.0))
    cell = experiments.Cell({}, profile.study.source, profile.study.mechanism, (option.budget,))
    (outcome,) = experiments.run_cells([cell], Run(is_study=True), executors.make("serial"))
    for name in ("error", "within"):
        assert getattr(option.accuracy, name) == pytest.approx(
            getattr(outcome.accuracy, name), rel=1e-9
        ), name


# -- privacy never helps --------------------------------------------------------------------------


def worst_gain(source, mechanism):
    """By how many standard errors a private release is closer than without privacy, at most."""
    pure = mechanism.guarantee == "pure"
    delta = delta_rule(source.sizes.n_curves, is_pure=pure).value
    budgets = [Budget(epsilon, delta) for epsilon in (0.5, 1.0, 4.0, 10.0)]
    study = Study(source=source, mechanism=mechanism, budgets=(budgets[0],))
    non_private = studies.baseline(study)
    collected = []
    for budget, errors in zip(
        budgets, errors_and_shares(source, mechanism, budgets, 1)[0], strict=True
    ):
        verdict = mechanism.feasibility(source.sizes, (budget,))
        if verdict is None or verdict.is_feasible:
            one = Accuracy.of(errors)
            collected.append(math.log(non_private / one.error) / max(one.log_se, 1e-9))
    return max(collected, default=-math.inf)


@pytest.mark.parametrize("case", few(FAST), ids=name)
def test_privacy_never_seems_to_help(case):
    assert worst_gain(case.source, case.mechanism) < 3


def registered():
    for cls in sources.for_task(TASK):
        for label, chosen in cls.presets_for(TASK):
            source = cls(**chosen)
            if source.is_random:
                for method in mechanisms.for_task(TASK):
                    for name, values in method.presets_for(TASK):
                        yield pytest.param(
                            source, method(**values).comparable(source.facts), id=f"{label}, {name}"
                        )


@pytest.mark.slow
@pytest.mark.parametrize(("source", "mechanism"), [*registered()])
def test_privacy_never_seems_to_help_in_any_registered_scenario(source, mechanism):
    try:
        assert worst_gain(source, mechanism) < 3
    except InputError:
        pytest.skip("the method refuses these curves")


def test_an_own_file_has_one_error_where_it_is_planned_with_and_where_it_is_published():
    mine = own_curves()
    planned = visit("plan", "unknown-error~epsilon-3", upload=mine, show_upload=True)
    published = visit("publish", "step-preview~epsilon-3", upload=mine, show_upload=True)
    measured = planning_topic.measure(planning_topic.PlannedStudy.of(mine, AdaptiveMean(), 3.0), 1)
    error, within = (numbers.in_unit(each, "cm") for each in (measured.error, measured.within))
    assert error in words(planned)
    assert error in words(published) and within in words(published)
