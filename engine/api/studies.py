"""Studies: plans, scenarios, attacks on what mechanisms claim, and results of papers made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd

from engine import audit as attacks
from engine import exhibits as reproduced
from engine.audit import Report
from engine.core.entrance import text_of
from engine.core.typed import Within, checked
from engine.core.types import Budget, Data
from engine.exhibits import Form
from engine.mechanisms import Mechanism
from engine.running import executors
from engine.running.steps import result_of
from engine.simulation import experiments, scenario
from engine.simulation.experiments import Outcome
from engine.simulation.scenario import Scenario
from engine.sources import Source
from engine.topics.planning.answer import PlannedStudy, PlanningAnswer, plan_of
from engine.topics.planning.periods import PlannedPeriods, planned

if TYPE_CHECKING:
    from engine.exhibits import Exhibit, Finding, Paper, Result

Unknown = Literal["epsilon", "people", "observations", "sites", "error"]


@checked
def plan(
    source: Source[Any],
    mechanism: Mechanism,
    target: float,
    unknown: Unknown = "epsilon",
    epsilon: float = 1.0,
    delta: float | None = None,
    seed: int = 1,
) -> PlanningAnswer:
    """The budget, or the size of a study, that reaches an error.

    Parameters
    ----------
    source : Source
        With the sizes that stay as they are; of real curves only facts and sizes are used.
    mechanism : Mechanism
    target : float
        Root mean squared distance from the truth, in the unit of the values.
    unknown : {"epsilon", "people", "observations", "sites", "error"}
        What is solved for.
    epsilon : float
        ε of every site, where it is not solved for.
    delta : float, optional
        δ of every site; one over ten times the number of people if left out.
    seed : int
        Seed of data and noise.

    Returns
    -------
    PlanningAnswer
        `value`, with `low` to `high` around it, and the error that is `reached`.

    Raises
    ------
    InputError
        If the target is not positive, or sizes cannot be simulated.
    """
    dial = "readings" if unknown == "observations" else unknown
    return result_of(plan_of(source, mechanism, epsilon, delta, dial, target, seed))


@checked
def plan_periods(
    source: Source[Any],
    mechanism: Mechanism,
    budget: Budget,
    periods: int,
    stays: int | None = None,
    seed: int = 1,
) -> PlannedPeriods:
    """Plan releases over time of the same people, such as a curve every month for three years.

    Parameters
    ----------
    source : Source
        With the sizes of one period; of real curves only facts and sizes are used.
    mechanism : Mechanism
    budget : Budget
        What a person may spend over all periods, with δ above 0.
    periods : int
        How many releases, 1 to 1000.
    stays : int, optional
        In how many of them a person is at most; all if left out.
    seed : int
        Seed of data and noise.

    Returns
    -------
    PlannedPeriods
        The budget and the error of each period, and those of fewer releases.

    Raises
    ------
    InputError
        If δ is 0, or a number is out of range.

    Examples
    --------
    >>> from engine import api as pc
    >>> source = pc.source("sparse_curves", n_curves=1000)
    >>> plan = pc.plan_periods(source, pc.mechanism("adaptive_mean"), pc.Budget(3, 1e-6), 12)
    >>> round(plan.periods.each.epsilon, 2)
    0.78
    """
    setting = PlannedStudy.of(source, mechanism, budget.epsilon, budget.delta)
    return result_of(planned(setting, periods, stays, seed))


@checked
def read_scenario(stated: str | Path | Mapping[str, Any]) -> Scenario:
    """A scenario as the pages save it and the command line runs it.

    Parameters
    ----------
    stated : path or mapping
        A JSON file, or what it holds; `schema("scenario")` describes it.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        Naming the key that is unknown, missing or out of range.
    """
    if isinstance(stated, Mapping):
        return scenario.from_json(json.dumps(stated))
    return scenario.from_json(text_of(str(stated)))


@checked
def run_scenario(stated: Scenario, executor: str = "serial") -> list[Outcome]:
    """Every cell of a scenario, with its errors and guarantee.

    Parameters
    ----------
    stated : Scenario
        From `read_scenario`.
    executor : str
        "serial", "processes:N" or "dask://HOST:PORT"; results are the same to the last bit.

    Returns
    -------
    list of Outcome
        One for each cell; `frame` makes a table of them.

    Examples
    --------
    >>> outcomes = run_scenario(read_scenario({
    ...     "version": 1, "source": {"key": "sparse_curves", "parameters": {"n_curves": 100}},
    ...     "mechanism": {"key": "adaptive_mean"}, "budgets": [{"epsilon": 1, "delta": 1e-4}],
    ...     "repeats": 2}))
    >>> outcomes[0].repeats, outcomes[0].guarantee
    (2, (Budget(epsilon=1.0, delta=0.0001),))
    """
    cells = stated.cells()
    with executors.make(executor) as workers:
        outcomes = experiments.run_cells(cells, stated.run, workers)
    if stated.run.is_study:
        outcomes = experiments.with_baselines(outcomes, stated.run.seed)
    return outcomes


@checked
def audit(
    mechanism: Mechanism,
    source: Source[Data] | None = None,
    seed: int = 1,
    *,
    tries: Annotated[int, Within(1, 1_000_000)] = 2000,
    runs: Annotated[int, Within(0, 10_000_000)] = 20_000,
    seconds: Annotated[float, Within(0, 86_400)] = 60.0,
) -> Report:
    """Try to break what a mechanism of the engine claims; `attack` takes any other.

    Parameters
    ----------
    mechanism : Mechanism
    source : Source, optional
        Whose data neighbours are built around; without it small data of their own.
    seed : int
        Of everything random.
    tries : int
        Pairs of neighbouring data sets.
    runs : int
        Releases of each side of the worst pair; 0 for none.
    seconds : float
        For all of it.

    Returns
    -------
    Report
        `verdict` is "holds", "loose" or "broken".

    Raises
    ------
    InputError
        If the source is for another task.

    Examples
    --------
    >>> from engine.api.data import mechanism
    >>> audit(mechanism("sparse_mean_laplace"), tries=60, runs=0).verdict
    'holds'
    """
    return result_of(
        attacks.audit(mechanism, source, None, seed, tries=tries, runs=runs, seconds=seconds)
    )


@dataclass(frozen=True)
class ExhibitAgain:
    """A figure or table of a paper, made again."""

    paper: Paper
    exhibit: Exhibit
    result: Result  # its table, and where it is from
    findings: tuple[Finding, ...]  # whether each claim of the paper holds in it


@checked
def exhibits() -> pd.DataFrame:
    """Figures and tables of papers that can be made again.

    Returns
    -------
    pandas.DataFrame
        Columns `paper` and `title`, with the names as its index.
    """
    rows = [
        {"name": f"{paper.key}/{each.key}", "paper": paper.title, "title": each.title}
        for paper in reproduced.papers()
        for each in paper.exhibits
    ]
    return pd.DataFrame(rows).set_index("name")


@checked
def exhibit(name: str, form: Form = "quick", executor: str = "serial") -> ExhibitAgain:
    """Make a figure or table of a paper again.

    Parameters
    ----------
    name : str
        One of `exhibits()`.
    form : {"quick", "full"}
        Smaller sizes, or those of the paper.
    executor : str
        "serial", "processes:N" or "dask://HOST:PORT".

    Returns
    -------
    ExhibitAgain
        See `frame` and `figure`.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    paper, chosen = reproduced.find(name)
    with executors.make(executor) as workers:
        result = result_of(reproduced.run(chosen, form, workers))
    return ExhibitAgain(paper, chosen, result, tuple(chosen.findings(result.table)))
