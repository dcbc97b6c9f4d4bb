"""The live figure's message: the curves of every budget, and every word, as plain values.

`figure_payload` turns arrays into a small constant message. A page mounts it, or a file holds it;
the browser does the rest without a server. It shows one release after another, lets the visitor
pull a curve to see how little it moves the mean, and play the attacker.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import width_at
from engine.core.packed import Encoded
from engine.core.palette import THEMES, colour
from engine.core.types import Array, Budget, PublicFacts
from engine.language import error_words, numbers, odds_words, quality, tags
from engine.language.grammar import capital
from engine.language.numbers import most_releases, named, percent_up
from engine.privacy import risk
from engine.privacy.feasibility import Feasibility, verdict
from engine.simulation.studies import SHOWN_DRAWS
from engine.topics.mean.answer import MeanAnswer

VIEWS = ("look", "attack", "methods", "theory")
MAX_CURVES = 70  # a texture, not a data display
MAX_OBSERVATIONS = 200  # per grey curve; more would be invisible and swell the message
FURTHEST = 5  # in heights of the plot; lines are cut off beyond
# Ends of the middle 95 % and 50 % of releases, from below.
_FOG_LEVELS = (0.025, 0.25, 0.75, 0.975)
_FOG = ("noise_low", "half_low", "half_high", "noise_high")
_STEPS = 65535  # steps of a 16-bit number
_ROLES = {
    "quiet": "quiet",
    "raw": "raw",
    "truth": "truth",
    "without": "without",
    "method": "gradient",
    "pull": "visitor",
    "functional": "functional",
    "wavelet": "wavelet",
}
COLOURS = {theme: {name: colour(role, theme) for name, role in _ROLES.items()} for theme in THEMES}


@dataclass(frozen=True)
class Picked:
    """The visitor's choice in the figure; all but `budget` and `view` are of one run only."""

    budget: int
    view: str = "look"
    new_noise: bool = False
    method: str = ""
    theory: str = ""  # an axis of theory, or a number of sites


@dataclass(frozen=True)
class Anchor:
    """A mark under the slider at some ε: what it stands for, and a word for it.

    `is_own` is that of the visitor; all others are budgets of publications.
    """

    epsilon: float
    help: str
    word: str
    is_own: bool = False


@dataclass(frozen=True)
class AtBudget:
    """Texts at one budget."""

    attacker: float  # an upper bound on the accuracy of an attacker who starts at one half
    error: str  # with its unit; empty if nothing is published
    within: str = ""  # 95 % quantile of the error, with its unit
    is_weak: bool = False  # True highlights a large accuracy
    # headline and remedy, if nothing would be published
    refused: tuple[str, str] | None = None
    note: str = ""  # under the figure, if little of it is reliable


def at_budgets(facts: PublicFacts, answer: MeanAnswer, odds: Sequence[risk.Odds]) -> list[AtBudget]:
    """Write the texts of the figure at every budget."""
    n_curves, errors = answer.data.n_curves, (answer.study.error, answer.study.within)
    in_words = [
        [
            numbers.with_unit(numbers.number(value, is_padded=True), facts.value_unit)
            if is_published and math.isfinite(value)
            else ""
            for value, is_published in zip(values, answer.published, strict=True)
        ]
        for values in errors
    ]
    steps = [budget.epsilon for budget in answer.budgets]
    return [
        _at_budget(facts, n_curves, steps, *at_one)
        for at_one in zip(
            answer.budgets, odds, answer.verdicts, _notes(facts, answer), *in_words, strict=True
        )
    ]


def _notes(facts: PublicFacts, answer: MeanAnswer) -> list[str]:
    """Write notes on the band at each budget, by the verdict that a release would carry.

    For a file they say if most releases show no change.
    """
    band = answer.band
    if band is None:
        return [""] * len(answer.budgets)
    notes = []
    for feasibility, size, *ends in zip(
        answer.verdicts,
        band.n_functions,
        *np.clip((band.low, band.high), facts.value_low, facts.value_high),
        strict=True,
    ):
        low, high = ends
        wide = float((high - low).mean()) / (2 * facts.value_half_width)
        flat = [
            text
            for limits in zip(low, high, strict=True)
            if facts.is_upload and (text := quality.no_change(facts, *limits))
        ]
        is_flat = 2 * len(flat) > len(low)
        why = ""
        if verdict(feasibility, wide, is_flat) == "coarse":
            at_times = width_at(low, high, band.few_times) if band.few_times else 0.0
            why = (
                flat[0]
                if is_flat
                else quality.level_only(wide, is_flat, at_times / (2 * facts.value_half_width))
            )
        notes.append(f"{why} {quality.few_functions(size)}".strip())
    return notes


