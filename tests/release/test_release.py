"""A release: what it costs is certified, what it sends is on the lattice, what it may not is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Budget, CurveData, PublicFacts, SampleData
from engine.mechanisms import mechanisms
from engine.mechanisms.families.functional.noise import LaplaceNoise
from engine.noise import hardened
from engine.privacy import accounting, risk, transcript
from engine.release import certified as release
from engine.release import published
from engine.release.certified import release_cost
from engine.release.ledger import Ledger
from engine.sources import sources
from tests.heavy import few

N, M = 40, 6
FACTS = PublicFacts(
    kind="upload", value_low=-1.0, value_high=1.0, origin="a manual", norm_bound=1.0
)
DENSITY, COVARIANCE = {"task": "density"}, {"task": "covariance", "grid_size": 8}
PREDICTION = {"task": "risk_minimisation", "grid_size": 20}
WAVELETS = {"edges": "corrected", "moments": 2, "level": 3, "radius": 1e-3}
SETTINGS = [
    ("adaptive_mean", {}),
    ("adaptive_mean", {"band": "none"}),
    ("adaptive_mean", {"design": "unknown"}),
    ("noisy_gradient_mean", {}),
    ("noisy_gradient_mean", {"scheme": "split", "n_iterations": 5}),
    ("noisy_gradient_mean", {"noise": "isotropic"}),
    ("iclp", {}),
    ("iclp", {"penalty": "absolute"}),
    ("iclp", {"constants": "optimal"}),
    ("frl", {}),
    ("bernstein", {}),
    ("gaussian_process", {}),
    ("univariate_mean", {"setting": "central_user"}),
    ("univariate_mean", {"setting": "site"}),
    ("univariate_mean", {"setting": "central_item"}),
    ("iclp", DENSITY),
    ("frl", DENSITY),
    ("bernstein", DENSITY),
    ("gaussian_process", DENSITY),
    ("iclp", COVARIANCE),
    ("frl", {**COVARIANCE, "centre": "nothing"}),
    ("iclp", PREDICTION),
    ("frl", {**PREDICTION, "loss": "hinge"}),
    ("wavelet_global", WAVELETS),
    ("wavelet_global", {"level": 3, "radius": 1e-3, "design": "released"}),
    ("wavelet_adaptive", {**WAVELETS, "messages": "three"}),
]


def curves(seed=0, n=N, n_servers=1):
    rng = np.random.default_rng(seed)
    return CurveData(
        times=np.sort(rng.random((n, M)), axis=1).reshape(1, -1),
        values=rng.uniform(-1, 1, (1, n * M)),
        counts=np.full(n, M),
        server=np.arange(n) * n_servers // n,
        facts=FACTS,
    )


def records(seed=0, n=N):
    from engine.core.types import Covariate

    facts = replace(FACTS, covariates=(Covariate("age", 0.0, 100.0),))
    x = np.random.default_rng(seed).uniform(0, 100, (1, n, 1))
    return SampleData(x, None, np.zeros(n, int), facts)


def observations(seed=0, n=15 * N, n_servers=1):
    """One of each person, around a common curve."""
    rng = np.random.default_rng(seed)
    facts = replace(FACTS, reading_sd=0.3, observations_per_curve=1)
    return CurveData(
        times=rng.random((1, n)),
        values=rng.uniform(-1, 1, (1, n)),
        counts=np.ones(n, int),
        server=np.arange(n) * n_servers // n,
        facts=facts,
    )


def labelled(seed=0, n=N):
    return replace(records(seed, n), y=np.random.default_rng(seed).uniform(-1, 1, (1, n)))


def made(key, chosen):
    return mechanisms.build(key, chosen)


def data_for(mechanism, seed=0, n_servers=1):
    if mechanism.served == {"density"}:
        return records(seed)
    if mechanism.served == {"risk_minimisation"}:
        return labelled(seed)
    if mechanism.served == {"wavelet_regression"}:
        return observations(seed, n_servers=n_servers)
    return curves(seed, n_servers=n_servers)


def asked(mechanism, epsilon=4.0):
    return mechanism.suited(Budget(epsilon, 1e-4))


# -- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", few([2.0, 10.0]))
@pytest.mark.parametrize(("key", "chosen"), SETTINGS, ids=str)
def test_what_is_certified_is_what_was_asked_and_never_more(key, chosen, epsilon):
    mechanism = made(key, chosen)
    budget = asked(mechanism, epsilon)
    cost = release_cost(data_for(mechanism), mechanism, budget)
    assert cost.certified == budget
    assert 0.997 * budget.epsilon < cost.ideal.epsilon < budget.epsilon
    assert cost.certified.epsilon <= cost.by_rho.epsilon
    if any(one.law == "gaussian" for one in cost.messages.values()):
        assert cost.by_rho.epsilon > 1.04 * budget.epsilon  # what zCDP alone would charge


@pytest.mark.parametrize(("key", "chosen"), SETTINGS, ids=str)
def test_the_charge_is_the_exact_sum_of_the_ledger_lines_rounded_up(key, chosen):
    """Between the closed form for the noise with its rounding and that with what coupling adds."""
    mechanism = made(key, chosen)
    cost = release_cost(data_for(mechanism), mechanism, asked(mechanism))
    room = 1 + hardened.ROOM
    if cost.certified.is_pure:
        exact = accounting.total_epsilon(cost.spends) * room
        granular = 1e-6  # ε of Laplace noise is a whole multiple of the lattice
    else:
        mu = accounting.total_mu(cost.spends) * room
        exact = accounting.exact_epsilon(mu, cost.budget.delta)
        most = accounting.exact_epsilon(mu * (1 + 2 * hardened.ROOM), cost.budget.delta)
        granular = most - exact
    proved = sum(one.cost for one in cost.messages.values())
    assert cost.certified.epsilon >= exact * (1 - 1e-6)  # reported as the asked one where close
    assert cost.certified.epsilon <= exact * (1 + 1e-6) + granular
    assert proved > 0


@pytest.mark.parametrize(("key", "chosen"), SETTINGS, ids=str)
def test_odds_of_a_release_follow_from_what_is_charged_not_from_ideal_noise(key, chosen):
    mechanism = made(key, chosen)
    cost = release_cost(data_for(mechanism), mechanism, asked(mechanism))
    proved = max(accounting.guarantees(cost.certified_spends), key=lambda one: one.epsilon)
    assert proved.epsilon == pytest.approx(cost.certified.epsilon, rel=1e-6)
    charged, ideal, cap = (
        risk.of_ledger(cost.certified_spends).right,
        risk.of_ledger(cost.spends).right,
        risk.odds(None, cost.certified).right,
    )
    assert ideal < charged <= cap


def test_sites_share_nobody_so_the_dearest_counts():
    one, three = curves(n=60), curves(n=60, n_servers=3)
    for key in ("adaptive_mean", "noisy_gradient_mean", "iclp"):
        mechanism = made(key, {})
        budget = asked(mechanism)
        assert (
            release_cost(three, mechanism, budget).certified
            == release_cost(one, mechanism, budget).certified
        )


def test_a_quote_looks_at_sizes_alone():
    mechanism = made("adaptive_mean", {})
    one, other = (release_cost(curves(seed), mechanism, asked(mechanism)) for seed in (0, 1))
    assert (one.certified, one.inner_budgets, one.spends, one.messages) == (
        other.certified,
        other.inner_budgets,
        other.spends,
        other.messages,
    )
    assert all((one.known[key] == other.known[key]).all() for key in one.known)


# -- what is sent -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "chosen"), SETTINGS, ids=str)
def test_every_message_is_on_the_lattice_and_new_each_time(key, chosen):
    mechanism = made(key, chosen)
    data = data_for(mechanism)
    cost = release_cost(data, mechanism, asked(mechanism))
    (one, sent), (_, again) = (release.hardened(data, mechanism, cost) for _ in range(2))
    assert set(sent) == set(cost.messages)
    for name, multiples in sent.items():
        whole = multiples * 2.0 ** cost.messages[name].bits
        assert (whole == np.rint(whole)).all()
    assert np.isfinite(one.coefficients).all()
    assert any((multiples != again[name]).any() for name, multiples in sent.items())


class Silent(release._Rehearsal):
    """Sends everything as it is, so that only the noise is missing."""

    def sent(self, server, step, values, noise):
        super().sent(server, step, values, noise)
        return values


@pytest.mark.parametrize(
    "key", ["noisy_gradient_mean", "iclp", "frl", "bernstein", "gaussian_process"]
)
def test_a_release_reads_the_data_as_the_preview_does(key):
    """Without noise it is what the preview calls the estimate of the same steps."""
    mechanism, data = made(key, {}), curves()
    noise_free = release._run(data, mechanism, (asked(mechanism),), Silent())
    preview = mechanism.release(data, (asked(mechanism),), np.random.default_rng(1))
    grid = drawing_grid()
    assert np.allclose(
        noise_free.values(grid)[0, 0, 0],
        preview.on_grid(preview.unprotected[0, 0], grid),
        atol=1e-9,
    )


@pytest.mark.slow
def test_released_noise_has_the_variance_that_its_ledger_states():
    """2000 releases of one average; variance 2b² at five standard errors (kurtosis 6)."""
    mechanism, data = made("univariate_mean", {"setting": "central_user"}), curves()
    cost = release_cost(data, mechanism, Budget(1.0))
    draws = np.array(
        [release.hardened(data, mechanism, cost)[0].coefficients.item() for _ in range(2000)]
    )
    exact = 2 * cost.spends[0].noise_scale[0] ** 2
    assert abs(draws.var() - exact) < 5 * exact * math.sqrt(5 / len(draws))
    assert abs(draws.mean() - mechanism.without_protection(data).coefficients.item()) < (
        5 * math.sqrt(exact / len(draws))
    )


def test_numbers_that_no_data_can_change_do_not_come_from_the_data():
    mechanism = made("iclp", {**DENSITY, "kernel": "matern"})
    data = records()
    cost = release_cost(data, mechanism, Budget(1.0))
    heard = {}

    class Ears(release._PreparedTranscript):
        def sent(self, server, step, values, noise):
            out = super().sent(server, step, values, noise)
            silent = np.broadcast_to(noise, values.shape)[0, 0] == 0
            heard[step] = out[0, 0][silent], self._cost.known[server, step.key][silent]
            return out

    ears = Ears(cost, lambda _, noise, values: noise(values))
    release._run(data, mechanism, cost.inner_budgets, ears)
    for said, known in heard.values():
        assert (said == known).all()


# -- the audit: neighbours on the lattice -----------------------------------------------------------


def whole_numbers(data, mechanism, found, seed):
    """What every message would be before noise, as whole numbers, with all answers held fixed."""
    kept, rng = [], np.random.default_rng(seed)
    usual = hardened.LatticeNoise.__call__

    def fixed(self, values):
        kept.append((self, np.array(self.whole(values), dtype=object)))
        return np.rint(rng.standard_normal(np.shape(values)) * 2.0**self.bits) * 2.0**-self.bits

    hardened.LatticeNoise.__call__ = fixed
    try:
        release.hardened(data, mechanism, found)
    finally:
        hardened.LatticeNoise.__call__ = usual
    return kept


def neighbour(data, seed):
    """One person's readings are replaced, often by extreme ones."""
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    who = int(rng.integers(N))
    if isinstance(data, SampleData):
        x = np.array(data.x)
        x[0, who] = rng.choice([0.0, 100.0, rng.uniform(0, 100)])
        y = None if data.y is None else np.array(data.y)
        if y is not None:
            y[0, who] = rng.choice([-1.0, 1.0])
        return replace(data, x=x, y=y)
    values = np.array(data.values)
    if (data.counts == 1).all():
        times = np.array(data.times)
        values[0, who], times[0, who] = (
            rng.choice([-9.0, 9.0]),
            rng.choice([0.0, 1.0, rng.random()]),
        )
        return replace(data, values=values, times=times)
    ends = slice(who * M, (who + 1) * M)
    values[0, ends] = rng.choice(
        [np.ones(M), -np.ones(M), rng.uniform(-1, 1, M), np.sign(rng.standard_normal(M))]
    )
    return replace(data, values=values)


