"""Runs of several sites in one process, each with a file, a key and a ledger of its own."""

import sys

import numpy as np

from engine.noise.hardened import CountNoise, LatticeNoise
from engine.noise.shares import CountShares, LatticeShares
from engine.release.ledger import Ledger
from engine.sites import agreement, messages
from engine.sites.agreement import Party, SignedPlan
from engine.sites.centre import SiteRun
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Key, Keyring, Scheme
from engine.sites.site import Site, source_of
from engine.sites.statements import Offer
from engine.sites.study import SiteStudy
from tests import curve25519, ledgers

NAMES = ("north", "south", "east")
KEY = Key(Scheme.HMAC, bytes(range(32)))
RING = Keyring({}, KEY)
OWN = [Key(Scheme.ED25519, bytes([k + 1] * 32)) for k in range(9)]
FACTS = {
    "value_low": 60,
    "value_high": 210,
    "value_name": "Height",
    "value_unit": "cm",
    "time_low": 2,
    "time_high": 18,
    "time_name": "Age",
    "time_unit": "years",
    "origin": "a growth chart",
    "person": "child",
    "people": "children",
    "design": {"law": "even"},
    "observations_per_curve": 4,
}
AGE_AND_HEIGHT = {"time": {"name": "age"}, "value": {"name": "height"}}


def _reading(header, person, **columns):
    return {
        "frame": {"encoding": "utf-8", "separator": ",", "header": header},
        "person": person,
        "columns": columns,
    }


CURVES = {
    "reading": _reading(["child", "age", "height"], {"column": "child"}, **AGE_AND_HEIGHT),
    "facts": FACTS,
}
WITH_SEX = {
    "reading": _reading(
        ["child", "age", "height", "sex"],
        {"column": "child"},
        **AGE_AND_HEIGHT,
        covariates=[{"name": "sex"}],
    ),
    "facts": {**FACTS, "covariates": [{"name": "sex", "low": 0, "high": 1}]},
}
SINGLE = {
    "reading": _reading(["age", "height"], {"rows": True}, **AGE_AND_HEIGHT),
    "facts": {
        **{name: value for name, value in FACTS.items() if name != "observations_per_curve"},
        "reading_sd": 6,
    },
}
RECORDS = {
    "reading": _reading(["id", "age"], {"column": "id"}, features=[{"name": "age"}]),
    "features": [{"name": "age", "low": 0, "high": 100}],
    "facts": {"origin": "a law"},
}
EVENTS = {
    "reading": _reading(
        ["days", "end", "arm"],
        {"rows": True},
        time={"name": "days"},
        status={"name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"},
        group={"name": "arm", "kind": "word", "words": {"A": "A", "B": "B"}, "other": "missing"},
    ),
    "facts": {"time_high": 1000, "time_unit": "days", "origin": "the protocol"},
}
VISITS = {
    "reading": _reading(
        ["free", "found"], {"rows": True}, time={"name": "found"}, without={"name": "free"}
    ),
    "facts": EVENTS["facts"],
    "edges": [0, 250, 500, 750, 1000],
}
STRATA = {**EVENTS, "group_weights": [0.3, 0.7]}
LATE = {
    "reading": _reading(
        ["days", "end", "arm", "came"],
        {"rows": True},
        time={"name": "days"},
        entry={"name": "came"},
        status={"name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"},
    ),
    "facts": EVENTS["facts"],
}


def curves_csv(seed, n, with_sex=False):
    rng = np.random.default_rng(seed)
    lines = ["child,age,height" + ",sex" * with_sex]
    for k in range(n):
        sex = int(rng.random() < 0.5)
        for age in np.sort(rng.uniform(2, 18, rng.integers(2, 6))):
            height = 80 + 5.5 * age + 4 * sex + rng.normal(0, 6)
            lines.append(f"c{seed}_{k},{age:.3f},{height:.2f}" + f",{sex}" * with_sex)
    return "\n".join(lines) + "\n"


def single_csv(seed, n):
    """Children who are measured once."""
    rng = np.random.default_rng(seed)
    ages = rng.uniform(2, 18, n)
    return "age,height\n" + "".join(
        f"{age:.3f},{80 + 5.5 * age + rng.normal(0, 6):.2f}\n" for age in ages
    )


def records_csv(seed, n):
    ages = np.random.default_rng(seed).beta(4, 2, n) * 100
    return "id,age\n" + "".join(f"p{seed}_{k},{age:.3f}\n" for k, age in enumerate(ages))


def events_csv(seed, n):
    rng = np.random.default_rng(seed)
    rows = zip(
        rng.exponential(500, n),
        rng.choice(["death", "left"], n),
        rng.choice(["A", "B"], n),
        strict=True,
    )
    return "days,end,arm\n" + "".join(f"{day:.2f},{end},{arm}\n" for day, end, arm in rows)


def visits_csv(seed, n):
    """People who are seen at four visits, of whom a third are never found with the event."""
    rng = np.random.default_rng(seed)
    last = rng.integers(0, 4, n)
    found = [f"{250 * (k + 1)}" if rng.random() < 2 / 3 else "" for k in last]
    rows = zip(250 * last, found, strict=True)
    return "free,found\n" + "".join(f"{free},{first}\n" for free, first in rows)


