"""Sums that only all sites together can read: little noise, masked parts, and who is relied on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.noise import shares as noise_shares
from engine.noise.shares import CountShares, LatticeShares, Shares
from engine.release import certified, partial, published
from engine.sites import centre, messages, pads, records
from engine.sites.plan import SitePlan
from engine.sites.protocol import multiples
from engine.sites.signing import Key, Scheme, key_of, new_key
from tests.heavy import few
from tests.site_runs import (
    CURVES,
    EVENTS,
    KEY,
    MASKING,
    WITH_SEX,
    agree_without_library,
    opened,
    protocol,
    read,
    run,
    study,
    summed,
)

SUMMED = [(EVENTS, "noisy_counts", {}), (CURVES, "adaptive_mean", {}),
          (WITH_SEX, "adaptive_coefficients", {}),
          (CURVES, "adaptive_mean", {"releases": "separate"}),
          (CURVES, "adaptive_mean", {"design": "unknown"}),
          (EVENTS, "noisy_counts", {"task": "incidence"})]


@pytest.fixture(autouse=True)
def _agree(monkeypatch):
    agree_without_library(monkeypatch)


@pytest.fixture
def plan():
    return summed(reading=EVENTS, key="noisy_counts", people=(40, 30, 50))


@pytest.fixture
def sites(plan, tmp_path):
    return opened(plan, tmp_path, keys=MASKING)


def silence(monkeypatch):
    """Shares of noise of size nothing."""
    monkeypatch.setattr(LatticeShares, "share", lambda self, values: self.whole(values))
    monkeypatch.setattr(CountShares, "share", lambda self, values: self.whole(values))


def all_records(sites):
    """The data of all sites in one place, each in the order that it has drawn."""
    data = sites[0].plan.standin
    for site in sites:
        order = partial.stored(site.book, site.receipt)[len(site.protocol.turns)]
        own = records.ordered(certified.drawn(site.source), order)
        data = records.among(data, own, site.place)
    return data


# -- the sum ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reading", "key", "parameters"), few(SUMMED, 2), ids=str)
def test_parts_of_sites_add_up_to_the_message_of_one_trusted_centre(
        reading, key, parameters, tmp_path, monkeypatch):
    """Without noise: what each of three sites rounds to the lattice is all that is between."""
    plan = summed(reading=reading, key=key, parameters=parameters)
    silence(monkeypatch)
    sites = opened(plan, tmp_path, keys=MASKING)
    heard = messages.checked(protocol(plan), read(run(sites)), KEY)
    sums, quoted = protocol(plan).messages(heard), plan.release.quote
    exact = {}

    def answer(key, measured, values):
        exact[key] = values.copy()
        return sums[key]
    certified.answered(all_records(sites).pooled(), plan.mechanism, quoted, answer)
    assert set(exact) == set(sums) == set(quoted.messages)
    for key, values in exact.items():
        step = 2.0**-quoted.messages[key].bits
        assert np.abs(sums[key] - values).max() <= (len(sites) + 1) * step


def test_every_site_and_the_centre_read_the_same_sum_and_are_charged_the_same(plan, sites):
    wire = run(sites)
    made = centre.released(protocol(plan), messages.checked(protocol(plan), read(wire), KEY))
    for site in sites:
        own = site.finished(read(wire))
        assert all((own.columns[name] == made.columns[name]).all() for name in made.columns)
        assert own.odometer.spent_epsilon == site.cost.certified.epsilon <= 3.0
        assert published.again(site.book, own.release_id).card == own.card
    card = centre.site_card(protocol(plan), made, 1)
    assert card["relied_on"]["honest_at_least"] == 2 and card["relied_on"]["sites"] == 3
    assert card["guarantee"]["epsilon"] == sites[1].cost.certified.epsilon


def test_everybody_gets_the_strictest_budget_that_a_site_states():
    stated = study(reading=EVENTS, key="noisy_counts", people=(400, 300))
    stated["sites"][1]["epsilon"], stated["sums"] = 0.8, {}
    for site, key in zip(stated["sites"], MASKING, strict=False):
        site["pads"] = pads.public_half(key.pads)
    plan = SitePlan.planned(stated)
    assert all(.79 < plan.cost(site).certified.epsilon <= .8 for site in (0, 1))


# -- what is seen ----------------------------------------------------------------------------------


def test_a_message_says_nothing_without_all_others(plan, sites, monkeypatch):
    """Masked numbers use all 64 bits; the sum of fewer sites is as uniform as one of them."""
    silence(monkeypatch)
    heard = messages.checked(protocol(plan), read(run(sites)), KEY)
    numbers = np.array([heard[turn.position] for turn in protocol(plan).turns], dtype=np.int64)
    for some in (numbers[:1], numbers[:2]):
        seen = some.astype(np.uint64).sum(axis=0)  # modulo 2^64
        assert stats.kstest(seen / 2.0**64, "uniform").pvalue > 1e-4
    assert np.abs(numbers.sum(axis=0)).max() <= 120


def test_sites_that_work_together_learn_the_sum_over_the_rest_and_nothing_more(
        plan, sites, monkeypatch):
    """South tells the centre its key and its part: North and East are still masked to them."""
    silence(monkeypatch)
    heard = messages.checked(protocol(plan), read(run(sites)), KEY)
    publics = [member.pads for member in plan.members]
    turn, (north, south, east) = protocol(plan).turns[0], (heard[k] for k in range(3))
    digest = protocol(plan).digest_before(0, {})
    context = f"{plan.run} {plan.digest} 0 {digest}".encode()
    pad = pads.stream(pads.agreed(MASKING[1].pads, publics[0]), context, turn.noise.size)
    without = np.array(pads.added(north, [-int(number) for number in pad]))
    assert np.abs(without).max() > 2**60  # the pad between North and East is left
    assert np.abs(np.array(pads.added(pads.added(north, south), east))).max() <= 120


def test_no_two_pads_are_alike():
    """Over pairs, rounds, runs and plans: the broken way, one context for all, repeats itself."""
    secrets = [bytes([k] * 32) for k in range(1, 5)]
    publics = [pads.public_half(secret) for secret in secrets]
    contexts = [f"{run} {plan} {round_} {heard}".encode() for run in "ab" for plan in "ab"
                for round_ in "01" for heard in "ab"]

    def masks(contexts):
        return [tuple(pads.mask(secret, publics, site, context, 4))
                for context in contexts for site, secret in enumerate(secrets)]
    assert len(set(masks(contexts))) == len(contexts) * 4
    assert len(set(masks([b""] * len(contexts)))) == 4
    assert all(sum(numbers) % 2**64 == 0 for numbers in zip(*masks(contexts[:1]), strict=True))


def test_a_round_in_which_a_site_masks_otherwise_is_refused(plan, sites, monkeypatch):
    mask = pads.mask
    monkeypatch.setattr(pads, "mask", lambda *given: [number + (given[2] == 1) * 2**60
                                                      for number in mask(*given)])
    wire = run(sites)
    with pytest.raises(InputError, match="do not cancel"):
        centre.released(protocol(plan), messages.checked(protocol(plan), read(wire), KEY))


def test_a_site_that_drops_out_leaves_nothing_to_read(plan, sites):
    wire = {turn.position: content for site in sites[:2]
            for turn, content in site.answers([]).items()}
    heard = messages.checked(protocol(plan), read(wire), KEY)
    with pytest.raises(InputError, match="1 of 3 messages are missing: of east"):
        centre.released(protocol(plan), heard)


def test_a_site_that_was_killed_sends_its_masked_message_again(plan, sites):
    (first,), (second,) = ([*site.answers([]).values()] for site in (sites[0], sites[0]))
    assert first == second
    assert not isinstance(json.loads(first)["body"]["numbers"][0], float)


# -- the noise -------------------------------------------------------------------------------------


def remaining(noise, n_shares, draws):
    """The noise of some shares together: (draws,), in steps of the lattice."""
    return sum(np.array(noise.share(np.zeros(draws))) for _ in range(n_shares))


def test_honest_shares_have_the_noise_that_is_charged_and_fewer_have_not():
    """What others together do not know, measured; a site less, and the charge would be wrong."""
    n = 6000
    noise = LatticeShares("gaussian", 0.5, n, Shares(3, 2))
    promised = noise.most * 2.0**noise.bits / noise.mu  # the smallest deviation that has this μ
    deviations = [remaining(noise, honest, n).std() for honest in (2, 1)]
    spread = promised / np.sqrt(2 * n)
    assert deviations[0] > promised - 5 * spread
    assert deviations[1] < promised - 5 * spread
    assert remaining(noise, 3, n).std() == pytest.approx(2.0**noise.bits, abs=5 * spread)


def test_the_sum_of_shares_has_the_law_of_normal_noise():
    n = 3000
    noise = LatticeShares("gaussian", 0.5, n, Shares(4, 3))
    assert stats.kstest(noise(np.zeros(n)), "norm").pvalue > 1e-4


def two_sided_geometric(scale, k):
    ratio = np.exp(-1 / scale)
    return (1 - ratio) / (1 + ratio) * ratio**np.abs(k)


@pytest.mark.parametrize("honest", [1, 2, 4])
def test_shares_of_counts_sum_to_discrete_laplace_noise_exactly(honest, monkeypatch):
    """By their law, convolved; and the draws have that law."""
    scale, k = 2.0, np.arange(200)
    law = stats.nbinom.pmf(k, 1 / honest, 1 - np.exp(-1 / scale))
    one = np.convolve(law, law[::-1])
    total = np.ones(1)
    for _ in range(honest):
        total = np.convolve(total, one)
    middle = len(total) // 2
    assert total[middle - 20:middle + 21] == pytest.approx(
        two_sided_geometric(scale, np.arange(-20, 21)), rel=1e-9)
    n = 1500
    drawn = np.array(noise_shares._negative_binomials(scale, honest, n))
    counts = np.bincount(np.minimum(drawn, 8), minlength=9)
    expected = n * np.append(law[:8], law[8:].sum())
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4


def test_counts_have_the_noise_that_the_mechanism_reckons_with():
    n = 3000
    noise = CountShares(1.0, n, Shares(3, 2))
    ratio = np.exp(-1 / 2.0)
    assert noise(np.zeros(n)).var() == pytest.approx(2 * ratio / (1 - ratio)**2, rel=.25)
    assert noise.cost > 1.0 and noise.scale < 2.0


@pytest.mark.parametrize("shares", [Shares(2, 1), Shares(20, 19), Shares(100, 50)])
def test_a_quote_for_sums_is_what_honest_shares_cost_and_never_more_than_asked(shares):
    plan = summed(people=(400, 300, 500), epsilon=1.0)
    asked = Budget(1.0, 1e-4)
    quoted = certified.quote(plan.release.standin, plan.mechanism, asked, shares)
    assert .99 < quoted.certified.epsilon <= 1.0
    trusted = certified.quote(plan.release.standin, plan.mechanism, asked)
    mu = [sum(m.most**2 for m in q.messages.values()) for q in (quoted, trusted)]
    assert mu[1] / mu[0] == pytest.approx(shares.more_noise, rel=.01)
    assert quoted.by_rho.epsilon >= quoted.certified.epsilon


# -- what is refused -------------------------------------------------------------------------------


REFUSED = {
    "all sites relied on": (dict(honest=3), "1 to 2 can be relied on"),
    "none relied on": (dict(honest=0), "1 to 2 can be relied on"),
    "half a site": (dict(honest=1.5), "whole number of sites"),
    "no sum": (dict(key="iclp"), "not known to be a sum"),
    "rounds of some people": (dict(key="noisy_gradient_mean"), "not known to be a sum")}


@pytest.mark.parametrize(("settings", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_sum_is_refused_with_the_reason(settings, why):
    with pytest.raises(InputError, match=why):
        summed(**settings)


def test_keys_for_pads_must_be_there_differ_and_be_the_site_s_own(plan, tmp_path):
    sites = plan.plain["study"]["sites"]
    for pad, why in ((sites[1]["pads"], "same key for pads"), (None, "64 hexadecimal")):
        stated = {**plan.plain["study"], "sites": [{**sites[0], "pads": pad}, *sites[1:]]}
        with pytest.raises(InputError, match=why):
            SitePlan.planned(stated)
    with pytest.raises(InputError, match="not the key for pads"):
        opened(plan, tmp_path, keys=[replace(KEY, pads=bytes(32))] * 3)


def test_a_key_file_keeps_what_pads_are_agreed_on_with():
    key = Key(Scheme.HMAC, bytes(32), bytes([1] * 32))
    assert key_of(key.to_text()) == key and key.pads.hex() not in repr(key)
    assert key_of(KEY.to_text()).pads == b""


def test_keys_of_the_library_agree_and_make_a_release(tmp_path, monkeypatch):
    """X25519 by its own test vector (RFC 7748, section 6.1), and a run with keys of each site."""
    pytest.importorskip("cryptography")
    monkeypatch.undo()
    alice, bob = bytes(range(32)), bytes.fromhex(
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    assert pads.public_half(bob) == (
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    assert pads.agreed(alice, pads.public_half(bob)) == pads.agreed(bob, pads.public_half(alice))
    with pytest.raises(InputError, match="is none"):
        pads.agreed(alice, "0" * 64)
    keys = [new_key(Scheme.ED25519) for _ in range(3)]
    stated = study(reading=EVENTS, key="noisy_counts", people=(40, 30, 50), scheme=Scheme.ED25519,
                   public=[key.public for key in keys])
    stated["sums"] = {}
    for site, key in zip(stated["sites"], keys, strict=True):
        site["pads"] = pads.public_half(key.pads)
    plan = SitePlan.planned(stated)
    heard = messages.checked(protocol(plan), read(run(opened(plan, tmp_path, keys=keys))), None)
    assert centre.released(protocol(plan), heard).columns


def test_sums_stay_on_the_lattice(plan, sites):
    heard = messages.checked(protocol(plan), read(run(sites)), KEY)
    for (_, step), values in protocol(plan).messages(heard).items():
        noise = plan.release.quote.messages[0, step]
        assert (multiples(tuple(int(v) for v in values * 2**noise.bits), noise) == values).all()
