"""Whole functions, published in several ways: small multiples, errors, and shapes of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from engine.core.lists import shortened
from engine.core.palette import translucent
from engine.core.tasks import DENSITY, TASKS, DataType
from engine.core.types import Array, Covariate, PublicFacts
from engine.figures import labels, traces
from engine.figures.small_charts import pattern
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, method_style, on_log_scale
from engine.figures.traces import UNPROTECTED, plain
from engine.language.grammar import capital
from engine.language.numbers import digits_up, in_unit, named, number, small
from engine.topics.summaries.answer import (
    Components,
    MethodResult,
    Spectrum,
    SummariesAnswer,
    WorstCurves,
)
from engine.topics.summaries.feasible_smoothness import GridSweep
from engine.topics.summaries.words import NOISES, PARTS, unit_of

# Shade and hatching of each of `PARTS`, in its order.
_PART_PATTERNS = (("functional", ""), ("without", "/"), ("bias", "x"))
_DASHES = {"tight": "solid", "published": "6px,4px", "optimal": "2px,3px"}


def panel(answer: SummariesAnswer, result: MethodResult, k: int) -> Chart:
    """Draw possible releases of function `k`, from 0, over the estimate without privacy."""
    assert result.releases is not None
    x = plain(answer.axis)
    table = {
        _axis_title(answer): x,
        "non-private": plain(answer.ordinary[k]),
        "release 1": plain(result.releases[0, k]),
    }
    data = [
        _many(x, result.releases[:, k], result.mechanism.family),
        traces.unprotected(x, table["non-private"], hovertemplate=labels.hover()),
    ]
    if answer.truth is not None:
        table["true"] = plain(answer.truth[k])
        data.append(
            traces.line("True", x, table["true"], "truth", 1.6, hovertemplate=labels.hover())
        )
    spec = {
        "data": data,
        "layout": layout(
            title=f"Error {number(result.error)}",
            xaxis=axis(_axis_title(answer)),
            yaxis=axis(_value_title(answer), grid=True, range=_span(answer, k)),
        ),
    }
    return Chart(
        spec,
        f"{result.label}: {len(result.releases)} possible releases, error {number(result.error)}.",
        table,
    )


def surface(answer: SummariesAnswer, values: Array, title: str) -> Chart:
    """Draw a function of two numbers as a heat map; all of one page share their colours."""
    x, y = plain(answer.axis), plain(answer.across)
    heat = {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": [plain(row, 4) for row in values.T],
        "hovertemplate": "%{x:.3~g}, %{y:.3~g}: %{z:.3~g}<extra></extra>",
        "zsmooth": "best",
        **_colours(answer),
        "colorbar": {"thickness": 10, "tickfont": {"size": 12}, "outlinewidth": 0},
    }
    spec = {
        "data": [heat],
        "layout": layout(
            hovermode="closest",
            title=f"Heights {number(float(values.min()))} to {number(float(values.max()))}",
            xaxis=axis(_axis_title(answer), constrain="domain"),
            yaxis=_second_axis(answer),
        ),
    }
    return Chart(
        spec,
        f"{title}: heights from {number(float(values.min()))} to {number(float(values.max()))}.",
        {
            _axis_title(answer): x,
            **({} if x == y else {_second_title(answer): y}),
            "along the diagonal": plain(np.diagonal(values)),
        },
    )


def _colours(answer: SummariesAnswer) -> Spec:
    """Scale colours from 0 up or, with values below it, from the middle to both sides alike."""
    low, high = _heights(answer)
    if low >= 0:
        return {"zmin": 0.0, "zmax": high, "colorscale": [[0, "page"], [1, "functional"]]}
    edge = max(-low, high)
    return {
        "zmin": -edge,
        "zmax": edge,
        "colorscale": [[0, "bias"], [0.5, "page"], [1, "functional"]],
    }


def _second_axis(answer: SummariesAnswer) -> Spec:
    """Scale the axis of the second number; two times, or equal ranges, share one length."""
    if np.array_equal(answer.axis, answer.across):
        return axis(_axis_title(answer), scaleanchor="x", constrain="domain")
    return axis(_second_title(answer))


def errors(answer: SummariesAnswer) -> Chart:
    """Draw the error of every method with its 95 % range, on a log axis."""
    results, ranges = [], []
    for result in answer.results:
        if result.errors is not None:
            results.append(result)
            ranges.append(np.quantile(result.errors, [0.025, 0.975]).tolist())
    names, ends = [result.label for result in results], list(chain(*ranges))
    data = [_range(result, near, far) for result, (near, far) in zip(results, ranges, strict=True)]
    if answer.baseline:
        ends.append(answer.baseline)
        data.append(
            traces.line(
                "Non-private",
                [answer.baseline] * 2,
                [names[0], names[-1]],
                "without",
                2,
                UNPROTECTED,
                hoverinfo="skip",
            )
        )
    unit = unit_of(answer)
    spec = {
        "data": data,
        "layout": layout(
            hovermode="closest",
            title=labels.smallest_error({result.label: result.error for result in results}),
            xaxis=log_axis(
                on_log_scale("Error", unit),
                min(ends, default=0.1),
                max(ends, default=1.0),
                grid=True,
                room=0.05,
            ),
            yaxis=axis(autorange="reversed", type="category"),
        ),
    }
    summary = "; ".join(f"{result.label} {in_unit(result.error, unit)}" for result in results)
    return Chart(
        spec,
        f"Errors: {summary}.",
        {
            "way": names,
            "error": plain([result.error for result in results], 4),
            "2.5 % below": plain([near for near, _ in ranges], 4),
            "2.5 % above": plain([far for _, far in ranges], 4),
        },
    )


def _range(result: MethodResult, near: float, far: float) -> Spec:
    shade, _, marker = method_style(result.mechanism.key, result.mechanism.family)
    return traces.points(
        result.label,
        [result.error],
        [result.label],
        {"size": 11, "color": shade, "symbol": marker},
        error_x=traces.off_by([far - result.error], [result.error - near], shade, 2, 5),
    )


def split(answer: SummariesAnswer) -> Chart:
    """Draw the parts of every method's squared error as shares."""
    parts = {result.label: result.parts for result in answer.results if result.parts is not None}
    names = [*parts]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": names,
            "name": capital(part),
            "x": [100 * float(shares[k]) for shares in parts.values()],
            "hovertemplate": f"{part}: %{{x:.0f}} %<extra></extra>",
            "marker": pattern(shade, hatching),
        }
        for k, (part, (shade, hatching)) in enumerate(zip(PARTS, _PART_PATTERNS, strict=True))
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            barmode="stack",
            hovermode="closest",
            bargap=0.35,
            title=_private_share(parts),
            xaxis=axis("Share of the squared error (%)", range=[0, 100]),
            yaxis=axis(autorange="reversed", type="category"),
        ),
    }
    summary = "; ".join(
        f"{name}, {100 * float(shares[0]):.0f} % {PARTS[0]}" for name, shares in parts.items()
    )
    return Chart(
        spec,
        f"What the squared error of each way is made of: {summary}.",
        {
            "way": names,
            **{
                part: plain([100 * shares[k] for shares in parts.values()], 4)
                for k, part in enumerate(PARTS)
            },
        },
    )


