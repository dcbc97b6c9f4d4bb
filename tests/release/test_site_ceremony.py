"""Before sites draw: offers, one plan of equal bytes, sign-offs of all; and what attackers try.

Each attack ends in a refusal before anything is charged. The adversary is the planner, the centre,
the network, and some of the sites.
"""

import copy
import json
import random
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.release import certified
from engine.release.ledger import Ledger
from engine.release.plan import versions
from engine.sites import agreement, centre, messages, pads, partners, spoken, words
from engine.sites.agreement import Party, SignedPlan
from engine.sites.folder import Folder
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Key, Keyring, Scheme
from engine.sites.site import Site, ordered, unreadable_rounds, withdrawn
from engine.sites.statements import Offer, SignOff, Withdrawal, signed_bytes
from engine.sites.study import SiteStudy, written
from tests.sentences import of_topic
from tests.site_runs import (
    EVENTS,
    FACTS,
    NAMES,
    OWN,
    agreed,
    book,
    opened,
    read,
    run,
    run_of,
    seated,
    silence,
    spent,
    stores,
    study,
    summed,
    with_library,
)

wording = of_topic("sites")

COUNTS = dict(reading=EVENTS, key="noisy_counts", people=(40, 30, 50), epsilon=2.0)
OUTSIDER = Key(Scheme.ED25519, b"\x77" * 32)


@pytest.fixture(autouse=True)
def _library(monkeypatch):
    with_library(monkeypatch)


@pytest.fixture
def stated():
    """The cheapest study with masked sums."""
    return SiteStudy.of(summed(**COUNTS))


@pytest.fixture
def offers(stated, tmp_path):
    return [
        agreement.offered(stated, name, key, store)
        for name, key, store in zip(NAMES, OWN, stores(tmp_path), strict=False)
    ]


@pytest.fixture
def plan(stated, offers):
    return SitePlan.of(stated, offers)


def party(plan, tmp_path, site=0, **more):
    return Party(plan, site, OWN[site], book(), stores(tmp_path)[site], **more)


def charged(tmp_path):
    """The ledgers that were written to."""
    return sorted(path.stem for path in tmp_path.glob("*.sqlite3"))


# -- one plan --------------------------------------------------------------------------------------


def test_whoever_has_the_study_and_all_offers_makes_the_same_plan(stated, offers, plan):
    again = SiteStudy.read(written(stated.plain).decode())
    assert again.digest == stated.digest
    assert SitePlan.of(again, offers[::-1]).to_bytes() == plan.to_bytes()


def test_a_plan_is_read_back_byte_for_byte_and_names_no_key(plan):
    content = plan.to_bytes()
    assert SitePlan.read(content).to_bytes() == content
    assert SitePlan.read(content).digest == plan.digest
    assert not any(key.public in content.decode() for key in OWN[:3])


def test_people_may_write_a_study_as_they_like_and_its_digest_is_one(stated):
    short = {key: value for key, value in stated.plain.items() if key != "authentication"}
    short["mechanism"] = {"key": "noisy_counts"}
    short["sites"] = [{**site, "epsilon": 2} for site in short["sites"]]
    text = json.dumps(dict(reversed(short.items())), indent=7)
    assert SiteStudy.read(text).digest == stated.digest


def test_each_study_has_fresh_offers_and_an_offer_is_made_once(stated, offers, tmp_path):
    assert agreement.offered(stated, "north", OWN[0], stores(tmp_path)[0]) == offers[0]
    other = SiteStudy.of(summed(**COUNTS, name="another"))
    second = agreement.offered(other, "north", OWN[0], stores(tmp_path)[0])
    assert second.pads != offers[0].pads and second.nonce != offers[0].nonce
    assert len({offer.pads for offer in offers}) == 3
    elsewhere = agreement.offered(stated, "north", OWN[0], SecretStore(tmp_path / "fresh"))
    assert (
        SitePlan.of(stated, [elsewhere, *offers[1:]]).digest != SitePlan.of(stated, offers).digest
    )


