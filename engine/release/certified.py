"""One real release: hardened noise, a certified charge, and an entry in the ledger.

A preview simulates; this publishes. The mechanism runs as it always does, on the same clipped
observations and the same public grid, but its generator gives zeros
(`noise.hardened.ZeroGenerator`) and whatever it sends passes a listener that adds discrete noise on
a power-of-two lattice instead.

What a release will cost is known before any observation is looked at: the mechanism is rehearsed on
stand-in observations, all at the middle of their public range, which shows how many numbers each
message has and what the ledger says of it. OpenDP's map charges every message; ε's add where all
holds with δ = 0. Where all noise is Gaussian, squares of μ add, with the μ that is proved of
discrete noise in `noise.hardened`, and ε is that of the Gaussian curve at the stated δ; elsewhere
ρ's of zCDP add and are turned into ε. That *certified* ε is larger than the *ideal* one of
continuous noise of the same size, so the mechanism is planned with a slightly smaller budget, for
which the certified one is no more than was asked. The real run must send just the messages of the
rehearsal, or nothing is published.

Privacy
-------
A message, in units of its noise, moves by at most the μ or ε of its line in the ledger when one
record is replaced: that is what each mechanism proves and `engine.audit` attacks. Rounding to the
lattice is added to it (`noise.hardened`). Numbers without noise, which no data can change, are
taken from the rehearsal, so that not even their rounding errors come from the data. Everything
after the messages uses them and public facts alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.lists import listed
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.tasks import PUBLISHED
from engine.core.types import (
    Array,
    Budget,
    Composition,
    CurveStore,
    Data,
    DataKind,
    Estimate,
    Spend,
    Step,
)
from engine.language import spending
from engine.mechanisms import Mechanism, mechanisms
from engine.noise.hardened import CountNoise, HardenedNoise, LatticeNoise, ZeroGenerator
from engine.noise.selection import Scales, SelectionLaw
from engine.noise.shares import LOWER_DELTA, LatticeShares, Shares
from engine.privacy import accounting, transcript
from engine.privacy.failure import usual_delta
from engine.running.progress import next_round
from engine.sources import Source
from engine.uploads.limits import MAX_BYTES
from engine.uploads.reading_of_files import Reading
from engine.uploads.source import UploadedData

_MATRIX = 4  # dimensions of messages that are symmetric matrices
_SAME = 1e-6  # a certified ε this close below the asked one is charged as the asked one
_TRIES = 40
_FEWEST_PEOPLE = 2
_COUNTED = 2.0  # by how much a record moves counts, in sum of sizes
Key = tuple[int, str]  # who sends, and the key of the step
Answer = Callable[[Key, HardenedNoise, Array], Array]  # see `answered`


@dataclass(frozen=True)
class SiteCost:
    """The cost of a release for the people of one site."""

    requested: Budget
    # certified, by_rho: what is proved of the noise that is drawn, and what OpenDP's maps alone
    # prove of it
    certified: Budget
    by_rho: Budget
    inner: Budget  # what the mechanism is planned with for this site


@dataclass(frozen=True)
class ReleaseCost:
    """The cost of a release, from public facts alone.

    If every site has its own budget, the budgets here hold for everybody at any site: they have the
    largest ε and the largest δ of all.
    """

    # what it costs all people, or those of each site where each has a budget of its own
    costs: tuple[SiteCost, ...]
    ideal: Budget  # what continuous noise of the same size would cost
    spends: tuple[Spend, ...]  # the ledger of the mechanism, with ideal noise
    # mapping of (server, key of a step) to LatticeNoise or CountNoise: how each message is noised
    messages: Mapping[Key, HardenedNoise]
    # mapping of (server, key of a step) to Array: each message on stand-in data; its numbers
    # without noise are those that are published
    known: Mapping[Key, Array]
    steps: Mapping[str, Step]  # what is sent, by the keys of steps
    # who adds the noise, where each message is a sum over sites that add it in shares. Then the
    # certified cost is that of the noise that honest sites leave.
    shares: Shares | None = None

    @property
    def is_by_site(self) -> bool:
        """True if every site has its own budget."""
        return len(self.costs) > 1

    @property
    def budget(self) -> Budget:
        """The requested budget."""
        return Budget.covering_all(cost.requested for cost in self.costs)

    @cached_property
    def certified(self) -> Budget:
        """The budget proved for the drawn noise; never more than `budget` or `by_rho`."""
        return Budget.covering_all(cost.certified for cost in self.costs)

    @property
    def by_rho(self) -> Budget:
        """The budget that OpenDP's maps alone prove."""
        return Budget.covering_all(cost.by_rho for cost in self.costs)

    @property
    def inner_budgets(self) -> tuple[Budget, ...]:
        """The budgets of the planned mechanism: one for all sites, or one for each."""
        return tuple(cost.inner for cost in self.costs)

    @cached_property
    def certified_spends(self) -> tuple[Spend, ...]:
        """The ledger with what is proved of the noise, instead of what ideal noise would cost."""
        noised = dict[Key, list[HardenedNoise]]()  # by server and line of the ledger
        for (server, key), measurement in self.messages.items():
            for line in self.steps[key].charged_to:
                noised.setdefault((server, line), []).append(measurement)
        is_gaussian = {
            server: all(line.mu is not None for line in lines)
            for server, lines in accounting.by_server(self.spends).items()
        }
        return tuple(
            self._charged(
                line,
                is_gaussian[line.server],
                [
                    *noised.get((line.server, line.step.key), ()),
                    *noised.get((transcript.CENTRE, line.step.key), ()),
                ],
            )
            for line in self.spends
        )

    @property
    def rho(self) -> float:
        """ρ of zCDP by OpenDP's maps, of the server whose people it costs most."""
        return max(map(accounting.total_rho, accounting.by_server(self.certified_spends).values()))

    def _charged(
        self, line: Spend, all_gaussian: bool, measurements: Sequence[HardenedNoise]
    ) -> Spend:
        """ρ of zCDP for Gaussian noise, ε for Laplace noise; the dearest of alike messages.

        μ, too, where all noise of the server is Gaussian. The law is left out, because it is not
        that of the ideal noise; only noise on counts has the same, of a scale that is no smaller.
        """
        cost = max(measurement.cost for measurement in measurements)
        is_gaussian = line.mu is not None
        of_counts = self.shares is None and all(
            isinstance(measurement, CountNoise) for measurement in measurements
        )
        certified = self.costs[line.server if self.is_by_site else 0].certified
        return replace(
            line,
            mu=max(measurement.mu for measurement in measurements) if all_gaussian else None,
            rho=cost if is_gaussian else None,
            epsilon=None if is_gaussian else cost,
            budget=certified,
            noise=line.noise if of_counts else NoiseLaw.UNSTATED,
        )

    @property
    def numbers(self) -> int:
        """The number of noisy numbers drawn."""
        return sum(measurement.size for measurement in self.messages.values())


