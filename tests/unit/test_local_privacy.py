"""Nobody trusted: n devices that each add noise have the numbers of n sites of one curve."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, Public
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families import local_privacy
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.study import Study
from engine.privacy import accounting, risk
from engine.simulation.metrics import Accuracy
from engine.sources.hormone_study import HormoneStudy
from engine.sources.sparse_curves import SparseCurves
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words
from engine.topics.decision.effective_size import effective_size
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.sites.answer import measured
from engine.topics.sites.site_table import SiteRow
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("decide")

PEOPLE = 40
DEVICES = SparseCurves(mean="growth", n_curves=PEOPLE, n_observations_per_curve=6, n_servers=PEOPLE)
ASKED = Budget(10.0, 1e-2)


@pytest.fixture(scope="module")
def few_data_sets():
    yield from fewer_data_sets(FEW_DATA_SETS)


def profile(source, mechanism, rows, noise="person", delta=None):
    return decision_topic.profile_of(source, mechanism, rows, delta, noise, 1)


class Together:
    """The stream of one centre: the sum of those of the devices, in its own units."""

    def __init__(self, seed):
        self.streams = np.random.default_rng(seed).spawn(PEOPLE)

    def spawn(self, count):
        assert count == 1
        return [self]

    def standard_normal(self, size):
        return sum(each.standard_normal(size) for each in self.streams) / np.sqrt(PEOPLE)


UNEVEN = DEVICES.with_sites([1] * PEOPLE, [4, 9] * (PEOPLE // 2))  # observations differ


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        (DEVICES, {}),
        (DEVICES, {"releases": "separate"}),
        (DEVICES, {"band": "none"}),
        (DEVICES, {"clipping": "wide", "shrink": "always"}),
        (UNEVEN, {}),
        (HormoneStudy().resized(1, 6, PEOPLE), {}),
        (UNEVEN, {"releases": "separate", "truncation": 5}),
    ],
)
def test_the_release_of_devices_is_that_of_one_centre_with_their_noise_summed(source, settings):
    """The proposition of `local_privacy`, for the noise that was drawn and not only in law."""
    mechanism, data = AdaptiveMean(**settings), source.draw(2, np.random.default_rng(1))
    local = mechanism.release_many(data, [(ASKED,)], 2, np.random.default_rng(2))
    centre = mechanism.as_one_centre(PEOPLE, ASKED, data.facts)
    pooled = mechanism.release_many(data.pooled(), [(centre,)], 2, Together(2))
    assert np.abs(local.coefficients).max() > 0
    np.testing.assert_allclose(pooled.coefficients, local.coefficients, rtol=1e-6)
    of_device = local_privacy.of_one_device(pooled.spends[0], PEOPLE, ASKED)
    first = [spend for spend in local.spends[0] if spend.server == 0]
    for mine, theirs in zip(of_device, first, strict=True):
        assert (mine.step, mine.budget, mine.count) == (theirs.step, theirs.budget, theirs.count)
        assert mine.mu == pytest.approx(theirs.mu, rel=1e-12)
        assert mine.noise_scale == pytest.approx(theirs.noise_scale, rel=1e-12)
        assert mine.sensitivity == pytest.approx(theirs.sensitivity, rel=1e-12)
    assert accounting.keeps_promise(of_device)


def test_the_effective_size_of_devices_is_that_of_sites_of_one_curve():
    verdict = AdaptiveMean().feasibility(DEVICES.sizes, (ASKED,))
    assert local_privacy.effective_size(PEOPLE, ASKED) == pytest.approx(verdict.effective_size)
    centre = local_privacy.centre_budget(PEOPLE, ASKED)
    pooled = replace(DEVICES.sizes, n_curves_per_server=(PEOPLE,))
    assert AdaptiveMean().feasibility(pooled, (centre,)).effective_size == pytest.approx(
        verdict.effective_size, rel=1e-6
    )


@pytest.mark.parametrize("mechanism", few([NoisyGradientMean(), AdaptiveMean()]))
def test_a_study_in_which_nobody_is_trusted_has_the_numbers_of_the_table_of_sites(
    few_data_sets, mechanism
):
    one_site = replace(DEVICES, n_servers=1)
    study = profile(one_site, mechanism, (SiteRow("All", PEOPLE, 6),), delta=1e-2)
    alone = Study(source=DEVICES, mechanism=mechanism, budgets=(ASKED,))
    sites = measured(alone, is_to_pool=False)
    theirs = Accuracy.of(sites.errors)
    option = study.option(EPSILON_STEPS.index(10.0))
    plan = mechanism.plan(Public(DEVICES.sizes, DEVICES.facts), (ASKED,))
    assert option.odds.right == pytest.approx(
        risk.of_ledger(mechanism.ledger(plan)).right, rel=1e-9
    )
    if mechanism.as_one_centre(PEOPLE, ASKED, DEVICES.facts) is None:
        np.testing.assert_allclose(option.accuracy.error, theirs.error, rtol=1e-9)
    else:  # the same law, with noise of its own
        assert abs(np.log(option.accuracy.error / theirs.error)) < 3 * np.hypot(
            option.accuracy.log_se, theirs.log_se
        )


def test_where_no_law_is_proved_more_devices_than_are_simulated_are_refused():
    rows = (SiteRow("All", 3000, 6),)
    for mechanism, delta in (
        (NoisyGradientMean(), None),
        (AdaptiveMean(), 0.0),
        (AdaptiveMean(design="unknown"), None),
    ):
        with pytest.raises(InputError, match=f"At most {decision_topic.MAX_DEVICES}"):
            profile(replace(DEVICES, n_servers=1), mechanism, rows, delta=delta)


def test_the_people_and_the_budget_that_would_be_needed_reach_the_least_size(few_data_sets):
    study = profile(replace(DEVICES, n_servers=1), AdaptiveMean(), (SiteRow("All", PEOPLE, 6),))
    size = effective_size(study, 1.0)
    assert not size.is_enough and size.of_centre == pytest.approx(np.sqrt(PEOPLE) * size.value)
    for n, is_enough in ((size.people_needed, True), (size.people_needed - 1, False)):
        reached = local_privacy.effective_size(n, Budget(1.0, 1 / n**2))
        assert (reached >= size.needed) == is_enough
    stronger = Budget(size.epsilon_needed, study.delta.value)
    assert local_privacy.effective_size(PEOPLE, stronger) == pytest.approx(size.needed, rel=1e-6)
    assert effective_size(replace(study, noise=decision_topic.NoisePlace.CENTRE), 1.0) is None


@pytest.mark.slow
def test_interaction_is_told_by_the_messages_of_the_ledger(few_data_sets):
    rows = (SiteRow("A", 30, 6), SiteRow("B", 30, 6))
    source = replace(DEVICES, n_curves=60, n_servers=2)
    by_name = {
        mechanism: words.protection(profile(source, mechanism, rows))["Interaction"]
        for mechanism in (AdaptiveMean(), NoisyGradientMean(), GaussianProcess())
    }
    adaptive, descent, process = by_name.values()
    for asked, said in (("6 times", adaptive), ("10 times", descent)):
        wording.found("device asked", said, asked)
        assert "earlier answers" in said
    wording.found("one message device", process)
    assert "Interaction" not in words.protection(profile(source, AdaptiveMean(), rows, "centre"))
    wording.found(
        "one curves",
        words.protection(profile(source, AdaptiveMean(), rows), 3)["Unit of privacy"],
        3,
    )


def test_somebody_else_who_adds_noise_is_refused_with_the_choices():
    with pytest.raises(InputError, match="sites, centre, sums, person"):
        profile(replace(DEVICES, n_servers=1), AdaptiveMean(), (SiteRow("All", 40, 6),), "cloud")
