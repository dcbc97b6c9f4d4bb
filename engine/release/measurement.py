"""A release as a measurement of OpenDP, for programs that keep their accounts there.

The measurement draws the same hardened noise as a release that the ledger records, but writes no
ledger: whoever calls it lets OpenDP add up what is spent.

Privacy
-------
Input: data sets of the sizes and facts of one source. Distance: how many records, such as whole
curves, are replaced. Where one is, the release is ρ-zCDP with the ρ of `ReleaseCost.rho`: what
OpenDP's maps prove of the noise that is drawn, for the site whose people it costs most. Where k
are, there is a path of k steps between neighbours, and zCDP of groups gives k²ρ (Bun and Steinke
2016, Proposition 27). Where every message keeps its promise with δ = 0 the measure is the max
divergence instead: ε's of one site add to `total_epsilon`, and k steps cost kε. Before that the
records are put into a random order where that matters; the proof is in `random_order`. After the
messages only public facts are used, so what is returned costs nothing more.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.tasks import DataType
from engine.core.typed import checked
from engine.core.types import Array, Budget, Data
from engine.mechanisms import Mechanism
from engine.noise.hardened import opendp
from engine.privacy import accounting
from engine.release import certified, published
from engine.release.functions import axes_of
from engine.release.random_order import in_published_order
from engine.sources import Source

if TYPE_CHECKING:
    from opendp.mod import Measurement
else:
    Measurement = Any  # which is imported where it is made


@checked
def opendp_measurement(source: Source[Data], mechanism: Mechanism, budget: Budget) -> Measurement:
    """A release as a measurement of OpenDP, with its privacy map.

    OpenDP trusts such a measurement only after
    `opendp.prelude.enable_features("contrib", "honest-but-curious")`.

    Parameters
    ----------
    source : Source
        Whose sizes and stated facts the measurement is for; no observation is looked at.
    budget : Budget
        The most that one release may spend.

    Returns
    -------
    opendp.mod.Measurement
        Called with data of these sizes and facts, such as `simulate(source)`, it returns the
        released function on the public grid, (101,) or (functions, 101), in the unit of the values;
        a released number is (1,).
        Its map takes the number of replaced records to ρ of zCDP, or where δ = 0 to ε.

    Raises
    ------
    InputError
        If it may not be published, or counts events.
    opendp.mod.OpenDPException
        If the feature above is not enabled, and when it is called with other data.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> measurement = opendp_measurement(sources.build("sea_temperature", {}),
    ...                                  mechanisms.build("adaptive_mean", {}), Budget(1.0, 1e-6))
    >>> dp.c.make_zCDP_to_approxDP(measurement).map(1).epsilon(1e-6) < 1.1
    True
    """
    if mechanism.main_task.data is DataType.EVENTS:
        raise InputError(
            "Counts of events are no measurement of OpenDP yet.",
            field="mechanism",
            hint="Publish them with the command “release”.",
        )
    cost, dp = published.release_cost(source, mechanism, budget), opendp()
    sizes, facts = source.sizes, source.facts
    x, _, _, scale = axes_of(mechanism, facts)
    spent = _epsilon(cost) if cost.certified.is_pure else cost.rho
    power = 1 if cost.certified.is_pure else 2

    def is_member(data: Any) -> bool:
        return bool(getattr(data, "sizes", None) == sizes and getattr(data, "facts", None) == facts)

    def release(data: Data) -> Array:
        if not is_member(data):  # OpenDP knows the domain by its name alone
            raise InputError(
                "These data have other sizes or facts than the measurement is for.",
                field="data",
                hint="Make a measurement of their own source.",
            )
        ordered = in_published_order(data, mechanism, source.deals_records)
        estimate, _ = certified.hardened(ordered, mechanism, cost)
        values: Array = estimate.values(drawing_grid()[: len(x)])[0, 0, 0] * scale
        return values

    measurement: Measurement = dp.m.make_user_measurement(
        dp.user_domain(f"data of {facts.people} with public sizes and facts", is_member),
        dp.user_distance("replaced records"),
        dp.max_divergence() if cost.certified.is_pure else dp.zero_concentrated_divergence(),
        function=release,
        privacy_map=lambda records: _times(spent, int(records) ** power),
    )
    return measurement


def _epsilon(cost: certified.ReleaseCost) -> float:
    """ε of the site whose people it costs most, where all holds with δ = 0."""
    totals = [
        accounting.total_epsilon(lines)
        for lines in accounting.by_server(cost.certified_spends).values()
    ]
    return max(math.inf if total is None else total for total in totals)


def _times(spent: float, factor: int) -> float:
    """Multiply and round up."""
    exact = Fraction(spent) * factor
    return near if Fraction(near := float(exact)) >= exact else math.nextafter(near, math.inf)
