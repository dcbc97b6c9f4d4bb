"""One question, however it is asked: link, JSON, view file and code give equal records and numbers."""

import contextlib
import inspect
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.commands import show
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.plain import to_plain as plain_of
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.exports.code_for import code_for
from engine.lessons import work
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.privacy.amplification import Person, SecretSample
from engine.questions import ask
from engine.questions.kinds import from_json, from_plain, kinds, to_plain
from engine.rates import rates
from engine.release.published import release_cost
from engine.sources import sources
from engine.sources.bundled import SeaTemperature
from engine.sources.event_times import EventTimes
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.audit.answer import Attack, audit_answer
from engine.topics.coefficients.answer import coefficients_answer
from engine.topics.compare.answer import at_budgets
from engine.topics.counting.answer import counting_answer
from engine.topics.coverage.answer import Experiment, coverage_answer
from engine.topics.decision.answer import decision_of
from engine.topics.mean.answer import mean_answer
from engine.topics.percentiles.answer import percentiles_answer
from engine.topics.planning.answer import PlannedStudy, plan_of
from engine.topics.rates.check import terms
from engine.topics.regression.answer import Group, Network, regression_answer
from engine.topics.reuse.answer import reuse_answer
from engine.topics.sites.answer import federation
from engine.topics.sites.site_table import PRESETS
from engine.topics.sparse.answer import sparse_answer
from engine.topics.summaries.answer import summaries_answer
from pages.shared.state.settings import Settings
from reproductions import quick
from tests.heavy import all_but
from tests.hostile.values import HOSTILE
from tests.pages.opening import visit

pytestmark = pytest.mark.usefixtures("few_data_sets")

DEFAULT = Settings()
CURVES = SparseCurves(n_curves=60, n_observations_per_curve=6)
MEAN = AdaptiveMean(basis="cosine", design="stated")
RATE = rates.for_task("mean_function")[0]()
LIMITS = Experiment("point", CURVES, replace(MEAN, band="pointwise"), Budget(4.0, 1e-4), 2)
NETWORK = Network((Group(4, 1000, 0.3), Group(2, 1000, 2.0)))
ASKED = {
    "curves": ask(mean_answer, CURVES, MEAN, Budget(0.7, 1e-4), 3).about(
        Person(3, SecretSample(60, 100_000, True))
    ),
    "coefficients": ask(
        coefficients_answer,
        DEFAULT.source_of("varying_coefficients"),
        DEFAULT.mechanism_of("varying_coefficients"),
        Budget(2.0, 1e-4),
        2,
    ),
    "counting": ask(
        counting_answer,
        EventTimes(n_curves=300, comparison="hazard ratio"),
        NoisyCounts(),
        Budget(1.5),
        2,
    ),
    "summary": ask(
        summaries_answer,
        DEFAULT.source_of("density"),
        DEFAULT.mechanism_of("density"),
        "density",
        Budget(2.0, 1e-5),
        1,
    ),
    "sparse": ask(
        sparse_answer,
        DEFAULT.source_of("sparse_regression"),
        DEFAULT.mechanism_of("sparse_regression"),
        Budget(2.0, 1e-6),
        1,
    ).about(Person(2)),
    "percentiles": ask(
        percentiles_answer,
        PopulationReadings(population="growth", n_curves=400, n_observations_per_curve=4),
        PercentileCurves(),
        Budget(4.0, 1e-5),
        1,
    ),
    "regression": ask(
        regression_answer,
        DEFAULT.source_of("wavelet_regression"),
        DEFAULT.mechanism_of("wavelet_regression"),
        NETWORK,
        5,
    ),
    "decision": ask(
        decision_of, CURVES, MEAN, PRESETS["mixed"].rows, None, "centre", 2.0, "18", 3
    ).about(Person(2)),
    "sites": ask(federation, CURVES, MEAN, PRESETS["mixed"].rows, 2),
    "plan": ask(plan_of, CURVES, MEAN, 2.0, 1e-4, "error", 1.0, 1).about(Person(2)),
    "rate": ask(terms, RATE, {"n": 200.0}, 0.4),
    "rate_check": ask(
        terms,
        RATE,
        {},
        None,
        "epsilon",
        (PlannedStudy.of(CURVES, MEAN, 2.0),),
        (1.0, 4.0),
        LIMITS,
        2,
    ),
    "methods": ask(at_budgets, CURVES, (MEAN, Bernstein()), (0.5, 4.0), 1e-4, 1, 2),
    "coverage": ask(coverage_answer, LIMITS),
    "reuse": ask(reuse_answer, 1.0, 5.0, 1e-5, 3, True),
    "lesson": ask(work, "3", 7),
    "attacks": ask(
        audit_answer,
        (Attack(MEAN, Budget(1.0, 1e-4)), Attack(MEAN, Budget(1.0, 1e-4), CURVES, seed=4)),
    ),
    "exhibit": ask(quick, "functional_mean/table-1"),
    "release": ask(release_cost, SeaTemperature(), MEAN, Budget(2.0, 1e-6)),
}
MEMBERS = ["source", "mechanism", "budget", "seed"]  # arguments of most kinds


