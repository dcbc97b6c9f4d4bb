"""Charts of coverage: limits of many repetitions around the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.figures import traces
from engine.figures.theme import Chart, axis, layout
from engine.figures.traces import plain
from engine.language.numbers import named
from engine.topics.coverage.answer import Limits
from engine.topics.coverage.words import noun, target


def repetitions(limits: Limits, half: float, kind: str, unit: str) -> Chart:
    """Draw all limits around zero, on ± `half`; misses stand out by colour and mark."""
    missed, places = limits.missed, np.arange(1, len(limits.off) + 1)
    low, high = (np.clip(limits.off + sign * limits.half, -half, half) for sign in (-1, 1))
    data = []
    for is_miss, name, role in (
        (False, f"Covers the {target(kind)}", "raw"),
        (True, "Misses it", "bias"),
    ):
        rows = missed == is_miss
        data.append(
            traces.line(
                name,
                _gaps(places[rows], places[rows]),
                _gaps(low[rows], high[rows]),
                role,
                2.4 if is_miss else 1.2,
                hoverinfo="skip",
            )
        )
    if missed.any():
        data.append(
            traces.points(
                "Misses it",
                places[missed].tolist(),
                plain(np.clip(limits.off, -half, half)[missed]),
                {"symbol": "x", "size": 6, "color": "bias"},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    finding = f"{int(missed.sum())} of {len(missed)} {noun(kind)}s miss the {target(kind)}"
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=finding,
            xaxis=axis("Repetition (number)", range=[0, max(len(places), 200) + 1]),
            yaxis=axis(
                named(f"Estimate less {target(kind)}", unit),
                grid=True,
                range=[-half, half],
                zeroline=True,
                zerolinecolor="text",
                zerolinewidth=2,
            ),
            hovermode=False,
        ),
    }
    return Chart(
        spec,
        f"{finding}.",
        {
            "repetition": places.tolist(),
            "off by": plain(limits.off),
            "half the width": plain(limits.half),
            "misses": missed.tolist(),
        },
    )


def common_half(each: Sequence[Limits]) -> float:
    """Return half of an axis that shows nearly all of several limits."""
    distances = np.concatenate([np.abs(limits.off) + limits.half for limits in each])
    return float(1.1 * np.quantile(distances, 0.98))


def _gaps(first: Any, second: Any) -> list[Any]:
    """List two ends of each line and a gap, so that one trace draws all of them."""
    return [
        value for pair in zip(plain(first), plain(second), strict=True) for value in (*pair, None)
    ]
