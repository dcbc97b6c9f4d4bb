"""Progress of long commands: rewritten in a terminal, a line now and then elsewhere."""

import io

from engine.running import progress
from engine.running.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, seconds, steps=100):
    """What is shown of so many equal steps that take so long in all."""
    now = [0.0]
    line = ProgressLine(stream, clock=lambda: now[0])
    advance = line.stage("Reading", steps)
    for _ in range(steps):
        now[0] += seconds / steps
        advance(1)
    line.end_line()
    return stream.getvalue()


def test_what_is_short_says_nothing_elsewhere():
    assert shown(io.StringIO(), 29) == ""


def test_elsewhere_there_is_a_line_every_thirty_seconds():
    lines = shown(io.StringIO(), 100).splitlines()
    assert [line.split()[1] for line in lines] == ["30", "60", "90"]
    assert lines[0].endswith("1 min left") and lines[-1].endswith("10 s left")


def test_a_terminal_has_one_line_that_is_cleared_at_the_end():
    written = shown(Terminal(), 10)
    assert "\n" not in written and written.count("\r") > 10
    assert not written.rpartition("\r")[2].strip()


def test_before_anything_is_done_no_time_left_is_stated():
    stream, now = io.StringIO(), [0.0]
    advance = ProgressLine(stream, clock=lambda: now[0]).stage("Reading", 100)
    now[0] = 40.0
    advance(0)
    assert stream.getvalue().split() == ["Reading", "0", "%"]


def test_rounds_are_called_by_their_number_and_quiet_shows_nothing():
    stream = Terminal()
    with progress.shown(quiet=False, stream=stream) as line:
        assert line.where == ""
        progress.begin_rounds(4)
        progress.next_round()
        assert line.where.endswith("2 of 4")
    with progress.shown(quiet=True, stream=stream):
        progress.stage("Reading", 1)(1)
    assert stream.getvalue() == ""
