"""Values that no parameter expects: the same list for every parameter of every registered member."""

from decimal import Decimal
from fractions import Fraction

import numpy as np


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE = [
    None, True, False, 0, -1, 1, 2, 3, 17, 2**31, 2**63 - 1, 2**63, 2**64, 10**18, -10**18, 10**400, -10**400,
    10**5000, 0.0, -0.0, 0.5, 1.5, -0.5, 1e-320, 5e-324, -5e-324, 1e-300, 1e-12, 1e12, 1e300, 1e308, -1e308,
    float("inf"), float("-inf"), float("nan"), 1.0000000000000002, 0.9999999999999999,
    "", " ", "x", "1", "1e400", "inf", "NaN", "true", "None", "\0", "\ud800", "\n", "\x1b[31mred", "a" * 100_000,
    "../../etc/passwd", "/dev/zero", "$\\href{x}{y}$", "<script>", "{0.__class__}", "%s%n", "☃" * 100, "e\u0301",
    b"", b"x", [], [1], [[]], [None], ["a", "b"], _nested(500), {}, {"key": 1}, {"key": {}}, (), (1, 2), set(),
    frozenset({1}), range(3), 1 + 2j, Decimal("1e999"), Decimal("NaN"), Fraction(1, 3), np.float64(0.5),
    np.float64("nan"), np.int64(3), np.array([1.0, 2.0]), np.array(0.5), object(), int, len, Ellipsis, slice(1)]
