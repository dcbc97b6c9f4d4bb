"""Settings of a method from a public sample, which cost no budget.

Guarantees hold for every setting that is fixed without looking at the protected people. A public
sample is nobody's secret, so that a prior curve, a spread, a number of functions, a bandwidth or
the weight of a penalty may be whatever does best on it. The sample is stated to be public and about
other people; a record of it that is in the protected data is refused. That refusal follows from the
protected data, so it is for their holder alone and is never published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import DENSITY, MEAN_FUNCTION
from engine.core.types import Array, Budget, CurveData, Public, PublicFacts
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.mechanisms.summaries.selection import Selection, scores_of
from engine.sources import Source

_KNOTS = 25  # of a prior curve
_FUNCTIONS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 21)
_FOLDS, _FEWEST = 10, 20
_DATA_SETS, _DRAWS = 4, 10
_MAX_OBSERVATIONS = 200_000  # of one data set that is drawn from the sample
_BLOCK = 3  # of the random streams


@dataclass(frozen=True)
class PublicTuning:
    """A method with settings from a public sample, and what is said of them."""

    mechanism: Mechanism
    chosen: tuple[str, ...]  # names of the parameters that were set
    sample: str
    people: int

    @property
    def in_words(self) -> str:
        """The sample and the parameters, as guarantee cards have them."""
        return f"{self.sample} ({self.people:,}): {', '.join(self.chosen)}"


def tuned_on(
    mechanism: Mechanism,
    sample: Source[Any],
    source: Source[Any],
    budget: Budget,
    seed: int = 1,
    name: str = "",
) -> PublicTuning:
    """Set what a public sample can set of a method, for protected data of a source.

    The records of the protected data are looked at only to refuse a sample that holds one of them.

    Parameters
    ----------
    mechanism : Mechanism
        The method; settings that were chosen already stay as they are.
    sample : Source
        Public data in the units of the protected data, at least 20 people.
    source : Source
        The protected data; what is used of it are public facts and sizes.
    budget : Budget
        That of the release, which decides how much noise a setting must bear.
    seed : int
        Fixes the data sets that are drawn from the sample.
    name : str
        What the card calls the sample; by default the name in its facts.

    Returns
    -------
    PublicTuning
        The method with its settings.

    Raises
    ------
    InputError
        If the sample is in other units, too small or part of the protected data, or if nothing of
        the method can be set by one.

    Examples
    --------
    >>> from engine.mechanisms.adaptive_mean import AdaptiveMean
    >>> from engine.sources.sparse_curves import SparseCurves
    >>> tuned_on(
    ...     AdaptiveMean(), SparseCurves(n_curves=60), SparseCurves(n_curves=500), Budget(1, 1e-5)
    ... ).chosen
    ('prior', 'guessed_spread')
    """
    public, free = source.public, _open_setters(mechanism)
    if not free:
        raise InputError(
            "A public sample sets nothing of this method that is not chosen already.",
            field="public",
            hint="Leave the settings of the method empty, or leave “public” out.",
        )
    check_apart(sample, source)
    data = _in_units_of(sample, public.facts)
    if data.n_curves < _FEWEST:
        raise InputError(
            f"A public sample needs at least {_FEWEST} people; this one has {data.n_curves}.",
            field="public",
            hint="Take a larger one, or leave “public” out.",
        )
    sampled = _Sampled(mechanism, sample, data, public, budget, seed)
    set_to: dict[str, Any] = {name: setter(sampled) for name, setter in free.items()}
    return PublicTuning(
        replace(mechanism, **set_to), tuple(set_to), name or sample.facts.name, data.n_curves
    )


def open_settings(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the parameters that are not chosen yet and that a public sample can set."""
    return tuple(_open_setters(mechanism))


