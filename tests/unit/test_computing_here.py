"""Without workers, as in tests of pages, the calling process computes."""

from pages.shared.server import computing


def steps(count):
    yield from range(count)
    return count**2


def test_a_result_is_computed_here_and_each_step_is_told():
    told = []
    assert computing.computed("sum", sum, (1, 2, 3)) == 6
    assert computing.computed("steps", steps, 5, progress=told.append) == 25
    assert told == [1, 2, 3, 4, 5]
