"""Sparse coefficients: releases beside the true ones, errors over budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.lists import shortened
from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import labels, traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis
from engine.figures.traces import DASHES, UNPROTECTED, plain
from engine.language.numbers import number
from engine.topics.sparse.answer import ErrorsByBudget, SparseAnswer, largest
from engine.topics.sparse.intervals import IntervalsAnswer, Machines
from engine.topics.sparse.means import ROW, TRUSTED

_MAX_SHOWN, _MAX_INTERVALS = 25, 60
_MARKERS = ("circle", "diamond-open", "triangle-up-open", "square-open")


def coefficients(answer: SparseAnswer, difference: bool = False) -> Chart:
    """Draw features that matter or are ever chosen: all releases, the truth, without privacy.

    `difference` takes the target off everything but features that were not chosen.
    """
    features = _features(answer)
    zero = answer.target[features] if difference else np.zeros(len(features))
    names = _labels(answer, features)
    data = [
        _all_releases(answer, features, names, zero),
        _marks(
            "Non-private", names, answer.ordinary[features] - zero, "without", "line-ew-open", 18
        ),
    ]
    if answer.truth is not None:
        data.append(_true(names, answer.truth[features] - zero, 11))
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=f"Error of all coefficients together: {number(answer.error)}",
            xaxis=axis("Feature", type="category"),
            yaxis=axis(
                "Error of the coefficient" if difference else "Coefficient",
                grid=True,
                zeroline=True,
                zerolinecolor="raw",
            ),
        ),
    }
    return Chart(
        spec,
        f"Coefficients of {len(features)} features in {len(answer.releases)} "
        f"possible releases; error of all together {number(answer.error)}, a root mean "
        "squared distance.",
        _coefficient_table(answer, features, names),
    )


def _all_releases(
    answer: SparseAnswer, features: NDArray[np.intp], names: list[str], zero: Array
) -> Spec:
    """Draw a dot for every feature in every release that kept it."""
    dots = answer.releases[:, features]  # (releases, features)
    is_chosen = (dots != 0).T.ravel()
    x = np.repeat(names, len(dots))[is_chosen]
    marker = {"size": 8, "color": translucent("sparse", 0.45)}
    return traces.points(
        "Possible releases", x.tolist(), plain((dots - zero).T.ravel()[is_chosen]), marker
    )


def _coefficient_table(
    answer: SparseAnswer, features: NDArray[np.intp], names: list[str]
) -> dict[str, list[Any]]:
    table = {
        "feature": names,
        "release 1": plain(answer.releases[0, features]),
        "non-private": plain(answer.ordinary[features]),
        "in how many of 20": (answer.releases[:, features] != 0).sum(axis=0).tolist(),
    }
    return table if answer.truth is None else {**table, "true": plain(answer.truth[features])}


def _labels(answer: SparseAnswer, features: NDArray[np.intp]) -> list[str]:
    """Name own features, with their places if names look alike; number all others."""
    if not answer.facts.is_upload:
        return [f"{k + 1}" for k in features]
    names = [shortened(answer.facts.covariates[k].name, 18) for k in features]
    return [
        name if names.count(name) == 1 else f"{k + 1} {name}"
        for k, name in zip(features, names, strict=True)
    ]


def _features(answer: SparseAnswer) -> NDArray[np.intp]:
    """List the features that matter, then those that are chosen most often."""
    frequency = (answer.releases != 0).mean(axis=0)
    frequency[answer.support] = 0
    others = largest(frequency, _MAX_SHOWN)
    order = answer.support[np.argsort(-np.abs(answer.target[answer.support]), kind="stable")]
    return np.concatenate([order, others])[:_MAX_SHOWN]


def _true(names: list[str], values: Array, size: int) -> Spec:
    return _marks("True", names, values, "truth", "diamond-open", size)


def _marks(name: str, x: list[str], y: Array, shade: str, symbol: str, size: int) -> Spec:
    return traces.points(
        name,
        x,
        plain(y),
        {"symbol": symbol, "size": size, "color": shade, "line": {"width": 2, "color": shade}},
    )


def over_budgets(
    lines: ErrorsByBudget, here: float, theory: Mapping[str, Array] | None = None
) -> Chart:
    """Draw the typical error of every method against ε; level lines are those without privacy."""
    rates = {name: plain(rate) for name, rate in (theory or {}).items()}
    first, last = lines.epsilons[0], lines.epsilons[-1]
    every = [*np.concatenate(list(lines.private.values())), *lines.ordinary.values()]
    low, high = min(every) * 0.8, max(every) * 1.2
    data = [
        _member(k, label, lines.epsilons, errors, "sparse")
        for k, (label, errors) in enumerate(lines.private.items())
    ]
    levels = {f"{label}, non-private": error for label, error in lines.ordinary.items()}
    data += [
        traces.line(label, [first, last], [error, error], "without", 2, DASHES[k + 1])
        for k, (label, error) in enumerate(levels.items())
    ]
    data += traces.fitted(lines.epsilons, rates)
    data.append(traces.upright(here, low, high))
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_smallest(lines, here),
            xaxis=log_axis("Privacy budget ε (log scale)", first, last, room=0.03),
            yaxis=log_axis("Error (log scale)", low, high, grid=True),
        ),
    }
    summary = "; ".join(
        f"{label}, {number(float(errors[0]))} to {number(float(errors[-1]))}"
        for label, errors in lines.private.items()
    )
    return Chart(
        spec,
        f"Error from ε = {first:g} to {last:g}: {summary}.",
        {
            "ε": list(lines.epsilons),
            **{label: plain(errors) for label, errors in lines.private.items()},
            **{label: plain([error] * len(lines.epsilons)) for label, error in levels.items()},
            **rates,
        },
    )


def _smallest(lines: ErrorsByBudget, here: float) -> str:
    """Say which private method has the smallest error at the budget nearest to that on screen."""
    place = int(np.abs(np.log(np.asarray(lines.epsilons) / here)).argmin())
    known = {
        label: float(errors[place])
        for label, errors in lines.private.items()
        if np.isfinite(errors[place])
    }
    return labels.smallest_error(known, f"ε = {lines.epsilons[place]:g}")


def _member(
    k: int,
    name: str,
    x: Sequence[float],
    y: Array | Sequence[float],
    shade: str,
    width: float = 2.2,
    size: int = 8,
) -> Spec:
    """Draw the k-th of several lines of one colour."""
    return traces.line_with_points(
        name,
        x,
        plain(y),
        shade,
        width,
        DASHES[k % len(DASHES)],
        {"size": size, "symbol": _MARKERS[k % len(_MARKERS)]},
    )


def intervals(answer: IntervalsAnswer, difference: bool = False) -> Chart:
    """Draw intervals around published coefficients; those that miss the true ones stand out.

    `difference` takes true coefficients off: intervals that do not reach zero miss.
    """
    features = np.flatnonzero(np.isfinite(answer.low))[:_MAX_INTERVALS]
    names = [f"{k + 1}" for k in features]
    missed = _missed(answer, features)
    data = [
        _limits(answer, features[missed == is_miss], difference, is_miss)
        for is_miss in (False, True)
        if (missed == is_miss).any()
    ]
    if answer.truth is not None and not difference:
        data.append(_true(names, answer.truth[features], 7))
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=(
                f"{int(missed.sum())} of {len(features)} intervals miss the true coefficient"
                if answer.truth is not None
                else f"95 % intervals are {number(answer.length)} wide on average"
            ),
            xaxis=axis("Feature", type="category", categoryorder="array", categoryarray=names),
            yaxis=axis(
                "Error of the coefficient" if difference else "Coefficient",
                grid=True,
                zeroline=True,
                zerolinecolor="text",
            ),
        ),
    }
    table: dict[str, list[Any]] = {
        "feature": names,
        "published": plain(answer.centre[features]),
        "from": plain(answer.low[features]),
        "to": plain(answer.high[features]),
    }
    if answer.p_values is not None:
        table["p-value of zero"] = plain(answer.p_values[features])
    if answer.truth is not None:
        table["true"] = plain(answer.truth[features])
    return Chart(
        spec,
        f"95 % confidence intervals of {len(features)} coefficients, "
        f"{number(answer.length)} wide on average.",
        table,
    )


def _missed(answer: IntervalsAnswer, features: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Find intervals that miss the true coefficient, as far as it is known."""
    if answer.truth is None:
        return np.zeros(len(features), dtype=bool)
    truth = answer.truth[features]
    return np.asarray((truth < answer.low[features]) | (truth > answer.high[features]))


