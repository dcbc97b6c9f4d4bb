"""Charts of the directions in which people differ, and of how close releases come to them."""

from __future__ import annotations

from typing import Any

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
from engine.topics.components import words
from engine.topics.components.answer import COMPARED, ComponentsAnswer

_WIDTH, _GAP = 2.0, 0.06  # standard deviations of people; between panels
_APART = 0.12  # of two marks of one direction, from its middle
_TITLE = "Two standard deviations of people to each side of the private mean"


def directions(curve: ReleasedCurve) -> Chart | None:
    """Draw a panel for each of the first directions, with two standard deviations to each side.

    None if the release tells no direction.
    """
    if refusal_of_spread(curve, PERSON_FROM):
        return None
    components = curve.components()
    shown = min(components.n_shown, COMPARED)
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


def angles(answer: ComponentsAnswer) -> Chart:
    """Draw how far each release turns the true directions, and a covariance alone.

    Without known directions: the directions of the first release.
    """
    data: list[Spec] = []
    columns: dict[str, list[Any]] = {}
    names = [f"Direction {k + 1}" for k in range(COMPARED)]
    for label, found, shade, shift in (
        ("From the mean", answer.found, "gradient", -1),
        (f"{answer.covariance_method}, covariance alone", answer.covariance, "functional", 1),
    ):
        turned = answer.angles(found)
        if turned is None:
            continue
        low, middle, high = np.quantile(turned, [0.025, 0.5, 0.975], axis=0)
        places = [k + _APART * shift for k in range(COMPARED)]
        bars = traces.off_by(plain(high - middle), plain(middle - low), shade, 2, 5)
        marker = {"size": 11, "color": shade, "symbol": "circle" if shift < 0 else "diamond"}
        data.append(traces.points(label, plain(middle), places, marker, error_x=bars))
        columns |= {f"{label}, degrees off": plain(middle)}
    if not data:
        of_first = None if answer.curve is None else directions(answer.curve)
        return of_first or traces.table(
            {
                "Direction": names,
                "Releases that tell it": list(map(answer.share_told, range(COMPARED))),
            },
            title="Share of releases that tell a direction",
        )
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title="Degrees between a direction and the true one",
            xaxis=axis("Degrees", grid=True, range=[0, 90]),
            yaxis=axis(
                tickvals=list(range(COMPARED)), ticktext=names, range=[COMPARED - 0.5, -0.5]
            ),
        ),
    }
    return Chart(spec, words.beside(answer), {"Direction": names} | columns)
