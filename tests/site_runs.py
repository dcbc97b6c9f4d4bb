"""Runs of several sites in one process, each with a file, a key and a ledger of its own."""

import hashlib

import numpy as np

from engine.noise.hardened import CountNoise, LatticeNoise
from engine.release.ledger import Ledger
from engine.sites import messages, pads
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.signing import Key, Scheme
from engine.sites.site import Site, source_of

NAMES = ("north", "south", "east")
KEY = Key(Scheme.HMAC, bytes(range(32)))
FACTS = {"value_low": 60, "value_high": 210, "value_name": "Height", "value_unit": "cm",
         "time_low": 2, "time_high": 18, "time_name": "Age", "time_unit": "years",
         "origin": "a growth chart", "person": "child", "people": "children",
         "design": {"law": "even"}, "observations_per_curve": 4}
AGE_AND_HEIGHT = {"time": {"name": "age"}, "value": {"name": "height"}}


def _reading(header, person, **columns):
    return {"frame": {"encoding": "utf-8", "separator": ",", "header": header}, "person": person,
            "columns": columns}


CURVES = {"reading": _reading(["child", "age", "height"], {"column": "child"}, **AGE_AND_HEIGHT),
          "facts": FACTS}
WITH_SEX = {"reading": _reading(["child", "age", "height", "sex"], {"column": "child"},
                                **AGE_AND_HEIGHT, covariates=[{"name": "sex"}]),
            "facts": {**FACTS, "covariates": [{"name": "sex", "low": 0, "high": 1}]}}
SINGLE = {"reading": _reading(["age", "height"], {"rows": True}, **AGE_AND_HEIGHT),
          "facts": {**{name: value for name, value in FACTS.items() if name != "observations_per_curve"},
                    "reading_sd": 6}}
RECORDS = {"reading": _reading(["id", "age"], {"column": "id"}, features=[{"name": "age"}]),
           "features": [{"name": "age", "low": 0, "high": 100}], "facts": {"origin": "a law"}}
EVENTS = {"reading": _reading(
    ["days", "end", "arm"], {"rows": True}, time={"name": "days"},
    status={"name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"},
    group={"name": "arm", "kind": "word", "words": {"A": "A", "B": "B"}, "other": "missing"}),
          "facts": {"time_high": 1000, "time_unit": "days", "origin": "the protocol"}}


def curves_csv(seed, n, with_sex=False):
    rng = np.random.default_rng(seed)
    lines = ["child,age,height" + ",sex" * with_sex]
    for k in range(n):
        sex = int(rng.random() < .5)
        for age in np.sort(rng.uniform(2, 18, rng.integers(2, 6))):
            height = 80 + 5.5 * age + 4 * sex + rng.normal(0, 6)
            lines.append(f"c{seed}_{k},{age:.3f},{height:.2f}" + f",{sex}" * with_sex)
    return "\n".join(lines) + "\n"


def single_csv(seed, n):
    """Children who are measured once."""
    rng = np.random.default_rng(seed)
    ages = rng.uniform(2, 18, n)
    return "age,height\n" + "".join(f"{age:.3f},{80 + 5.5 * age + rng.normal(0, 6):.2f}\n" for age in ages)


def records_csv(seed, n):
    ages = np.random.default_rng(seed).beta(4, 2, n) * 100
    return "id,age\n" + "".join(f"p{seed}_{k},{age:.3f}\n" for k, age in enumerate(ages))


def events_csv(seed, n):
    rng = np.random.default_rng(seed)
    rows = zip(rng.exponential(500, n), rng.choice(["death", "left"], n),
               rng.choice(["A", "B"], n), strict=True)
    return "days,end,arm\n" + "".join(f"{day:.2f},{end},{arm}\n" for day, end, arm in rows)


MASKING = [Key(Scheme.HMAC, bytes(range(32)), bytes([k + 1] * 32)) for k in range(9)]
_PRIME = 2**255 - 19


def agree_without_library(monkeypatch):
    """Secrets by Diffie and Hellman's scheme in whole numbers, where X25519 need not be installed."""
    def power(base, secret):
        return pow(base, int.from_bytes(secret, "big"), _PRIME)

    monkeypatch.setattr(pads, "public_half", lambda secret: f"{power(5, secret):064x}")
    monkeypatch.setattr(pads, "agreed", lambda secret, public: hashlib.sha256(
        b"%d" % power(int(public, 16), secret)).digest())


def summed(honest=None, people=(60, 50, 70), **settings):
    """A plan in which only sums over all sites are read."""
    stated = study(people=people, **settings)
    stated["sums"] = {} if honest is None else {"honest": honest}
    for site, key in zip(stated["sites"], MASKING, strict=False):
        site["pads"] = pads.public_half(key.pads)
    return SitePlan.read(SitePlan.planned(stated).to_bytes().decode())


def study(reading=CURVES, key="adaptive_mean", parameters=None, people=(60, 50, 70), epsilon=3.0,
          name="growth", public=KEY.public, scheme=Scheme.HMAC):
    publics = [public] * len(people) if isinstance(public, str) else public
    return {"version": 1, "name": name, "data": reading,
            "mechanism": {"key": key, "parameters": parameters or {}},
            "authentication": scheme.value, "sites": [
                {"name": site, "people": n, "epsilon": epsilon, "key": each}
                for site, n, each in zip(NAMES, people, publics, strict=False)]}


def files_of(plan):
    """The file of each site, as text."""
    columns = plan.reading["reading"]["columns"]
    kind = next((name for name in ("status", "features") if name in columns), "")
    kind = kind or "reading_sd" * ("reading_sd" in plan.reading["facts"])
    make = {"status": events_csv, "features": records_csv, "reading_sd": single_csv}.get(
        kind, lambda seed, n: curves_csv(seed, n, "covariates" in columns))
    return [make(11 + k, member.people) for k, member in enumerate(plan.members)]


def opened(plan, folder, files=None, keys=None):
    """The sites of a plan, with ledgers in the folder."""
    files = files_of(plan) if files is None else files
    return [Site(plan, k, source_of(plan, k, text.encode()), (keys or [KEY] * 9)[k],
                 Ledger(folder / f"{plan.members[k].name}.sqlite3"))
            for k, text in enumerate(files)]


def run(sites, wire=None):
    """Let all sites answer until nothing is left; the messages as they travelled, by position."""
    wire = {} if wire is None else wire
    while len(wire) < len(sites[0].protocol.turns):
        before = len(wire)
        for site in sites:
            for turn, content in site.answers(read(wire)).items():
                assert wire.setdefault(turn.position, content) == content
        assert len(wire) > before
    return wire


def read(wire):
    return [messages.read(content, "a message") for content in wire.values()]


def silence(monkeypatch):
    """Noise of size nothing: what is sent is what stands on the lattice."""
    monkeypatch.setattr(CountNoise, "__call__", lambda self, values: np.array(values, dtype=float))
    monkeypatch.setattr(LatticeNoise, "__call__", lambda self, values: np.array(
        self.whole(values), dtype=float).reshape(np.shape(values)) * 2.0**-self.bits)


def planned(**settings):
    return SitePlan.read(SitePlan.planned(study(**settings)).to_bytes().decode())


def protocol(plan):
    return Protocol(plan)
