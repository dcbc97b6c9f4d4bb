"""Signs that a file contradicts statements about it: for the holder alone, never published.

Everything here is computed from private times, counts and values. Nothing of it may be shown to
anybody but the holder of the file, stand in anything published, or change what is released. Each
finding is one sentence with shares of observations or curves; no time, value or id of the file is
in it, and no number that could be stated instead: what is stated comes from outside the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import UNCOVERED_END
from engine.core.names import uncapital
from engine.core.types import Array, Design, PublicFacts, TimeLaw
from engine.core.types.facts import FEW_BEYOND
from engine.numerics.observation_times import stated_density

_FEW = 0.05  # a share of observations or curves that is not spoken of
_NEAR = 0.1  # of the distance between common times: as good as at one of them
_EMPTY = 0.1  # of what a design spreads observations over: a stretch that stands out
_UNLIKELY = 1e-4  # chance of a finding under the stated design
_TOGETHER = 0.7  # of the spread within a curve that the design gives
_REGULAR = 0.5  # of the variation between gaps that times on their own have
_FEWEST_CURVES, _MAX_CURVES = 20, 5000  # by how many curves spread within them is judged
_FEW_OBSERVATIONS = 3  # of a curve, up to which gaps are judged over all curves together
_PARTS, _SURE = 20, 1.2  # of the range, for a mean curve; √n times four standard errors of a share
_FARTHER, _ERRORS = 1.5, 4.0  # times what a mean moves elsewhere, and standard errors beyond that
_FINE = 2001
_FEW_TIMES = 20  # fewer different times of all curves do not tell all basis functions apart
_OFTEN = 5  # observations at each time, on average: too many for times of each curve’s own
_FAR_OFF = "the curve can be far off"
_PLAN = "The plan of the study says what to state"
_BEYOND_BAND = "the curve can be farther off than its band says"
_STATED = {
    (TimeLaw.INDEPENDENT, False): "stated as even",
    (TimeLaw.INDEPENDENT, True): "stated as spread by a density",
    (TimeLaw.VISITS, False): "stated as visits at a fixed interval",
    (TimeLaw.WINDOWS, False): "stated as a short stretch for each person",
    (TimeLaw.UNKNOWN, False): "stated as unknown",
}  # by law, and whether it has a density
_SURE_OF_END = 20.0  # observations that even spread would put where there are none


def doubts(times: Array, counts: NDArray[np.int64], facts: PublicFacts) -> tuple[str, ...]:
    """Sentences on times, on [0, 1] as in the file, that do not look as stated."""
    sentences = [*_of_counts(counts, facts)]
    if len(times):
        sentences += _of_times(times, counts, facts)
    return tuple(sentences)


def _of_times(times: Array, counts: NDArray[np.int64], facts: PublicFacts) -> Iterator[str]:
    """Find contradictions between times and any stated design, and their effect on curve and band.

    In simulations with 300 to 5000 people a curve was as accurate at 20 different times as at any
    number. At five, whatever was stated but common times, its error was up to a hundred times that.
    """
    design, distinct = facts.design, len(np.unique(times))
    is_few = design.law is not TimeLaw.COMMON and distinct < min(_FEW_TIMES, len(times) / _OFTEN)
    if is_few:
        yield (
            f"{_STATED[design.law, bool(design.density)]}, but few different times occur: "
            f"{_FAR_OFF}. {_PLAN}"
        )
    yield from _ends(times, facts)
    if not is_few and (check := _CHECKS.get(design.law)) is not None:
        yield from check(times, counts, design)


def _of_counts(counts: NDArray[np.int64], facts: PublicFacts) -> Iterator[str]:
    stated = facts.observations_per_curve
    if not stated or not len(counts):
        return
    few, many = float((2 * counts < stated).mean()), float((counts > 2 * stated).mean())
    if few > _FEW:
        yield (
            f"{_percent(few)} of the curves have fewer than half of the {stated} observations "
            "stated: the result will be less accurate than planned, and its confidence band may "
            "be too narrow"
        )
    if many > _FEW:
        yield (
            f"{_percent(many)} of the curves have more than twice the {stated} observations "
            "stated: the result will be less accurate than it could be"
        )


def _ends(times: Array, facts: PublicFacts) -> Iterator[str]:
    """Find a start or an end of the stated range where nobody was observed."""
    design = facts.design
    if design.law is TimeLaw.COMMON or facts.periodic:
        return
    # shares of the observations that the design puts there, (N,); of an unknown one of even times
    even = _through_distribution(times, design) if design.law is TimeLaw.INDEPENDENT else times
    for where, empty, missing in (
        ("beginning", times.min(), even.min()),
        ("end", 1 - times.max(), 1 - even.max()),
    ):
        if empty > UNCOVERED_END and len(times) * missing > _SURE_OF_END:
            yield (
                f"nobody was observed near the {where} of the stated range of "
                f"{uncapital(facts.time_name) or 'times'}: curve and band mean nothing there, "
                f"and can be wrong elsewhere. {_PLAN}"
            )


def _common(times: Array, counts: NDArray[np.int64], design: Design) -> Iterator[str]:
    stated = np.array(design.times)
    middles = (stated[1:] + stated[:-1]) / 2
    index = np.searchsorted(middles, times)
    spacing = float(np.median(np.diff(stated))) if len(stated) > 1 else _EMPTY
    far = float((np.abs(times - stated[index]) > _NEAR * spacing).mean())
    if far > _FEW:
        yield (
            f"{_percent(far)} of the observations are more than {_percent(_NEAR)} of the "
            "distance between common times away from the nearest one, to which they are moved: "
            f"{_BEYOND_BAND}"
        )
    unused = float((np.bincount(index, minlength=len(stated)) == 0).mean())
    if unused:
        yield f"{_percent(unused)} of the stated common times have no observation: {_BEYOND_BAND}"


def _visits(times: Array, counts: NDArray[np.int64], design: Design) -> Iterator[str]:
    gaps = _gaps(times, counts)
    other = float((np.abs(gaps - design.gap) > design.gap / 2).mean()) if len(gaps) else 0.0
    if other > _FEW:
        yield (
            f"{_percent(other)} of the intervals between consecutive observations differ by "
            f"more than half from the one stated: {_FAR_OFF}"
        )


def _windows(times: Array, counts: NDArray[np.int64], design: Design) -> Iterator[str]:
    spans, several = _spans(times, counts)
    if not len(spans):
        return
    wide = float((spans > design.window * (1 + 1e-9)).mean())
    if wide > _FEW:
        yield (
            f"{_percent(wide)} of the curves with several observations spread over more than "
            f"the stated length: {_FAR_OFF}"
        )
    elif (
        len(spans) >= _FEWEST_CURVES
        and (spans / (design.window * _expected_span(several))).mean() < _TOGETHER
    ):
        yield (
            "the observations of a curve lie much closer together than the stated length: "
            f"{_BEYOND_BAND}"
        )


def _independent(times: Array, counts: NDArray[np.int64], design: Design) -> Iterator[str]:
    """Through the stated distribution function times are evenly spread on [0, 1]."""
    even = _through_distribution(times, design)
    distinct = len(np.unique(times))
    if distinct < len(times) / _OFTEN and distinct <= max(200, 2 * int(counts.max())):
        yield f"few different times occur, as if they were planned for everybody. {_PLAN}"
        return
    yield from _uneven(even, design)
    yield from _within(even, counts)


_CHECKS = {
    TimeLaw.COMMON: _common,
    TimeLaw.VISITS: _visits,
    TimeLaw.WINDOWS: _windows,
    TimeLaw.INDEPENDENT: _independent,
}  # of a design that is not known nothing is expected


def _uneven(even: Array, design: Design) -> Iterator[str]:
    stated = "the stated density" if design.density else "even spread"
    ordered, n = np.sort(even), len(even)
    empty = float(np.diff(ordered).max(initial=0.0))  # `_ends` looks before and after
    if empty > _EMPTY and (n + 1) * (1 - empty) ** n < _UNLIKELY:
        yield (
            f"a stretch that should hold {_percent(empty)} of the observations under {stated} "
            "has none: curve and band mean nothing there"
        )
        return
    off = float(np.abs(ordered - (np.arange(n) + 0.5) / n).max())
    if off > _FEW and 2 * np.exp(-2 * n * off**2) < _UNLIKELY:
        yield f"{_percent(off)} of the observations lie elsewhere than {stated} puts them"


def _within(even: Array, counts: NDArray[np.int64]) -> Iterator[str]:
    """Windows and visits: observations of a curve too close together, or too regular."""
    spans, several = _spans(even, counts)
    if len(spans) < _FEWEST_CURVES:
        return
    if (spans / _expected_span(several)).mean() < _TOGETHER:
        yield (
            "the observations of a curve lie close together, as in a short stretch of the range "
            f"or in visits: {_BEYOND_BAND}"
        )
        return
    variation, expected = _variation_of_gaps(even, counts)
    regular = len(variation) >= _FEWEST_CURVES and variation.mean() < _REGULAR * expected.mean()
    if regular or _same_gaps(even, counts):
        yield "the observations of a curve are equally far apart, as visits are"


def _through_distribution(times: Array, design: Design) -> Array:
    density = stated_density(design)
    if density is None:
        return times
    points = np.linspace(0, 1, _FINE)
    heights = density(points)
    mass = np.concatenate([[0.0], np.cumsum((heights[1:] + heights[:-1]) / 2)])
    return np.asarray(np.interp(times, points, mass / mass[-1]))


def _gaps(times: Array, counts: NDArray[np.int64]) -> Array:
    """Distances between consecutive observations of the same curve."""
    curve = np.repeat(np.arange(len(counts)), counts)
    return np.asarray(np.diff(times)[curve[1:] == curve[:-1]])


def _spans(times: Array, counts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the spans of curves with several observations, and their numbers of observations."""
    ends = np.cumsum(counts)
    several = counts > 1
    last, first = ends[several] - 1, (ends - counts)[several]
    return times[last] - times[first], counts[several].astype(float)