def test_an_offer_that_is_taken_back_leaves_no_secret_and_signs_nothing(stated, plan, tmp_path):
    store, there = stores(tmp_path)[0], Folder(tmp_path)
    there.say(plan.offers[0])
    with store.entry(stated.digest, "north") as entry:
        secret = entry.secret
    assert secret in store.path.read_bytes()
    for _ in range(2):
        there.take_away(agreement.taken_back(stated, "north", store))
    assert secret not in store.path.read_bytes() and there.offers() == []
    with pytest.raises(InputError, match="has ended"):
        party(plan, tmp_path).sign_off(plan.words[0])
    with pytest.raises(InputError, match="has ended"):
        agreement.offered(stated, "north", OWN[0], store)
    party(plan, tmp_path, 1).sign_off(plan.words[0])
    for name, k in (("south", 1), ("north", 2)):  # one that signed a plan, and one without an offer
        with pytest.raises(InputError, match=r"south has signed off|north has made no offer"):
            agreement.taken_back(stated, name, stores(tmp_path)[k])


def test_the_secret_of_an_offer_is_for_its_owner_alone_and_not_in_the_offer(
    stated, offers, tmp_path
):
    store = stores(tmp_path)[0]
    with store.entry(stated.digest, "north") as entry:
        assert pads.public_half(entry.secret) == offers[0].pads
        assert entry.secret.hex() not in offers[0].to_bytes().decode() + repr(entry)
    assert store.path.stat().st_mode & 0o077 == 0


def places(plain, path=()):
    """Every object and list of a document, with the way to it."""
    if isinstance(plain, dict | list):
        yield path
        for key, value in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from places(value, (*path, key))


def leaves(plain, path=()):
    if isinstance(plain, dict | list):
        for key, value in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from leaves(value, (*path, key))
    else:
        yield path


def at(plain, path):
    for key in path:
        plain = plain[key]
    return plain


def refused(content, ring=None):
    """True if a site would not go on with these bytes for a plan."""
    try:
        agreement.check_offers(SitePlan.read(content), ring or book())
    except InputError:
        return True
    return False


def mutants(content, rng):
    """Plans in which something differs: a byte, a key anywhere, a leaf by as little as can be."""
    plain = json.loads(content)
    for place in rng.sample(range(len(content)), 400):
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        yield bytes(changed)
    for path in places(plain):
        changed = copy.deepcopy(plain)
        parent = at(changed, path)
        if isinstance(parent, dict):
            parent["z"] = 1
        else:
            parent.append(copy.deepcopy(parent[-1]) if parent else "z")
        yield written(changed)
    for path in leaves(plain):
        for step in (1, -1):
            changed = copy.deepcopy(plain)
            value = at(changed, path)
            at(changed, path[:-1])[path[-1]] = (
                f"{value}a"
                if isinstance(value, str) and step > 0
                else value[:-1]
                if isinstance(value, str)
                else not value
                if isinstance(value, bool)
                else (value or 1) * (1 + step * 1e-9)
            )
            yield written(changed)
    yield content + b"\n"
    yield b"\xef\xbb\xbf" + content
    yield content.replace(b"\n", b"\r\n")
    yield json.dumps(plain).encode()


def test_every_mutant_of_a_plan_is_refused(plan):
    """Flipped bits, a key in every place, every text by a letter, every number by 1e-9."""
    content = plan.to_bytes()
    tried = {mutant for mutant in mutants(content, random.Random(1)) if mutant != content}
    assert len(tried) > 500 and not refused(content)
    assert [mutant for mutant in tried if not refused(mutant)] == []


def test_plans_that_differ_in_any_byte_have_other_digests(stated, offers):
    """Also where every part of them is signed by those whom it names."""
    digests = {SitePlan.of(stated, offers).digest}
    for changed in (
        dict(name="growth2"),
        dict(people=(41, 30, 50)),
        dict(epsilon=2 + 1e-9),
        dict(honest=1),
    ):
        other = SiteStudy.of(summed(**{**COUNTS, **changed}))
        signed = [
            replace(offer, study=other.digest).signed(key)
            for offer, key in zip(offers, OWN, strict=False)
        ]
        digests.add(SitePlan.of(other, signed).digest)
    assert len(digests) == 5


