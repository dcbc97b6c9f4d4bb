"""Every registered mechanism is audited the moment it exists.

A mechanism without `trials` of its own is audited with its usual settings and must
attain its claim; one whose data nobody knows how to attack fails with a message that says so.
"""

import json
from itertools import pairwise

import numpy as np
import pytest

from engine import __main__ as command_line
from engine import audit
from engine.audit import cases, neighbours
from engine.audit.replay import released, run
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.privacy import accounting, risk, transcript
from engine.running.steps import result_of
from engine.sources.regression_points import RegressionPoints
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("audit")

pytestmark = pytest.mark.usefixtures("unhurried")
ROUNDING = 1 + 1e-9
CASES = [case for cls in mechanisms.all() for case in audit.cases_of(cls)]
named = {"ids": lambda case: f"{case.mechanism.key} {case.mechanism.changed()}"}
PAIRS = {"percentile_curves": 180, "wavelet_adaptive": 60}  # one data set after the other
every_case = pytest.mark.parametrize("case", CASES, **named)


@pytest.mark.parametrize(
    "case",
    [
        case
        for cls in mechanisms.all()  # percentile curves take as long as all others together
        for case in few(audit.cases_of(cls), 0 if cls.key == "percentile_curves" else 1)
    ],
    **named,
)
def test_no_neighbour_finds_more_than_is_claimed_and_some_find_what_is_attained(case):
    """240 pairs or fewer; and noise of the size that is said, always fresh."""
    report = audit.audit_case(case, tries=PAIRS.get(case.mechanism.key, 240), runs=0)
    print(report.ratio)
    assert not report.reason
    assert case.attains <= report.ratio <= ROUNDING
    assert report.verdict == "holds"


@pytest.mark.slow
@every_case
def test_neither_long_searches_nor_outputs_alone_find_more_than_is_claimed(case):
    """2000 pairs or 20 seconds of them, and 20 000 releases of each side of the worst."""
    report = audit.audit_case(case, seed=2, seconds=20)
    assert report.verdict == "holds"
    assert report.bound <= report.claimed_epsilon


@every_case
@pytest.mark.parametrize(
    "budget", few([Budget(1e-12, 1e-300), Budget(1e-3, 0.9), Budget(1e6, 1e-12)], 2)
)
def test_absurd_budgets_end_in_a_finite_release_that_keeps_them_or_in_a_sentence(case, budget):
    data = audit._Search(case, None, 1).question.usual
    try:
        estimate = released(case.mechanism, data, budget, 1, (1,))
    except InputError:
        return
    assert np.isfinite(estimate.coefficients).all()
    assert accounting.keeps_promise(estimate.spends[0])
    odds = risk.of_ledger(estimate.spends[0])
    assert 0.5 <= odds.right <= 1 and 0 <= odds.power <= 1


def test_whatever_attains_less_says_why():
    assert all(case.why for case in CASES if case.attains < audit.ATTAINED)
    assert all(case.attains >= 0.5 for case in CASES)


def test_every_task_of_every_mechanism_is_audited():
    for cls in mechanisms.all():
        audited = set().union(*(case.mechanism.served for case in audit.cases_of(cls)))
        assert cls.tasks <= audited


def test_a_mechanism_of_a_new_kind_is_told_that_it_needs_neighbours():
    class Foreign(Mechanism):
        key, label, tasks, family = "foreign", "Foreign", frozenset({"tea_leaves"}), "gradient"

    with pytest.raises(InputError, match=r"No neighbours are known.*tea_leaves") as told:
        neighbours.family_of(Foreign())
    assert "engine.audit.neighbours" in told.value.hint


# -- what a page sees ---------------------------------------------------------------------------


def test_an_audit_climbs_under_its_claim_and_then_certifies():
    steps = audit.audit(NoisyGradientMean(truncation=3, n_iterations=3), tries=1200, runs=20_000)
    seen = []
    with pytest.raises(StopIteration) as end:
        while True:
            seen.append(next(steps))
    tried = [one.tried for one in seen]
    assert tried[:3] == [400, 800, 1200] and set(tried[3:]) == {1200}  # then releases are counted
    assert all(a.worst <= b.worst for a, b in pairwise(seen))
    assert all(one.worst <= one.claim * ROUNDING for one in seen)
    assert end.value.value.runs == 20_000
    assert end.value.value.confidence == pytest.approx(0.95)