# -- before any observation is looked at ----------------------------------------------------------


def release_cost(
    data: Data, mechanism: Mechanism, budget: Budget, shares: Shares | None = None
) -> ReleaseCost:
    """Compute the cost of publishing these data by this mechanism; only their sizes are read.

    The certified ε is at most the one asked for; δ counts as 0 if the mechanism needs none. With
    `shares`, sites add the noise to one sum, and the data have all people at one site. Refused:
    methods without a hardened path or with a broken printed promise, useless releases, one person
    alone, and δ of 1/n or more.
    """
    _check_people(data)
    _check_budget(budget, data.sizes.n_curves)
    return _cost_within(data, mechanism, (budget,), shares)


def release_cost_by_site(
    data: Data, mechanism: Mechanism, budgets: Sequence[Budget]
) -> ReleaseCost:
    """Compute the cost of publishing with a budget for each site; see `release_cost`.

    δ must be below one over the number of people of the site.
    """
    _check_people(data)
    for budget, n in zip(budgets, data.sizes.n_curves_per_server, strict=True):
        _check_budget(budget, n)
    return _cost_within(data, mechanism, tuple(budgets))


def _cost_within(
    data: Data, mechanism: Mechanism, budgets: tuple[Budget, ...], shares: Shares | None = None
) -> ReleaseCost:
    """Compute the cost at one budget for all sites, or one for each."""
    budgets = tuple(map(mechanism.suited, budgets))
    _check_mechanism(data, mechanism, budgets)
    stand_in, inner = rehearsal_data(data, mechanism), budgets
    for n_tried in range(_TRIES):
        rehearsed = _rehearsed(stand_in, mechanism, budgets, inner, shares)
        if all(cost.certified.epsilon <= cost.requested.epsilon for cost in rehearsed.costs):
            return rehearsed
        inner = tuple(_reduced(cost, n_tried) for cost in rehearsed.costs)
    raise InputError(
        "No noise was found that keeps this budget.",
        field="epsilon",
        hint="Choose another ε or another method.",
    )


