"""Chart of the curves of many groups over the curve of all of them."""

from __future__ import annotations

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.group_curves import refusal_of_groups
from engine.answers.times import grid
from engine.figures import traces
from engine.figures.theme import Chart, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.numbers import named

_EVERY = 4  # points of the grid of answers for each point that is drawn
_MAX_COLUMNS = 50  # groups in the table of numbers


def many_groups(curve: ReleasedCurve, is_shrunk: bool) -> Chart | None:
    """Draw a thin line for each group; None if the release tells none."""
    if refusal_of_groups(curve, is_shrunk):
        return None
    groups, times = curve.groups(is_shrunk), grid()[::_EVERY]
    facts, curves = curve.facts, groups.curves(times)
    x = plain(np.asarray(facts.from_unit_time(times)))
    together = plain(curve.row_maps[0](times, 0) @ curve.centre + curve.public(times))
    title = f"Curves of {len(curves)} groups, and of all together"
    joined = traces.joined(x, [plain(each) for each in curves])
    spec = {
        "data": [
            traces.line("Groups", *joined, "raw", 1.0, hoverinfo="skip"),
            traces.line("All groups", x, together, "gradient", 2.6),
        ],
        "layout": layout(
            title=title,
            legend=True,
            xaxis=time_axis(facts),
            yaxis=axis(named(facts.value_name, facts.value_unit), grid=True),
        ),
    }
    columns = {
        name: plain(each) for name, each in zip(groups.names, curves[:_MAX_COLUMNS], strict=False)
    }
    return Chart(spec, f"{title}.", {facts.time_name: x, "all groups": together} | columns)
