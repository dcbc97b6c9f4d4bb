"""The value of trust for a sparse mean: simulated errors beside rates, at sizes of any kind.

Machines hold n rows each of N(μ, I). Means of rows are all that any method looks at, so they are
drawn as such and millions of machines cost no more than their messages. (Numbers beyond ±B, which
methods move to it, are so rare that none is expected in a whole data set.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.core.arrays import hard_threshold
from engine.core.random_streams import generator
from engine.core.types import Array, Budget, Public, PublicFacts, Sizes
from engine.mechanisms.families.untrusted_means import UntrustedMean, bound
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.sparse_mean_trusted import SparseMeanTrusted
from engine.noise import selection
from engine.rates.sparse_regression import TrustedMeanRate, UntrustedServerRate
from engine.sources.sparse_means import machine_means

BIT, ROW, TRUSTED = (
    "Nobody trusted, one bit hides a machine",
    "Nobody trusted, noisy averages hide a row",
    "Trusted server hides a row",
)
ALONE, ZERO = "One machine alone, nothing sent", "Always estimating 0"
PRINTED = "Printed as a bound for hiding a row; holds for hiding a machine"


@dataclass(frozen=True)
class SparseMeanSetting:
    """m machines with n rows of d numbers, s of whose means are `height`, the others zero."""

    machines: int = 2000
    rows: int = 10_000
    size: int = 200
    n_nonzero: int = 5
    height: float = 0.5
    epsilon: float = 1.0
    delta: float = 1e-6

    @property
    def mean(self) -> Array:
        return np.where(np.arange(self.size) < self.n_nonzero, self.height, 0.0)

    @property
    def sizes(self) -> Sizes:
        return Sizes((self.rows,) * self.machines, self.machines * self.rows, 1, self.size)

    @property
    def public(self) -> Public:
        return Public(self.sizes, self.facts)

    @property
    def facts(self) -> PublicFacts:
        return PublicFacts(value_low=-1.0, value_high=1.0, reading_sd=1.0)

    @property
    def point(self) -> dict[str, float]:
        """The same sizes as symbols of rates."""
        return {
            "n": float(self.rows),
            "S": float(self.machines),
            "d": float(self.size),
            "s": float(self.n_nonzero),
            "epsilon": self.epsilon,
            "delta": self.delta,
        }


def untrusted_errors(
    method: UntrustedMean, setting: SparseMeanSetting, repeats: int, rng: np.random.Generator
) -> Array:
    """Measure squared errors of independent releases without trust: (repeats,)."""
    plan = method.plan(setting.public, (Budget(setting.epsilon),))
    means = machine_means(setting.mean, setting.rows, plan.coordinates, repeats, rng)
    standard = method.standard((repeats, 1, setting.machines, plan.per_machine), rng)
    estimates = method.means_of(plan, method.answers(means), standard)[:, 0]
    return _squared(estimates, setting)


def _trusted_errors(
    method: SparseMeanTrusted, setting: SparseMeanSetting, repeats: int, rng: np.random.Generator
) -> Array:
    """Measure squared errors of independent releases by a trusted server: (repeats,)."""
    budget = Budget(setting.epsilon, setting.delta)
    plan = method.plan(setting.public, (budget,))
    pooled = _mean_of(setting, setting.machines * setting.rows, repeats, rng)
    noise = selection.draw(plan.law, plan.n_selected, pooled.shape, rng)
    return _squared(method.means_of(pooled, plan, noise)[:, 0], setting)


def _alone_errors(setting: SparseMeanSetting, repeats: int, rng: np.random.Generator) -> Array:
    """Measure squared errors of one machine's own largest means, exact and unsent: (repeats,)."""
    means = _mean_of(setting, setting.rows, repeats, rng)[:, 0]
    return _squared(hard_threshold(means, setting.n_nonzero), setting)


def simulated(setting: SparseMeanSetting, repeats: int, seed: int = 1) -> dict[str, float]:
    """Simulate the mean squared error of every way by label; NaN if nobody is asked for some."""
    s, streams = setting.n_nonzero, [generator(seed, k, 0) for k in range(4)]
    errors = {
        ROW: untrusted_errors(SparseMeanLaplace(sparsity=s), setting, repeats, streams[1]),
        TRUSTED: _trusted_errors(SparseMeanTrusted(sparsity=s), setting, repeats, streams[2]),
        ALONE: _alone_errors(setting, repeats, streams[3]),
        ZERO: (setting.mean**2).sum(),
    }
    signs = SparseMeanSigns(sparsity=s)
    bits = signs.usual_per_machine(setting.sizes, setting.epsilon, setting.facts)
    errors[BIT] = (
        untrusted_errors(signs, setting, repeats, streams[0])
        if bits * setting.machines >= setting.size
        else np.array(np.nan)
    )
    return {label: float(each.mean()) for label, each in errors.items()}


def rates_of(setting: SparseMeanSetting) -> dict[str, float]:
    """Compute rates at the same sizes, constants one, without logarithms where nobody is trusted.

    The first is right for hiding a whole machine. The paper states it for rows, of which machines
    hold many, and there it is no bound: the second, which is achieved, may lie below it.
    """
    row = UntrustedServerRate(hidden="row", bound=bound(setting.sizes, setting.facts))
    rates = {PRINTED: UntrustedServerRate(hidden="machine"), ROW: row, TRUSTED: TrustedMeanRate()}
    return {
        label: float(rate.total(**{k: v for k, v in setting.point.items() if k in rate.at()}))
        for label, rate in rates.items()
    }


def along(
    setting: SparseMeanSetting, name: str, values: tuple[float, ...], repeats: int
) -> dict[str, list[float]]:
    """Simulate mean squared errors where one size or ε takes several values, by label.

    Every value has the same random numbers, which makes curves smooth.
    """
    kind = type(getattr(setting, name))
    points = [simulated(replace(setting, **{name: kind(value)}), repeats) for value in values]
    return {
        label: [errors[label] for errors in points] for label in (BIT, ROW, TRUSTED, ALONE, ZERO)
    }


def trust(
    name: str, values: tuple[float, ...], repeats: int = 5
) -> tuple[dict[str, list[float]], dict[str, float], dict[str, float]]:
    """Simulate errors along one size and at the default sizes, in roots, with the rates there."""
    default = SparseMeanSetting()
    squared = along(default, name, values, repeats)
    return (
        {label: np.sqrt(errors).tolist() for label, errors in squared.items()},
        _roots(simulated(default, repeats)),
        _roots(rates_of(default)),
    )


def _roots(squared: dict[str, float]) -> dict[str, float]:
    return {label: math.sqrt(value) for label, value in squared.items()}


def _mean_of(
    setting: SparseMeanSetting, rows: int, repeats: int, rng: np.random.Generator
) -> Array:
    """Draw means of so many rows: (repeats, 1, d)."""
    noise = rng.standard_normal((repeats, 1, setting.size))
    return np.asarray(setting.mean + noise / np.sqrt(rows))


def _squared(estimates: Array, setting: SparseMeanSetting) -> Array:
    return np.asarray(((estimates - setting.mean) ** 2).sum(axis=-1))
