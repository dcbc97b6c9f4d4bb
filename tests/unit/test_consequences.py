"""The label says from whom one is protected, and changes with who adds the noise."""

import pytest

from engine.core.types import PublicFacts
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning.answer import PlannedStudy, protection
from engine.topics.planning.consequences import label, way_of

FACTS = PublicFacts(person="child", people="children")


def spends(sites=1, mechanism=None):
    setting = PlannedStudy(
        SparseCurves(mean="growth"), mechanism or AdaptiveMean(), 1.0, 100, 8, sites
    )
    return protection(setting).spends


def test_one_holder_is_named_as_the_one_who_sees_the_curves():
    result = label(spends(), FACTS)
    assert way_of(spends()) == "holder"
    assert "One curve of a child" in result["Protected"]
    assert "holds the curves" in result["Not from whom"]
    assert "site" not in " ".join(result.values())


def test_sites_that_add_their_own_noise_protect_from_the_centre_and_from_each_other():
    result = label(spends(2), FACTS)
    assert "the other sites, and the centre" in result["From whom"]
    assert "The child’s own site" in result["Not from whom"]
    assert "which file, site or public group" in result["Not covered"]


def test_a_trusted_centre_is_no_longer_one_of_those_it_protects_from():
    result = label(spends(2), FACTS, "centre")
    assert "the centre" not in result["From whom"]
    assert "**The centre**, which sees every curve" in result["Not from whom"]


@pytest.mark.parametrize(("mechanism", "can_fail"), [(None, True), (Iclp(), False)])
def test_a_promise_that_can_fail_says_so(mechanism, can_fail):
    result = label(spends(mechanism=mechanism), FACTS)
    assert ("by at most δ" in result["Assumptions"]) is can_fail


def test_words_of_a_file_cannot_become_markup():
    result = label(spends(), PublicFacts(person="**child**", people="[a](b)"))
    assert "**child**" not in " ".join(result.values()) and "[a](b)" not in " ".join(
        result.values()
    )