def rehearsal_data(data: Data, mechanism: Mechanism) -> Data:
    """Return data of the same public sizes and facts that hold nobody's numbers.

    Noise and ledger follow from `Public`. Where each message is an average over all people of a
    site, two of each show what is sent.
    """
    return data.few() if mechanism.averages_all else data.stand_in()


def _reduced(cost: SiteCost, n_tried: int) -> Budget:
    """Return the next budget to try if more was certified than requested."""
    if cost.certified.epsilon <= cost.requested.epsilon:
        return cost.inner
    if n_tried == 0 and cost.certified == cost.by_rho and not cost.requested.is_pure:
        return _guess_by_rho(cost.requested)
    less = cost.requested.epsilon / cost.certified.epsilon * (1 - 1e-10 * 2.0**n_tried)
    return replace(cost.inner, epsilon=cost.inner.epsilon * less)


def _check_people(data: Data) -> None:
    """Refuse the data of one person: replacing that person may change nothing of note."""
    if data.sizes.n_curves < _FEWEST_PEOPLE:
        raise InputError(
            f"There is one {data.facts.person} alone: whatever hides what a single "
            f"{data.facts.person} adds hides all there is, and noise would be left.",
            field="people",
            hint="Publish about more of them.",
        )


def check_finite(budget: Budget) -> None:
    """Refuse a budget without privacy."""
    if not budget.is_private:
        raise InputError("A release needs a finite ε.", field="epsilon")


def _check_budget(budget: Budget, n: int) -> None:
    check_finite(budget)
    if budget.delta >= 1 / n:
        raise InputError(
            f"δ must be below 1/n = {1 / n:.3g}; got {budget.delta:g}.",
            field="delta",
            hint=f"The default is {usual_delta(n):.2g}.",
        )


def _check_mechanism(data: Data, mechanism: Mechanism, budgets: tuple[Budget, ...]) -> None:
    reason = next(filter(None, map(mechanism.why_not_published, budgets)), "")
    if reason:
        raise InputError(f"{mechanism.label} cannot be published. {reason}", field="mechanism")
    check_published(mechanism)
    if isinstance(data, CurveStore) and not mechanism.reads_blocks:
        raise in_memory_alone(mechanism)
    _check_private_counts(data, mechanism)


def in_memory_alone(mechanism: Mechanism) -> InputError:
    """Return the refusal of a file that is too large for a method."""
    others = sorted({each.label for each in mechanisms.all() if each.reads_any_size})
    return InputError(
        f"{mechanism.label} needs all observations in memory: a table of at most "
        f"{MAX_BYTES / 1e6:g} MB.",
        field="mechanism",
        hint=f"Tables of any size are read by {listed(others)}.",
    )


def check_published(mechanism: Mechanism) -> None:
    """Refuse a method that estimates neither functions nor average numbers."""
    if not mechanism.served & {*PUBLISHED}:
        raise InputError(
            "Only functions and average numbers are published.",
            field="mechanism",
            hint="Choose an average, a density or coefficients.",
        )


def _check_private_counts(data: Data, mechanism: Mechanism) -> None:
    """Refuse a method that takes the lengths of single curves as public where they are private.

    Its plan, and with it its noise, sees no more than `Public`, which holds lengths only where
    nobody states one number for all; so it is enough that the method leaves that statement alone.
    """
    if not data.facts.observations_per_curve:
        return
    if not mechanism.validated(rehearsal_data(data, mechanism)).facts.observations_per_curve:
        raise InputError(
            f"{mechanism.label} cannot be published for these curves: its noise "
            "depends on how many observations single curves have, which is private.",
            field="mechanism",
            hint="Choose another method.",
        )