def test_the_words_of_a_plan_spell_all_of_its_digest(plan):
    digest = bytes.fromhex(plan.digest)
    assert [len(group.split("-")) for group in plan.words] == [4] * 4
    spelled = "-".join(plan.words).split("-")
    for k in range(32):
        changed = bytearray(digest)
        changed[k] ^= 1
        other = spoken.words(bytes(changed))
        assert [place for place in range(16) if other[place] != spelled[place]] == [k // 2]


def test_keys_are_compared_by_eight_words_and_another_key_for_a_name_is_refused(tmp_path):
    path = tmp_path / "partners.json"
    partners.add(path, "south", OWN[1].public)
    partners.add(path, "east", OWN[2].public)
    partners.add(path, "south", OWN[1].public)
    held = partners.read(path.read_text())
    assert held.keys == {"east": OWN[2].public, "south": OWN[1].public}
    assert len(set(spoken.of_key(OWN[1].public).split("-"))) == 8
    for name, key, why in (
        ("south", OWN[0].public, "another key for south"),
        ("west", OWN[1].public, "has this key already"),
        ("west", "00", "64 hexadecimal"),
        ("We st", "0" * 64, "site's name"),
    ):
        with pytest.raises(InputError, match=why):
            partners.add(path, name, key)
    for text in (
        "{}",
        '{"kind": "partners", "version": 1, "keys": {"a": "b"}}',
        '{"kind": "partners", "version": 1, "keys": {}, "z": 1}',
    ):
        with pytest.raises(InputError):
            partners.read(text)


# -- attacks ---------------------------------------------------------------------------------------


def test_two_plans_that_were_made_to_collide_are_refused(plan):
    """A planner who tries plan after plan needs a place where anything may stand."""
    for colliding in ("00173a", "0b1c22"):
        plain = json.loads(plan.to_bytes())
        plain["versions"]["z"] = colliding
        with pytest.raises(InputError, match=r"versions of this plan are not those .*: z\.") as why:
            SitePlan.read(written(plain))
        assert colliding not in str(why.value)
    for name in versions():
        plain = json.loads(plan.to_bytes())
        plain["versions"][name] += "1"
        with pytest.raises(InputError, match=f"not those of this program: {name}"):
            SitePlan.read(written(plain))


def test_pads_of_the_planner_in_place_of_those_of_other_sites_are_refused(stated, offers, tmp_path):
    """All but one would be read alone: the planner knows every pad of that site."""
    own = [
        replace(offer, pads=pads.public_half(bytes([k + 9] * 32))).signed(OUTSIDER)
        for k, offer in enumerate(offers)
    ]
    with pytest.raises(
        InputError, match="offer of south is not signed by the key this site holds for south"
    ):
        party(SitePlan.of(stated, [offers[0], own[1], own[2]]), tmp_path)
    unsigned = replace(offers[1], pads=own[1].pads)
    with pytest.raises(InputError, match="offer of south is not signed"):
        party(SitePlan.of(stated, [offers[0], unsigned, offers[2]]), tmp_path)
    assert charged(tmp_path) == []


@pytest.mark.parametrize("point", ["00" * 32, "01" + "00" * 31])
def test_a_partner_whose_key_for_pads_agrees_on_nothing_is_refused_before_a_charge(
    point, stated, offers, tmp_path
):
    """With a point of small order the pad of everybody would be known."""
    south = replace(offers[1], pads=point).signed(OWN[1])
    with pytest.raises(InputError, match="key for pads of the plan is none"):
        party(SitePlan.of(stated, [offers[0], south, offers[2]]), tmp_path)
    assert charged(tmp_path) == []


def test_a_plan_with_another_offer_of_this_site_than_it_made_is_refused(stated, offers, tmp_path):
    """Even one that its own key has signed, such as by a copy of this site."""
    copied = agreement.offered(stated, "north", OWN[0], SecretStore(tmp_path / "copy"))
    with pytest.raises(InputError, match="does not have the offer that north made"):
        party(SitePlan.of(stated, [copied, *offers[1:]]), tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("sites", 0),
        ("data",),
        ("data", "facts"),
        ("sums",),
        ("data", "reading"),
        ("data", "reading", "frame"),
        ("data", "reading", "columns"),
        ("mechanism",),
        ("mechanism", "parameters"),
    ],
)
@pytest.mark.parametrize("key", ["secret", "pads", "z"])
def test_a_key_in_a_study_that_nobody_reads_is_refused_by_name(path, key):
    plain = copy.deepcopy(summed(**COUNTS))
    at(plain, path)[key] = OUTSIDER.public
    with pytest.raises(InputError, match=f"no (key|parameter) '{key}'|{key}"):
        SiteStudy.of(plain)


