"""Text above and beside a release wherever it is shown: headings, statements, alternative text."""

from __future__ import annotations

import numpy as np

from engine.core.types import Array, EventFacts
from engine.language.grammar import plain_text, uncapital
from engine.language.numbers import number, percent, whole
from engine.release import sentences
from engine.release.published import Published
from engine.release.uncertainty import STAIRCASE


def headline(release: Published) -> str:
    """Write the first line of whatever shows the release."""
    return sentences.headline(
        release.uncertainty, release.facts, release.cost.budget, release.sizes.n_curves
    )


def explained(release: Published) -> list[str]:
    """Explain the band of a release and the forecast of its error."""
    is_over_time = len(release.x) > 1 and not (
        isinstance(release.facts, EventFacts) or release.facts.covariates
    )
    forecast = (
        [] if release.forecast is None else [sentences.forecast(release.forecast, is_over_time)]
    )
    return [*sentences.band_explained(release.uncertainty, release.facts), *forecast]


def warnings(release: Published) -> list[str]:
    """Write the warnings of a release as plain text: about δ, its numbers and stated facts."""
    large = plain_text(sentences.large_delta(release.cost, release.sizes.n_curves))
    return [*filter(None, [large]), *sentences.warnings(release.uncertainty)]


def statements(release: Published) -> list[str]:
    """List the statements beside a release: warnings, band and forecast."""
    return [*warnings(release), *explained(release)]


def columns(release: Published) -> dict[str, Array]:
    """Collect the numbers of a release by title: places, functions, and the ends of bands."""
    table = {release.axis: release.x} if release.axis else {}
    for name, values in release.columns.items():
        table[name] = values
        if name in release.ranges:
            ends = release.ranges[name]
            table[f"{name}, {band_name(release)} from"] = ends[0]
            table[f"{name}, {band_name(release)} to"] = ends[1]
    return table | dict(release.functions.by_place)


def band_name(release: Published) -> str:
    """Level and kind: 95 % simultaneous confidence band."""
    band = release.uncertainty.band
    return (
        "confidence band"
        if band is None
        else (f"{percent(band.level)} {band.kind} confidence band")
    )


def alt(release: Published) -> str:
    """Describe the picture in words."""
    values = np.concatenate(list(release.columns.values()))
    if not release.axis:
        return f"{release.value}: {number(float(values[0]), 4)}."
    over = f"{release.axis} and {release.axis}" if release.functions.is_surface else release.axis
    return (
        f"{release.title}: {release.value} from {number(float(values.min()))} to "
        f"{number(float(values.max()))} over {over}. {headline(release)}"
    )


def heading(release: Published) -> str:
    """Write the title of picture and report: the result, the number of people and the budget."""
    about, facts = release.card["release"], release.facts
    of = (
        about["of"]
        if not facts.is_upload
        else uncapital(release.value if isinstance(facts, EventFacts) else facts.value_name)
    )
    group = f" ({facts.group.name})" if facts.group is not None else ""
    return (
        f"{about['what']} of {whole(release.sizes.n_curves)} {facts.people}{group}: {of}, "
        f"ε = {release.cost.budget.epsilon:g}"
    )


def is_staircase(release: Published) -> bool:
    """True if the band consists of steps between public edges, as for counted curves."""
    band = release.uncertainty.band
    return band is not None and band.kind == STAIRCASE