def _at_budget(
    facts: PublicFacts,
    n_curves: int,
    steps: Sequence[float],
    budget: Budget,
    odds: risk.Odds,
    feasibility: Feasibility | None,
    note: str,
    error: str,
    within: str,
) -> AtBudget:
    refused = None
    if feasibility is not None and not feasibility.is_feasible:
        refused = quality.refused(facts, feasibility, budget, n_curves, steps)
    elif feasibility is not None and feasibility.verdict == "coarse":
        note = quality.coarse(facts, feasibility, budget, n_curves, steps)
    is_weak = max(budget.epsilon, odds.budget.epsilon) >= odds_words.WEAK_FROM
    return AtBudget(odds.right, error, within, is_weak, refused, note)


def figure_payload(
    facts: PublicFacts, view: MeanAnswer, steps: Sequence[AtBudget]
) -> dict[str, Any]:
    """Collect everything the browser needs to draw any number of budgets, as plain values."""
    _check_shapes(view)
    if not len(view.budgets) == len(steps) == len(view.releases):
        raise ValueError("there must be one ε and one step for each budget")
    shares = [percent_up(step.attacker).replace("more than", ">") for step in steps]
    payload = {
        "title": tags.study_title(facts, view.data.n_curves),
        "epsilons": [f"{b.epsilon:g}" for b in view.budgets],
        "n": view.data.n_curves,
        "attacker": [share if share[0] == ">" else f"≤ {share}" for share in shares],
        "bound": [step.attacker for step in steps],
        "weak": [step.is_weak for step in steps],
        "notes": [step.note for step in steps],
        "errors": [_errors(facts, step) for step in steps],
        "refused": [list(step.refused) if step.refused else None for step in steps],
        **axes(facts),
        **_curves(facts, view, [step.refused is not None for step in steps]),
        "words": figure_words(facts, view.data.n_curves),
        "colours": COLOURS,
        "source": source_words(facts),
        "downloads": not facts.is_upload,
    }
    return tagged(payload)


def tagged(payload: dict[str, Any]) -> dict[str, Any]:
    """Add a digest of the payload, by which the browser recognises what it already has."""
    return {**payload, "tag": hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:16]}


def _errors(facts: PublicFacts, step: AtBudget) -> list[str]:
    """Return the error of a step, its 95 % value, and the error in a sentence."""
    within = f"({most_releases(facts.value_unit)}: {step.within})" if step.within else ""
    spoken = f"{error_words.error_name(facts)} {step.error}" if step.error else "nothing published"
    return [step.error or "–", within, spoken]


def _check_shapes(view: MeanAnswer) -> None:
    n_budgets, n_draws, n_points = view.releases.shape
    _check(
        releases=(view.releases, (n_budgets, n_draws, n_points)),
        times=(view.times, (n_points,)),
        ordinary=(view.ordinary, (n_points,)),
        **{name: (getattr(view, name), (n_budgets, n_points)) for name in _FOG},
    )


def axes(facts: PublicFacts) -> dict[str, Any]:
    """Write the axes: public, and the same at every budget."""
    return {
        "time": {
            "low": facts.time_low,
            "high": facts.time_high,
            "unit": facts.time_unit,
            "name": facts.time_name,
            "label": named(facts.time_name, facts.time_unit),
        },
        "value": {
            "low": facts.value_low,
            "high": facts.value_high,
            "unit": facts.value_unit,
            "label": named(facts.value_name, facts.value_unit),
        },
        "difference": named("Difference", facts.value_unit),
    }


def _curves(facts: PublicFacts, view: MeanAnswer, refused: Sequence[bool]) -> dict[str, Any]:
    """Return all curves; released ones as differences from the mean without protection.

    `fog` are the ends of the middle 95 % and 50 % of releases, from below.
    """
    low, high, ordinary = facts.value_low, facts.value_high, view.ordinary
    drawn, fog = _differences(view, np.array(refused))
    scale = (low - (high - low) / 2, high + (high - low) / 2)  # lines may leave the frame
    scales, fog_scales = (scales_of(high - low, values) for values in (drawn, fog))
    return {
        "scale": scale,
        "scales": scales,
        "fog_scales": fog_scales,
        "draws": view.releases.shape[1],
        "points": len(view.times),
        "times": int16(view.times, facts.time_low, facts.time_high),
        "without": int16(ordinary, *scale),
        "releases": by_budget(drawn, scales),
        "fog": by_budget(fog, fog_scales),
        "truth": None if view.truth is None else spanned(view.truth - ordinary),
        "visits": []
        if view.band is None
        else facts.from_unit_time(np.array(view.band.few_times)).tolist(),
        **_single_curves(view.data.curves(MAX_CURVES), scale),
    }