def test_nothing_is_charged_before_all_sites_have_signed_off(plan, tmp_path):
    parties = [party(plan, tmp_path, k) for k in range(3)]
    signed = [each.sign_off(plan.words[0]) for each in parties]
    with pytest.raises(InputError, match=r"^east has not signed off"):
        SignedPlan(parties[0], tuple(signed[:2]))
    with pytest.raises(InputError, match="south and east have not signed off"):
        SignedPlan(parties[0], (signed[0],))
    assert charged(tmp_path) == []


def test_a_sign_off_of_another_plan_or_by_another_key_is_refused(plan, offers, stated, tmp_path):
    parties = [party(plan, tmp_path, k) for k in range(3)]
    signed = [each.sign_off(plan.words[0]) for each in parties]
    forged = replace(signed[2], at="2026-01-01T00:00:00+00:00")
    by_south = forged.signed(OWN[1])
    for wrong in (forged, by_south):
        with pytest.raises(InputError, match="sign-off of east is not signed by the key"):
            SignedPlan(parties[0], (*signed[:2], wrong))
    other = replace(signed[2], plan="0" * 64).signed(OWN[2])
    with pytest.raises(InputError, match="east has signed off another plan"):
        SignedPlan(parties[0], (*signed[:2], other))
    nobody = replace(signed[2], site="west").signed(OWN[2])
    with pytest.raises(InputError, match="no site 'west'"):
        SignedPlan(parties[0], (*signed, nobody))
    assert charged(tmp_path) == []


def test_a_sign_off_that_somebody_else_made_with_the_key_of_this_site_is_not_its_own(
    plan, tmp_path
):
    signed = [party(plan, tmp_path, k).sign_off(plan.words[0]) for k in (1, 2)]
    copied = SignOff(site="north", plan=plan.digest, at=signed[0].at).signed(OWN[0])
    with pytest.raises(InputError, match="north has not signed off this plan itself"):
        SignedPlan(party(plan, tmp_path), (copied, *signed))


def test_a_site_without_a_key_in_its_own_book_is_asked_for_it(plan, tmp_path):
    lonely = Keyring({"south": OWN[1].public})
    with pytest.raises(InputError, match="No key is held for east"):
        Party(plan, 0, OWN[0], lonely, stores(tmp_path)[0])


def test_fewer_honest_sites_than_a_site_accepts_are_refused(plan, tmp_path):
    assert party(plan, tmp_path, honest_at_least=2)
    with pytest.raises(
        InputError, match="relies on 2 honest sites, and north accepts no fewer than 3"
    ):
        party(plan, tmp_path, honest_at_least=3)
    assert charged(tmp_path) == []


def test_a_site_signs_one_plan_for_each_offer(stated, offers, plan, tmp_path):
    first = party(plan, tmp_path)
    signed = first.sign_off(plan.words[0].upper() + " ")
    assert signed == first.sign_off(plan.words[0]) == first.signed_off()
    again = agreement.offered(stated, "east", OWN[2], SecretStore(tmp_path / "copy"))
    other = party(SitePlan.of(stated, [*offers[:2], again]), tmp_path)
    assert other.signed_off() is None
    with pytest.raises(InputError, match="north has signed another plan of this study"):
        other.sign_off(other.plan.words[0])
    assert first.signed_off() == signed


def test_other_words_sign_nothing(plan, tmp_path):
    site = party(plan, tmp_path)
    for typed in ("", plan.words[1], plan.digest, plan.words[0][:-1]):
        with pytest.raises(InputError, match="not the first words of the plan"):
            site.sign_off(typed)
    assert site.signed_off() is None


