"""Every quick exhibit is made again: what the papers claim holds, but for a stated reason."""

import pytest

import reproductions
from engine.running.executors import ProcessExecutor
from reproductions import files as exhibit_files
from reproductions.exhibits import Reason, run

SECONDS = ("iclp", "gaussian_process", "laplace_alone")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def executor():
    with ProcessExecutor(2) as found:
        yield found


def quick(exhibit, executor):
    running = run(exhibit, "quick", executor)
    while True:
        try:
            next(running)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("key", reproductions.names())
def test_a_check_passes_exactly_where_no_reason_says_why_it_does_not(key, executor):
    paper, exhibit = reproductions.find(key)
    result = quick(exhibit, executor)
    for claim, finding in zip(exhibit.claims, exhibit.findings(result.table), strict=True):
        passes = finding.holds is (claim.reason is None) or claim.reason == Reason.DATA
        assert passes, f"{claim.says} {finding.measured}"
    stored = exhibit_files.stored(paper, exhibit)
    assert stored is not None, "No stored result."
    assert close(untimed(stored.table), untimed(result.table))


def untimed(table):
    """Without the seconds that one table measures: they are those of the machine."""
    return [{name: value for name, value in row.items() if name not in SECONDS} for row in table]


def close(stored, again):
    """Whether tables agree to what rounding and numerical libraries may change."""
    return len(stored) == len(again) and all(
        row.keys() == other.keys()
        and all(
            value == pytest.approx(other[name], rel=1e-4)
            if isinstance(value, float)
            else value == other[name]
            for name, value in row.items()
        )
        for row, other in zip(stored, again, strict=True)
    )
