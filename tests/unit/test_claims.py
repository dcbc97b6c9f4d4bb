"""Every claim of the product leads to a proof, a test, a record and an attack that are there."""

import re
from pathlib import Path

import pytest

from engine import handbook
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import claims
from engine.topics.coverage.answer import KINDS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.text)
def test_what_stands_behind_a_claim_is_there(claim):
    assert claim.section in (ROOT / claim.proof).read_text("utf-8")
    if claim.method_of_proof:
        assert claim.method_of_proof in handbook.method_keys()
    file, _, name = claim.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")
    recorded = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("methods*.md"))
    assert all(words in recorded for words in claim.recorded)
    assert bool(claim.measured) == bool(claim.recorded) == (claim.part == claims.COVERAGE)


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.text)
def test_a_claim_is_attacked_by_something_that_runs(claim):
    if claim.part == claims.ATTACK:
        method = audit_topic.audited_method(claim.subject).default()
        assert str(len(audit_topic.variants_of(method))) in re.findall(r"\d+", claim.attacked)
        assert audit_topic.variants_of(method)
    elif claim.part == claims.COVERAGE:
        assert claim.subject in KINDS
    else:
        assert claim.part in ("", claims.REUSE)


def test_no_two_claims_say_the_same():
    assert len({claim.text for claim in claims.CLAIMS}) == len(claims.CLAIMS)
    assert str(len(claims.CLAIMS)) in claims.title()