def test_offers_that_do_not_belong_together_make_no_plan(stated, offers):
    doubled = replace(offers[1], pads=offers[0].pads).signed(OWN[1])
    echoed = replace(offers[1], nonce=offers[0].nonce).signed(OWN[1])
    other = replace(offers[1], study="0" * 64).signed(OWN[1])
    bare = replace(offers[1], pads="").signed(OWN[1])
    stranger = replace(offers[1], site="west").signed(OWN[1])
    for listed, why in (
        (offers[:2], "No offer of east"),
        ([*offers, offers[0]], "given twice"),
        ([offers[0], doubled, offers[2]], "two sites made the same"),
        ([offers[0], echoed, offers[2]], "two sites made the same"),
        ([offers[0], other, offers[2]], "for another study"),
        ([offers[0], bare, offers[2]], "has no key for pads"),
        ([*offers, stranger], "no site 'west'"),
    ):
        with pytest.raises(InputError, match=why):
            SitePlan.of(stated, listed)


def test_statements_are_one_line_of_known_keys_and_kinds_do_not_pass_for_each_other(offers, plan):
    signed = SignOff(site="north", plan=plan.digest, at="2026-01-01T00:00:00+00:00").signed(OWN[0])
    back = Withdrawal(site="north", plan=plan.digest, round=0).signed(OWN[0])
    for statement in (offers[0], signed, back):
        content = statement.to_bytes()
        kind = type(statement)
        assert kind.read(content, "it") == statement and statement.is_signed(book())
        for wrong in (
            b"",
            b"{}",
            b"[]",
            b"\xff",
            content + b" ",
            content.replace(b"{", b'{"z": 1, '),
            content.replace(b'"version": 1', b'"version": true'),
            content.replace(b"north", b"No rth"),
            content * 50,
        ):
            with pytest.raises(InputError, match=r"^it is"):
                kind.read(wrong, "it")
        for other in {Offer, SignOff, Withdrawal} - {kind}:
            with pytest.raises(InputError, match=f"no {other.kind}"):
                other.read(content, "it")
    with pytest.raises(InputError):
        SignOff.read(replace(signed, at="2026-13-41T00:00:00+00:00").to_bytes(), "it")
    assert len({signed_bytes(each.body) for each in (offers[0], signed, back)}) == 3