def _differences(view: MeanAnswer, refused: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return releases less the mean without protection, and the ends of their middle 95 % and 50 %.

    They are (budgets, draws, points) and (budgets, 4, points). At a refused budget there is no
    release. The picture there shows the reason: the noise of the smallest budget that is not
    refused, which grows as 1/ε.
    """
    releases = view.releases - view.ordinary
    fog = np.stack([getattr(view, name) for name in _FOG], axis=1) - view.ordinary
    epsilons = np.array([budget.epsilon for budget in view.budgets])
    if refused.any() and not refused.all():
        lowest = int(np.argmin(np.where(refused, np.inf, epsilons)))
        growth = epsilons[lowest] / epsilons[refused]
        releases[refused] = growth[:, None, None] * releases[lowest]
        fog[refused] = growth[:, None, None] * fog[lowest]
    return releases, fog


def lines(
    facts: PublicFacts,
    times: Array,
    ordinary: Array,
    releases: Array,
    band: tuple[Array, Array] | None = None,
) -> dict[str, Any]:
    """Encode curves without people: (points,) at `times`, `releases` (budgets, draws, points).

    Shaded are both ends of a band, (points,) or (budgets, points), or the middle 95 % and 50 % of
    the releases.
    """
    low, high = facts.value_low, facts.value_high
    scale = (low - (high - low) / 2, high + (high - low) / 2)
    if band is None:
        fog = np.moveaxis(np.quantile(releases, _FOG_LEVELS, axis=1), 0, 1)
    else:
        ends = np.stack([band[0], *band, band[1]], axis=-2)
        fog = np.broadcast_to(ends, (len(releases), 4, len(times)))
    drawn = releases[:, :SHOWN_DRAWS] - ordinary
    coded, scales = encoded(facts, drawn)
    coded_fog, fog_scales = encoded(facts, fog - ordinary)
    return {
        "scale": scale,
        "scales": scales,
        "fog_scales": fog_scales,
        "draws": drawn.shape[1],
        "points": len(times),
        "times": int16(times, facts.time_low, facts.time_high),
        "without": int16(ordinary, *scale),
        "releases": coded,
        "fog": coded_fog,
        "truth": None,
        "visits": [],
        **_single_curves((), scale),
    }


def encoded(
    facts: PublicFacts, differences: Array
) -> tuple[list[Encoded], list[tuple[float, float]]]:
    """Encode differences from the mean (budgets, …) as text, and the range of each budget."""
    scales = scales_of(facts.value_high - facts.value_low, differences)
    return by_budget(differences, scales), scales


def int16(values: NDArray[Any], low: float, high: float) -> Encoded:
    """Encode values as 16-bit numbers over [low, high]."""
    share = (np.clip(values, low, high) - low) / (high - low)
    return Encoded.of(np.rint(share * _STEPS - 32768).astype(np.int16))


def scales_of(height: float, *differences: Array) -> list[tuple[float, float]]:
    """Return the range of each budget's 16-bit numbers: its own differences, within reason."""
    furthest, smallest_step = FURTHEST * height, height / _STEPS**2
    lows = np.minimum.reduce([d.min(axis=tuple(range(1, d.ndim))) for d in differences])
    highs = np.maximum.reduce([d.max(axis=tuple(range(1, d.ndim))) for d in differences])
    return [
        (low, max(high, low + smallest_step))
        for low, high in np.clip(np.stack([lows, highs], axis=1), -furthest, furthest).tolist()
    ]


def spanned(values: Array) -> tuple[Encoded, float, float]:
    """Encode one row of values, with the range of its 16-bit numbers."""
    low, high = float(values.min()), float(values.max())
    high = max(high, low + 1e-9 * max(abs(low), 1.0))
    return int16(values, low, high), low, high


def by_budget(values: Array, scales: Sequence[tuple[float, float]]) -> list[Encoded]:
    return [int16(row, *scale) for row, scale in zip(values, scales, strict=True)]


def figure_message(
    payload: Mapping[str, Any],
    start: Picked,
    rev: int = 0,
    new_noise: bool = False,
    with_truth: bool = False,
    save: str = "",
    anchors: Sequence[Anchor] = (),
    asked: Mapping[str, Any] | None = None,
    methods: Mapping[str, Any] | None = None,
    theory: Mapping[str, Any] | None = None,
    on_page: bool = False,
) -> dict[str, Any]:
    """Make the message to the browser that draws the figure.

    `new_noise` asks for fresh draws. `save` is "1-svg", "2-png" and so on: every new one saves a
    file.
    """
    now = {
        "rev": rev,
        "new_noise": new_noise,
        "with_truth": with_truth,
        "save": save,
        "anchors": placed(anchors, payload["epsilons"]),
        "start": start.budget,
        "view": start.view,
        "on_page": on_page,
    }
    return {"curves": payload, "asked": asked, "methods": methods, "theory": theory, "now": now}


def placed(anchors: Sequence[Anchor], epsilons: Sequence[str]) -> list[dict[str, Any]]:
    """Place marks as shares of the slider, whose steps are even on the screen."""
    steps = np.log([float(epsilon) for epsilon in epsilons])
    places = np.arange(len(steps)) / max(len(steps) - 1, 1)
    return [
        {
            "at": round(float(np.interp(np.log(a.epsilon), steps, places)), 4),
            "help": a.help,
            "word": a.word,
            "is_own": a.is_own,
        }
        for a in anchors
        if steps[0] <= np.log(a.epsilon) <= steps[-1]
    ]


def _check(**arrays: tuple[Array, tuple[int, ...]]) -> None:
    for name, (array, shape) in arrays.items():
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
        if np.isnan(array).any():
            raise ValueError(f"{name} holds NaN")


def _single_curves(
    curves: Sequence[tuple[Array, Array]], scale: tuple[float, float]
) -> dict[str, Any]:
    """Encode the grey curves, one after another, with the number of observations of each."""
    drawn = [_thinned(*curve) for curve in curves]
    return {
        "counts": [len(times) for times, _ in drawn],
        "curve_times": int16(_flat(times for times, _ in drawn), 0.0, 1.0),
        "curve_values": int16(_flat(values for _, values in drawn), *scale),
    }


def _thinned(times: Array, values: Array) -> tuple[Array, Array]:
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), MAX_OBSERVATIONS)).astype(int))
    return times[keep], values[keep]


