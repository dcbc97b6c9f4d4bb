"""Attacks of the Audit page: on a mechanism as it is set, or a variant with a planted fault.

Simulated data alone: small data that are made for the attack, where the claim must be reached, or
those of a source. An upload is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine import audit
from engine.audit import broken
from engine.audit.cases import case_like
from engine.audit.neighbours import FAMILIES, family_of
from engine.core.errors import InputError, brief
from engine.core.tasks import TASKS
from engine.core.types import Budget, Data
from engine.mechanisms import Mechanism, mechanisms
from engine.running.steps import all_of, result_of
from engine.simulation import scenario
from engine.simulation.experiments import Run
from engine.sources import Source, sources

DOUBLINGS = range(8)  # of the releases that are made at first
TRIES, RUNS, SECONDS = 2000, 1_000_000, 20.0


@dataclass(frozen=True)
class AuditedMethod:
    """One class of mechanisms with one task that it serves; `key` names it in a link."""

    cls: type[Mechanism]
    task: str

    @property
    def key(self) -> str:
        return f"{self.cls.key}.{self.task}"

    @property
    def label(self) -> str:
        """Its name, with what it is for where it serves several tasks."""
        if len(self.cls.tasks) == 1:
            return self.cls.label
        return f"{self.cls.label}: {TASKS[self.task].label.lower()}"

    def default(self) -> Mechanism:
        """Return the mechanism with its first preset for the task."""
        return self.cls(**self.cls.presets_for(self.task)[0][1])

    def usual_source(self) -> Source[Data]:
        """Return the simulated data that the task begins with."""
        source: Source[Data] = sources.default(TASKS[self.task].source, self.task)
        return source


@cache
def audited_methods() -> tuple[AuditedMethod, ...]:
    """List everything that can be attacked, in the order of the registry."""
    known = {task for task, _ in FAMILIES}
    return tuple(
        AuditedMethod(cls, task)
        for cls in mechanisms.all()
        for task in TASKS
        if task in cls.tasks & known and cls.presets_for(task)
    )


def names() -> list[str]:
    return [candidate.key for candidate in audited_methods()]


def audited_method(key: str) -> AuditedMethod:
    """Look up the mechanism and task of a key such as "adaptive_mean.mean_function"."""
    for candidate in audited_methods():
        if candidate.key == key:
            return candidate
    raise InputError(f"There is nothing to audit by the name {brief(key)}.", field="mechanism")


def variants_of(mechanism: Mechanism) -> tuple[broken.Bug, ...]:
    """List the broken variants of a mechanism that do the same task."""
    return tuple(
        bug
        for bug in broken.bugs()
        if isinstance(bug.case.mechanism, type(mechanism))
        and bug.case.mechanism.main_task is mechanism.main_task
    )


@dataclass(frozen=True)
class Attack:
    """One audit: of the mechanism, or of a variant of it by name, with the same budget and data.

    Without a source the neighbours are built around small data made for the attack.
    """

    mechanism: Mechanism
    budget: Budget
    source: Source[Data] | None = None
    variant: str = ""
    seed: int = 1

    @property
    def case(self) -> audit.Case:
        """The case that is run: a variant keeps its own settings, which show its fault."""
        base = broken.get(self.variant).case if self.variant else case_like(self.mechanism)
        case = base.at(self.budget)
        return case if self.source is None else replace(case, attains=0.0, why="", copies=1)

    @property
    def name(self) -> str:
        """The key of what is attacked, as the command line has it."""
        return self.variant or self.mechanism.key

    @property
    def fault(self) -> str:
        """The fault of a variant; empty for a mechanism as it is."""
        return broken.get(self.variant).what if self.variant else ""

    @property
    def neighbours(self) -> str:
        """Contents of the two data sets."""
        return family_of(self.mechanism).label

    @property
    def steps(self) -> int:
        """About how many steps it takes, few of which need as many releases as there may be."""
        return math.ceil(TRIES / self.case.chunk) + len(DOUBLINGS)


def steps_of(
    attack: Attack, tries: int = TRIES, runs: int = RUNS, seconds: float = SECONDS
) -> Generator[audit.Progress, None, audit.Report]:
    """Run the audit of one attack step by step: at most `tries` pairs of neighbouring data sets.

    At most `runs` releases are made of each of the worst pairs.
    """
    if attack.source is not None and attack.source.facts.is_upload:
        raise InputError(
            "An audit uses simulated data only, never an upload.",
            field="source",
            hint="Choose simulated data.",
        )
    return (
        yield from audit.audit_steps(
            attack.case, attack.source, attack.seed, tries=tries, runs=runs, seconds=seconds
        )
    )


def audit_answer(attacks: Sequence[Attack]) -> list[list[audit.Progress]]:
    """Every step of several attacks, of up to 20 seconds each; the last one is its report.

    Parameters
    ----------
    attacks : sequence of Attack
        The attacks, made one after the other.
    """
    return [all_of(steps_of(attack)) for attack in attacks]


def finished(
    attack: Attack, seed: int, *, tries: int = TRIES, runs: int = RUNS, seconds: float = SECONDS
) -> audit.Report:
    """Run the whole audit of one attack; see `steps_of`."""
    return result_of(steps_of(replace(attack, seed=seed), tries, runs, seconds))


# -- to take away -------------------------------------------------------------------------------


def as_json(reports: Sequence[tuple[Attack, audit.Report]]) -> bytes:
    """Write attacks and their reports, in this order, with what was asked, as a JSON file."""
    return json.dumps(
        {"audits": [_plain(attack, report) for attack, report in reports]},
        ensure_ascii=False,
        indent=1,
    ).encode()


def _plain(attack: Attack, report: audit.Report) -> dict[str, Any]:
    fault = {"variant": attack.variant, "what": attack.fault} if attack.variant else {}
    source = attack.source and {"key": attack.source.key, "parameters": attack.source.values()}
    return {
        **fault,
        **report.plain(),
        "parameters": attack.case.mechanism.values(),
        "source": source,
        "seed": attack.seed,
    }


def command(attack: Attack) -> str:
    """Write the attack for a shell, as long and with the same seed as on the page.

    Where small data are used, the usual source stands in the scenario.
    """
    method = AuditedMethod(type(attack.mechanism), min(attack.mechanism.served))
    source = attack.source or method.usual_source()
    plain = scenario.to_plain(source, attack.mechanism, (attack.budget,), Run(seed=attack.seed))
    options = " --small" if attack.source is None else ""
    if attack.variant:
        options += f" --broken {attack.variant}"
    options += f" --tries {TRIES} --runs {RUNS} --seed {attack.seed}"
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return f"python -m engine audit --scenario -{options} <<'END'\n{text}\nEND"