def worst_share(mechanism, pairs=25, halve=False):
    """The largest shift of any message, over what its charge allows."""
    worst = 0.0
    for seed in range(pairs):
        data = data_for(mechanism, seed % 3)
        cost = release_cost(data, mechanism, asked(mechanism))
        one = whole_numbers(data, mechanism, cost, seed)
        other = whole_numbers(neighbour(data, seed), mechanism, cost, seed)
        for (measured, first), (_, second) in zip(one, other, strict=True):
            moved = np.abs((first - second).astype(float))
            size = math.sqrt((moved**2).sum()) if measured.law == "gaussian" else moved.sum()
            most = measured.sensitivity * (1 + hardened.ROOM) * 2.0**measured.bits
            worst = max(worst, size / (most / 4 if halve else most))
    return worst


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        ("adaptive_mean", {}),
        ("noisy_gradient_mean", {}),
        ("iclp", {}),
        ("frl", {}),
        ("bernstein", {}),
        ("gaussian_process", {}),
        ("univariate_mean", {"setting": "central_user"}),
        ("iclp", DENSITY),
        ("bernstein", DENSITY),
        ("iclp", COVARIANCE),
        ("iclp", PREDICTION),
        ("frl", {**PREDICTION, "loss": "hinge"}),
        ("wavelet_global", WAVELETS),
        ("wavelet_adaptive", {**WAVELETS, "messages": "three"}),
    ],
    ids=str,
)
def test_no_neighbour_moves_a_message_further_than_it_was_charged_for(key, chosen):
    share = worst_share(made(key, chosen), 8)
    assert 0.02 < share <= 1  # 8 random pairs, rounding included