HOSTILE = {
    "a name of control characters": lambda s: s.update(name="a\u202eb"),
    "a name that is a number": lambda s: s.update(name=5),
    "no name": lambda s: s.pop("name"),
    "another version": lambda s: s.update(version=2),
    "an unknown scheme": lambda s: s.update(authentication="none"),
    "a scheme that is a list": lambda s: s.update(authentication=["ed25519"]),
    "one secret": lambda s: s.update(authentication="hmac-sha256"),
    "sums of nobody": lambda s: s.update(sums={"honest": 0}),
    "sums of everybody": lambda s: s.update(sums={"honest": 3}),
    "sums of half a site": lambda s: s.update(sums={"honest": 1.5}),
    "sums of true": lambda s: s.update(sums={"honest": True}),
    "sums that are none": lambda s: s.update(sums=None),
    "ε without end": lambda s: s["sites"][1].update(epsilon="inf"),
    "ε of nothing": lambda s: s["sites"][1].update(epsilon=0),
    "ε below nothing": lambda s: s["sites"][1].update(epsilon=-1),
    "ε that is text": lambda s: s["sites"][1].update(epsilon="1"),
    "δ of one": lambda s: s["sites"][1].update(delta=1.0),
    "half a person": lambda s: s["sites"][1].update(people=30.5),
    "true people": lambda s: s["sites"][1].update(people=True),
    "a billion people": lambda s: s["sites"][1].update(people=10**9),
    "a site twice": lambda s: s["sites"][1].update(name="north"),
    "a site that is a path": lambda s: s["sites"][1].update(name="../north"),
    "a site without a name": lambda s: s["sites"][1].pop("name"),
    "a site that is text": lambda s: s["sites"].append("west"),
    "a hundred and one sites": lambda s: s.update(
        sites=[{"name": f"s{k}", "people": 30, "epsilon": 1.0} for k in range(101)]
    ),
    "sites by name": lambda s: s.update(sites={"north": {}}),
    "a file": lambda s: s["data"].update(file="/etc/passwd"),
    "data that are text": lambda s: s.update(data="heights.csv"),
    "a source in place of data": lambda s: s.update(source={"key": "sparse_curves"}),
    "a bound the wrong way round": lambda s: s["data"]["facts"].update(time_high=-1),
    "a bound without a source": lambda s: s["data"]["facts"].pop("origin"),
    "a method that nobody has": lambda s: s["mechanism"].update(key="no_noise"),
    "a setting that nobody has": lambda s: s["mechanism"].update(parameters={"noise_scale": 0}),
    "a method that needs a centre": lambda s: s.update(
        mechanism={"key": "univariate_mean", "parameters": {"setting": "central_user"}}
    ),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_planner_gets_no_offer(change, tmp_path):
    """What cannot be is refused when the study is read, before a secret is made or a row read."""
    plain = copy.deepcopy(summed(**COUNTS))
    change(plain)
    with pytest.raises(InputError):
        agreement.offered(SiteStudy.of(plain), "north", OWN[0], stores(tmp_path)[0])
    assert list(tmp_path.iterdir()) == []


PLANNED = {
    "noise that was lowered": lambda p: p["noise"]["messages"][0].__setitem__(3, 1e-3),
    "no noise": lambda p: p.pop("noise"),
    "an inner ε": lambda p: p["noise"].update(inner=9.0),
    "offers by name": lambda p: p.update(offers={}),
    "no offers": lambda p: p.update(offers=[]),
    "offers in another order": lambda p: p["offers"].reverse(),
    "a time": lambda p: p.update(made="2026-01-01"),
    "a run": lambda p: p.update(run="0" * 32),
    "an earlier version": lambda p: p.update(version=1),
    "versions that are a list": lambda p: p.update(versions=[]),
    "another kind": lambda p: p.update(kind="plan"),
    "more people": lambda p: p["study"]["sites"][0].update(people=400),
    "more ε": lambda p: p["study"]["sites"][0].update(epsilon=9.0),
    "fewer honest sites": lambda p: p["study"]["sums"].update(honest=1),
    "another origin": lambda p: p["study"]["data"]["facts"].update(origin="the protocol "),
    "a key of a site": lambda p: p["study"]["sites"][0].update(key=OUTSIDER.public),
    "a column": lambda p: p["study"]["data"]["reading"]["person"].update(column="age"),
}


@pytest.mark.parametrize("change", PLANNED.values(), ids=PLANNED)
def test_a_hostile_plan_is_refused_before_a_charge(change, plan, tmp_path):
    plain = json.loads(plan.to_bytes())
    change(plain)
    with pytest.raises(InputError):
        party(SitePlan.read(written(plain)), tmp_path)
    assert charged(tmp_path) == []


# -- masked sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [COUNTS, dict(people=(40, 30, 50))], ids=["counts", "curves"])
def test_the_sum_of_masked_messages_is_the_sum_of_exact_ones_and_every_one_is_uniform(
    settings, tmp_path, monkeypatch
):
    """Without noise the release is the one that a single centre makes of all records."""
    silence(monkeypatch)
    sites = opened(summed(**settings), tmp_path)
    wire = run(sites)
    heard = run_of(sites, wire)
    told = heard.protocol.messages(heard.checked(book()))
    data, checked = sites[0].study.stand_in, sites[0].study
    for site in sites:
        order = site.charge.stored()[len(site.protocol.turns)]
        data = data.with_site(
            site.party.index, ordered(certified.publishable_data(site.source), order)
        )
    _, sent = certified.hardened(data.pooled(), checked.mechanism, checked.draft.cost)
    for key, values in told.items():
        step = 2.0 ** -heard.protocol.turns[0].noise.bits
        assert np.abs(values - sent[key]).max() <= len(sites) * step
    masked = (
        np.array(
            [
                number % 2**64
                for content in wire.values()
                for number in json.loads(content)["body"]["numbers"]
            ],
            dtype=float,
        )
        / 2**64
    )
    assert abs(masked.mean() - 0.5) < 6 / np.sqrt(12 * len(masked))


def test_sites_that_were_told_other_things_send_what_does_not_fit_together(tmp_path):
    """Pads of different pasts do not cancel: the round is lost, and nothing is read."""
    plan_of_curves = summed(people=(40, 30, 50))
    sites = opened(plan_of_curves, tmp_path)
    first = [next(iter(site.answers([]).values())) for site in sites]
    body = json.loads(first[2])["body"]
    other = {**body, "numbers": [number ^ 1 for number in body["numbers"]]}
    lie = messages.SignedMessage(other, OWN[2].sign(signed_bytes(other)))
    seen = [messages.read(content, "") for content in first]
    north = sites[0].answers(seen)
    south = sites[1].answers([*seen[:2], lie])
    digests = {json.loads(list(told.values())[1])["body"]["heard"] for told in (north, south)}
    assert len(digests) == 2
    with pytest.raises(InputError, match="follows other messages"):
        sites[0].answers([*seen, messages.read(list(south.values())[1], "")])


def test_the_context_of_a_pad_is_the_plan_the_round_and_the_past(monkeypatch, tmp_path):
    contexts, mask = [], pads.mask

    def overheard(secret, publics, site, context, n):
        contexts.append((site, context))
        return mask(secret, publics, site, context, n)

    monkeypatch.setattr(pads, "mask", overheard)
    sites = opened(summed(people=(40, 30, 50)), tmp_path)
    run(sites)
    protocol = sites[0].protocol
    assert len(set(contexts)) == len(contexts) == len(protocol.turns)
    assert len({context for _, context in contexts}) == protocol.n_rounds
    assert all(context.startswith(protocol.plan.digest.encode()) for _, context in contexts)


def test_killed_at_every_message_sites_send_the_same_and_are_charged_once(tmp_path):
    sites = opened(summed(people=(40, 30, 50)), tmp_path)

    def again(site):
        kept = replace(site.party, store=SecretStore(site.party.store.path))
        return Site(
            SignedPlan(kept, site.agreement.sign_offs), site.source, Ledger(site.ledger.path)
        )

    wire = {}
    while len(wire) < len(sites[0].protocol.turns):
        for site in sites:
            first, second = (again(site).answers(read(wire)) for _ in range(2))
            assert first == second
            wire.update({turn.position: content for turn, content in second.items()})
    for site in sites:
        made = again(site).finished(read(wire))
        assert again(site).answers(read(wire)) == {
            turn: wire[turn.position] for turn in site.protocol.of_site(site.party.index)
        }
        epsilon, names = spent(site)
        assert epsilon == pytest.approx(
            site.study.cost(site.party.index).certified.epsilon, abs=1e-9
        )
        assert names == ["growth"] and made is not None
        with site.party.entry() as entry:
            assert entry.secret == b"" and entry.is_ended


# -- who drops out ---------------------------------------------------------------------------------


def test_a_site_that_withdrew_draws_nothing_more_and_is_charged_the_round_that_it_drew(tmp_path):
    sites = opened(summed(people=(40, 30, 50)), tmp_path)
    north, south, east = sites
    wire = {
        turn.position: content
        for site in (north, south)
        for turn, content in site.answers([]).items()
    }
    with north.party.entry() as entry:
        secret = entry.secret
    before = spent(north)
    back = withdrawn(north.party, north.ledger)
    assert back.round == 1 and back.is_signed(book()) and back.plan == north.agreement.plan.digest
    assert withdrawn(north.party, north.ledger) == back
    kept = spent(north)
    assert 0 < kept[0] < before[0] and kept[1] == before[1]
    with north.party.entry() as entry:
        assert entry.secret == b"" and entry.is_ended
    assert secret and secret not in north.party.store.path.read_bytes()
    late = [*read(wire), *(messages.read(content, "") for content in east.answers([]).values())]
    with pytest.raises(InputError, match="part in this study has ended"):
        Site(north.agreement, north.source, Ledger(north.ledger.path)).answers(late)
    with pytest.raises(InputError, match="part in this study has ended"):
        north.party.sign_off(north.agreement.plan.words[0])
    with pytest.raises(InputError, match="part in this study has ended"):
        agreement.offered(north.study, "north", OWN[0], north.party.store)


def test_a_site_that_withdraws_before_it_is_charged_never_is(tmp_path):
    sites = opened(summed(**COUNTS), tmp_path)
    east = sites[2]
    assert withdrawn(east.party, east.ledger).round == 0
    with pytest.raises(InputError, match="has ended"):
        east.answers([])
    assert "east" not in charged(tmp_path)


def test_a_finished_release_cannot_be_withdrawn(tmp_path):
    sites = opened(summed(**COUNTS), tmp_path)
    wire = run(sites)
    sites[0].finished(read(wire))
    with pytest.raises(InputError, match="finished"):
        withdrawn(sites[0].party, sites[0].ledger)


def test_a_round_is_lost_for_ever_only_if_an_honest_site_has_withdrawn_it(plan):
    """One withdrawal may be of the dishonest site, which kept its secret."""
    protocol = Protocol(plan)
    back = {
        name: Withdrawal(site=name, plan=plan.digest, round=0).signed(key)
        for name, key in zip(NAMES, OWN, strict=False)
    }
    assert unreadable_rounds(protocol, [back["east"]]) == []
    assert unreadable_rounds(protocol, [back["east"], back["east"]]) == []
    assert unreadable_rounds(protocol, [back["east"], back["south"]]) == [0]
    later = replace(back["south"], round=protocol.n_rounds).signed(OWN[1])
    assert unreadable_rounds(protocol, [back["east"], later]) == []
    agreement.check_withdrawals(plan, [*back.values()], book())
    for wrong in (
        replace(back["east"], round=1),
        replace(back["east"], plan="0" * 64).signed(OWN[2]),
    ):
        with pytest.raises(InputError, match="withdrawal of east"):
            agreement.check_withdrawals(plan, [wrong], book())


def test_every_message_that_has_all_of_its_noise_stays_charged_when_others_withdraw(tmp_path):
    parties, _ = agreed(study(key="bernstein", people=(40, 30)), tmp_path)
    back = [withdrawn(each, Ledger(tmp_path / f"{each.name}.sqlite3")) for each in parties]
    assert unreadable_rounds(Protocol(parties[0].plan), back) == []


# -- the folder and the words ----------------------------------------------------------------------


def test_a_folder_carries_statements_and_a_renamed_or_half_written_one_is_noticed(offers, tmp_path):
    (tmp_path / "through").mkdir()
    there = Folder(tmp_path / "through")
    path = there.say(offers[0])
    there.say(offers[1])
    assert there.offers() == offers[:2] and there.sign_offs() == there.withdrawals() == []
    path.write_bytes(offers[0].to_bytes()[:40])
    assert there.offers() == [offers[1]] and there.unfinished == ["offer-north.json"]
    path.write_bytes(offers[1].to_bytes())
    with pytest.raises(InputError, match=r"offer-north\.json holds something else than its name"):
        there.offers()


def test_the_checklist_says_who_is_waited_for(stated, plan):
    signed = [
        SignOff(site="north", plan=plan.digest, at="2026-01-01T00:00:00+00:00"),
        SignOff(site="south", plan="0" * 64, at="2026-01-01T00:00:00+00:00"),
    ]
    listed = words.checklist(stated, ["north", "south"], signed, plan)
    assert listed == {
        "site": list(NAMES),
        "offer": ["✓", "✓", "waited for"],
        "sign-off": ["✓", "of another plan", "waited for"],
    }


def test_what_a_site_signs_says_on_whom_it_relies(plan):
    text = "\n".join(words.sign_off(plan, 0))
    wording.found("sites yours among", text, 2)
    wording.found("checked partners’ keys", text)
    assert all(group in text for group in plan.words)
    wording.missing("adds own noise", text)


def test_a_centre_makes_the_release_of_masked_sums_and_one_exchanged_message_voids_it(tmp_path):
    sites = opened(summed(**COUNTS), tmp_path)
    wire = run(sites)
    heard = run_of(sites, wire)
    made = centre.released(heard, heard.checked(book()))
    assert made.at == max(sign_off.at for sign_off in heard.sign_offs)
    body = json.loads(wire[2])["body"]
    other = {**body, "numbers": [number ^ 1 << 60 for number in body["numbers"]]}
    lie = messages.SignedMessage(other, OWN[2].sign(signed_bytes(other)))
    forged = replace(heard, messages=(*heard.messages[:2], lie))
    with pytest.raises(InputError, match="do not cancel"):
        centre.released(forged, forged.checked(book()))


def test_parties_with_copied_stores_agree_as_well(tmp_path):
    parties, sign_offs = agreed(summed(**COUNTS), tmp_path)
    (site, *_) = seated(parties, sign_offs, tmp_path)
    assert site.answers([]) and FACTS["origin"] not in repr(site.party.key)
