"""Chart of the directions in which people differ: the mean, and people on either side of it."""

from __future__ import annotations

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.modes import direction_name
from engine.answers.spread import PERSON_FROM, refusal_of_spread
from engine.answers.times import grid
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.grammar import capital
from engine.language.numbers import named, percent

MAX_SHOWN, _WIDTH, _GAP = 3, 2.0, 0.06  # panels; standard deviations; between panels
_TITLE = "Two standard deviations of people to each side of the private mean"


def directions(curve: ReleasedCurve) -> Chart | None:
    """Draw a panel for each of the first directions, with two standard deviations to each side.

    None if the release tells no direction.
    """
    if refusal_of_spread(curve, PERSON_FROM):
        return None
    components = curve.components()
    shown = min(components.n_shown, MAX_SHOWN)
    if not shown:
        return None
    facts, times = curve.facts, grid()
    x = plain(np.asarray(facts.from_unit_time(times)))
    mean = curve.row_maps[0](times, 0) @ curve.centre + curve.public(times)
    moved = _WIDTH * components.curves(times)[:shown]
    columns = {facts.time_name: x, "private mean": plain(mean)}
    data: list[Spec] = []
    axes: Spec = {"yaxis": axis(named(facts.value_name, facts.value_unit), grid=True)}
    titles = []
    width = (1 - _GAP * (shown - 1)) / shown
    for index in range(shown):
        number = "" if index == 0 else str(index + 1)
        place = {"xaxis": f"x{number}"}
        name = direction_name(components, index).split(" (")[0] or f"direction {index + 1}"
        title = f"{capital(name)}: {percent(float(components.shares[index]))}"
        low, high = mean - moved[index], mean + moved[index]
        data += [
            traces.filled(
                "95 % confidence band",
                x,
                plain(curve.band.low),
                plain(curve.band.high),
                "without",
                hoverinfo="skip",
                **place,
            ),
            traces.line("Private mean", x, plain(mean), "gradient", 2.4, **place),
            traces.line(f"{title}, above", x, plain(high), "bias", 1.6, **place),
            traces.line(f"{title}, below", x, plain(low), "bias", 1.6, "dash", **place),
        ]
        columns |= {f"{name}, above": plain(high), f"{name}, below": plain(low)}
        start = index * (width + _GAP)
        axes[f"xaxis{number}"] = time_axis(facts) | {"domain": [start, start + width]}
        titles.append(_title(title, start + width / 2))
    spec = {"data": data, "layout": layout(title=_TITLE) | axes | {"annotations": titles}}
    return Chart(spec, f"{_TITLE}: {', '.join(title['text'] for title in titles)}.", columns)


def _title(text: str, middle: float) -> Spec:
    return {
        "text": text,
        "x": middle,
        "y": 1.0,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": "text"},
    }
