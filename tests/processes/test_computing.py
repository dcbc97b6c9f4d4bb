"""Pages wait for workers, share what they ask for at once, and give up what nobody waits for."""

import threading

import pytest

from engine.core.errors import InputError
from engine.running.steps import result_of
from engine.running.workers import Worker
from pages.shared.server import computing
from tests.processes import job_targets
from tests.waiting import PATIENCE, until

LONG = (job_targets.squares, 100_000, 0.1)  # hours: ends only where it is ended


class MovedOn(Exception):
    """How a page is ended when its visitor asks for another."""


MovedOn.__module__ = "streamlit.of_a_test"


pytestmark = pytest.mark.usefixtures("in_workers")


def asked(monkeypatch, key, moves_on):
    """Ask for something long; the visitor moves on as soon as `moves_on` is set."""

    def make_way():
        if moves_on.is_set():
            raise MovedOn

    monkeypatch.setattr(computing, "_make_way", make_way)
    ended = []

    def ask():
        try:
            computing.computed(key, *LONG)
        except MovedOn:
            ended.append("moved on")

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, ended


def test_a_worker_gives_what_would_be_computed_here():
    assert computing.computed("sum", sum, (1, 2, 3)) == sum((1, 2, 3))


def test_steps_are_told_as_they_come_and_the_result_is_that_of_the_generator():
    collected = []
    there = computing.computed("steps", job_targets.squares, 5, 0.1, progress=collected.append)
    assert there == result_of(job_targets.squares(5))
    assert collected == sorted(collected) and set(collected) <= {0, 1, 2, 3, 4, 5}


def test_what_a_person_can_put_right_is_raised_and_a_fault_has_no_message():
    with pytest.raises(InputError, match="Too few people"):
        computing.computed("refused", job_targets.refuse)
    with pytest.raises(RuntimeError, match="ValueError in job") as fault:
        computing.computed("broken", job_targets.break_on, 3.25)
    assert "3.25" not in str(fault.value)


def test_nothing_is_kept_of_what_was_computed(pool):
    computing.computed("forgotten", sum, (1, 2))
    until(lambda: "forgotten" not in pool._jobs)
    assert not any(job.key == "forgotten" for job in computing._watched)


def test_what_is_stopped_is_forgotten_where_it_ends_however_late_that_is(monkeypatch, pool):
    is_slow, usual = threading.Event(), Worker.kill

    def kill(worker):
        if worker.process is not None:  # a worker that starts has nothing to end
            is_slow.wait(PATIENCE)
        usual(worker)

    monkeypatch.setattr(Worker, "kill", kill)
    moves_on = threading.Event()
    thread, _ = asked(monkeypatch, "late", moves_on)
    until(lambda: "late" in pool._jobs and pool._jobs["late"].parts)
    job, timers = pool._jobs["late"], threading.active_count()
    moves_on.set()
    thread.join(PATIENCE)
    until(lambda: job._stop_asked.is_set() and threading.active_count() < timers)
    assert job.live  # nobody waits for its end any more
    is_slow.set()
    until(lambda: "late" not in pool._jobs)
    assert job.state == "stopped" and job not in computing._watched


def test_what_nobody_waits_for_any_more_is_stopped(monkeypatch, pool):
    moves_on = threading.Event()
    thread, ended = asked(monkeypatch, "left", moves_on)
    until(lambda: "left" in pool._jobs and pool._jobs["left"].parts)
    job = pool._jobs["left"]
    moves_on.set()
    thread.join(PATIENCE)
    assert ended == ["moved on"] and job.wait(PATIENCE)
    assert job.state == "stopped"
    until(lambda: "left" not in pool._jobs)


def test_what_another_still_waits_for_goes_on(monkeypatch, pool):
    moves_on = threading.Event()
    thread, _ = asked(monkeypatch, "shared", moves_on)
    until(lambda: "shared" in pool._jobs and pool._jobs["shared"].parts)
    job = pool._jobs["shared"]
    with computing._watching(job):
        moves_on.set()
        thread.join(PATIENCE)
        assert not job.wait(3 * computing._GRACE_SECONDS)
    assert job.wait(PATIENCE) and job.state == "stopped"


def test_a_visitor_who_keeps_moving_starts_nothing(pool):
    now = [0.0]
    pace = computing._Pace(lambda: now[0])
    assert not pace.is_moving
    with pytest.raises(MovedOn), pace.followed():
        assert pace.is_moving
        raise MovedOn
    assert pace.is_moving
    now[0] += computing._MOVING_SECONDS
    assert not pace.is_moving
    with pytest.raises(InputError), pace.followed():
        raise InputError("no move")
    assert not pace.is_moving