@dataclass(frozen=True)
class _Sampled:
    """A public sample in the units of the protected data, and what the release is like."""

    mechanism: Any
    sample: Source[Any]
    data: Any
    public: Public
    budget: Budget
    seed: int

    def mean(self, times: Array) -> Array:
        """Evaluate the mean of the sample at times on [0, 1], within the stated bounds."""
        facts = self.public.facts
        usual: Mechanism = mechanisms.default(MEAN_FUNCTION.mechanism, MEAN_FUNCTION.key)
        values = usual.without_protection(self.data).values(times)[0, 0, 0]
        return np.asarray(np.clip(values, facts.value_low, facts.value_high))

    def prior(self) -> str:
        """Write the mean of the sample as a prior curve."""
        return ", ".join(f"{value:.6g}" for value in self.mean(np.linspace(0, 1, _KNOTS)))

    def guessed_spread(self) -> float:
        """Measure the standard deviation of observations about the mean of the sample."""
        off = self.data.values[0] - self.mean(self.data.times[0])
        return max(float(f"{np.sqrt((off**2).mean()):.3g}"), 1e-9)

    def truncation(self) -> int:
        """Find the number of functions with the least error in data sets drawn from the sample.

        They have as many people as the protected data, or fewer with so much more ε.
        """
        per_person = self.data.values.shape[1] / self.data.n_curves
        people = self.public.sizes.n_curves
        drawn = min(people, max(_FEWEST, round(_MAX_OBSERVATIONS / per_person)))
        budget = replace(self.budget, epsilon=self.budget.epsilon * people / drawn)
        reference = self.mean
        errors = dict.fromkeys(_FUNCTIONS, 0.0)
        for k in range(_DATA_SETS):
            chance = generator(self.seed, DATA_STREAM, _BLOCK + k)
            data = self.data.of_people(chance.integers(0, self.data.n_curves, drawn)).pooled()
            for count in _FUNCTIONS:
                method = replace(self.mechanism, truncation=count)
                estimate = method.release_many(
                    data, [(budget,)], _DRAWS, generator(self.seed, NOISE_STREAM, _BLOCK + k)
                )
                grid = np.linspace(0, 1, 201)
                off = estimate.values(grid)[0, 0] - reference(grid)
                errors[count] += float((off**2).mean())
        return min(errors, key=errors.__getitem__)

    def best_candidate(self) -> tuple[Any, int]:
        """Find the smoothing with the least score in folds of the sample, noise included."""
        several = replace(self.mechanism, selection_rule="cross_validated")
        budgets = one_per_server((self.budget,), len(self.public.sizes.n_curves_per_server))
        plan = several.plan(self.public, budgets)
        summary = several.summary(self.public.sizes, self.public.facts)
        scores = scores_of(summary, plan, summary.records(self.data), _FOLDS, 1.0)
        return several, int(scores.mean(axis=(0, 1, 2)).argmin())

    def penalty_weight(self) -> float:
        """Choose the weight of the penalty among the candidates of a choice on records."""
        several, best = self.best_candidate()
        people, epsilon = self.public.sizes.n_curves, min(self.budget.epsilon, 1e12)
        return float(several.candidates(several.weight(people, people * epsilon))[best])

    def n_functions(self) -> int:
        """Choose the number of functions among the candidates of a choice on records."""
        several, best = self.best_candidate()
        return int(several.counts(self.public.sizes.n_curves)[best])

    def bandwidth(self) -> float:
        """Choose the bandwidth among the candidates of a choice on records."""
        several, best = self.best_candidate()
        return float(several.of_widths(self.data.x.shape[-1])[best].bandwidth)


_Setter = Callable[[_Sampled], Any]


def _setters(mechanism: Mechanism) -> dict[str, _Setter]:
    """List what a public sample can set of a method, by the names of its parameters."""
    names = {parameter.name for parameter in mechanism.parameters()}
    task = mechanism.main_task
    found: dict[str, _Setter] = {}
    if task is MEAN_FUNCTION:
        found |= {"prior": _Sampled.prior, "guessed_spread": _Sampled.guessed_spread}
        if "prior" not in names:  # whose rule for the number of functions holds about any prior
            found |= {"truncation": _Sampled.truncation}
        if isinstance(mechanism, Selection):
            found |= {
                "penalty_weight": _Sampled.penalty_weight,
                "n_functions": _Sampled.n_functions,
            }
    if task is DENSITY and isinstance(mechanism, Selection):
        found |= {"bandwidth": _Sampled.bandwidth}
    return {name: setter for name, setter in found.items() if name in names}


def _open_setters(mechanism: Mechanism) -> dict[str, _Setter]:
    """Keep those whose parameter is not chosen yet."""
    values, setters = mechanism.values(), _setters(mechanism)
    return {name: setter for name, setter in setters.items() if values.get(name) is None}


def check_apart(sample: Source[Any], source: Source[Any]) -> None:
    """Refuse a sample that shares a record with the protected data."""
    if set(sample.contents()) & set(source.contents()):
        raise InputError(
            "The public sample and the protected data share records.",
            field="public",
            hint="Take a public sample of other people.",
        )


def _in_units_of(sample: Source[Any], facts: PublicFacts) -> Any:
    """Draw the sample once, with the facts of the protected data."""
    own, data = sample.facts, sample.draw(1, np.random.default_rng(0))
    if (own.value_unit, own.time_unit) != (facts.value_unit, facts.time_unit):
        raise InputError(
            "The public sample is in other units than the protected data.",
            field="public",
            hint="Take one with the same unit of values and of time.",
        )
    ranges = [(f.time_low, f.time_high) for f in (own, facts)]
    if isinstance(data, CurveData) and ranges[0] != ranges[1]:
        raise InputError(
            "The public sample has another time range than the protected data.",
            field="public",
            hint="State the same range of times for both.",
        )
    return replace(data, facts=facts).pooled()
