"""Sites that keep their files: the same release as in one process, drawn once, and nothing else told."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.release import certified, partial, published
from engine.release.books import Charge
from engine.release.ledger import Ledger
from engine.sites import centre, messages, words
from engine.sites.messages import SignedMessage
from engine.sites.protocol import multiples
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Key, Keyring, Scheme, key_of, new_key, write_key
from engine.sites.site import Site, new_order, ordered, source_of
from engine.sites.statements import signed_bytes
from engine.sites.study import SiteStudy
from tests.heavy import few
from tests.site_runs import (
    CURVES,
    EVENTS,
    FACTS,
    KEY,
    LATE,
    RECORDS,
    RING,
    SINGLE,
    STRATA,
    VISITS,
    WITH_SEX,
    curves_csv,
    files_of,
    opened,
    planned,
    protocol,
    read,
    run,
    run_of,
    silence,
    spent,
    study,
    with_library,
)

AVERAGE = {"setting": "site_user"}
FITTING = [
    (CURVES, "bernstein", {}),
    (EVENTS, "noisy_counts", {}),
    (CURVES, "adaptive_mean", {}),
    (LATE, "noisy_counts", {}),
    (STRATA, "noisy_counts", {}),
    (VISITS, "noisy_counts", {}),
    (CURVES, "univariate_mean", AVERAGE),
    (WITH_SEX, "adaptive_coefficients", {}),
    (CURVES, "adaptive_mean", {"releases": "separate"}),
    (CURVES, "adaptive_mean", {"band": "none"}),
    (CURVES, "noisy_gradient_mean", {"n_iterations": 3}),
    (CURVES, "noisy_gradient_mean", {"scheme": "split", "n_iterations": 3}),
    (WITH_SEX, "noisy_gradient_coefficients", {"n_iterations": 3}),
    (CURVES, "iclp", {}),
    (CURVES, "frl", {}),
    (CURVES, "gaussian_process", {}),
    (SINGLE, "wavelet_global", {}),
    (SINGLE, "wavelet_adaptive", {}),
    (RECORDS, "iclp", {"task": "density"}),
    (RECORDS, "frl", {"task": "density"}),
]


CHEAP = dict(key="noisy_gradient_mean", parameters={"n_iterations": 2}, people=(40, 30))


@pytest.fixture(scope="module")
def checked():
    """The cheapest study whose run has several rounds."""
    return SiteStudy.of(study(**CHEAP))


@pytest.fixture
def sites(checked, tmp_path):
    return opened(checked, tmp_path)


@pytest.fixture
def plan(sites):
    return sites[0].agreement.plan


def again(site):
    """The same site after its process was killed: nothing is left but its files and its ledger."""
    return Site(site.agreement, site.source, Ledger(site.ledger.path))


def all_records(sites):
    """The data of all sites in one place, each in the order that it has drawn."""
    data = sites[0].study.stand_in
    for site in sites:
        order = site.charge.stored()[len(site.protocol.turns)]
        own = ordered(certified.publishable_data(site.source), order)
        data = data.with_site(site.party.index, own)
    return data


# -- the same release as in one process ------------------------------------------------------------


@pytest.mark.parametrize(("reading", "key", "parameters"), few(FITTING, 2), ids=str)
def test_a_run_of_sites_is_the_run_in_one_process_to_the_last_bit(
    reading, key, parameters, tmp_path, monkeypatch
):
    """Without noise all messages are those of one process that has all the records."""
    silence(monkeypatch)
    sites = opened(study(reading=reading, key=key, parameters=parameters), tmp_path)
    plan = sites[0].agreement.plan
    wire = run(sites)
    data, cost = all_records(sites), plan.release.cost
    estimate, sent = certified.hardened(data, plan.study.mechanism, cost)
    heard = messages.checked(protocol(plan), read(wire), RING)
    told = protocol(plan).messages(heard)
    assert set(told) == set(sent)
    assert all((told[name] == sent[name]).all() for name in sent)
    replayed = certified.replayed(plan.study.stand_in, plan.study.mechanism, cost, told)
    assert np.asarray(replayed.coefficients == estimate.coefficients).all()


@pytest.mark.parametrize(("reading", "key", "parameters"), few(FITTING[1:], 1), ids=str)
def test_with_all_messages_heard_the_release_does_not_depend_on_any_record(
    reading, key, parameters, tmp_path
):
    sites = opened(study(reading=reading, key=key, parameters=parameters), tmp_path)
    plan = sites[0].agreement.plan
    told = protocol(plan).messages(messages.checked(protocol(plan), read(run(sites)), RING))
    one, other = (
        certified.replayed(data, plan.study.mechanism, plan.release.cost, told)
        for data in (plan.study.stand_in, all_records(sites))
    )
    assert np.asarray(one.coefficients == other.coefficients).all()
    if one.limits is not None:
        assert all(
            (mine == theirs).all() for mine, theirs in zip(one.limits, other.limits, strict=True)
        )


def released(sites, wire):
    heard = run_of(sites, wire)
    return centre.released(heard, heard.checked(sites[0].party.ring))


def cost_of(site):
    return site.study.cost(site.party.index).certified


def test_every_site_and_the_centre_make_the_same_numbers(plan, sites):
    wire = run(sites)
    made = released(sites, wire)
    for site in sites:
        own = site.finished(read(wire))
        assert all((own.columns[name] == made.columns[name]).all() for name in made.columns)
        assert spent(site)[0] == cost_of(site).epsilon
        assert published.again(site.ledger, own.release_id).card == own.card


def test_a_mean_curve_takes_six_rounds_however_many_sites_there_are():
    for people in ((60, 50), (60, 50, 70)):
        turns = protocol(planned(people=people)).turns
        assert turns[-1].round == 5 and len(turns) == 6 * len(people)


# -- what crosses ----------------------------------------------------------------------------------


def test_only_noised_numbers_of_one_release_cross_and_none_of_them_is_exact(plan, sites):
    """Every number of every message is searched for in the exact statistics of its site."""
    wire = run(sites)
    heard = messages.checked(protocol(plan), read(wire), RING)
    data = all_records(sites)
    for turn in protocol(plan).turns:
        exact = protocol(plan).exact(turn, data, heard)
        noised = multiples(heard[turn.position], turn.noise)
        assert len(noised) == turn.noise.size == len(exact)
        assert not (np.rint(exact * 2.0**turn.noise.bits) == noised * 2.0**turn.noise.bits).any()
        text = wire[turn.position].decode()
        assert not any(f"{value:.9g}" in text for value in exact)
        assert set(json.loads(text)["body"]) == {
            "kind",
            "version",
            "plan",
            "position",
            "round",
            "site",
            "step",
            "heard",
            "lattice",
            "numbers",
        }


@pytest.mark.parametrize("extreme", [-1.0, 1.0])
def test_one_person_moves_a_message_by_no_more_than_is_charged_whatever_was_heard(
    extreme, plan, sites
):
    """Others may say anything: here numbers a thousand times larger than their noise."""
    run(sites)
    site, stand_in = sites[0], plan.study.stand_in
    order = new_order(40)
    own = ordered(certified.publishable_data(site.source), order)
    for turn in site.protocol.of_site(0):
        heard = {
            earlier.position: tuple(
                int(extreme * 2 ** (earlier.noise.bits + 10)) for _ in range(earlier.noise.size)
            )
            for earlier in site.protocol.before(turn.round)
        }
        exact = []
        for value in (plan.study.facts.value_low, plan.study.facts.value_high):
            values = own.values.copy()
            values[:, : own.counts[0]] = value
            data = stand_in.with_site(0, replace(own, values=values))
            exact.append(site.protocol.exact(turn, data, heard))
        assert np.linalg.norm(exact[0] - exact[1]) <= turn.noise.sensitivity * (1 + 1e-9)


# -- drawn once ------------------------------------------------------------------------------------


def test_a_site_that_is_killed_at_every_message_sends_what_it_sent_and_is_charged_once(plan, sites):
    wire = {}
    while len(wire) < len(sites[0].protocol.turns):
        for site in sites:
            first = again(site).answers(read(wire))
            second = again(site).answers(read(wire))
            assert first == second
            wire.update({turn.position: content for turn, content in second.items()})
    for site in sites:
        assert spent(site) == (cost_of(site).epsilon, ["growth"])


def test_a_process_that_was_overtaken_sends_what_the_faster_one_drew(sites, monkeypatch):
    """Two processes of one site draw at once: the ledger has room for one drawing."""
    site, store = sites[0], partial.store
    faster = {}

    def overtaken(book, receipt, position, content, *rest):
        if position not in faster:
            faster[position] = content[:-8] + bytes(8)
            store(book, receipt, position, faster[position], *rest)
        return store(book, receipt, position, content, *rest)

    order = sites[0]._in_order()
    monkeypatch.setattr(partial, "store", overtaken)
    (content,) = site.answers([]).values()
    assert order is not None and json.loads(content)["body"]["numbers"][-1] == 0
    assert site.answers([]) == again(site).answers([])


def test_records_keep_their_order_when_the_file_has_other_rows_first(checked):
    text = files_of(checked)[0].splitlines()
    shuffled = [text[0], *np.random.default_rng(1).permutation(text[1:])]
    order = new_order(40)
    one, other = (
        ordered(certified.publishable_data(source_of(checked, 0, "\n".join(lines).encode())), order)
        for lines in (text, shuffled)
    )
    assert (one.counts == other.counts).all()
    ends = np.cumsum(one.counts)
    for start, end in zip(ends - one.counts, ends, strict=True):
        assert set(one.values[0, start:end]) == set(other.values[0, start:end])


def test_a_message_that_is_taken_away_is_sent_again_as_it_was(sites):
    wire = run(sites)
    del wire[2]
    turn = sites[0].protocol.turns[2]
    assert run([again(site) for site in sites], wire)[2]
    assert turn.position == 2


def twin_of(site, folder):
    """Another copy of a site, from before anything was charged."""
    before = site.party.store
    with before.entry(site.study.digest, site.party.name) as kept:
        copied = replace(kept, charge="", is_ended=False)
    store = SecretStore(folder / "copy.offers")
    with store.entry(site.study.digest, site.party.name) as entry:
        vars(entry).update(vars(copied))
    return Site(
        replace(site.agreement, party=replace(site.party, store=store)),
        site.source,
        Ledger(folder / "copy.sqlite3"),
    )


def test_a_site_refuses_another_ledger_than_it_charged(sites, tmp_path):
    run(sites)
    other = Site(sites[0].agreement, sites[0].source, Ledger(tmp_path / "copy.sqlite3"))
    with pytest.raises(InputError, match="charged this plan in another ledger"):
        other.answers([])
    assert not other.ledger.path.exists()


def test_a_site_refuses_a_transcript_with_a_message_that_its_ledger_does_not_have(sites, tmp_path):
    wire = run(sites)
    other = twin_of(sites[0], tmp_path)
    with pytest.raises(InputError, match="was sent before, and this ledger does not"):
        other.answers(read(wire))


def test_a_site_refuses_a_transcript_in_which_a_message_was_exchanged(sites, tmp_path):
    """South draws once more with another ledger: north has heard its first drawing."""
    north, south = sites
    twin = twin_of(south, tmp_path)
    wire = {turn.position: content for site in sites for turn, content in site.answers([]).items()}
    north.answers(read(wire))
    exchanged = {**wire, **{turn.position: content for turn, content in twin.answers([]).items()}}
    before = north.charge.stored()
    with pytest.raises(InputError, match="a message was exchanged"):
        north.answers(read(exchanged))
    with pytest.raises(InputError, match="other numbers than its ledger has"):
        south.answers(read(exchanged))
    assert north.charge.stored() == before


# -- lies ------------------------------------------------------------------------------------------


def forged(content, **changed):
    """A message with another body, signed by somebody who has the key."""
    body = {**json.loads(content)["body"], **changed}
    return SignedMessage(body, KEY.sign(signed_bytes(body)))


LIES = {
    "no number": ({"numbers": [float("nan")] * 9}, "lattice|numbers that it must have"),
    "half a step of the lattice": (
        lambda body: {"numbers": [0.5, *body["numbers"][1:]]},
        "lattice",
    ),
    "true for one": (lambda body: {"numbers": [True, *body["numbers"][1:]]}, "lattice"),
    "beyond 64 bits": (lambda body: {"numbers": [2**63, *body["numbers"][1:]]}, "lattice"),
    "another lattice": (lambda body: {"lattice": body["lattice"] + 1}, "lattice"),
    "too few numbers": (lambda body: {"numbers": body["numbers"][1:]}, "numbers that it must have"),
    "another step": ({"step": "something else"}, "not the one that the plan has"),
    "another site": ({"site": "north"}, "not the one that the plan has"),
    "another plan": ({"plan": "0" * 64}, "another plan"),
    "a place that is not there": ({"position": 99}, "position that this run does not have"),
    "a place of another": ({"position": 0}, "not the one that the plan has"),
    "another past": ({"heard": "0" * 64}, "follows other messages"),
    "another version": ({"version": 1}, "another version"),
}


@pytest.mark.parametrize(("changed", "why"), LIES.values(), ids=LIES)
def test_a_lie_is_refused_by_name_before_anything_is_drawn(changed, why, sites):
    north, south = sites
    ((turn, content),) = south.answers([]).items()
    stated = changed(json.loads(content)["body"]) if callable(changed) else changed
    with pytest.raises(InputError, match=why) as refusal:
        north.answers([forged(content, **stated)])
    assert "south" in str(refusal.value) or "position" in stated or "site" in stated
    assert not north.ledger.path.exists()


def test_a_forged_signature_is_refused_by_name(sites):
    north, south = sites
    (content,) = south.answers([]).values()
    stranger = Key(Scheme.HMAC, bytes(32))
    for signature in (stranger.sign(signed_bytes(json.loads(content)["body"])), "0" * 64):
        with pytest.raises(InputError, match=r"of south has a wrong signature"):
            north.answers([SignedMessage(json.loads(content)["body"], signature)])


def test_two_drawings_of_one_message_are_refused(sites):
    north, south = sites
    (content,) = south.answers([]).values()
    numbers = json.loads(content)["body"]["numbers"]
    with pytest.raises(InputError, match="of south was sent twice"):
        north.answers([messages.read(content, ""), forged(content, numbers=[0, *numbers[1:]])])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff",
        b"[1]",
        b'{"body": {}, "signature": "x"}',
        b'{"body": {"more": 1}, "signature": "00"}',
        b'{"body": {"run": 1}, "signature": "' + b"0" * 64 + b'"}',
    ],
)
def test_what_is_no_message_is_refused_with_where_it_came_from(content):
    with pytest.raises(InputError, match=r"0001-north\.json is no message"):
        messages.read(content, "0001-north.json")


# -- the study -------------------------------------------------------------------------------------


def test_each_site_is_charged_what_is_certified_for_its_own_budget(tmp_path):
    stated = study(key="bernstein", parameters={}, people=(40, 30))
    stated["sites"][1]["epsilon"] = 1.0
    sites = opened(stated, tmp_path)
    run(sites)
    assert [cost_of(site).epsilon for site in sites] == [3.0, 1.0]
    for site, epsilon in zip(sites, (3.0, 1.0), strict=True):
        assert spent(site)[0] == epsilon


def test_a_large_delta_is_pointed_out_before_a_site_signs_off():
    """The usual one of so few people is."""
    assert "δ is above" in "\n".join(words.sign_off(planned(), 0))
    assert "δ is" not in "\n".join(words.sign_off(planned(key="bernstein"), 0))


@pytest.mark.parametrize("part", ["epsilon", "delta"])
def test_a_site_draws_nothing_under_a_charge_of_less_than_it_costs(part, plan, sites):
    """As an earlier version may have left it, whose noise was thought to cost less."""
    site = sites[0]
    cost = cost_of(site)
    less = replace(cost, **{part: 0.9 * getattr(cost, part)})
    receipt = published.charge(plan.release, site.source, Charge(less), site.ledger, "a mean")
    with pytest.raises(InputError, match="charged by another version"):
        site.answers([])
    assert partial.stored(site.ledger, receipt) == {}


def test_the_guarantee_of_a_release_holds_at_every_site_whatever_each_was_promised(tmp_path):
    """The larger ε of one site and the larger δ of another are both in it."""
    stated = study(**CHEAP)
    for site, epsilon, delta in zip(stated["sites"], (3.0, 2.0), (1e-6, 1e-4), strict=True):
        site.update(epsilon=epsilon, delta=delta)
    sites = opened(stated, tmp_path)
    made = released(sites, run(sites))
    cards = [centre.site_card(sites[0].agreement.plan, made, site) for site in (0, 1)]
    for card in cards:
        for name, most in made.card["guarantee"].items():
            assert card["guarantee"][name] <= most
        assert card["odds"]["right_guess_at_most"] <= made.card["odds"]["right_guess_at_most"]
    assert made.card["guarantee"] == {"epsilon": cards[0]["guarantee"]["epsilon"], "delta": 1e-4}


def test_a_card_of_a_site_has_its_own_messages_and_its_own_guarantee(plan, sites):
    made = released(sites, run(sites))
    card = centre.site_card(plan, made, 1)
    assert card["site"] == {"name": "south", "people": 30}
    assert {message["from"] for message in card["accounting"]["messages"]} == {"south"}
    assert len(card["accounting"]["messages"]) == len(protocol(plan).of_site(1))
    assert card["run"] == {"plan": plan.digest} and "accuracy" not in card


def test_a_transcript_is_read_back_and_makes_the_same_release(plan, sites):
    heard = run_of(sites, run(sites))
    made = centre.released(heard, heard.checked(RING))
    files = centre.all_files(heard, made)
    there = centre.from_transcript(files["transcript.json"].decode())
    assert there.plan.digest == plan.digest
    assert centre.all_files(there, centre.released(there, there.checked(RING))) == files
    with pytest.raises(InputError, match="not signed by the secret that all sites share"):
        there.checked(Keyring({}, Key(Scheme.HMAC, bytes(32))))
    with pytest.raises(InputError, match="north and south have not signed off"):
        replace(there, sign_offs=()).checked(None)


def test_a_centre_says_whose_messages_are_missing(sites):
    heard = run_of(
        sites, {turn.position: content for turn, content in sites[1].answers([]).items()}
    )
    with pytest.raises(InputError, match=r"3 of 4 messages are missing: of north, south"):
        centre.released(heard, heard.checked(RING))


REFUSED = {
    "a trusted centre": (
        dict(key="univariate_mean", parameters={"setting": "central_user"}),
        "everybody's numbers in one place",
    ),
    "people who trust nobody": (
        dict(key="univariate_mean", parameters={"setting": "local_user"}),
        "one place|cannot be published",
    ),
    "noise by norm": (dict(key="frl", parameters={"noise": "norm"}), "no hardened sampler"),
    "percentiles of few": (dict(key="percentile_curves"), "Nothing would be published"),
    "largest numbers": (dict(key="sparse_mean_trusted"), "cannot be released by sites"),
    "public sizes of groups": (
        dict(reading={**EVENTS, "group_sizes": [90, 90]}, key="noisy_counts"),
        "group",
    ),
    "one site": (dict(people=(60,)), "list of 2 to"),
    "nobody at a site": (dict(people=(60, 0)), "whole number from 1"),
    "no planned observations": (
        dict(
            reading={
                **CURVES,
                "facts": {
                    key: value for key, value in FACTS.items() if key != "observations_per_curve"
                },
            }
        ),
        "planned to have",
    ),
    "bounds without a source": (
        dict(reading={**CURVES, "facts": {**FACTS, "origin": ""}}),
        "bounds come from|come from",
    ),
    "masked sums with one secret": (dict(honest=2), "with a secret that all share"),
    "masked sums that rely on all": (dict(honest=3, scheme=Scheme.ED25519), "relied on"),
    "masked messages that are no sums": (
        dict(**CHEAP, honest=1, scheme=Scheme.ED25519),
        "not known to be a sum",
    ),
}


@pytest.mark.parametrize(("settings", "why"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_with_the_reason(settings, why):
    with pytest.raises(InputError, match=why):
        SiteStudy.of(study(**settings))


@pytest.mark.parametrize(
    ("reading", "key", "unit", "code"),
    [
        (CURVES, "adaptive_mean", "one child’s whole curve", "person"),
        (
            {**CURVES, "reading": {**CURVES["reading"], "person": {"rows": True}}},
            "adaptive_mean",
            "one row of the file",
            "observation",
        ),
        (SINGLE, "wavelet_global", "one row of the file", "observation"),
        (EVENTS, "noisy_counts", "one row of the file", "row"),
    ],
)
def test_the_unit_of_a_study_is_what_its_reading_protects(reading, key, unit, code):
    """Where every line is stated to be another person, nobody is promised a whole curve."""
    plan = SiteStudy.of(study(reading, key, people=(600, 500))).draft
    assert plan.plain["unit"].startswith(unit) and plan.plain["protected"] == code


def test_a_file_with_other_people_than_declared_is_refused_before_anything_is_charged(checked):
    with pytest.raises(InputError, match=r"declares 40 children at north, and this file has 39"):
        source_of(checked, 0, curves_csv(1, 39).encode())


def test_a_file_in_which_somebody_has_two_curves_is_refused(checked):
    text = curves_csv(1, 40).replace("c1_1,", "c1_0,")
    with pytest.raises(InputError):
        source_of(checked, 0, text.encode())


# -- keys ------------------------------------------------------------------------------------------


def test_a_key_is_read_back_is_for_its_owner_alone_and_is_never_written_over(tmp_path):
    key = new_key(Scheme.HMAC)
    write_key(tmp_path / "shared.key", key)
    assert key_of((tmp_path / "shared.key").read_text()) == key
    assert (tmp_path / "shared.key").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="is there already"):
        write_key(tmp_path / "shared.key", new_key(Scheme.HMAC))
    assert key.secret.hex() not in repr(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"kind": "hmac-sha256", "secret": "00"}',
        '{"kind": "rot13", "secret": "' + "0" * 64 + '"}',
    ],
)
def test_what_is_no_key_is_refused(text):
    with pytest.raises(InputError):
        key_of(text)


def test_keys_of_one_s_own_sign_as_in_the_standard_and_nobody_else_can(tmp_path, monkeypatch):
    """The first test vector of RFC 8032; then a run in which south cannot write as north."""
    with_library(monkeypatch)
    key = Key(
        Scheme.ED25519,
        bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
    )
    assert key.public == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert key.sign(b"").startswith(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901"
    )
    north, south = opened(study(key="bernstein", people=(40, 30), scheme=Scheme.ED25519), tmp_path)
    (content,) = north.answers([]).values()
    body = {
        **json.loads(content)["body"],
        "numbers": [0] * len(json.loads(content)["body"]["numbers"]),
    }
    with pytest.raises(InputError, match="of north has a wrong signature"):
        south.answers([SignedMessage(body, south.party.key.sign(signed_bytes(body)))])
    assert south.answers([messages.read(content, "")])


def test_without_the_library_a_key_of_one_s_own_is_refused_with_what_to_install(monkeypatch):
    for name in ("cryptography", "cryptography.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="need the library") as refusal:
        new_key(Scheme.ED25519)
    assert "[sites]" in str(refusal.value)
