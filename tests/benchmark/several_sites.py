"""What a run of several sites costs, whose messages travel through a folder: time, messages and bytes.

    .venv/bin/python -m tests.benchmark.several_sites [--record]

`--record` writes the table into docs/benchmarks.md. Needs the library of the extra `sites`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from engine.release import certified
from engine.release.ledger import Ledger
from engine.sites import agreement, centre, drafts
from engine.sites.agreement import Party, SignedPlan
from engine.sites.centre import SiteRun
from engine.sites.folder import Folder
from engine.sites.plan import SitePlan
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Keyring, Scheme, new_key
from engine.sites.site import Site, source_of
from engine.sites.study import SiteStudy
from tests.benchmark.record import DOCUMENT, SITES_HEADING, with_sites
from tests.site_runs import CURVES, curves_csv

SITES, PEOPLE, EPSILON = (3, 20, 100), 50, 1.0
_LOOKS = 5  # at the simulated run, of which the fastest counts
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One run: whose noise, how many messages and bytes, and processor seconds.

    Parameters
    ----------
    noise : str
        "own", or "shares" of which only the sum can be read.
    sites, rounds, messages, bytes : int
        Of the whole run.
    plan, site, centre, simulated : float
        Processor seconds: to plan it, of one site from first to last message, of the centre from
        all messages to the release, and of the same release simulated in one process.
    """

    noise: str
    sites: int
    rounds: int
    messages: int
    bytes: int
    plan: float
    site: float
    centre: float
    simulated: float


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """What a function returns, and its processor seconds."""
    start = time.process_time()
    return function(), time.process_time() - start


def measured(n_sites: int, is_summed: bool, folder: Path) -> Run:
    """A run of the adaptive mean, every site after the other in each round.

    Parameters
    ----------
    n_sites : int
        Each with 50 people.
    is_summed : bool
        Whether only sums are read.
    folder : Path
        For messages and ledgers.
    """
    shelf = folder / "ledgers"
    shelf.mkdir()
    parties, planning = timed(lambda: agreed(n_sites, is_summed, shelf))
    plan, ring, there = parties[0].plan, parties[0].ring, Folder(folder)
    sign_offs = tuple(party.sign_off(plan.words[0]) for party in parties)
    sites = [
        Site(
            SignedPlan(party, sign_offs),
            source_of(plan.study, k, curves_csv(k, PEOPLE).encode()),
            Ledger(shelf / f"{k}.sqlite3"),
        )
        for k, party in enumerate(parties)
    ]
    turns, busy = sites[0].protocol.turns, np.zeros(n_sites)
    while len(there.received()) < len(turns):
        for place, site in enumerate(sites):
            answers, seconds = timed(lambda site=site: site.answers(there.received()))
            busy[place] += seconds
            for turn, content in answers.items():
                there.send(turn, content)
    files = [path for path in folder.iterdir() if path.is_file()]

    def release() -> None:
        run = SiteRun(plan, sign_offs, tuple(there.received()))
        centre.released(run, run.checked(ring))

    return Run(
        "shares" if is_summed else "own",
        n_sites,
        sites[0].protocol.n_rounds,
        len(turns),
        sum(path.stat().st_size for path in files),
        planning,
        float(np.median(busy)),
        timed(release)[1],
        simulated(plan, sites),
    )


def agreed(n_sites: int, is_summed: bool, shelf: Path) -> list[Party]:
    """The parties of a plan of so many sites, who all know each other's keys."""
    study = SiteStudy.of(
        {
            "version": 1,
            "name": "growth",
            "data": CURVES,
            "mechanism": {"key": "adaptive_mean", "parameters": {}},
            **({"sums": {"honest": n_sites - 1}} if is_summed else {}),
            "sites": [
                {
                    "name": drafts.site_name(f"site {k}"),
                    "people": PEOPLE,
                    "epsilon": EPSILON,
                    "delta": 1e-6,
                }
                for k in range(n_sites)
            ],
        }
    )
    names = [member.name for member in study.members]
    keys = [new_key(Scheme.ED25519) for _ in names]
    ring = Keyring({name: key.public for name, key in zip(names, keys, strict=True)})
    stores = [SecretStore(shelf / f"{k}.offers") for k in range(n_sites)]
    plan = SitePlan.of(
        study,
        [
            agreement.offered(study, name, key, store)
            for name, key, store in zip(names, keys, stores, strict=True)
        ],
    )
    return [
        Party(plan, k, key, ring, store)
        for k, (key, store) in enumerate(zip(keys, stores, strict=True))
    ]


def simulated(plan: SitePlan, sites: list[Site]) -> float:
    """Processor seconds of the same release in one process, from the same curves."""
    data = plan.study.stand_in
    for place, site in enumerate(sites):
        data = data.with_site(place, certified.publishable_data(site.source))
    budgets = tuple(member.budget for member in plan.study.members)
    if plan.study.shares is not None:
        data, budgets = data.pooled(), budgets[:1]
    return min(
        timed(lambda: plan.study.mechanism.release(data, budgets, np.random.default_rng(1)))[1]
        for _ in range(_LOOKS)
    )


def section(runs: list[Run]) -> str:
    """The table for reading, with what it is of."""
    rows = "\n".join(
        f"| {run.sites} | {run.noise} | {run.messages} | {run.bytes / run.messages / 1000:.1f} | "
        f"{run.bytes / 1e6:.2f} | {run.plan:.2f} | {run.site:.2f} | {run.centre:.2f} | "
        f"{run.simulated:.3f} |"
        for run in runs
    )
    return f"""{SITES_HEADING}

Written by `python -m tests.benchmark.several_sites --record`: {PEOPLE} people at each site, the
adaptive mean at ε = {EPSILON:g}, messages through a folder. Sites add noise of their own, or shares
of which only the sum can be read. Processor seconds: to plan, of one site over all rounds, of the
centre, and of the same release simulated in one process.

| sites | noise | messages | kB each | MB in all | plan | one site | centre | simulated |
|---:|---|---:|---:|---:|---:|---:|---:|---:|
{rows}
"""


def main(options: list[str]) -> int:
    """Measure all runs, and print them or write them into the document."""
    runs = []
    for is_summed in (False, True):
        for n_sites in SITES:
            with TemporaryDirectory() as folder:
                runs.append(measured(n_sites, is_summed, Path(folder)))
    print(section(runs))
    if "--record" in options:
        DOCUMENT.write_text(with_sites(DOCUMENT.read_text("utf-8"), section(runs)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