@every_case
def test_every_message_is_charged_to_lines_of_the_ledger_and_every_line_has_a_message(case):
    data = neighbours.family_of(case.mechanism).usual(case.mechanism)
    heard = run(case.mechanism, data, case.budget, 1, rng=np.random.default_rng(1))
    lines = {
        server: {line.step.key for line in own}
        for server, own in accounting.by_server(heard.estimate.spends[0]).items()
    }
    charged = {server: set() for server in lines}
    for message in heard.messages.values():
        servers = lines if message.server == transcript.CENTRE else [message.server]
        assert set(message.step.charged_to) <= set.union(*(lines[server] for server in servers))
        for server in servers:
            charged[server] |= set(message.step.charged_to)
    assert charged == lines


def test_the_same_seed_gives_the_same_audit():
    one, again = (
        result_of(audit.audit(SparseMeanLaplace(), tries=300, runs=2000, seed=4)) for _ in range(2)
    )
    assert one.plain() == again.plain()


@pytest.mark.parametrize(
    ("mechanism", "source", "budget"),
    [
        (NoisyGradientMean(), SparseCurves(n_curves=60, n_servers=2), Budget(1.0, 1e-3)),
        (mechanisms.get("adaptive_mean")(), SparseCurves(n_curves=200), Budget(2.0, 1e-3)),
        (mechanisms.get("iclp")(), SparseCurves(n_curves=60), Budget(1.0)),
        (mechanisms.get("wavelet_global")(), RegressionPoints(n_curves=4000), Budget(2.0, 1e-5)),
    ],
    ids=lambda one: getattr(one, "key", ""),
)
def test_neighbours_can_be_those_of_a_source(mechanism, source, budget):
    report = result_of(audit.audit(mechanism, source, budget, tries=60, runs=0))
    assert 0 < report.ratio <= ROUNDING
    assert report.verdict == "holds"


def test_a_source_of_other_data_is_refused_kindly():
    with pytest.raises(InputError, match="does not take such data"):
        next(audit.audit(NoisyGradientMean(), RegressionPoints(n_curves=400)))


def test_what_releases_nothing_cannot_be_audited():
    with pytest.raises(InputError, match="nothing to audit"):
        next(
            audit.audit(
                mechanisms.get("adaptive_mean")(), SparseCurves(n_curves=20), Budget(0.01, 1e-3)
            )
        )


def test_a_listener_leaves_a_run_as_it_is_when_it_answers_with_what_it_hears():
    class Echo:
        def sent(self, server, step, values, noise):
            return values

        def summed(self, step, parts): ...

        def weighed(self, server, step, values, law, kept, scales): ...

    for case in CASES:
        if case.mechanism.key in ("noisy_gradient_mean", "sparse_mean_signs", "sparse_regression"):
            data = neighbours.family_of(case.mechanism).usual(case.mechanism)
            unrecorded = case.mechanism.release(data, (case.budget,), np.random.default_rng(1))
            with transcript.overheard(Echo()):
                heard = case.mechanism.release(data, (case.budget,), np.random.default_rng(1))
            assert (unrecorded.coefficients == heard.coefficients).all()


# -- the command line ---------------------------------------------------------------------------


def test_the_command_line_audits_one_mechanism(capsys):
    code = command_line.main(
        ["audit", "sparse_mean_laplace", "--json", "--tries", "200", "--runs", "2000"]
    )
    printed = json.loads(capsys.readouterr().out)
    assert code == 0 and printed["ok"]
    one = printed["audits"][0]
    assert one["verdict"] == "holds" and one["ratio"] == pytest.approx(1)
    assert one["tried"] == 200 and one["confidence"] == pytest.approx(0.95)


def test_the_command_line_catches_a_broken_variant_and_says_what_is_wrong(capsys):
    arguments = ["audit", "--broken", "NoClipping", "--tries", "200", "--runs", "0"]
    assert command_line.main(arguments) == 0
    wording.found("gradients clipped", capsys.readouterr().out)


def test_a_claim_that_is_broken_ends_with_one(capsys, monkeypatch):
    class Quiet(UnivariateMean):
        def clip_width(self, places, facts):
            return super().clip_width(places, facts) / 2

        def exact_parts(self, data, places):
            return UnivariateMean(setting=self.setting).exact_parts(data, places)

    monkeypatch.setattr(audit, "cases_of", lambda cls: [cases.Case(Quiet(), Budget(0.8))])
    assert command_line.main(["audit", "univariate_mean", "--tries", "100", "--runs", "0"]) == 1
    assert "broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["audit", "nothing"], "no mechanism"),
        (["audit", "--broken", "Nothing"], "no broken variant"),
        (["audit", "frl", "--broken", "NoClipping"], "no broken variant of 'frl'"),
    ],
)
def test_unknown_names_are_told_kindly(arguments, told, capsys):
    assert command_line.main(arguments) == 2
    assert told in capsys.readouterr().err
