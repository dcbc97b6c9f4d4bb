"""Pictures of a decision: the distance at every budget, the band of an option, and the map."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import drawn, traces
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, log_ticks, time_axis
from engine.figures.traces import plain
from engine.language.grammar import capital, escape
from engine.language.numbers import in_unit, named, percent, whole, with_unit
from engine.release.picture import ticks
from engine.simulation.metrics import within
from engine.topics.decision import words
from engine.topics.decision.answer import MAP_EPSILONS, SHARES, Bands, Decision, Option
from engine.topics.mean.answer import EPSILON_STEPS

_SHARES = 41  # places of the distribution of distances
_CUT = 0.1  # of the places of a band, which may leave the picture on either side
_TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def step_of(option: Option) -> int:
    """Return the step of an option on the scale."""
    return EPSILON_STEPS.index(option.budget.epsilon)


def over_budgets(answer: Decision) -> Chart:
    """Draw the distance that so many releases stay within at every budget, for a notebook."""
    distance = answer.profile.distance(SHARES[answer.confidence])
    reached = [
        epsilon
        for epsilon, far in zip(EPSILON_STEPS, distance, strict=True)
        if far <= answer.target
    ]
    within = f"{answer.confidence} of 20 within"
    return traces.table(
        {
            "ε": list(EPSILON_STEPS),
            within: plain(distance),
            "target": [answer.target] * len(EPSILON_STEPS),
        },
        named(capital(within), answer.profile.unit),
        f"ε = {min(reached):g} meets the target" if reached else "No ε meets the target",
    )


def on_paper(answer: Decision) -> tuple[str, Picture]:
    """Draw what a memo shows, with its heading: the curve as printed, or else the trade-off."""
    bands, option = answer.profile.bands, answer.chosen
    if bands is None or option is None or option.printed is None:
        return words.chart_title(answer), _trade_off(answer)
    return f"The curve as printed at ε = {option.budget.epsilon:g}", _expected(
        answer, option, bands
    )


def _expected(answer: Decision, option: Option, bands: Bands) -> Picture:
    """Draw the recommended release for print, in its band."""
    assert option.printed is not None
    facts, times = answer.profile.facts, bands.times
    ends = values_shown(answer)
    low, curve, high = (np.clip(line, *ends) for line in _with_ends(option, option.printed))
    first, last = float(times[0]), float(times[-1])
    return Picture(
        Axis(
            named(facts.time_name, facts.time_unit), first, last, plain_ticks(*ticks(first, last))
        ),
        Axis(
            named(capital(facts.value_name), answer.profile.unit), *ends, plain_ticks(*ticks(*ends))
        ),
        (
            Mark(
                np.concatenate([times, times[::-1]]),
                np.concatenate([low, high[::-1]]),
                "gradient",
                shape="area",
                opacity=0.18,
            ),
            Mark(times, curve, "gradient"),
        ),
        f"A release at ε = {option.budget.epsilon:g} in its band.",
        "",
        asks=False,
    )


def _trade_off(answer: Decision) -> Picture:
    """Draw the trade-off for print: the line, the target, and a mark for every option."""
    distance = answer.profile.distance(SHARES[answer.confidence])
    known = np.isfinite(distance)
    epsilons = np.array(EPSILON_STEPS)[known]
    every = np.append(distance[known], answer.target)
    low, high = float(every.min()) / 1.3, float(every.max()) * 1.3
    marked = tuple((tick, f"{tick:g}") for tick in log_ticks(low, high))
    released = f"{answer.confidence} of 20 releases within"
    ends = np.array([EPSILON_STEPS[0], EPSILON_STEPS[-1]])
    marks = [
        Mark(epsilons, distance[known], "gradient", released),
        Mark(ends, np.full(2, answer.target), "bias", "Target", dash="6,4", width=1.6),
    ]
    marks += [
        Mark(
            np.array([option.budget.epsilon]),
            distance[[step_of(option)]],
            "gradient",
            "",
            "dot" if option is answer.chosen else "ring",
        )
        for _, option in answer.options
    ]
    return Picture(
        Axis(
            "Privacy budget ε (smaller = more private)",
            EPSILON_STEPS[0],
            EPSILON_STEPS[-1],
            tuple((tick, f"{tick:g}") for tick in _TICKS),
            is_log=True,
        ),
        Axis(named("Error", answer.profile.unit), low, high, marked, is_log=True),
        tuple(marks),
        f"The error that {released} falls as ε grows.",
        "",
        asks=False,
    )


PRINTED = drawn.DrawingSize(
    440, 150, 13, dot=4.0
)  # pixels of a column as wide as the page shows it


def option_picture(answer: Decision, option: Option) -> Chart:
    """Draw the small picture of an option: a release as printed, or how far releases are off."""
    bands = answer.profile.bands
    if bands is None or option.printed is None:
        return _distances(answer, option)
    return _printed(answer, option, bands, option.printed)


def _printed(answer: Decision, option: Option, bands: Bands, printed: Array) -> Chart:
    """Draw one release as it would be printed, in its band.

    The axis is the same for the options beside each other.
    """
    facts, unit, x = answer.profile.facts, answer.profile.unit, plain(bands.times)
    low, curve, high = _with_ends(option, printed)
    spec = {
        "data": [
            traces.filled("95 % band", x, plain(low), plain(high), "gradient", hoverinfo="skip"),
            traces.line("Release", x, plain(curve), "gradient", 2.0, hoverinfo="skip"),
        ],
        "layout": layout(
            hovermode=False,
            margin={"l": 46, "r": 6, "t": 6, "b": 34},
            xaxis=time_axis(facts) | {"nticks": 4},
            yaxis=axis(
                named(capital(facts.value_name), unit),
                grid=True,
                range=[*values_shown(answer)],
                nticks=4,
            ),
        ),
    }
    width = in_unit(float((high - low).mean()) / 2, unit)
    return Chart(
        spec,
        f"A release at ε = {option.budget.epsilon:g}, with a band of ± {width} on average.",
        {
            facts.time_name: x,
            "released": plain(curve),
            "lower end": plain(low),
            "upper end": plain(high),
        },
    )


def _with_ends(option: Option, printed: Array) -> tuple[Array, Array, Array]:
    """Return lower end, curve and upper end; without an own band the range of 95 % of releases."""
    low, curve, high = printed
    if not np.isfinite(low).all() and option.band is not None:
        low, high = option.band
    return low, curve, high


def values_shown(answer: Decision) -> tuple[float, float]:
    """Return the axis of printed curves: all of them, and most of their bands."""
    seen = []
    for _, option in answer.options:
        if option.printed is not None:
            low, curve, high = _with_ends(option, option.printed)
            seen += [np.quantile(low, _CUT), np.quantile(high, 1 - _CUT), curve.min(), curve.max()]
    room = 0.05 * (max(seen) - min(seen))
    return float(min(seen) - room), float(max(seen) + room)


def _distances(answer: Decision, option: Option) -> Chart:
    """Draw the share of releases within each distance from the truth, with the target.

    Both axes are the same for the options beside each other.
    """
    profile = answer.profile
    shares = np.linspace(0.0, 1.0, _SHARES)
    distance, *others = (
        np.quantile(profile.errors[step_of(each)], shares)
        for each in (option, *(other for _, other in answer.options if other is not option))
    )
    widest = 1.05 * max(answer.target, *(float(each[-1]) for each in (distance, *others)))
    percents = plain(100 * shares)
    spec = {
        "data": [
            traces.line("Releases", plain(distance), percents, "gradient", 2.0, hoverinfo="skip"),
            traces.line(
                "Target", [answer.target] * 2, [0.0, 100.0], "truth", 1.4, hoverinfo="skip"
            ),
        ],
        "layout": layout(
            hovermode=False,
            margin={"l": 46, "r": 6, "t": 6, "b": 34},
            annotations=[
                {
                    "x": answer.target,
                    "y": 4,
                    "text": " target ",
                    "xanchor": "left" if 2 * answer.target < widest else "right",
                    "yanchor": "bottom",
                    "showarrow": False,
                }
            ],
            xaxis=axis(named("Error", profile.unit), range=[0, widest], nticks=4),
            yaxis=axis("% within", grid=True, range=[0, 103], nticks=3),
        ),
    }
    share = float((profile.errors[step_of(option)] <= answer.target).mean())
    return Chart(
        spec,
        f"At ε = {option.budget.epsilon:g} {percent(share)} of releases are within the target.",
        {"% of releases": percents, "distance": plain(distance)},
    )


def error_map(answer: Decision, people: Sequence[int], errors: Sequence[Array]) -> Chart:
    """Draw the distance that so many releases stay within, over people and ε; the target's line.

    `errors` has a row (budgets, data sets, releases) for each number of people, and one for the
    study.
    """
    facts = answer.profile.facts
    known = _on_map(answer, people, errors)
    rows = sorted(known)
    here = answer.chosen or answer.more_private
    epsilon = EPSILON_STEPS[-1] if here is None else here.budget.epsilon
    return map_of_errors(
        rows,
        MAP_EPSILONS,
        np.array([known[n] for n in rows]),
        answer.target,
        (epsilon, answer.profile.n_people),
        f"{facts.people} in all",
        answer.profile.unit,
        words.map_title(answer),
    )


def _on_map(answer: Decision, people: Sequence[int], errors: Sequence[Array]) -> dict[int, Array]:
    """Compute the distance (budgets,) that so many releases stay within, by people in all."""
    share = SHARES[answer.confidence]
    indices = [EPSILON_STEPS.index(epsilon) for epsilon in MAP_EPSILONS]
    return {answer.profile.n_people: answer.profile.distance(share)[indices]} | {
        n: within(row, (1, 2), share) for n, row in zip(people, errors, strict=True)
    }


def map_key(answer: Decision, people: Sequence[int] = (), errors: Sequence[Array] = ()) -> str:
    """Explain how to read the map."""
    is_empty = not all(np.isfinite(row).all() for row in (answer.profile.errors, *errors))
    of_errors = f", in {answer.profile.unit}" if answer.profile.unit else ""
    target = with_unit(f"{answer.target:g}", answer.profile.unit)
    known = _on_map(answer, people, errors)
    is_met = any((row <= answer.target).any() for row in known.values())
    parts = [
        f"Thick line: your target, {answer.confidence} of 20 releases within {target}."
        if is_met
        else f"Nowhere on the map are {answer.confidence} of 20 releases within {target}.",
        f"Thin lines: other errors{of_errors}.",
        "Darker: less accurate.",
        "◇ this study at the largest ε." if answer.chosen is None else "◇ the recommendation.",
    ]
    if is_empty:
        parts.append("Empty: nothing would be released.")
    return " ".join(parts) + _with_more(answer, known)


def _with_more(answer: Decision, known: dict[int, Array]) -> str:
    """Say which smaller ε would be enough with the most people on the map."""
    largest_size = max(known)
    enough = [
        epsilon
        for epsilon, error in zip(MAP_EPSILONS, known[largest_size], strict=True)
        if error <= answer.target
    ]
    if answer.chosen is None or min(enough, default=math.inf) >= answer.chosen.budget.epsilon:
        return ""
    people = f"{whole(largest_size)} {escape(answer.profile.facts.people)}"
    return f" With {people}, ε = {min(enough):g} is enough."


# -- errors over people and budgets ----------------------------------------------------------------


def map_of_errors(
    people: Sequence[int],
    epsilons: Sequence[float],
    errors: Array,
    target: float,
    here: tuple[float, float],
    noun: str,
    unit: str,
    finding: str,
) -> Chart:
    """Draw contours of errors (people, epsilons), stronger if larger; a line at the target.

    A diamond stands at `here`, (ε, people). Errors are in response units, NaN if nothing is
    published.
    """
    known = errors[np.isfinite(errors)]
    data: list[Spec] = []
    notes: list[Spec] = []
    if len(known):
        # steps of 1–2–5, one below the smallest error and one above the largest
        levels = log_ticks(float(known.min()) / 2.6, float(known.max()) * 2.6)
        data += _map_shades(people, epsilons, errors, levels, target, noun, unit)
        notes = [
            note
            for level in levels
            if level != target
            for note in _name_of_line(level, people, epsilons, errors)
        ]
    data.append(traces.diamond(*here, cliponaxis=False))
    spec = {
        "data": data,
        "layout": layout(
            hovermode="closest",
            annotations=notes,
            title=finding,
            xaxis=log_axis("Privacy budget ε (log scale)", min(epsilons), max(epsilons)),
            yaxis=log_axis(f"{capital(noun)} (log scale)", min(people), max(people)),
        ),
    }
    return Chart(
        spec,
        f"Map of the error over ε and {noun}, with a line where it is "
        f"{in_unit(target, unit)}. {finding}.",
        {
            noun: [n for n in people for _ in epsilons],
            "ε": list(epsilons) * len(people),
            "error": traces.plain(errors.ravel(), 4),
        },
    )


def _map_shades(
    people: Sequence[int],
    epsilons: Sequence[float],
    errors: Array,
    levels: Sequence[float],
    target: float,
    noun: str,
    unit: str,
) -> list[Spec]:
    """Draw a shade between every two levels, and the line of the target."""

    def height(error: Array) -> Array:  # levels are whole numbers, so that they can be contours
        return np.interp(np.log(error), np.log(levels), np.arange(len(levels)))

    z = [
        [None if math.isnan(v) else round(float(v), 4) for v in row]
        for row in height(np.where(np.isfinite(errors), errors, np.nan))
    ]
    common = {
        "type": "contour",
        "x": list(epsilons),
        "y": list(people),
        "z": z,
        "showscale": False,
        "connectgaps": False,
    }
    wanted = float(height(np.array(target)))
    return [
        {
            **common,
            "colorscale": [[0, translucent("gradient", 0.04)], [1, translucent("gradient", 0.55)]],
            "contours": {"start": 0, "end": len(levels) - 1, "size": 1},
            "line": {"width": 1, "color": translucent("page", 0.6)},
            "text": [
                [
                    in_unit(error, unit) if math.isfinite(error) else "nothing published"
                    for error in row
                ]
                for row in errors
            ],
            "hovertemplate": f"%{{y}} {noun}, ε = %{{x}}: %{{text}}<extra></extra>",
        },
        {
            **common,
            "contours": {"start": wanted, "end": wanted, "size": 1, "coloring": "lines"},
            "line": {"width": 3, "dash": "solid"},
            "colorscale": [[0, "text"], [1, "text"]],
            "hoverinfo": "skip",
        },
    ]


def _name_of_line(
    level: float, people: Sequence[int], epsilons: Sequence[float], errors: Array
) -> list[Spec]:
    """Label a level where it crosses the uppermost row inside the map that it crosses."""
    logs = np.log(np.where(np.isfinite(errors), errors, np.nan)) - math.log(level)
    for row in [*range(len(people) - 2, 0, -1)]:
        for k in np.flatnonzero(logs[row, :-1] * logs[row, 1:] < 0)[:1]:
            share = logs[row, k] / (logs[row, k] - logs[row, k + 1])
            ends = np.log10(epsilons[k]), np.log10(epsilons[k + 1])
            return [
                {
                    "x": float(ends[0] + share * (ends[1] - ends[0])),
                    "y": math.log10(people[row]),
                    "text": f"{level:g}",
                    "showarrow": False,
                    "font": {"size": 12, "color": "text"},
                }
            ]
    return []
