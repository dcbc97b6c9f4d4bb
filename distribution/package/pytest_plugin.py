"""A plugin of pytest: the fixture `privacy_attack` fails a test whose mechanism breaks its claim.

It is found once the package is installed. Nothing is imported before the fixture is used, so that
other tests are as quick as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def privacy_attack() -> Callable[..., Any]:
    """Attack a mechanism, and fail the test if its claim is refuted.

    Takes what `privacy_curves.attack` takes and returns its report. A mechanism that keeps its
    claim fails at most one attack in five thousand; with a seed the result is always the same.

    Examples
    --------
    def test_the_mean_is_private(privacy_attack):
        privacy_attack(private_mean, data, neighbour, epsilon=1.0)
    """
    return fail_if_refuted


def fail_if_refuted(
    mechanism: Callable[..., Any],
    data: Any,
    neighbour: Any,
    epsilon: float,
    delta: float = 0.0,
    **options: Any,
) -> Any:
    """The report of an attack, if the claim is not refuted.

    Parameters
    ----------
    mechanism, data, neighbour, epsilon, delta, **options
        As for `privacy_curves.attack`.
    """
    __tracebackhide__ = True
    from privacy_curves import attack

    report = attack(mechanism, data, neighbour, epsilon, delta, **options)
    if report.is_broken:
        pytest.fail(str(report), pytrace=False)
    return report