def _check_promise(estimate: Estimate, budgets: tuple[Budget, ...]) -> None:
    """Refuse what spends more than it says, and what releases nothing."""
    spends, budget = estimate.spends[0], max(budgets, key=lambda budget: budget.epsilon)
    if not accounting.keeps_promise(spends):
        proved_epsilon = max(proved.epsilon for proved in accounting.guarantees(spends))
        raise InputError(
            spending.broken_promise(budget, proved_epsilon).replace("**", ""), field="mechanism"
        )
    if all(accounting.total_rho(lines) == 0 for lines in accounting.by_server(spends).values()):
        raise InputError(
            "Nothing would be published: too few people for this ε.",
            field="epsilon",
            hint="Ask more people, raise ε, or choose another method.",
        )


def _guess_by_rho(budget: Budget) -> Budget:
    """Return the budget whose ideal noise is about as large as the one that ρ's of zCDP ask for."""
    mu = math.sqrt(2 * accounting.rho_of(budget.epsilon, budget.delta))
    return replace(budget, epsilon=min(budget.epsilon, accounting.exact_epsilon(mu, budget.delta)))


class _Rehearsal:
    """Notes what is sent, and sends it on without noise.

    `by_site` says that whoever reads the messages need not be trusted with parts of a sum.
    """

    def __init__(self, by_site: bool = False) -> None:
        self._by_site = by_site
        self.messages: dict[Key, tuple[int, Array]] = {}  # how many have noise, and all as they are
        self.steps: dict[str, Step] = {}

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        """Note how many numbers of a message have noise; it goes on as it is."""
        exact, unit = _first(values, noise)
        self._note(server, step, int((_units(unit, _is_matrix(values)) > 0).sum()), exact)
        return values

    def summed(self, step: Step, parts: transcript.Parts) -> Array:
        """Note the numbers of a sum that only the centre reads; they go on as they are."""
        if parts.law is not NoiseLaw.LAPLACE:
            raise unhardened(step)
        if self._by_site and parts.servers:
            for server, part in zip(parts.servers, parts.used[0, 0], strict=True):
                self._note(server, step, 1, np.array([part]))
        else:
            self._note(transcript.CENTRE, step, parts.used.shape[-1], parts.used)
        return parts.used

    def weighed(
        self, server: int, step: Step, values: Array, law: SelectionLaw, n_kept: int, scales: Scales
    ) -> None:
        """Refuse what draws its noise among choices: there is no hardened noise for it."""
        raise unhardened(step)

    def _note(self, server: int, step: Step, size: int, exact: Array) -> None:
        if (server, step.key) in self.messages:
            raise unhardened(step)
        self.messages[server, step.key] = size, exact.copy()
        self.steps[step.key] = step


_UNLISTED = Step("what the ledger does not list")
_OTHERWISE = Step("something else than was quoted")


def unhardened(step: Step) -> InputError:
    """Make the error for a message that differs from its rehearsal."""
    return InputError(
        f"“{step.label}” is sent in a way for which there is no hardened noise.",
        field="mechanism",
        hint="It can be looked at, not published.",
    )


def _run(data: Data, mechanism: Mechanism, budgets: tuple[Budget, ...], listener: Any) -> Estimate:
    """Run a mechanism with noise from the listener alone."""
    with transcript.overheard(listener):
        generator = cast(np.random.Generator, ZeroGenerator())
        return mechanism.release(cast(Any, data), budgets, generator)


def _rehearsed(
    stand_in: Data,
    mechanism: Mechanism,
    requested: tuple[Budget, ...],
    inner: tuple[Budget, ...],
    shares: Shares | None,
) -> ReleaseCost:
    listener = _Rehearsal(by_site=len(requested) > 1)
    estimate = _run(stand_in, mechanism, inner, listener)
    _check_promise(estimate, requested)
    spends, is_by_site, costs = estimate.spends[0], len(requested) > 1, list[SiteCost]()
    messages: dict[Key, HardenedNoise] = {}
    for server, lines in accounting.by_server(spends).items():
        index = server if is_by_site else 0
        noised = _matched(server, lines, listener)
        if shares is not None:
            noised = {key: shares.of(measurement) for key, measurement in noised.items()}
        messages.update(noised)
        certified, by_rho = _charge(lines, list(noised.values()), requested[index].delta)
        costs.append(_as_asked(SiteCost(requested[index], certified, by_rho, inner[index])))
    if set(messages) != set(listener.messages):
        raise unhardened(_UNLISTED)
    return ReleaseCost(
        tuple(costs) if is_by_site else (_of_all(costs),),
        accounting.least_guarantee(spends),
        spends,
        messages,
        {key: exact for key, (_, exact) in listener.messages.items()},
        listener.steps,
        shares,
    )