def usual_question(kind):
    """That about the usual members of its task, of a kind that asks for nothing else."""
    task = TASKS[kind.tasks[0]]
    return ask(
        kind.function,
        sources.default(task.source, task.key),
        mechanisms.default(task.mechanism, task.key),
        Budget(1.0),
        1,
    )


ASKED |= {
    name: usual_question(kind)
    for name, kind in kinds().items()
    if kind not in [question.kind for question in ASKED.values()]
    and kind.tasks
    and [*inspect.signature(kind.function).parameters] == MEMBERS
}
HEAVY = (
    "coefficients",
    "coverage",
    "rate_check",
    "attacks",
    "summary",
    "regression",
    "exhibit",
    "methods",
    "lesson",
    "sparse",
    "sites",
    "percentiles",
    "decision",
)
LINKS = {
    "explore": "c.n_curves-60~epsilon-0.7~seed-4~group-2",
    "sites": "sites-mixed~seed-2",
    "plan": "unknown-error~epsilon-2~delta-0.001",
    "coefficients": "epsilon-3~seed-2",
    "regression": "network-4x4000x0.3_2x1000x2~seed-5",
    "sparse": "epsilon-2",
    "summaries": "summary-density~epsilon-2",
    "rates": "r-univariate_mean~along-n",
    "audit": "part-coverage~limits-coefficient~seed-2",
    "teach": "lesson-3~seed-7~open-learn_code",
    "compare": "methods-frl.adaptive_mean~budgets-0.1_4~group-2",
}
VIEWS = json.loads((Path(__file__).parents[1] / "golden/views_before_questions.json").read_text())


def test_every_kind_of_question_is_among_these():
    assert {*kinds().values()} == {question.kind for question in ASKED.values()}


# -- equal records --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKED)
def test_json_gives_an_equal_question(name):
    question = ASKED[name]
    again = from_json(json.dumps(to_plain(question), allow_nan=False))
    assert again == question and digest(again.arguments) == digest(question.arguments)


def _made(python):
    """The question that code makes."""
    made = {}
    exec(python.split("\nanswer =")[0], made)
    return made["question"]


@pytest.mark.parametrize("name", [name for name, kind in kinds().items() if kind.renamed])
def test_json_with_the_names_that_arguments_had_before_gives_an_equal_question(name):
    before = {new: old for old, new in kinds()[name].renamed}
    plain = {
        before.get(argument, argument): value for argument, value in to_plain(ASKED[name]).items()
    }
    assert plain != to_plain(ASKED[name])
    assert from_plain(plain) == ASKED[name]


@pytest.mark.parametrize("name", ASKED)
def test_code_gives_an_equal_question(name):
    assert _made(code_for(ASKED[name]).python) == ASKED[name]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_file_of_earlier_versions_gives_an_equal_question(name):
    assert show.from_json(json.dumps(VIEWS[name])) == ASKED[name]