def _private_share(parts: Mapping[str, Array]) -> str:
    """State the first part of the error, for the method in which it weighs most."""
    if not parts:
        return "Nothing would be published"
    largest = max(parts, key=lambda name: float(parts[name][0]))
    return f"{capital(PARTS[0])} is {100 * float(parts[largest][0]):.0f} % with {largest}"


def component(components: Components, k: int, facts: PublicFacts) -> Chart:
    """Draw principal component `k`, from 0, of all releases and of the unprotected covariance."""
    x = plain(components.axis)
    data = [
        _many(x, components.releases[:, k], "functional"),
        traces.unprotected(x, plain(components.ordinary[k]), hovertemplate=labels.hover()),
    ]
    spec = {
        "data": data,
        "layout": layout(
            title=f"{100 * components.share[k]:.0f} % of the variance without privacy",
            xaxis=axis(named(facts.time_name, facts.time_unit)),
            yaxis=axis(f"Principal component {k + 1}", grid=True),
        ),
    }
    return Chart(
        spec,
        f"Principal component {k + 1}: {len(components.releases)} possible releases.",
        {
            "time": x,
            "release 1": plain(components.releases[0, k]),
            "non-private": plain(components.ordinary[k]),
        },
    )


def spectrum(spectra: Spectrum) -> Chart:
    """Draw noise by coefficient for every kind of constants, beside what the filter keeps."""
    order, in_use = np.arange(1.0, len(spectra.filter) + 1), spectra.scales[spectra.chosen]
    top = max(float(scales.max()) for scales in spectra.scales.values())
    lowest = 1e-4 * top
    data = [
        _positive(
            NOISES[kind][0],
            order,
            scales,
            lowest,
            "functional",
            _DASHES[kind],
            2.6 if kind == spectra.chosen else 1.6,
        )
        for kind, scales in spectra.scales.items()
    ]
    if np.ptp(spectra.filter) > 0:
        data.append(
            _positive(
                "Kept by the filter (rescaled)",
                order,
                top * spectra.filter,
                lowest,
                "without",
                "12px,3px,2px,3px",
                1.8,
            )
        )
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_noise_along(in_use, lowest),
            xaxis=log_axis("Number of the coefficient (log scale)", 1, float(len(order))),
            yaxis=log_axis("Noise standard deviation (log scale)", lowest, 1.3 * top, grid=True),
        ),
    }
    return Chart(
        spec,
        f"{_noise_along(in_use, lowest)}, over {len(order)} coefficients, and how "
        "much of each the filter keeps.",
        {
            "coefficient": order.tolist(),
            "filter": plain(spectra.filter),
            **{
                f"noise, {NOISES[kind][0].lower()}": plain(scales)
                for kind, scales in spectra.scales.items()
            },
        },
    )


