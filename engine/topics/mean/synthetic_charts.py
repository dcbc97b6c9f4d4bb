"""Curves of synthetic people, with their watermark in the picture."""

from __future__ import annotations

import textwrap

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.synthetic import SyntheticPeople
from engine.core.palette import translucent
from engine.figures import traces
from engine.figures.theme import Chart, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.numbers import named

SHOWN_PEOPLE = 40
_WIDTH = 58  # characters of a line of the watermark
_BELOW, _LINE = 52, 15  # pixels from the axis to its first line, and of a line


def curves(people: SyntheticPeople, curve: ReleasedCurve, mark: str) -> Chart:
    """Curves of the first synthetic people around the released mean.

    Parameters
    ----------
    curve : ReleasedCurve
        The release they were drawn from.
    mark : str
        The watermark, which stands in the picture.
    """
    facts, x = curve.facts, plain(people.at)
    drawn = people.curves[:SHOWN_PEOPLE]
    unit_times = np.asarray(facts.to_unit_time(people.at))
    mean = curve.row_maps[0](unit_times, 0) @ curve.all_coefficients + curve.public(unit_times)
    joined = traces.joined(x, map(plain, drawn))
    data = [traces.line("Synthetic people", *joined, translucent("without", 0.5), 1.0,
                        hoverinfo="skip"),
            traces.line("Private mean", x, plain(mean), "gradient", 2.8)]
    lines = textwrap.wrap(mark, _WIDTH)
    on_paper = {"xref": "paper", "yref": "paper", "showarrow": False}
    stamp = {**on_paper, "text": "SYNTHETIC", "x": 0.95, "y": 0.05, "xanchor": "right",
             "yanchor": "bottom", "opacity": 0.25, "font": {"size": 30, "color": "text"}}
    words = {**on_paper, "text": "<br>".join(lines), "x": 0, "y": 0, "xanchor": "left",
             "yanchor": "top", "yshift": -_BELOW, "align": "left",
             "font": {"size": 11, "color": "text"}}
    frame = layout(legend=True, title="Synthetic people around the private mean")
    frame["margin"]["b"] = _BELOW + _LINE * len(lines)
    spec = {"data": data, "layout": frame | dict(
        annotations=[stamp, words], xaxis=time_axis(facts),
        yaxis=axis(named(facts.value_name, facts.value_unit), grid=True))}
    low, high = np.quantile(people.curves, [0.1, 0.9], axis=0)
    return Chart(spec, mark, {facts.time_name: x, "private mean": plain(mean),
                              "10th percentile of synthetic people": plain(low),
                              "90th percentile of synthetic people": plain(high)})