def late_csv(seed, n):
    """People of whom most come under observation late."""
    head, *lines = events_csv(seed, n).splitlines()
    entries = np.maximum(np.random.default_rng(seed).uniform(-200, 300, n), 0)
    late = [f"{line},{entry:.2f}" for line, entry in zip(lines, entries, strict=True)]
    return "\n".join([f"{head},came", *late]) + "\n"


def with_library(monkeypatch):
    """Where the library of the extra `sites` is not installed, the same curve in whole numbers."""
    for name, module in curve25519.modules().items():
        monkeypatch.setitem(sys.modules, name, module)


def book(n=3):
    """The address book that all sites have."""
    return Keyring({name: key.public for name, key in zip(NAMES[:n], OWN, strict=False)})


def study(
    reading=CURVES,
    key="adaptive_mean",
    parameters=None,
    people=(60, 50, 70),
    epsilon=3.0,
    name="growth",
    scheme=Scheme.HMAC,
    honest=None,
):
    return {
        "version": 1,
        "name": name,
        "data": reading,
        "mechanism": {"key": key, "parameters": parameters or {}},
        "authentication": scheme.value,
        **({} if honest is None else {"sums": {"honest": honest}}),
        "sites": [
            {"name": site, "people": n, "epsilon": epsilon}
            for site, n in zip(NAMES, people, strict=False)
        ],
    }


def summed(honest=2, people=(40, 30, 50), **settings):
    """The study of sites of which only sums are read."""
    return study(people=people, scheme=Scheme.ED25519, honest=honest, **settings)


def planned(**settings):
    return plan_of(study(**settings))


def plan_of(stated):
    """A plan of a study with offers that nobody keeps, for sites that share a secret."""
    checked = SiteStudy.of(stated)
    return SitePlan.of(
        checked,
        [
            Offer(site=member.name, study=checked.digest, nonce=f"{k:032x}").signed(KEY)
            for k, member in enumerate(checked.members)
        ],
    )


def stores(folder, n=3):
    return [SecretStore(folder / f"{name}.sqlite3.offers") for name in NAMES[:n]]


def agreed(stated, folder, keys=None):
    """The parties of a study whose plan all of them have signed off, and their sign-offs."""
    checked = SiteStudy.of(stated) if isinstance(stated, dict) else stated
    n = len(checked.members)
    keys = keys or ([KEY] * n if checked.scheme is Scheme.HMAC else OWN[:n])
    ring = RING if checked.scheme is Scheme.HMAC else book(n)
    kept = stores(folder, n)
    plan = SitePlan.of(
        checked,
        [
            agreement.offered(checked, member.name, key, store)
            for member, key, store in zip(checked.members, keys, kept, strict=True)
        ],
    )
    parties = [
        Party(SitePlan.read(plan.to_bytes()), k, key, ring, store)
        for k, (key, store) in enumerate(zip(keys, kept, strict=True))
    ]
    return parties, tuple(party.sign_off(plan.words[0]) for party in parties)


def files_of(study):
    """The file of each site, as text."""
    columns = study.reading["reading"]["columns"]
    make = (
        late_csv
        if "entry" in columns
        else visits_csv
        if "without" in columns
        else events_csv
        if "status" in columns
        else records_csv
        if "features" in columns
        else single_csv
        if "reading_sd" in study.reading["facts"]
        else lambda seed, n: curves_csv(seed, n, "covariates" in columns)
    )
    return [make(11 + k, member.people) for k, member in enumerate(study.members)]


def opened(stated, folder, files=None, keys=None):
    """The sites of a study that all signed off, with ledgers in the folder."""
    return seated(*agreed(stated, folder, keys), folder, files)


def seated(parties, sign_offs, folder, files=None):
    """The sites of parties that have agreed, with their files, and with ledgers in the folder."""
    checked = parties[0].plan.study
    files = files_of(checked) if files is None else files
    return [
        Site(
            SignedPlan(party, sign_offs),
            source_of(party.plan.study, party.index, text.encode()),
            Ledger(folder / f"{party.name}.sqlite3"),
        )
        for party, text in zip(parties, files, strict=True)
    ]


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
    """Noise of size nothing, in shares as well: what is sent is what stands on the lattice."""

    def exact(self, values):
        return np.array(self.whole(values), dtype=float).reshape(np.shape(values)) * 2.0**-self.bits

    for kind in (LatticeNoise, LatticeShares, CountNoise, CountShares):
        noise_is(monkeypatch, kind, exact)
        if hasattr(kind, "share"):
            noise_is(monkeypatch, kind, lambda self, values: self.whole(values), "share")


def noise_is(monkeypatch, kind, sent, name="__call__"):
    """Have noise of one kind send what `sent` makes of it and of the values."""
    monkeypatch.setattr(kind, name, sent)


def protocol(plan):
    return Protocol(plan)


def spent(site):
    """The ε that the ledger of a site has charged its people, and the names of the releases."""
    return (
        ledgers.spent(site.ledger, site.source),
        [name for name, _ in ledgers.charges(site.ledger, site.source)],
    )


def run_of(sites, wire):
    """All that the centre has heard."""
    agreed_on = sites[0].agreement
    return SiteRun(agreed_on.plan, agreed_on.sign_offs, tuple(read(wire)))