def test_the_same_search_catches_a_charge_for_a_quarter_of_the_sensitivity():
    assert worst_share(made("univariate_mean", {"setting": "central_user"}), 8, halve=True) > 1


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "chosen", "budget", "reason"),
    [
        ("adaptive_mean", {}, Budget(4.0), "falls with the norm"),
        ("frl", {"noise": "norm"}, Budget(4.0), "noise by norm"),
        ("iclp", {"selection_rule": "paid"}, Budget(4.0), "Choose it by formula"),
        ("iclp", {"selection_rule": "cross_validated"}, Budget(4.0), "Choose it by formula"),
        ("univariate_mean", {"setting": "local_user"}, Budget(4.0), "Nobody is trusted"),
        ("univariate_mean", {"setting": "none"}, Budget(4.0), "Nothing would be protected"),
        ("wavelet_pointwise", {}, Budget(4.0, 1e-4), "single points"),
        ("sparse_regression", {}, Budget(4.0, 1e-4), "no hardened sampler"),
        ("adaptive_mean", {}, Budget(0.05, 1e-9), "Nothing would be published"),
        ("adaptive_mean", {}, Budget(math.inf, 1e-4), "finite"),
        ("adaptive_mean", {}, Budget(4.0, 1 / N), "below 1/n"),
        (
            "noisy_gradient_mean",
            {"constants": "published", "noise": "isotropic"},
            Budget(10.0, 0.02),
            "not ε = 10",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_published_is_refused_with_the_reason(key, chosen, budget, reason):
    mechanism = made(key, chosen)
    with pytest.raises(InputError, match=reason):
        release_cost(curves(), mechanism, budget)


def irregular(seed):
    """Curves with 1 to 2M observations each, where M were planned of everybody."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 2 * M + 1, N)
    times = np.concatenate([np.sort(rng.random(count)) for count in counts])
    return CurveData(
        times=times[None],
        values=rng.uniform(-1, 1, (1, len(times))),
        counts=counts,
        server=np.zeros(N, int),
        facts=replace(FACTS, observations_per_curve=M),
    )


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        (key, chosen)
        for key, chosen in SETTINGS
        if key not in ("wavelet_global", "wavelet_adaptive")
        and chosen.get("task", "covariance") == "covariance"
        and chosen.get("setting", "central_user") == "central_user"
    ],
    ids=str,
)
def test_noise_does_not_depend_on_how_many_observations_single_curves_have(key, chosen):
    mechanism, one, other = made(key, chosen), irregular(1), irregular(2)
    budget = asked(mechanism, 8.0)
    cost = release_cost(one, mechanism, budget)
    assert (cost.spends, cost.messages) == (
        release_cost(other, mechanism, budget).spends,
        release_cost(other, mechanism, budget).messages,
    )
    for data in (one, other):
        _, messages = release.hardened(data, mechanism, cost)
        assert messages.keys() == cost.messages.keys()


@pytest.mark.parametrize("setting", ["central_item", "site"])
def test_single_numbers_are_not_protected_where_how_many_somebody_has_is_private(setting):
    """The noise on a mean of single numbers falls with how many there are."""
    with pytest.raises(
        InputError, match="how many observations single curves have, which is private"
    ):
        release_cost(
            replace(curves(), facts=replace(FACTS, observations_per_curve=M)),
            made("univariate_mean", {"setting": setting}),
            Budget(4.0, 1e-4),
        )


def test_every_mechanism_either_has_a_hardened_path_or_says_why_not():
    for cls in mechanisms.all():
        reason = cls().why_not_published(Budget(1.0, 1e-6))
        assert reason == "" or reason.endswith(".")


def test_a_mechanism_that_draws_other_noise_is_stopped_by_the_silent_generator():
    class OtherNoise(LaplaceNoise):
        def standard(self, shape, rng):
            return rng.standard_exponential(shape)

    class Sly(type(made("iclp", {}))):
        process = OtherNoise()

    with pytest.raises(InputError, match="standard exponential"):
        release_cost(curves(), Sly(), Budget(1.0))


def test_a_run_that_sends_something_else_than_was_rehearsed_publishes_nothing():
    mechanism, data = made("iclp", {}), curves()
    cost = release_cost(data, mechanism, Budget(1.0))
    with pytest.raises(InputError, match="no hardened noise"):
        release.hardened(data, made("frl", {}), cost)


def test_simulated_curves_are_never_published(tmp_path):
    for cls in (cls for cls in sources.all() if cls.is_random):
        with pytest.raises(InputError, match="nothing to publish"):
            published.publish(
                cls(),
                made("adaptive_mean", {}),
                Budget(1.0, 1e-6),
                Ledger(tmp_path / "ledger"),
                "a",
            )
    assert not (tmp_path / "ledger").exists()


def test_nothing_computed_before_the_charge_holds_a_reading():
    data = curves()
    stand_in = data.stand_in()
    assert stand_in.sizes == data.sizes
    assert set(stand_in.values.ravel()) == {0.0}
    assert not set(stand_in.times.ravel()) & set(data.times.ravel())


def test_the_ledger_is_charged_before_any_noise_is_drawn(tmp_path, run_with_noise):
    """A release that breaks down after the charge stays charged."""
    book, source = Ledger(tmp_path / "ledger"), sources.build("sea_temperature", {})

    def broken(*_):
        raise RuntimeError("the server is stopped here")

    run_with_noise(broken)
    with pytest.raises(RuntimeError):
        published.publish(source, made("iclp", {}), Budget(1.0), book, "a")
    (entry,) = book.standing_of(source).entries
    assert (entry.budget, entry.state) == (Budget(1.0), "closed")


def test_listeners_of_other_kinds_hear_the_same_as_before():
    with transcript.recorded() as messages:
        made("adaptive_mean", {}).release(curves(), (Budget(4.0, 1e-4),), np.random.default_rng(1))
    assert len(messages) == 6


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        ("adaptive_coefficients", {}),
        ("noisy_gradient_coefficients", {}),
        ("iclp", {"task": "varying_coefficients"}),
        ("gaussian_process", {"task": "varying_coefficients"}),
    ],
    ids=str,
)
def test_effects_of_covariates_are_certified_and_on_the_lattice(key, chosen):
    from engine.core.types import Covariate

    plain, mechanism = curves(n=400), made(key, chosen)
    sex = (np.arange(400) % 2).astype(float).reshape(1, 400, 1)
    data = replace(
        plain, covariates=sex, facts=replace(FACTS, covariates=(Covariate("sex", 0.0, 1.0),))
    )
    cost = release_cost(data, mechanism, asked(mechanism))
    estimate, sent = release.hardened(data, mechanism, cost)
    assert cost.certified == asked(mechanism)
    assert estimate.functions == ("Intercept", "sex")
    for name, multiples in sent.items():
        whole = multiples * 2.0 ** cost.messages[name].bits
        assert (whole == np.rint(whole)).all()


# -- by the Gaussian curve or by ρ ------------------------------------------------------------------


def charge(laws, composition="sequential", delta=1e-6):
    """What messages of one line each are charged, by both proofs."""
    messages = [hardened.LatticeNoise(law, 0.1 * (k + 1), 10 + k) for k, law in enumerate(laws)]
    line = release_cost(
        data_for(made("adaptive_mean", {})), made("adaptive_mean", {}), Budget(1.0, 1e-4)
    ).spends[0]
    lines = [replace(line, composition=composition)] * (
        1 if composition == "parallel" else len(laws)
    )
    return messages, release._charge(lines, messages, delta)


def test_gaussian_messages_are_charged_by_their_squares_of_mu():
    messages, (certified, by_rho) = charge(["gaussian"] * 3)
    mu = math.sqrt(sum(one.mu**2 for one in messages))
    assert certified.epsilon == pytest.approx(accounting.certified_epsilon(mu, 1e-6), rel=1e-12)
    assert certified.epsilon < by_rho.epsilon


def test_laplace_among_gaussian_messages_is_charged_by_rho():
    _, (certified, by_rho) = charge(["gaussian", "laplace"])
    assert certified == by_rho


def test_messages_about_different_people_cost_as_much_as_the_dearest():
    messages, (certified, _) = charge(["gaussian"] * 3, "parallel")
    assert certified.epsilon == pytest.approx(
        accounting.certified_epsilon(messages[2].mu, 1e-6), rel=1e-9
    )


@pytest.mark.parametrize("law", [law for law in NoiseLaw if law is not NoiseLaw.LAPLACE])
def test_noise_of_a_law_that_cannot_be_made_hardened_is_refused_and_taken_for_no_other(law):
    mechanism = made("iclp", {})

    class OfAnotherLaw(type(mechanism)):
        def ledger(self, plan):
            return tuple(replace(line, noise=law) for line in super().ledger(plan))

    assert release_cost(curves(), mechanism, asked(mechanism)).certified.is_private
    with pytest.raises(InputError):
        release_cost(curves(), OfAnotherLaw(), asked(mechanism))