def _expected_span(counts: Array) -> Array:
    """Mean span of so many evenly spread times."""
    return np.asarray((counts - 1) / (counts + 1))


def _variation_of_gaps(times: Array, counts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Standard deviation over mean of the gaps of the first curves with four observations or more.

    Beside it what evenly spread times give: k gaps that share a stretch are Dirichlet(1, …, 1), so
    that the square is (k − 1)/(k + 1) on average.
    """
    variation, expected = [], []
    counts = counts[:_MAX_CURVES]
    for end, count in zip(np.cumsum(counts), counts, strict=True):
        if count >= 4:
            gaps = np.diff(times[end - count : end])
            if gaps.mean() > 0:
                variation.append(gaps.std() / gaps.mean())
                k = count - 1
                expected.append(np.sqrt((k - 1) / (k + 1)))
    return np.array(variation), np.array(expected)


def _same_gaps(times: Array, counts: NDArray[np.int64]) -> bool:
    """True if gaps are much alike over all curves of two, or of three, observations.

    The gap of two neighbours among m evenly spread times is Beta(1, m): the square of its standard
    deviation over its mean is m/(m + 2).
    """
    curve = np.repeat(np.arange(len(counts)), counts)
    of_gap = counts[curve[1:][curve[1:] == curve[:-1]]]
    for m in range(2, _FEW_OBSERVATIONS + 1):
        gaps = _gaps(times, counts)[of_gap == m]
        if len(gaps) >= _FEWEST_CURVES * (m - 1) and (
            gaps.std() < _REGULAR * np.sqrt(m / (m + 2)) * gaps.mean()
        ):
            return True
    return False


def doubts_of_people(
    times: Array, values: Array, counts: NDArray[np.int64], facts: PublicFacts
) -> tuple[str, ...]:
    """Doubt stated symmetry of people about their mean if they do not look it.

    How far each curve lies from the mean curve, on average over its observations, is judged by the
    share of curves below: with a mean that is estimated it is off ½ by .3/√n for normal people.
    """
    if not facts.symmetric:
        return ()
    curve, inside, part = _in_parts(times, values, counts, facts)
    mean = np.bincount(part, inside, _PARTS) / np.maximum(np.bincount(part, minlength=_PARTS), 1)
    observed = np.bincount(curve, minlength=len(counts))
    total = np.bincount(curve, inside - mean[part], len(counts))
    level = total[observed > 0] / observed[observed > 0]
    n = len(level)
    if n < _FEWEST_CURVES:
        return ()
    below = float((level < level.mean()).mean())
    if abs(below - 0.5) <= max(_FEW, _SURE / np.sqrt(n)):
        return ()
    return (
        f"{_percent(max(below, 1 - below))} of the curves lie on the same side of the mean "
        "curve: people are not spread evenly about it",
    )


def _in_parts(
    times: Array, values: Array, counts: NDArray[np.int64], facts: PublicFacts
) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
    """Return curve, bounded value and part of the range of each known observation."""
    known, curve = np.isfinite(values), np.repeat(np.arange(len(counts)), counts)
    inside = np.clip(values[known], facts.value_low, facts.value_high)
    return curve[known], inside, np.clip((times[known] * _PARTS).astype(int), 0, _PARTS - 1)


def doubts_of_period(
    times: Array, values: Array, counts: NDArray[np.int64], facts: PublicFacts
) -> tuple[str, ...]:
    """Doubt a stated period if the mean curve does not end where it began.

    From the last part of the range to the first it would have to jump, farther than it moves
    between any two others and than chance explains.
    """
    if not facts.periodic:
        return ()
    curve, inside, part = _in_parts(times, values, counts, facts)
    people = np.bincount(np.unique(part * len(counts) + curve) // len(counts), minlength=_PARTS)
    if min(people[0], people[-1]) < _FEWEST_CURVES:
        return ()
    observed = np.maximum(np.bincount(part, minlength=_PARTS), 1)
    mean = np.bincount(part, inside, _PARTS) / observed
    variance = np.bincount(part, (inside - mean[part]) ** 2, _PARTS) / observed
    chance = np.sqrt(sum(variance[end] / people[end] for end in (0, -1)))
    steps = np.abs(np.diff(mean[people > 0])).max(initial=0.0)
    if abs(mean[-1] - mean[0]) <= _FARTHER * steps + _ERRORS * chance:
        return ()
    return (
        "the curve ends at another value than it began with: stated to end where it began, "
        "release and band are wrong near both ends",
    )


def doubts_of_bounds(values: Array, facts: PublicFacts) -> tuple[str, ...]:
    """Say what values (N,) beyond stated bounds do to the mean and to the reference of errors.

    Values are in response units; NaN where missing.
    """
    known = values[np.isfinite(values)]
    if not len(known) or facts.has_few_beyond(values):
        return ()
    below, above = float((known < facts.value_low).mean()), float((known > facts.value_high).mean())
    return tuple(
        f"{_percent(share)} of the observations lie {where} the stated bounds and count as if they "
        "lay on the bound: the released curve is not that of what was measured, which the "
        "non-private mean shows as it was recorded"
        for share, where in ((below, "below"), (above, "above"))
        if share > FEW_BEYOND
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