def _limits(
    answer: IntervalsAnswer, features: NDArray[np.intp], difference: bool, is_miss: bool
) -> Spec:
    """Draw the intervals of those that cover, or of those that miss."""
    name, role, symbol = (
        ("Misses the true coefficient", "bias", "x")
        if is_miss
        else ("Released, with 95 % interval", "sparse", "circle")
    )
    zero = answer.truth[features] if difference and answer.truth is not None else 0.0
    half = (answer.high - answer.low)[features] / 2
    return traces.points(
        name,
        [f"{k + 1}" for k in features],
        plain(answer.centre[features] - zero),
        {"size": 6, "color": role, "symbol": symbol},
        error_y={"type": "data", "array": plain(half), "color": role, "thickness": 1.8, "width": 3},
    )


def machines(comparison: Machines) -> Chart:
    """Draw the error on every machine by way of fitting."""
    typical = comparison.by_machine
    places = list(range(1, len(comparison.ordinary) + 1))
    data = [
        _member(k, label, places, errors, "sparse", 1.6, 9)
        for k, (label, errors) in enumerate(typical.items())
    ]
    data.append(
        traces.line_with_points(
            "Non-private, two stages",
            places,
            plain(comparison.ordinary),
            "without",
            1.6,
            UNPROTECTED,
            {"size": 6},
        )
    )
    every = np.concatenate([comparison.ordinary, *(e.ravel() for e in comparison.errors.values())])
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=labels.smallest_error(comparison.typical),
            xaxis=axis("Machine (number)", dtick=1),
            yaxis=log_axis(
                "Error (log scale)", float(every.min()), float(every.max()), grid=True, room=0.05
            ),
        ),
    }
    summary = "; ".join(f"{label}, {number(error)}" for label, error in comparison.typical.items())
    return Chart(
        spec,
        f"Error on {len(places)} machines, by way of fitting: {summary}.",
        {
            "machine": places,
            **{label: plain(errors) for label, errors in typical.items()},
            "non-private": plain(comparison.ordinary),
        },
    )


def trust(
    errors: Mapping[str, Sequence[float]],
    sizes: Sequence[float],
    label: str,
    here: Mapping[str, float],
) -> Chart:
    """Draw errors of a sparse mean by who is trusted, along one size or ε; both axes in logs."""
    known = [v for values in errors.values() for v in values if np.isfinite(v) and v > 0]
    data = [
        _member(k, name, sizes, values, "sparse" if k < 3 else "without")
        for k, (name, values) in enumerate(errors.items())
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"Error {number(here[TRUSTED])} with a trusted server, {number(here[ROW])} without",
            xaxis=log_axis(f"{label} (log scale)", sizes[0], sizes[-1], room=0.03),
            yaxis=log_axis("Error (log scale)", min(known) / 1.5, max(known) * 1.5, grid=True),
        ),
    }
    summary = "; ".join(
        f"{name}, {number(values[0])} to {number(values[-1])}"
        for name, values in errors.items()
        if np.isfinite(values[0]) and np.isfinite(values[-1])
    )
    return Chart(
        spec,
        f"Error of a sparse mean while {label} goes from {sizes[0]:g} to {sizes[-1]:g}: {summary}.",
        {label: list(sizes), **{name: plain(values) for name, values in errors.items()}},
    )
