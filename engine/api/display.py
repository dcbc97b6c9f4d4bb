"""Everything the interface returns, as a pandas table and as a plotly figure."""

from __future__ import annotations

import io
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd

from engine import exhibits
from engine.answers.released_curve import ReleasedCurve
from engine.answers.times import grid
from engine.api.releases import SimulatedReleases
from engine.api.studies import ExhibitAgain
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.palette import Theme
from engine.core.typed import checked
from engine.core.types import CurveData, PublicFacts
from engine.exports import outcome_rows
from engine.figures import traces
from engine.figures.rendered import Figure, figure_of
from engine.figures.theme import Chart, Spec, axis, layout
from engine.language.numbers import named
from engine.release import captions
from engine.release.published import Published
from engine.simulation.experiments import Outcome
from engine.topics.planning.answer import PlanningAnswer
from engine.topics.planning.answer import plain as plain_plan
from engine.topics.release import charts
from engine.topics.release.preview import ReleasePreview

_MAX_CURVES = 60  # in a picture of data


@checked
def frame(result: Any) -> pd.DataFrame:
    """A pandas table of what the interface returns.

    Parameters
    ----------
    result : object
        Data, simulated releases, a preview, a release, a released curve, a plan, outcomes of a
        scenario, or an exhibit.

    Returns
    -------
    pandas.DataFrame
        Columns are named with their units, as on the pages.

    Raises
    ------
    InputError
        If there is no table of it.
    """
    return _table(result)


@checked
def figure(result: Any, theme: Theme = "light") -> Figure:
    """A plotly figure of what the interface returns, as the pages draw it.

    Parameters
    ----------
    result : object
        Data, simulated releases, a preview, a release, a released curve, or an exhibit (its first
        panel).
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If there is no picture of it.
    """
    return figure_of(_chart(result), theme)


@singledispatch
def _table(result: Any) -> pd.DataFrame:
    raise _nothing("table", result)


@singledispatch
def _chart(result: Any) -> Chart:
    raise _nothing("picture", result)


def _nothing(of: str, result: Any) -> InputError:
    return InputError(
        f"There is no {of} of {type(result).__name__}.",
        field="result",
        hint="Give what a function of the interface returned.",
    )


# -- data and simulated releases ------------------------------------------------------------------


@_table.register
def _(result: CurveData) -> pd.DataFrame:
    """A row for each observation."""
    facts, curve = result.facts, np.repeat(np.arange(result.n_curves), result.counts)
    n = result.n_repeats
    return pd.DataFrame(
        {
            "repeat": np.repeat(np.arange(n), len(curve)),
            facts.person: np.tile(curve, n),
            "site": np.tile(result.server[curve], n),
            _time(facts): facts.from_unit_time(result.times.ravel()),
            _value(facts): result.values.ravel(),
        }
    )


@_table.register
def _(result: SimulatedReleases) -> pd.DataFrame:
    """A row for each budget, repeat, draw and time."""
    times, facts = drawing_grid(), result.facts
    values = result.estimate.values(times)  # (budgets, repeats, draws[, functions], times)
    names = ["budget", "repeat", "draw", *(["function"] if values.ndim == 5 else [])]
    index = np.indices(values.shape).reshape(values.ndim, -1)
    columns: dict[str, Any] = dict(zip(names, index[:-1], strict=True))
    columns[_time(facts)] = facts.from_unit_time(times)[index[-1]]
    columns[_value(facts)] = values.ravel()
    return pd.DataFrame(columns)


@_chart.register
def _(result: CurveData) -> Chart:
    """Some curves of the first data set: for their holder alone, where they are real."""
    facts, some = result.facts, result.curves(_MAX_CURVES)
    lines = [
        traces.line(
            f"{facts.person} {k + 1}",
            traces.plain(facts.from_unit_time(times)),
            traces.plain(values),
            "raw",
            1.1,
        )
        for k, (times, values) in enumerate(some)
    ]
    return _over_time(lines, facts, f"{len(some)} curves")


@_chart.register
def _(result: SimulatedReleases) -> Chart:
    """The first repeat: a line for each draw at each budget."""
    times, facts = drawing_grid(), result.facts
    values = result.estimate.values(times)[:, 0]
    lines = values.reshape(-1, values.shape[-1])
    columns = {_time(facts): traces.plain(facts.from_unit_time(times))} | {
        f"release {k + 1}": traces.plain(line) for k, line in enumerate(lines)
    }
    return traces.table(columns, _value(facts), f"{len(lines)} simulated releases")


def _time(facts: PublicFacts) -> str:
    return named(facts.time_name, facts.time_unit)


def _value(facts: PublicFacts) -> str:
    return named(facts.value_name, facts.value_unit)


# -- releases -------------------------------------------------------------------------------------


@_table.register
def _(result: Published) -> pd.DataFrame:
    return pd.DataFrame(captions.columns(result))


@_chart.register
def _(result: Published) -> Chart:
    return charts.chart(result)


@_table.register
def _(result: ReleasePreview) -> pd.DataFrame:
    columns: dict[str, Any] = {_time(result.facts): result.points}
    for curve in result.curves:
        ends = (
            {}
            if curve.low is None or curve.high is None
            else {f"{curve.name}, lower end": curve.low, f"{curve.name}, upper end": curve.high}
        )
        columns |= {
            f"{curve.name}, released": curve.released,
            f"{curve.name}, truth": curve.truth,
            **ends,
        }
    return pd.DataFrame(columns)


@_chart.register
def _(result: ReleasePreview) -> Chart:
    return charts.preview_chart(result, _time(result.facts), _value(result.facts))


@_table.register
def _(result: ReleasedCurve) -> pd.DataFrame:
    band = result.band
    return pd.DataFrame(
        {
            _time(result.facts): result.facts.from_unit_time(grid()),
            _value(result.facts): band.middle,
            "lower end": band.low,
            "upper end": band.high,
        }
    )


@_chart.register
def _(result: ReleasedCurve) -> Chart:
    facts, band = result.facts, result.band
    times = traces.plain(facts.from_unit_time(grid()))
    low, middle, high = (traces.plain(values) for values in (band.low, band.middle, band.high))
    data = [
        traces.filled("95 % confidence band", times, low, high, "gradient"),
        traces.line("released", times, middle, "gradient", 2.4),
    ]
    return _over_time(data, facts, "A released curve with its confidence band")


def _over_time(data: list[Spec], facts: PublicFacts, alt: str) -> Chart:
    return Chart(
        {
            "data": data,
            "layout": layout(xaxis=axis(_time(facts)), yaxis=axis(_value(facts), grid=True)),
        },
        alt,
    )


# -- studies --------------------------------------------------------------------------------------


@_table.register
def _(result: PlanningAnswer) -> pd.DataFrame:
    """The answer, and one step either way."""
    plain = plain_plan(result)
    rows = sorted(
        [plain["reached"], *plain["steps"]],
        key=lambda row: (row["epsilon"], row["people"], row["sites"], row["readings"]),
    )
    return pd.DataFrame(rows).rename(columns={"readings": "observations"})


@_table.register(list)
def _(result: list[Outcome]) -> pd.DataFrame:
    """A row for each cell, with the columns of `run --csv`."""
    if not result or not all(isinstance(each, Outcome) for each in result):
        raise _nothing("table", result)
    return pd.read_csv(io.StringIO(outcome_rows.as_csv(result, {})))


@_table.register
def _(result: ExhibitAgain) -> pd.DataFrame:
    return exhibits.frame(result.result.table)


@_chart.register
def _(result: ExhibitAgain) -> Chart:
    return result.exhibit.draw(result.result.table)[0].chart
