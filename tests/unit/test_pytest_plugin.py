"""The fixture for other people's tests fails where a mechanism breaks what it claims."""

import subprocess
import sys

import numpy as np
import pytest

from distribution.names import lay_out
from distribution.package.pytest_plugin import fail_if_refuted
from engine import api
from tests.server import ROOT

ONE, OTHER = np.zeros(100), np.append(np.zeros(99), 1.0)
THEIRS = """
import numpy as np

data, neighbour = np.zeros(100), np.append(np.zeros(99), 1.0)

def private_sum(scale):
    return lambda data, rng, runs: data.sum() + rng.laplace(scale=scale, size=runs)

def test_enough_noise(privacy_attack):
    assert privacy_attack(private_sum(1.0), data, neighbour, 1.0, at_once=True).bound > 0.5

def test_half_the_noise(privacy_attack):
    privacy_attack(private_sum(0.5), data, neighbour, 1.0, at_once=True)

def test_of_something_else():
    assert not {"scipy", "pandas"} & set(SEEN)
"""


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "privacy_curves", api)


def laplace_sum(scale):
    return lambda data, rng, runs: data.sum() + rng.laplace(scale=scale, size=runs)


def test_a_mechanism_that_keeps_its_claim_passes_with_its_report():
    report = fail_if_refuted(laplace_sum(1.0), ONE, OTHER, 1.0, at_once=True)
    assert not report.is_broken and report.bound > 0.5


def test_a_broken_variant_fails_the_test_with_one_sentence():
    with pytest.raises(pytest.fail.Exception, match=r"^broken: claims ε = 1 at δ = 0; 10,000"):
        fail_if_refuted(laplace_sum(0.5), ONE, OTHER, 1.0, at_once=True)


@pytest.mark.slow
def test_other_peoples_tests_have_the_fixture_and_load_nothing_else(tmp_path):
    lay_out(ROOT, tmp_path)
    theirs = tmp_path / "test_theirs.py"
    theirs.write_text("import sys\nSEEN = list(sys.modules)\n" + THEIRS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "privacy_curves.pytest_plugin", "-rf", theirs],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "test_half_the_noise - Failed: broken: claims ε = 1" in done.stdout
