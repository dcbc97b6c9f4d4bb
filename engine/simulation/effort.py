"""Memory and time of a sweep, with a refusal that names the figure if it is too much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.errors import InputError
from engine.simulation.experiments import KINDS, Block

# Peak memory of a block, measured over all mechanisms with all their sources: the largest figures.
# Adaptive methods make their releases in groups of up to about 40 MB, however small the data are.
_BYTES_OF_A_GROUP = 48_000_000
_BYTES_PER_READING = 600
_BYTES_PER_COVARIATE = 24  # of a reading
_BYTES_PER_RELEASE = 20_000  # of one function
# Work is counted in readings; a release (one draw at one budget) takes as long as some hundreds.
_READINGS_PER_RELEASE = 500
_READINGS_PER_BLOCK = 5000


@dataclass(frozen=True)
class EffortLimits:
    """Limits of a sweep."""

    minutes: float = math.inf  # on all workers, from now on
    gigabytes: float = math.inf

    def __post_init__(self) -> None:
        for name in ("minutes", "gigabytes"):
            if not getattr(self, name) > 0:
                raise InputError(f"The limit of {name} must be above 0.", field=f"limit-{name}")


NO_LIMITS = EffortLimits()


def refuse_memory(
    work: Sequence[Block], left: Sequence[Block], n_workers: int, limits: EffortLimits
) -> None:
    """Refuse a sweep whose results and largest blocks at once do not fit; see `memory`.

    `work` is the whole sweep, and `left` the part still to be run.
    """
    needed = memory(work, left, n_workers) / 1e9 if limits.gigabytes < math.inf else 0.0
    if needed > limits.gigabytes:
        raise InputError(
            f"This would take about {needed:.2g} GB of memory; the limit is "
            f"{limits.gigabytes:g} GB.",
            field="limit-gigabytes",
            hint="Take fewer repeats, draws, budgets or workers, or raise the limit.",
        )


def memory(work: Sequence[Block], left: Sequence[Block], n_workers: int) -> float:
    """Compute the bytes of a sweep: the results of all blocks, and the largest that run at once.

    `work` is the whole sweep, and `left` the part still to be run.
    """
    results = sum(8.0 * len(KINDS) * _releases(block) for block in work)
    return results + sum(sorted(map(_block_bytes, left))[-n_workers:])


def probes(work: Sequence[Block]) -> list[Block]:
    """Blocks to be timed: the largest of each kind, with the same classes of source and
    mechanism.
    """
    largest: dict[tuple[type, type], Block] = {}
    for block in sorted(work, key=_work):
        largest[_kind(block)] = block
    return list(largest.values())


def refuse_time(
    work: Sequence[Block], timed: Mapping[Block, float], n_workers: int, limits: EffortLimits
) -> None:
    """Refuse blocks that would take too long by the timed ones; see `seconds`.

    `timed` holds the seconds of one block of each kind.
    """
    minutes = seconds(work, timed, n_workers) / 60
    if minutes > limits.minutes:
        raise InputError(
            f"This would take about {minutes:.2g} minutes more; the limit is {limits.minutes:g}.",
            field="limit-minutes",
            hint="Take fewer repeats or cells or more workers, or raise the limit.",
        )


def seconds(work: Sequence[Block], timed: Mapping[Block, float], n_workers: int) -> float:
    """Estimate the seconds of blocks on workers that share them evenly, each by its work.

    A block's work is its readings, and for each release as much as some hundreds of readings:
    right within a factor of about three.
    """
    pace = {_kind(block): spent / _work(block) for block, spent in timed.items()}
    return sum(pace.get(_kind(block), 0.0) * _work(block) for block in work) / n_workers


def _kind(block: Block) -> tuple[type, type]:
    return type(block.source), type(block.mechanism)


def _releases(block: Block) -> int:
    return len(block.cells) * block.run.repeats * block.run.draws


def _block_bytes(block: Block) -> float:
    sizes = block.source.sizes
    per_reading = _BYTES_PER_READING + _BYTES_PER_COVARIATE * sizes.n_covariates
    readings = block.run.repeats * sizes.n_observations
    return float(
        _BYTES_OF_A_GROUP
        + per_reading * readings
        + _BYTES_PER_RELEASE * (1 + sizes.n_covariates) * _releases(block)
    )


def _work(block: Block) -> float:
    sizes = block.source.sizes
    readings = block.run.repeats * sizes.n_observations * (1 + sizes.n_covariates)
    return float(readings + _READINGS_PER_RELEASE * _releases(block) + _READINGS_PER_BLOCK)
