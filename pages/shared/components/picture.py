"""The live picture: every budget's curves are sent once, the browser does the rest.

`picture_payload` turns arrays into a small constant message, `picture` mounts it. Nothing is sent
while the slider moves; the choice is reported when it rests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.types import Array, PublicFacts
from engine.language import quality, tags
from engine.topics.mean.answer import MeanAnswer, PlausibleBand

VIEWS = ("releases", "ranges", "one")
LINES = ("curves", "without", "truth")
MOST_CURVES = 70  # a texture, not a data display
MOST_READINGS = 200  # of one faint curve; more cannot be seen and would swell the message
_FURTHEST = 5  # heights of the plot beyond which a line is cut off; the panel below shows so far
_STEPS = 65535  # of a 16-bit number

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "privacy_curves_picture",
    html=(_HERE / "picture.html").read_text("utf-8"),
    css=(_HERE / "picture.css").read_text("utf-8"),
    js=(_HERE / "picture.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class Picked:
    """What the visitor has chosen in the picture; `new_noise` is true for one run only."""

    budget: int
    view: str = "releases"
    shown: tuple[str, ...] = ("curves", "without")
    new_noise: bool = False


@dataclass(frozen=True)
class Anchor:
    """A mark under the slider at some ε: the word beside it, if any, and what it stands for."""

    epsilon: float
    help: str
    word: str = ""


@dataclass(frozen=True)
class Verdict:
    """What is said about one budget before any data are read.

    `refused` replaces the picture by a headline and what would change it; `note` stands under it.
    """

    refused: tuple[str, str] | None = None
    note: str = ""


_COLOURS = {
    "light": {"quiet": "#4A5468", "raw": "#8790A3", "truth": "#182033", "without": "#3F4654",
              "method": "#3D57D6"},
    "dark": {"quiet": "#B4BCCB", "raw": "#78839A", "truth": "#FFFFFF", "without": "#D9DFEA",
             "method": "#7A92FF"},
}


def picture_payload(facts: PublicFacts, shown: MeanAnswer, spoken: Sequence[str],
                    verdicts: Sequence[Verdict] = ()) -> dict[str, Any]:
    """Everything the browser needs to draw all budgets, as plain values.

    Parameters
    ----------
    shown : its releases may be any number (budgets, draws, points), with ranges and lines to match
    spoken : one phrase per budget for screen readers, such as "error 3.9 cm"
    verdicts : one per budget, or none at all

    Raises
    ------
    ValueError
        If shapes disagree or an array holds NaN.
    """
    _check_shapes(shown)
    verdicts = verdicts or [Verdict()] * len(shown.releases)
    if not len(shown.budgets) == len(spoken) == len(verdicts) == len(shown.releases):
        raise ValueError("there must be one ε, one spoken phrase and one verdict for each budget")
    payload = {
        "title": tags.title(facts), "epsilons": [f"{b.epsilon:g}" for b in shown.budgets],
        "spoken": list(spoken), "notes": [v.note for v in verdicts],
        "refused": [list(v.refused) if v.refused else None for v in verdicts], **_axes(facts),
        **_lines(facts, shown, [v.refused is None for v in verdicts]),
        "words": _words(facts, shown), "colours": _COLOURS,
        "source": _source_words(facts), "downloads": not facts.is_upload,
        "reason": "These curves are not private: their picture cannot be downloaded.",
    }
    payload["tag"] = hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:16]
    return payload


def _check_shapes(shown: MeanAnswer) -> None:
    n_budgets, n_draws, n_points = shown.releases.shape
    _check(releases=(shown.releases, (n_budgets, n_draws, n_points)),
           times=(shown.times, (n_points,)), without=(shown.without, (n_points,)),
           noise_low=(shown.noise_low, (n_budgets, n_points)),
           noise_high=(shown.noise_high, (n_budgets, n_points)))


def _axes(facts: PublicFacts) -> dict[str, Any]:
    """The axes: public, and the same at every budget."""
    return {"time": {"low": facts.time_low, "high": facts.time_high,
                     "label": _axis(facts.time_name, facts.time_unit)},
            "value": {"low": facts.value_low, "high": facts.value_high,
                      "label": _axis(facts.value_name, facts.value_unit)},
            "difference": _axis("Difference", facts.value_unit)}


def _lines(facts: PublicFacts, shown: MeanAnswer, drawn: Sequence[bool]) -> dict[str, Any]:
    """All curves; of the budgets that are not `drawn` nothing is sent.

    All but the average without protection goes as a difference from it: the panel of differences
    shows them however small they are.
    """
    low, high, without = facts.value_low, facts.value_high, shown.without
    scale = (low - (high - low) / 2, high + (high - low) / 2)  # lines may leave the picture
    releases, lower, upper = (curves - without for curves in
                              (shown.releases, shown.noise_low, shown.noise_high))
    scales = _scales(high - low, releases, lower, upper)
    return {
        "scale": scale, "scales": scales, "draws": shown.releases.shape[1],
        "points": len(shown.times), "times": int16(shown.times, facts.time_low, facts.time_high),
        "without": int16(without, *scale), "releases": _by_budget(releases, scales, drawn),
        "noise_low": _by_budget(lower, scales, drawn),
        "noise_high": _by_budget(upper, scales, drawn),
        "sampling": _spanned(shown.sampling) if np.any(shown.sampling) else None,
        "truth": None if shown.truth is None else _spanned(shown.truth - without),
        "band": None if shown.band is None else _band(facts, shown, shown.band, drawn),
        **_single_curves(shown.data.curves(MOST_CURVES), scale)}


def int16(values: NDArray[Any], low: float, high: float) -> str:
    """Values as base64 text of little-endian 16-bit numbers over [low, high]."""
    share = (np.clip(values, low, high) - low) / (high - low)
    return base64.b64encode(np.rint(share * _STEPS - 32768).astype("<i2").tobytes()).decode()


def _scales(height: float, *differences: Array) -> list[tuple[float, float]]:
    """What the 16-bit numbers of each budget span: its own differences, within reason."""
    furthest, least = _FURTHEST * height, height / _STEPS**2
    lows = np.minimum.reduce([d.min(axis=tuple(range(1, d.ndim))) for d in differences])
    highs = np.maximum.reduce([d.max(axis=tuple(range(1, d.ndim))) for d in differences])
    return [(low, max(high, low + least)) for low, high in
            np.clip(np.stack([lows, highs], axis=1), -furthest, furthest).tolist()]


def _spanned(values: Array) -> tuple[str, float, float]:
    """One row of values, and what its 16-bit numbers span."""
    low, high = float(values.min()), float(values.max())
    high = max(high, low + 1e-9 * max(abs(low), 1.0))
    return int16(values, low, high), low, high


def _band(facts: PublicFacts, shown: MeanAnswer, band: PlausibleBand, drawn: Sequence[bool]
          ) -> dict[str, Any]:
    """The band of every release, with its sentence; where there is none, the release itself.

    Bands are smooth and many: every second point is sent, and the browser puts in the others.
    """
    low, high = (np.where(np.isfinite(edge), edge, shown.releases) - shown.without
                 for edge in (band.low, band.high))
    _check(band_low=(low, shown.releases.shape), band_high=(high, shown.releases.shape))
    scales = _scales(facts.value_high - facts.value_low, low, high)
    return {"scales": scales, "low": _by_budget(low[..., ::2], scales, drawn),
            "high": _by_budget(high[..., ::2], scales, drawn),
            "without": _spanned(band.without),
            "sentences": [quality.plausible(facts, band.kind, waves) for waves in band.waves]}


def _by_budget(values: Array, scales: Sequence[tuple[float, float]], drawn: Sequence[bool]
               ) -> list[str]:
    return [int16(v, *scale) if is_drawn else ""
            for v, scale, is_drawn in zip(values, scales, drawn, strict=True)]


def picture(key: str, payload: Mapping[str, Any], start: Picked, seed: int, rev: int = 0,
            new_noise: bool = False, anchors: Sequence[Anchor] = ()) -> Picked:
    """Draw the picture and return what the visitor has picked.

    `start` is where the page stands now. It moves the picture only when it is mounted and when
    `rev` changes (a link was opened, Back was pressed); give the strip the same `rev`. `seed` is
    shown beside the draws, and `new_noise` offers a button that asks for fresh ones; `anchors` are
    marked under the slider where they lie on it.
    """
    data = {"curves": payload, "now": {"rev": rev, "seed": seed, "new_noise": new_noise,
                                       "anchors": placed(anchors, payload["epsilons"]),
                                       **_moved(key, rev, start)}}
    result = _component(key=key, data=data, on_picked_change=_nothing, on_new_noise_change=_nothing)
    chosen = read_report(result.get("picked"), start, rev, len(payload["epsilons"]))
    return replace(chosen, new_noise=bool(result.get("new_noise")))


def placed(anchors: Sequence[Anchor], epsilons: Sequence[str]) -> list[dict[str, Any]]:
    """Where marks stand, as shares of the slider, whose steps are even on the screen."""
    steps = np.log([float(epsilon) for epsilon in epsilons])
    places = np.arange(len(steps)) / max(len(steps) - 1, 1)
    return [{"at": round(float(np.interp(np.log(a.epsilon), steps, places)), 4), "help": a.help,
             "word": a.word} for a in anchors
            if steps[0] <= np.log(a.epsilon) <= steps[-1]]


def picked(key: str, start: Picked, rev: int = 0, n_budgets: int = 24) -> Picked:
    """The same answer before the picture is drawn, for what stands above it on the page."""
    state = st.session_state.get(key)
    report = state.get("picked") if isinstance(state, Mapping) else None
    return read_report(report, start, rev, n_budgets)


def _moved(key: str, rev: int, start: Picked) -> dict[str, Any]:
    """Where the server last moved the picture to; constant, so that the message stays a hash."""
    memory = st.session_state.get(f"{key}_moved")
    if memory is None or memory[0] != rev or key not in st.session_state:
        memory = (rev, {"start": start.budget, "view": start.view, "shown": list(start.shown)})
        st.session_state[f"{key}_moved"] = memory
    return dict(memory[1])


def read_report(report: Any, start: Picked, rev: int, n_budgets: int) -> Picked:
    """The browser's report, value by value; what is missing or impossible stays as in `start`."""
    if not isinstance(report, Mapping) or report.get("rev", rev) != rev:
        report = {}  # made before the server moved the picture
    budget, view, lines = report.get("budget"), report.get("view"), report.get("shown")
    if isinstance(budget, bool) or budget not in range(n_budgets):
        budget = start.budget
    if not isinstance(lines, list):
        lines = start.shown
    return Picked(int(budget), view if view in VIEWS else start.view,
                  tuple(name for name in LINES if name in lines))