def _noise_along(scales: Array, lowest: float) -> str:
    """Say how noise changes from the first to the last coefficient; `lowest` ends the axis."""
    first, last = float(scales[0]), float(scales[-1])
    if last < lowest < first:
        return f"Noise falls from {number(first)} to below {small(digits_up(lowest, 2))}"
    return labels.changed("Noise", first, last)


def by_grid(sweep: GridSweep) -> Chart:
    """Draw the sensitivity against the number of grid points, on log axes."""
    shade = "functional" if sweep.is_finite else "bias"
    data = [
        traces.line_with_points(
            "Sensitivity", sweep.sizes, plain(sweep.sensitivity), shade, 2.2, "solid", {"size": 8}
        )
    ]
    low, high = float(sweep.sensitivity.min()), float(sweep.sensitivity.max())
    spec = {
        "data": data,
        "layout": layout(
            hovermode="closest",
            title="Sensitivity is bounded" if sweep.is_finite else "Sensitivity grows without end",
            xaxis=log_axis(
                "Grid points on each axis (log scale)", sweep.sizes[0], sweep.sizes[-1], room=0.04
            ),
            yaxis=log_axis("Sensitivity (log scale)", low / 1.5, high * 1.5, grid=True),
        ),
    }
    return Chart(
        spec,
        f"Sensitivity from {sweep.sizes[0]} to {sweep.sizes[-1]} grid points: "
        f"{number(low)} to {number(high)}.",
        {
            "grid points": list(sweep.sizes),
            "sensitivity": plain(sweep.sensitivity),
            "trace": plain(sweep.trace),
        },
    )


def worst(pair: WorstCurves, facts: PublicFacts) -> Chart:
    """Draw the two curves whose exchange shows most.

    `facts` holds names, and the middle of the range of values.
    """
    x = plain(pair.times)
    curve, mirrored = (plain(facts.value_middle + sign * pair.curve) for sign in (1, -1))
    data = [
        traces.line("One curve", x, curve, "functional"),
        traces.line("The other", x, mirrored, "bias", dash="6px,3px"),
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"This exchange costs ε = {number(pair.epsilon)}",
            xaxis=axis(named(facts.time_name, facts.time_unit)),
            yaxis=axis(named(facts.value_name, facts.value_unit), grid=True),
        ),
    }
    return Chart(
        spec,
        f"The exchange that shows most costs ε = {number(pair.epsilon)}.",
        {facts.time_name: x, "one curve": curve, "the other": mirrored},
    )


def _axis_title(answer: SummariesAnswer) -> str:
    """Name the horizontal axis: time, or the first feature."""
    facts = answer.facts
    if TASKS[answer.task].data is DataType.RECORDS and facts.covariates:
        return _column_title(facts.covariates[0])
    return named(facts.time_name, facts.time_unit)


def _second_title(answer: SummariesAnswer) -> str:
    return _column_title(answer.facts.covariates[-1])


def _column_title(stated: Covariate) -> str:
    return named(shortened(stated.name), stated.unit)


def _value_title(answer: SummariesAnswer) -> str:
    if answer.task == DENSITY.key:
        return "Density (1: spread evenly)"
    return named(answer.facts.value_name, answer.facts.value_unit)


def _span(answer: SummariesAnswer, k: int) -> list[float]:
    """Choose one height for all methods: the curves, with room for the middle half of releases."""
    lines = [answer.ordinary[k]] + ([] if answer.truth is None else [answer.truth[k]])
    low, high = (float(f([f(line) for line in lines])) for f in (np.min, np.max))
    half = max(high - low, 1e-9)
    known = [result.releases[:, k] for result in answer.results if result.releases is not None]
    if known:
        best = min(known, key=np.ptp)
        low = min(low, max(float(np.quantile(best, 0.005)), low - 2 * half))
        high = max(high, min(float(np.quantile(best, 0.995)), high + 2 * half))
    margin = 0.35 * (high - low)
    return [low - margin, high + margin]


def _heights(answer: SummariesAnswer) -> tuple[float, float]:
    lines: Sequence[Array] = [answer.ordinary] + ([] if answer.truth is None else [answer.truth])
    return (
        min(0.0, min(float(line.min()) for line in lines)),
        max(float(line.max()) for line in lines),
    )


def _positive(
    name: str, x: Array, y: Array, lowest: float, shade: str, dash: str, width: float
) -> Spec:
    """Draw a line with a gap where it falls below what is shown."""
    heights = np.where(y > lowest, y, np.nan)
    return traces.line(name, x.tolist(), plain(heights, 4), shade, width, dash)


def _many(x: list[float], releases: Array, shade: str) -> Spec:
    drawn = traces.releases(
        x, [plain(release) for release in releases], translucent(shade, 0.55), 1.0
    )
    return {**drawn, "hoverinfo": "skip"}
