"""What simulated curves of people share: how many take part, how often, where and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.core.lists import MOST_SITES
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.sources.observation_design import DENSITY_HELP, LAW_HELP, LAWS, SPAN_HELP
from engine.sources.sited_curves import SitedCurves


@dataclass(frozen=True, kw_only=True)
class HumanCurves(SitedCurves):
    """Curves of simulated people, with sizes and times that any study could have.

    Nobody is behind them: the figures of their shapes are those that publications state, which
    `credit` names; no observation of a real person is used.
    """

    tasks = frozenset({MEAN_FUNCTION.key})
    credit: ClassVar[str]

    n_curves: int = param(200, "People", "How many take part, over all sites.",
                          low=2, high=100_000, symbol="n")
    n_observations_per_curve: int = param(
        30, "Observations each", "How many points are known on each curve.",
        low=1, high=1000, symbol="m")
    times: str = param("even", "Observation times", LAW_HELP, choices=LAWS)
    time_density: str | None = param(None, "How times are spread", DENSITY_HELP)
    time_span: float = param(0.2, "Span of visits or windows", SPAN_HELP, low=0.001, high=1.0)
    n_servers: int = param(1, "Sites", "They keep their own data; curves are split evenly.",
                           low=1, high=MOST_SITES, symbol="S")
    site_sizes: str | None = param(
        None, "People at each site",
        "Numbers such as 400, 250, 100: one for each site. Empty: people are split evenly.")
    site_readings: str | None = param(
        None, "Observations each, at each site",
        "Numbers such as 10, 10, 6: one for each site. Empty: the same at all.")