def _nothing() -> None:
    """Stands for "no callback": the value is read from the result."""


def _check(**arrays: tuple[Array, tuple[int, ...]]) -> None:
    for name, (array, shape) in arrays.items():
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
        if np.isnan(array).any():
            raise ValueError(f"{name} holds NaN")


def _single_curves(curves: Sequence[tuple[Array, Array]], scale: tuple[float, float]
                   ) -> dict[str, Any]:
    """The faint curves, one after another, with the number of readings of each."""
    drawn = [_thinned(*curve) for curve in curves]
    return {"counts": [len(times) for times, _ in drawn],
            "curve_times": int16(_flat(times for times, _ in drawn), 0.0, 1.0),
            "curve_values": int16(_flat(values for _, values in drawn), *scale)}


def _thinned(times: Array, values: Array) -> tuple[Array, Array]:
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_READINGS)).astype(int))
    return times[keep], values[keep]


def _flat(arrays: Any) -> Array:
    return np.concatenate([np.empty(0), *arrays])


def _axis(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _source_words(facts: PublicFacts) -> str:
    """What a saved picture says about where its curves come from."""
    return {"simulated": "Simulated curves: for looking, not for publishing",
            "public": f"Public data: {facts.name}"}.get(facts.kind, "Not private")


def _words(facts: PublicFacts, shown: MeanAnswer) -> dict[str, Any]:
    """Every label and sentence of the picture; the browser shows them as text only."""
    n_draws, n_curves = shown.releases.shape[1], shown.data.n_curves
    n_drawn = min(n_curves, MOST_CURVES)
    people = facts.people[:1].upper() + facts.people[1:]
    theirs = f"{people}’ curves" if people.endswith("s") else f"{people}’s curves"
    return {
        "help": f"Lower ε: each {facts.person} is better protected and the published curve is "
                "noisier. Higher ε: the opposite. Steps are rounded.",
        "legend": {
            "curves": [f"{theirs} ({n_drawn} of {n_curves} drawn)", theirs],
            "releases": [f"{n_draws} possible releases", "Releases"],
            "one": ["One release", "One release"],
            "noise": ["Privacy noise range (95 in 100)", "Noise range"],
            "sampling": ["Sampling range (95 in 100)", "Sampling range"],
            "band": ["Where the true average plausibly lies", "Plausible range"],
            "quiet_band": ["The same, without protection", "Without protection"],
            "without": ["Without protection", "No protection"],
            "truth": ["True average", "True average"],
        },
        "views": _view_words(facts, n_draws, bool(np.any(shown.sampling)),
                             shown.band is not None),
        "lines": {
            "curves": [theirs, "The curves going in. For real data only you may see them."],
            "without": ["Without protection", "The same average with no noise. Never published."],
            "truth": ["True average", "Known only because these curves are simulated."],
        },
        "seed": "Same seed, same noise: whoever opens the link sees this picture. Never used for a "
                "release.",
        "new_noise": f"Draws {n_draws} fresh possible releases. Allowed only because these curves "
                     "are simulated.",
    }


def _view_words(facts: PublicFacts, n_draws: int, has_sampling: bool, has_band: bool
                ) -> dict[str, list[str]]:
    """Button, tooltip and sentence of each view."""
    ranges = "Blue: where another release might fall, 95 times in 100."
    if has_sampling:
        ranges += " Hatched: how far chance in who took part moves the average."
    return {
        "releases": ["Possible releases", f"{n_draws} lines you might publish",
                     f"Each blue line is one of {n_draws} equally likely releases. You would "
                     f"publish only one of them, and it is not a {facts.person}."],
        "ranges": ["Ranges", "Where they fall", ranges],
        "one": ["One release", "The line the public would see, with the band it comes with"
                if has_band else "The single line the public would see",
                "One release: this is what the public would see."],
    }