def _of_all(costs: Sequence[SiteCost]) -> SiteCost:
    """Combine the costs of sites that share one budget."""
    certified, by_rho = (
        Budget.covering_all(getattr(cost, part) for cost in costs)
        for part in ("certified", "by_rho")
    )
    return replace(costs[0], certified=certified, by_rho=by_rho)


def _as_asked(cost: SiteCost) -> SiteCost:
    """Replace a certified ε that exceeds the requested one by rounding alone."""
    if cost.certified.epsilon <= cost.requested.epsilon <= cost.certified.epsilon * (1 + _SAME):
        return replace(cost, certified=replace(cost.certified, epsilon=cost.requested.epsilon))
    return cost


def _matched(
    server: int, lines: Sequence[Spend], rehearsal: _Rehearsal
) -> dict[Key, HardenedNoise]:
    """Match each message of one server to the ledger line that it is charged to.

    Each line must state as many messages as were sent.
    """
    by_key = {line.step.key: line for line in lines}
    noised, counts = dict[Key, HardenedNoise](), Counter[str]()
    for (sender, step), (size, _) in rehearsal.messages.items():
        if sender not in (server, transcript.CENTRE):
            continue
        charged = rehearsal.steps[step].charged_to
        if len(charged) != 1 or charged[0] not in by_key:
            raise unhardened(_UNLISTED)
        noised[sender, step] = _hardened_noise(by_key[charged[0]], size)
        counts[charged[0]] += 1
    if counts != {line.step.key: line.count for line in lines} or len(by_key) != len(lines):
        raise unhardened(_UNLISTED)
    return noised


def _hardened_noise(line: Spend, size: int) -> HardenedNoise:
    if line.mu is not None:
        return LatticeNoise(NoiseLaw.GAUSSIAN, line.mu, size)
    if line.noise is NoiseLaw.DISCRETE_LAPLACE and line.epsilon is not None:
        if line.sensitivity != (_COUNTED,) or line.noise_scale != (_COUNTED / line.epsilon,):
            raise unhardened(line.step)
        return CountNoise(line.epsilon, size)
    if line.epsilon is None or line.noise is not NoiseLaw.LAPLACE:
        raise unhardened(line.step)
    return LatticeNoise(NoiseLaw.LAPLACE, line.epsilon, size)


def _charge(
    lines: Sequence[Spend], messages: Sequence[HardenedNoise], delta: float
) -> tuple[Budget, Budget]:
    """Return the proved cost of one server's messages, and the cost by OpenDP's maps alone.

    Messages about different people cost as much as the dearest of them; sums are rounded up. The
    first budget equals the second, or is smaller if all noise is Gaussian.
    """
    if len(lines) == 1 and lines[0].composition is Composition.PARALLEL:  # alike but for sizes
        messages = [max(messages, key=lambda measurement: (measurement.cost, measurement.size))]
    by_rho = _by_maps(messages, delta)
    if any(measurement.is_pure for measurement in messages):
        return by_rho, by_rho
    squares = sum((Fraction(measurement.mu) ** 2 for measurement in messages), Fraction())
    mu = math.nextafter(math.sqrt(squares), math.inf)
    if any(isinstance(measurement, LatticeShares) for measurement in messages):
        epsilon = math.nextafter(accounting.certified_epsilon(mu, delta * LOWER_DELTA), math.inf)
    else:
        epsilon = accounting.certified_epsilon(mu, delta)
    return Budget(min(epsilon, by_rho.epsilon), delta), by_rho