def _flat(arrays: Any) -> Array:
    return np.concatenate([np.empty(0), *arrays])


def source_words(facts: PublicFacts) -> str:
    """Name the source of the curves in a saved figure."""
    public = f"Public data: {facts.name}"
    if facts.credit:
        public += f" ({facts.credit})"
    return {"simulated": "Simulated curves: for looking, not for publishing", "public": public}.get(
        facts.kind, "Not private"
    )


KEYS = "Left and right read values, up and down pull a curve, Escape puts it back, space pauses."


_READ = "Left and right read values, space pauses."


def words_without_people(mean: str, release: str) -> dict[str, Any]:
    """Return the words that differ where nobody's curve is drawn: none can be pulled."""
    return {
        "mean": mean,
        "release": release,
        "curves": "",
        "difference": f"{release} − {mean}",
        "stage": f"Figure. {_READ}",
        "keys": _READ,
    }


def figure_words(facts: PublicFacts, n_curves: int) -> dict[str, Any]:
    """Return every label and sentence of the figure; the browser shows them as text only.

    Names in braces are filled in by the browser.
    """
    person, people, unit = facts.person, facts.people, facts.value_unit
    n_drawn = min(n_curves, MAX_CURVES)
    value = f"{{}} {unit}" if unit else "{}"
    game = (
        f"One of these two {people} took part, the other did not. The lower figure has this "
        "round’s release and the mean with A and with B."
    )
    by, noise, pulled = (value.format(f"{{{name}}}") for name in ("by", "noise", "pulled"))
    moved_by = f"I moved one {person} by {pulled}. The published mean moved by {by}"
    hidden = f"; the noise is ±{noise}."
    return {
        "attacker": "Attacker’s accuracy",
        "guessing": "(guessing: 50 %)",
        "error": capital(error_words.error_name(facts)),
        "slider": "Privacy budget ε (smaller = more private)",
        "private": "◂ more private",
        "accurate": "more accurate ▸",
        "views": "View",
        "look": "Curves",
        "methods": "Methods",
        "theory": "Theory",
        "used": "ε elsewhere:",
        "mean": "non-private mean",
        "release": "one release",
        "difference": "difference",
        "curves": f"{n_drawn} of {n_curves} {people}"
        if n_drawn < n_curves
        else f"{n_curves} {people}",
        "band": "95 % band",
        "fog": "95 % of releases",
        "public_bound": ("range of this file" if facts.is_proposed else "public bound"),
        "visits": "dotted: the common times",
        "pause": "Pause",
        "play": "Play",
        "next": "Next release",
        "new_noise": "New noise",
        "new_noise_help": "Draws fresh releases. Possible because these curves are simulated.",
        "attack": "Be the attacker",
        "stage": f"Figure. {KEYS}",
        "keys": KEYS,
        "spoken": "attacker’s accuracy {attacker}, {error}",
        "nothing": "Nothing published",
        "unpublished": "would-be release",
        "moved": "mean after the pull",
        "pulled_one": f"pulled {person}",
        "pulled_out": f"pulled {person}, beyond this axis",
        "drowned": f"{quality.too_few(facts)}: would not be released",
        "shift": f"this {person} moves the mean by {by}",
        "invitation": {
            "inside": f"Drag any grey curve: one {person} stays inside the noise.",
            "shows": f"Drag any grey curve: one {person} begins to show.",
            "beyond": f"⚠ Too little noise to hide one {person}: a pull moves the mean by up to "
            f"{by}, beyond the noise (±{noise}).",
        },
        "pulled": {
            "inside": f"This {person} moves the mean by {by} and stays inside the noise "
            f"(±{noise}).",
            "shows": f"This {person} moves the mean by {by} and begins to show beside the noise "
            f"(±{noise}).",
            "beyond": f"⚠ This {person} moves the mean by {by}; the noise (±{noise}) no longer "
            "hides it.",
        },
        "card_png": "End card (PNG)",
        "card_svg": "SVG",
        "card_share": "Share",
        "game_number": "game {number}",
        "ended": f"I found the {person} {{hits}} of {{rounds}} times. The best possible attacker: "
        "{bound}.",
        "ended_pull": {
            "inside": moved_by + hidden,
            "shows": moved_by + hidden,
            "beyond": f"{moved_by}, which the noise of ±{noise} does not hide.",
        },
        "none": "no privacy",
        "coming": "Being simulated …",
        "shaded": "Shaded: what limits {notion}. Rates: Xue, Lin and Yu (2024).",
        "rates": "Rates: Xue, Lin and Yu (2024).",
        "pure": "pure",
        "attacker_short": "attacker ≤\u00a0{bound}",
        "equal": "Compare at equal protection",
        "equal_epsilon": "Compare at equal ε",
        "is_equal": "Each method at the largest ε that keeps the attacker’s accuracy {attacker}.",
        "unequal": "⚠ Equal ε is not equal protection: pure methods let the attacker reach {pure}, "
        "the others {other}.",
        "panel": "Difference from the non-private mean, with the middle 95 % of releases. "
        f"The axis reaches {value.format('{limit}')}.",
        "panel_unpublished": "Difference of a would-be release from the non-private mean. "
        f"The axis reaches {value.format('{limit}')}.",
        "question": "Round {round} of {rounds}: which curve is in the data?",
        "hint": f"{game} Which does the release lean towards?",
        "hint_enlarged": f"{game} One {person} moves the mean so little that the gap is drawn "
        "{times} times wider. Which does the release lean towards?",
        "means": "mean with A or with B",
        "means_enlarged": "mean with A or with B, {times} times as far apart",
        "unplayable": "Nothing would be published at ε = {epsilon}: there is nothing to attack.",
        "raise": "Move the slider to the right until a curve is released.",
        "a": "A",
        "b": "B",
        "right": "Round {round}: right, it was {letter}.",
        "wrong": "Round {round}: wrong, it was {letter}.",
        "so_far": "{hits} of {count} right.",
        "over": "{hits} of {rounds} right",
        "next_round": "Next round",
        "restart": "Play again",
        "leave": "Back to the figure",
        "score": "Share of right answers: {hits} of {count}.",
        "caption": "Your score. Grey: where 95 % of pure guessers end up. Dashed: the best any "
        "attacker can expect.",
        "rounds": "Rounds",
        "bound": "≤ {bound}",
        "lessons": {
            "within": "Pure guessing gives {low} to {high} right in 95 % of games; you were within "
            "that range.",
            "above": "Pure guessing gives {low} to {high} right in 95 % of games; you had more.",
            "below": "Pure guessing gives {low} to {high} right in 95 % of games; you had fewer.",
            "over": f"Over many games no attacker, even one who knows all other {people}’s "
            "curves, does better than {bound} from the releases.",
            "certain": "From such releases an attacker may be nearly certain who took part.",
        },
    }
