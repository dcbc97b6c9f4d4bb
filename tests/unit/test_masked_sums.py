"""Masked sums: the noise of all sites in shares has the law and the price of nearly one centre."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families import masked_sums
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.noise.shares import Shares
from engine.privacy import accounting
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning import consequences
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import federation
from engine.topics.sites.site_table import SiteRow
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS
from tests.heavy import few, slow
from tests.sentences import of_topic

wording = of_topic("sites")

GROWTH = SparseCurves(mean="growth", n_curves=50, n_observations_per_curve=10, n_servers=20)
TWENTY = tuple(SiteRow(f"Site {k}", 50, 10) for k in range(20))
ASKED = Budget(1.0, 1e-6)


@pytest.fixture(scope="module", autouse=True)
def few_data_sets():
    yield from fewer_data_sets(FEW_DATA_SETS)


def profile(noise, source=GROWTH, rows=TWENTY, mechanism=None, delta=None):
    return decision_topic.profile_of(source, mechanism or AdaptiveMean(), rows, delta, noise, 1)


@pytest.mark.parametrize(("sites", "honest"), [(2, 1), (5, 3), (20, 19)])
def test_shares_that_are_relied_on_protect_as_much_as_was_asked(sites, honest):
    shares = Shares(sites, honest)
    of_all = accounting.exact_mu(*_pair(masked_sums.centre_budget(shares, ASKED)))
    assert of_all * math.sqrt(sites / honest) == pytest.approx(
        accounting.exact_mu(*_pair(ASKED)), rel=1e-9
    )


def _pair(budget):
    return budget.epsilon, budget.delta


def test_the_ledger_is_that_of_all_shares_but_one():
    """The noise drawn for the sum, less one share, is what each line states."""
    shares = masked_sums.all_but_one(5)
    of_centre = masked_sums.centre_budget(shares, ASKED)
    data = replace(GROWTH, n_servers=1, n_curves=1000).draw(1, np.random.default_rng(1))
    estimate = AdaptiveMean().release_many(data, [(of_centre,)], 1, np.random.default_rng(2))
    lines = masked_sums.of_every_site(estimate.spends[0], shares, ASKED)
    assert accounting.keeps_promise(lines)
    for line, whole in zip(lines, estimate.spends[0], strict=True):
        assert line.sensitivity == whole.sensitivity
        left = np.square(whole.noise_scale) * 4 / 5
        assert np.allclose(np.square(line.noise_scale), left)
    doubled = [replace(line, mu=line.mu * 1.01) for line in lines]
    assert not accounting.keeps_promise(doubled)  # no more could be spent


class InShares(np.random.Generator):
    """Standard normals as five sites add them to one sum."""

    def standard_normal(self, *size):
        return sum(super(InShares, self).standard_normal(*size) for _ in range(5)) / math.sqrt(5)


def test_shares_of_sites_sum_to_the_noise_of_one_centre():
    """For the noise that is drawn: five sites' shares in the messages of one pooled release."""
    of_centre = masked_sums.centre_budget(masked_sums.all_but_one(5), ASKED)
    data = replace(GROWTH, n_servers=1, n_curves=400).draw(1, np.random.default_rng(1))
    estimate, centre = (
        AdaptiveMean().release_many(data, [(of_centre,)], 500, kind(np.random.PCG64(seed)))
        for kind, seed in ((InShares, 2), (np.random.Generator, 3))
    )
    first, other = (e.coefficients[0, 0, :, 0] for e in (estimate, centre))
    spread = math.hypot(first.std(), other.std()) / math.sqrt(500)
    assert abs(first.mean() - other.mean()) < 5 * spread


@pytest.mark.slow
def test_twenty_sites_err_at_most_a_tenth_more_than_a_trusted_centre():
    """Mean squared error at ε = 1; each site alone with its noise errs several times as much."""
    step = EPSILON_STEPS.index(1.0)
    squared = {
        noise: np.square(profile(noise).errors[step]) for noise in ("sums", "centre", "sites")
    }
    ratio = squared["sums"].mean() / squared["centre"].mean()
    assert 1.0 < ratio < 1.1
    assert squared["sites"].mean() > 5 * squared["sums"].mean()


@slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_that_holds_for_other_data(seed):
    step = EPSILON_STEPS.index(1.0)
    errors = {
        noise: np.square(
            decision_topic.profile_of(GROWTH, AdaptiveMean(), TWENTY, None, noise, seed).errors[
                step
            ]
        )
        for noise in ("sums", "centre")
    }
    assert errors["sums"].mean() / errors["centre"].mean() < 1.1


def test_one_scenario_has_one_number_in_decide_and_in_the_table_of_sites():
    rows = tuple(SiteRow(name, 120, 10) for name in ("A", "B", "C"))
    source = replace(GROWTH, n_curves=120, n_servers=3)
    decided = profile("sums", source, rows)
    answer = federation(source, AdaptiveMean(), rows, 1)
    step = EPSILON_STEPS.index(1.0)
    assert answer.summed.error == pytest.approx(math.sqrt(np.square(decided.errors[step]).mean()))
    assert answer.pooled.error < answer.summed.error < answer.together.error
    assert accounting.keeps_promise(answer.summed.spends)
    text = site_words.compared(answer)
    wording.found("masked sums everybody", text, 1)
    wording.found("one other site", site_words.odds(answer, "sums"))
    wording.found("share noise", site_words.trust("sums", answer.facts))


@pytest.mark.slow
def test_effects_of_covariates_are_summed_as_well():
    source = CoefficientCurves(
        n_covariates=1, n_curves=400, n_observations_per_curve=6, n_servers=3
    )
    rows = tuple(SiteRow(name, 400, 6) for name in "ABC")
    errors = {
        noise: np.square(profile(noise, source, rows, AdaptiveCoefficients()).errors[-1])
        for noise in ("sums", "centre")
    }
    assert 0.9 < errors["sums"].mean() / errors["centre"].mean() < 1.8  # 3/2 of the noise variance


@pytest.mark.parametrize(
    ("mechanism", "rows", "delta", "reason"),
    few(
        [
            (NoisyGradientMean(), TWENTY, None, "not known to be a sum"),
            (AdaptiveMean(), TWENTY[:1], None, "at least two sites"),
            (AdaptiveMean(), TWENTY, 0.0, "not drawn in shares"),
        ]
    ),
)
def test_what_cannot_be_summed_unread_is_refused_with_the_reason(mechanism, rows, delta, reason):
    source = replace(GROWTH, n_servers=len(rows))
    with pytest.raises(InputError, match=reason):
        profile("sums", source, rows, mechanism, delta)
    table = [replace(row, delta=delta) for row in rows]
    answer = federation(source, mechanism, table, 1)
    assert answer.summed is None and reason in answer.why_not_summed
    assert "masked" not in site_words.compared(answer)


def test_only_methods_whose_messages_are_sums_say_so():
    sums = {cls.key for cls in mechanisms.all() if cls.sends_sums}
    assert sums == {"adaptive_mean", "adaptive_coefficients", "noisy_counts"}


@pytest.mark.slow
def test_the_label_says_who_must_keep_to_the_protocol():
    answer = profile("sums")
    protection = words.protection(answer)
    wording.found("one other", protection["Protected"])
    wording.found("share noise", protection["Must be trusted"])
    label = consequences.label(answer.spends[0], answer.facts, "sums")
    assert "several other sites" in label["Not from whom"]