def _by_maps(messages: Sequence[HardenedNoise], delta: float) -> Budget:
    """Add up ε of Laplace noise, or convert the sum of ρ to ε."""
    costs = [measurement.cost for measurement in messages]
    if all(measurement.is_pure for measurement in messages):
        return Budget(accounting.sum_up(costs))
    rho = accounting.sum_up(
        [
            cost**2 / 2 * (1 + 1e-15) if measurement.is_pure else cost
            for cost, measurement in zip(costs, messages, strict=True)
        ]
    )
    return Budget(accounting.epsilon_of_rho(rho, delta), delta)


# -- the release ----------------------------------------------------------------------------------


class _PreparedTranscript:
    """Puts an answer in the place of whatever is sent, once of each message."""

    def __init__(self, cost: ReleaseCost, answer: Answer) -> None:
        self._cost, self._answer, self.lattice = cost, answer, dict[Key, Array]()

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        """Send the answer to a message."""
        measured, out = self._take(server, step), values.copy()
        exact, deviation = _first(values, noise)
        unit = measured.unit(deviation)
        known, is_matrix = self._cost.known[server, step.key], _is_matrix(values)
        if exact.shape != known.shape:
            raise unhardened(step)
        flat, units = _flat(exact, is_matrix), _units(unit, is_matrix)
        noisy, has_noise = _flat(known, is_matrix), units > 0
        if int(has_noise.sum()) != measured.size:
            raise unhardened(step)
        multiples = self._answer((server, step.key), measured, flat[has_noise] / units[has_noise])
        noisy[has_noise] = multiples * units[has_noise]
        self.lattice[server, step.key] = multiples
        out[0, _like_first(values, noise)] = _unflat(noisy, exact.shape, is_matrix)
        return out

    def summed(self, step: Step, parts: transcript.Parts) -> Array:
        """Only what is used is noised: of several ways to form the numbers, one is sent.

        At once by the centre, or part by part where each site sends its own.
        """
        values = parts.used
        units = np.broadcast_to(parts.noise / math.sqrt(2), values.shape)
        n, by_site = values.shape[-1], bool(self._cost.is_by_site and parts.servers)
        if parts.law is not NoiseLaw.LAPLACE or values.shape != (1, 1, n):
            raise unhardened(step)
        exact, multiples = (values / units)[0, 0], np.empty(n)
        for k, sender in enumerate(parts.servers if by_site else (transcript.CENTRE,)):
            measured, part = self._take(sender, step), slice(k, k + 1) if by_site else slice(n)
            if measured.size != len(exact[part]):
                raise unhardened(step)
            multiples[part] = self._answer((sender, step.key), measured, exact[part])
            self.lattice[sender, step.key] = multiples[part].copy()
        return np.asarray(multiples * units)

    def weighed(
        self, server: int, step: Step, values: Array, law: SelectionLaw, n_kept: int, scales: Scales
    ) -> None:
        """Refuse what draws its noise among choices, as in the rehearsal."""
        raise unhardened(step)

    def _take(self, server: int, step: Step) -> HardenedNoise:
        key = (server, step.key)
        if key not in self._cost.messages or key in self.lattice:
            raise unhardened(step)
        return self._cost.messages[key]


def hardened(
    data: Data,
    mechanism: Mechanism,
    cost: ReleaseCost,
    kept: Callable[[Key, Callable[[], Array]], Array] | None = None,
) -> tuple[Estimate, dict[Key, Array]]:
    """Run the mechanism on the data with the noise of a release cost.

    The data are one data set in random order. `kept` draws a message unless it was drawn before.
    The `unprotected` part of the estimate must not be shown; messages (size,) are multiples of the
    lattice, in units of the noise. Whatever is not just what was rehearsed is refused; nothing may
    be published.
    """
    messages = dict[Key, Array]()

    def drawn_now(key: Key, measured: HardenedNoise, values: Array) -> Array:
        messages[key] = measured(values) if kept is None else kept(key, partial(measured, values))
        next_round()
        return messages[key]

    return answered(data, mechanism, cost, drawn_now), messages


