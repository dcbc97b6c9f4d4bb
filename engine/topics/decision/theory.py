"""Rates of central, federated and local privacy beside measured errors, over ε.

Two constants are fitted to the errors of one trusted centre, one of the terms with privacy and one
of the others. The lines of the other two have the same constants, and so are predictions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, PublicFacts
from engine.language import numbers
from engine.mechanisms import Mechanism
from engine.rates.fitted import FEWEST_POINTS, Weighted, fit
from engine.rates.functional_mean import (
    DENSE,
    PRIVATE_DENSE,
    PRIVATE_SPARSE,
    SPARSE,
    FunctionalMeanRate,
    Trust,
)
from engine.simulation.metrics import root_mean_square
from engine.simulation.studies import EPSILON_STEPS
from engine.sources import Source
from engine.topics.decision.answer import Profile
from engine.topics.mean.live import tagged
from engine.topics.sites.site_table import SiteRow

NOTIONS = (Trust.CENTRAL, Trust.FEDERATED, Trust.LOCAL)
COMING = "being simulated …"
N_SITES = 4  # into which one site is split
_SHORT = {Trust.CENTRAL: "CDP", Trust.FEDERATED: "FDP", Trust.LOCAL: "LDP"}
_LIMITS = {
    PRIVATE_DENSE: "privacy",
    PRIVATE_SPARSE: "privacy, sparse observations",
    SPARSE: "sparse observations",
    DENSE: "number of people",
}
_GRID = np.geomspace(EPSILON_STEPS[0], EPSILON_STEPS[-1], 121)
_TARGETS = (1, 1.5, 2, 3, 4, 5, 6, 8)  # times powers of ten
_FURTHEST = 3.0  # of the measured errors: beyond, lines leave the figure


@dataclass(frozen=True)
class Notion:
    """One answer to who adds the noise, over the steps of the slider and along its line."""

    trust: Trust
    errors: Array  # (steps,): measured, root mean squared; NaN where nothing is released
    refused: str  # why nothing was measured; empty if it was
    line: Array | None  # (grid,): the rate with its constants, a distance; None without a fit
    at_steps: Array | None  # (steps,): the same at the steps
    # (ε, distance) where the largest term of the rate changes
    elbows: tuple[tuple[float, float], ...] = ()
    # from, to and the largest term between them
    regimes: tuple[tuple[float, float, str], ...] = ()

    def price(self, target: float) -> float:
        """Return the smallest ε from which on the error stays within a target; NaN for none."""
        reached = np.nan_to_num(self.errors, nan=np.inf) <= target
        first = len(reached) - int(np.argmin(reached[::-1])) if not reached.all() else 0
        return EPSILON_STEPS[first] if first < len(reached) else math.nan


@dataclass(frozen=True)
class Theory:
    """Lines and points of the three notions, and the target that all of them can reach."""

    notions: tuple[Notion, ...]
    weighted: Weighted | None
    target: float
    n_sites: int

    @property
    def factor(self) -> float:
        """The largest factor between a predicted error and a measured one; NaN if none is."""
        ratios = [
            ratio
            for notion in self.notions[1:]
            if notion.at_steps is not None
            for ratio in (notion.errors / notion.at_steps).tolist()
            if math.isfinite(ratio)
        ]
        return max((max(ratio, 1 / ratio) for ratio in ratios), default=math.nan)


def rows_of(source: Source[Any]) -> tuple[SiteRow, ...]:
    """Return the sites of a source; one site is split into a few of nearly equal size."""
    people = list(source.sizes.n_curves_per_server)
    m = round(source.sizes.n_observations_per_curve)
    if len(people) == 1:
        each, left = divmod(people[0], N_SITES)
        people = [each + (k < left) for k in range(N_SITES)]
    return tuple(SiteRow(f"Site {k}", n, max(m, 1)) for k, n in enumerate(people, 1) if n)


def theory_of(
    mechanism: Mechanism, rows: Sequence[SiteRow], profiles: Mapping[Trust, Profile | InputError]
) -> Theory:
    """Fit the constants to one trusted centre, and predict the errors of the others by them.

    Parameters
    ----------
    profiles : mapping of Trust to Profile or InputError
        The study where each of `NOTIONS` adds the noise, or the refusal; it may be on its way, but
        for that of one trusted centre.
    """
    errors = {trust: _errors(profiles.get(trust)) for trust in NOTIONS}
    point = {
        "S": float(len(rows)),
        "n": float(np.mean([row.n_curves for row in rows])),
        "m": float(rows[0].n_observations_per_curve),
    }
    smoothness = getattr(mechanism, "smoothness", None)
    tuning = {} if smoothness is None else {"smoothness": smoothness}
    rates = {trust: FunctionalMeanRate(privacy=trust, **tuning) for trust in NOTIONS}
    steps = np.array(EPSILON_STEPS)
    central = errors[Trust.CENTRAL]
    fitted = (
        fit(rates[Trust.CENTRAL], {**point, "epsilon": steps}, central**2)
        if np.isfinite(central).sum() >= FEWEST_POINTS
        else None
    )
    weighted = None if fitted is None else fitted.weighted
    notions = tuple(
        _notion(
            trust,
            errors[trust],
            _reason(profiles.get(trust)),
            None if weighted is None else weighted.over(rates[trust]),
            point,
        )
        for trust in NOTIONS
    )
    target = _target(notions) if len(profiles) == len(NOTIONS) else math.nan
    return Theory(notions, weighted, target, len(rows))


def _errors(profile: Profile | InputError | None) -> Array:
    if not isinstance(profile, Profile):
        return np.full(len(EPSILON_STEPS), np.nan)
    return np.asarray(root_mean_square(profile.errors, axis=(1, 2)))


def _reason(profile: Profile | InputError | None) -> str:
    if profile is None:
        return COMING
    return profile.message if isinstance(profile, InputError) else ""


def _notion(
    trust: Trust, errors: Array, refused: str, weighted: Weighted | None, point: Mapping[str, float]
) -> Notion:
    if weighted is None:
        return Notion(trust, errors, refused, None, None)

    def distance(epsilon: float | Array) -> Array:
        return np.asarray(np.sqrt(weighted.evaluate(**{**point, "epsilon": epsilon}).sum(axis=0)))

    def largest(epsilon: float) -> int:
        there: dict[str, float | Array] = {**point, "epsilon": np.array(epsilon)}
        return int(weighted.dominant(**there))

    names = [term.name for term in weighted.rate.terms]
    rules = [largest(epsilon) for epsilon in _GRID]
    borders = [
        _border(largest, _GRID[k - 1], _GRID[k])
        for k in range(1, len(_GRID))
        if rules[k] != rules[k - 1]
    ]
    ends = [_GRID[0], *borders, _GRID[-1]]
    return Notion(
        trust,
        errors,
        refused,
        distance(_GRID),
        distance(np.array(EPSILON_STEPS)),
        tuple((border, float(distance(border))) for border in borders),
        tuple(
            (float(low), float(high), _LIMITS[names[largest(math.sqrt(low * high))]])
            for low, high in pairwise(ends)
        ),
    )


def _border(largest: Any, low: float, high: float) -> float:
    """Find where the largest term changes between two ε, by halving on the log scale."""
    first = largest(low)
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if largest(middle) == first else (low, middle)
    return float(math.sqrt(low * high))


def _target(notions: Sequence[Notion]) -> float:
    """Return the smallest round error that every notion with measurements reaches."""
    least = [float(np.nanmin(n.errors)) for n in notions if np.isfinite(n.errors).any()]
    if not least:
        return math.nan
    need = max(least)
    power = 10 ** math.floor(math.log10(need))
    return float(next(k * power for k in (*_TARGETS, 10) if k * power >= need))


# -- for the figure -------------------------------------------------------------------------------


def payload(
    theory: Theory, facts: PublicFacts, baseline: float | None, n_steps: int = len(EPSILON_STEPS)
) -> dict[str, Any]:
    """Collect lines, points and words of the view *Theory*, as plain values."""
    target = (
        ""
        if math.isnan(theory.target)
        else numbers.with_unit(f"{theory.target:g}", facts.value_unit)
    )
    return tagged(
        {
            "epsilons": list(EPSILON_STEPS),
            "grid": _GRID.round(6).tolist(),
            "axes": [
                "Privacy budget ε (log scale)",
                f"Error ({facts.value_unit or 'log scale'}"
                + (", log scale)" if facts.value_unit else ")"),
            ],
            "range": _range(theory, baseline),
            "baseline": baseline,
            "notions": [_plain(notion, theory, facts) for notion in theory.notions],
            "headings": [heading(theory)] * n_steps,
            "heads": ["Who adds noise", f"ε for {target}" if target else "ε"],
            "words": _words(theory, facts),
        }
    )


def heading(theory: Theory) -> str:
    """State what it costs to trust nobody, or only each site; empty if it cannot be told."""
    central, federated, local = (notion.price(theory.target) for notion in theory.notions)
    for price, who in ((local, "nobody"), (federated, "only each site")):
        if math.isfinite(central) and math.isfinite(price):
            return (
                f"Trusting {who} costs {numbers.times(price / central).replace('.0 ', ' ')} the "
                "budget of one trusted centre"
            )
    return ""


def _plain(notion: Notion, theory: Theory, facts: PublicFacts) -> dict[str, Any]:
    price = notion.price(theory.target)
    person, people = facts.person, facts.people
    glosses = {
        Trust.CENTRAL: "central: one centre holds all curves and adds noise",
        Trust.FEDERATED: f"federated: each of {theory.n_sites} sites adds noise to its own",
        Trust.LOCAL: f"local: each {person}’s own device adds noise",
    }
    return {
        "key": _SHORT[notion.trust],
        "gloss": glosses[notion.trust],
        "dots": [_known(error) for error in notion.errors.tolist()],
        "line": None if notion.line is None else [_known(y) for y in notion.line.tolist()],
        "elbows": [[_known(x), _known(y)] for x, y in notion.elbows],
        "regimes": [
            [_known(low), _known(high), name.replace("people", people)]
            for low, high, name in notion.regimes
        ],
        "price": "–" if math.isnan(price) else f"{price:g}",
        "refused": notion.refused,
    }


def _range(theory: Theory, baseline: float | None) -> list[float]:
    """Return the ends of the error axis: what was measured, with room."""
    seen = [e for n in theory.notions for e in n.errors.tolist() if math.isfinite(e)]
    seen += [] if baseline is None else [baseline]
    if not seen:
        return [0.1, 10.0]
    return [min(seen) / 1.5, max(seen) * _FURTHEST]


def _words(theory: Theory, facts: PublicFacts) -> list[list[str]]:
    """Explain dots, dashes and elbows: each a name and a sentence."""
    factor = theory.factor
    measured_on = (
        "measured." if facts.is_simulated else "measured on curves simulated from public facts."
    )
    missed = "" if math.isnan(factor) else f" They miss by a factor of {factor:.1f} at most."
    dashes = (
        f"theory. Two constants are fitted to CDP; FDP and LDP are predictions.{missed}"
        if theory.weighted is not None
        else "none, because too few errors are known to fit the constants."
    )
    words = [
        ["Dots", measured_on],
        ["Dashes", dashes],
        [
            "◇ Elbows",
            f"left of them a larger budget helps most, right of them more {facts.people}.",
        ],
        ["No dots", "nothing would be released."],
    ]
    return words + [
        [_SHORT[notion.trust], notion.refused] for notion in theory.notions if notion.refused
    ]


def _known(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None