@pytest.mark.parametrize("page", all_but({*LINKS} - {"audit"}, LINKS))
def test_a_link_gives_an_equal_question(page):
    link = LINKS[page] if "open-" in LINKS[page] else f"{LINKS[page]}~open-{page}_code"
    made, again = (
        _made(next(code.value for code in visit(page, link).code if code.language == "python"))
        for _ in range(2)
    )
    assert made == again == from_plain(to_plain(made))


# -- equal numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", all_but(HEAVY, [name for name in ASKED if name != "release"]))
def test_code_and_json_print_equal_numbers(name):
    question = from_plain(to_plain(ASKED[name]))
    code = code_for(ASKED[name])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code.python, made := {})
    if name != "attacks":  # which take so long as they may
        assert out.getvalue().strip() == question.text(question.answer())
    assert all(isinstance(value, float) for value in question.numbers(made["answer"]).values())
    chart = question.chart(made["answer"])
    assert chart.spec["data"] and chart.alt


def test_whose_odds_are_wanted_changes_no_other_number():
    question = ASKED["plan"]
    answer = question.answer()
    alone = question.about(Person(1)).numbers(answer)
    together = question.numbers(answer)
    assert {name for name in alone if alone[name] != together[name]} == {
        "attacker’s accuracy, at most"
    }


# -- what is no question --------------------------------------------------------------------------


@pytest.mark.parametrize("name", all_but({*ASKED} - {"sites", "reuse", "rate", "lesson"}, ASKED))
def test_hostile_values_are_refused_in_a_sentence_or_are_a_question(name):
    plain = to_plain(ASKED[name])
    for field, given in plain.items():
        for value in HOSTILE:
            made = _refused_or_made({**plain, field: value})
            assert made is None or digest(made.arguments)
            if isinstance(given, dict):
                for inner in given:
                    _refused_or_made({**plain, field: {**given, inner: value}})
            if isinstance(given, list) and given and isinstance(given[0], dict):
                for inner in given[0]:
                    _refused_or_made({**plain, field: [{**given[0], inner: value}]})


def _refused_or_made(plain):
    """The question that JSON could hold; None if it is none or is refused."""
    try:
        text = json.dumps(plain)
    except (TypeError, ValueError):
        return None
    try:
        return from_json(text)
    except InputError as problem:
        assert 10 < len(str(problem)) < 900 and "Traceback" not in str(problem)
        return None


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        {"question": "nothing"},
        {"question": []},
        {"question": "curves"},
        {**to_plain(ASKED["reuse"]), "third": 3},
        {**to_plain(ASKED["reuse"]), "seed": -1},
        {
            **to_plain(ASKED["curves"]),
            "mechanism": plain_of(DEFAULT.mechanism_of("sparse_regression")),
        },
        {**to_plain(ASKED["curves"]), "person": {"units": "two"}},
        {**to_plain(ASKED["regression"]), "source": plain_of(CURVES)},
    ],
)
def test_what_is_no_question_is_explained(plain):
    with pytest.raises(InputError):
        from_plain(plain)


@pytest.mark.parametrize(
    "changed",
    [
        to_plain(ASKED["plan"]) | {"unknown": "luck"},
        to_plain(ASKED["methods"]) | {"methods": []},
        to_plain(ASKED["methods"]) | {"epsilons": [0.7]},
        to_plain(ASKED["sites"]) | {"rows": []},
        to_plain(ASKED["rate"]) | {"point": {"people": 3}},
        to_plain(ASKED["lesson"]) | {"key": "99"},
    ],
)
def test_what_cannot_be_answered_is_explained(changed):
    question = from_plain(changed)
    with pytest.raises(InputError):
        question.answer()


def test_data_of_ones_own_and_their_twin_are_in_no_file():
    twin = ask(mean_answer, Twin.of(CURVES.facts, CURVES.sizes), MEAN, Budget(0.7, 1e-4), 3)
    assert twin.command() == ""
    with pytest.raises(InputError):
        to_plain(twin)