def replayed(
    stand_in: Data, mechanism: Mechanism, cost: ReleaseCost, stored: Mapping[Key, Array]
) -> Estimate:
    """Compute the estimate from stored messages of `hardened`; the stand-in has nobody's data."""

    def as_stored(key: Key, measured: HardenedNoise, values: Array) -> Array:
        message = stored.get(key)
        if message is None or message.shape != values.shape:
            raise unhardened(cost.steps[key[1]])
        return message

    return answered(stand_in, mechanism, cost, as_stored)


def answered(data: Data, mechanism: Mechanism, cost: ReleaseCost, answer: Answer) -> Estimate:
    """Run the mechanism with an answer in the place of each message, as rehearsed.

    `answer` gets the key of a message, its noise and its numbers (size,) in units of that noise,
    before anything is added; it returns multiples of the lattice. Whatever it raises ends the run.
    The `unprotected` part of the estimate must not be shown.
    """
    listener = _PreparedTranscript(cost, answer)
    estimate = _run(data, mechanism, cost.inner_budgets, listener)
    if set(listener.lattice) != set(cost.messages) or estimate.spends[0] != cost.spends:
        raise unhardened(_OTHERWISE)
    return estimate


def publishable_data(source: Source[Data]) -> Data:
    """Return the data of a source, as the preview has them; refuse simulated ones."""
    facts = source.facts
    if source.is_random or facts.kind not in (DataKind.PUBLIC, DataKind.UPLOAD):
        raise InputError(
            "Curves made by the computer are nobody’s: there is nothing to publish.",
            field="source",
            hint="Choose public data, or use your own curves.",
        )
    if not facts.origin.strip():
        raise InputError(
            "Say where the bounds come from.",
            field="origin",
            hint="A growth chart, a manual or a law; never these curves.",
        )
    if isinstance(source, UploadedData):
        _check_reading(source.reading)
    data: Data = source.draw(1, generator(0, DATA_STREAM, 0))
    if facts.is_upload and data.public.lengths:
        raise InputError(
            "State how many observations each curve was planned to have.",
            field="observations_per_curve",
            hint="How many single curves have is private.",
        )
    return data


def _check_reading(reading: Reading | None) -> None:
    """Refuse data whose file was read for looking: one person's cells may have decided how."""
    if reading is None:
        raise InputError(
            "Nobody has stated how this file is read.",
            field="reading",
            hint="Confirm on Publish how it is read, or state the “reading”: "
            "“python -m engine propose FILE” writes what is likely, to be checked.",
        )
    reading.complete()


# -- messages as vectors --------------------------------------------------------------------------


def _first(values: Array, noise: Array) -> tuple[Array, Array]:
    """The one release of the one data set, and the size of its noise; columns behind are quiet."""
    return values[0, 0].copy(), np.broadcast_to(noise, values.shape)[0, 0].copy()


def _like_first(values: Array, noise: Array) -> NDArray[np.bool_]:
    """True for columns whose noise is as large as that of the first: they get its numbers."""
    of_columns = np.broadcast_to(noise, values.shape)[0]
    return np.asarray((of_columns == of_columns[:1]).reshape(len(of_columns), -1).all(axis=1))


def _is_matrix(values: Array) -> bool:
    return values.ndim == _MATRIX and values.shape[-1] == values.shape[-2]


def _flat(numbers: Array, is_matrix: bool) -> Array:
    """Flatten an array to a vector; of a symmetric matrix only its upper triangle."""
    if not is_matrix:
        return numbers.ravel().copy()
    return np.asarray(numbers[np.triu_indices(len(numbers))])


def _units(noise: Array, is_matrix: bool) -> Array:
    """Return the size of the noise on each number of the vector.

    Of a symmetric matrix it is stated for the diagonal; beside it it is that over √2, so that noise
    is isotropic in Frobenius norm, in which an entry beside the diagonal counts twice.
    """
    flat = _flat(noise, is_matrix)
    if is_matrix:
        row, column = np.triu_indices(len(noise))
        flat[row != column] /= math.sqrt(2)
    return flat


def _unflat(vector: Array, shape: tuple[int, ...], is_matrix: bool) -> Array:
    if not is_matrix:
        return vector.reshape(shape)
    out = np.zeros(shape)
    upper = np.triu_indices(shape[0])
    out[upper] = vector
    out.T[upper] = vector
    return out
