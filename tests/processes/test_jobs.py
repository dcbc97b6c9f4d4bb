"""Long work outside the web process: shared, stoppable, and never the end of the server."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from streamlit.testing.v1 import AppTest

from engine.core.errors import InputError
from pages.shared.server.jobs import _MAX_KEPT, Job, Jobs, ready
from tests.heavy import few
from tests.processes import job_targets
from tests.sentences import of_topic
from tests.waiting import PATIENCE, until

wording = of_topic("work")

ROOT = Path(__file__).parents[2]
ENDLESS = 100_000
LONG = (job_targets.squares, ENDLESS, 0.1)  # hours: ends only where it is ended
ROUGHER = ":small[Stopped after 3 of 50. The numbers are rougher.]"


@pytest.fixture(scope="module")
def pool():
    """One slot, one waiting place; shared, because every worker takes a moment to start."""
    pool = Jobs(slots=1, waiting=1)
    yield pool
    pool.close()


@pytest.fixture
def long_job(pool):
    """A job that occupies the only slot."""
    job = pool.start("long", *LONG, total=ENDLESS)
    until(lambda: job.parts)
    yield job
    job.stop()
    assert job.wait(PATIENCE)


def finished(pool, key, function, *arguments, **options):
    job = pool.start(key, function, *arguments, **options)
    assert job.wait(PATIENCE)
    return job


def directly(steps):
    parts = []
    while True:
        try:
            parts.append(next(steps))
        except StopIteration as end:
            return parts, end.value


def test_parts_and_result_are_those_of_running_the_generator_here(pool):
    job = finished(pool, "squares", job_targets.squares, 200, total=200)
    assert (job.parts, job.result) == directly(job_targets.squares(200))
    assert (job.state, job.fraction, job.seconds_left) == ("done", 1.0, None)


def test_a_pool_that_was_warmed_up_has_room_for_work(pool):
    pool.warm_up()
    assert finished(pool, "after", job_targets.squares, 3).state == "done"
    warm = pool.start("warm", ready)
    assert warm.wait(PATIENCE) and warm.state == "done"


def test_one_visitor_leaves_a_slot_to_the_others_and_takes_turns_with_oneself():
    pool = Jobs(slots=2, waiting=10)
    try:
        first = pool.start("first", *LONG, visitor="a")
        second = pool.start("second", job_targets.squares, 3, visitor="a")
        other = pool.start("other", job_targets.squares, 3, visitor="b")
        assert other.wait(PATIENCE) and other.state == "done"
        until(lambda: first.parts)
        assert second.state == "waiting"
        pool.disown(first)  # its visitor has moved on
        assert second.wait(PATIENCE) and second.state == "done"
    finally:
        pool.close()


def test_what_a_visitor_has_left_gives_its_slot_to_whoever_waits():
    pool = Jobs(slots=2, waiting=10)
    try:
        left, next_one = (pool.start(f"heavy {k}", *LONG, visitor="a") for k in range(2))
        until(lambda: left.parts)
        pool.disown(left)
        until(lambda: next_one.parts)  # both slots are now held by what one visitor asked for
        assert left.state == "running"
        other = pool.start("other", job_targets.squares, 3, visitor="b")
        assert other.wait(PATIENCE) and other.state == "done"
        assert (left.state, next_one.state) == ("stopped", "running")
    finally:
        pool.close()


@pytest.mark.skipif(sys.platform == "win32", reason="workers cannot stand still there")
def test_a_short_question_never_waits_for_a_long_one_which_stands_still_meanwhile():
    pool = Jobs(slots=1, waiting=10, paused=1)
    try:
        heavy = pool.start("heavy", job_targets.named_squares, visitor="a")
        until(lambda: heavy.parts)
        heavy.seconds += 1000
        light = pool.start("light", job_targets.named_squares, visitor="b")
        heavy.short_seconds = light.short_seconds = 0.01
        until(lambda: light.parts)

        def stands_still():
            there, more = len(heavy.parts), len(light.parts) + 20
            until(lambda: len(light.parts) > more)
            return len(heavy.parts) == there

        until(stands_still)
        there = len(heavy.parts)
        light.stop()
        assert light.wait(PATIENCE)
        until(lambda: len(heavy.parts) > there)
        process = psutil.Process(heavy.parts[0])
        heavy.stop()
        assert heavy.wait(PATIENCE)
        assert pool.start("next", job_targets.squares, 3).wait(PATIENCE)
    finally:
        pool.close()
    until(lambda: not process.is_running())


def test_what_has_run_for_the_shorter_time_goes_first_and_what_no_page_waits_for_later():
    first, second, later, left = Job("a"), Job("b"), Job("c", is_later=True), Job("d")
    left.is_left = True

    def order():
        return [job.key for job in sorted((left, later, second, first), key=lambda j: j.standing)]

    assert order() == ["a", "b", "c", "d"]
    first.seconds, second.seconds = 1.9, 1.1  # no turns between what is alike
    assert order() == ["a", "b", "c", "d"]
    first.seconds = 2.1
    assert order() == ["b", "a", "c", "d"]
    first.seconds = 60.0  # however much a page waits for it
    assert order() == ["b", "c", "a", "d"]


def test_what_a_page_waits_for_begins_before_what_came_earlier_and_can_come_later():
    pool = Jobs(slots=1, waiting=3)
    try:
        blocking = pool.start("blocking", *LONG)
        until(lambda: blocking.parts)
        later = pool.start("later", job_targets.squares, 3, is_later=True)
        sooner = pool.start("sooner", job_targets.squares, 3)
        blocking.stop()
        assert later.wait(PATIENCE) and sooner.wait(PATIENCE)
        assert sooner._first < later._first
    finally:
        pool.close()


def test_a_job_that_was_left_and_is_asked_for_again_keeps_its_slot():
    pool = Jobs(slots=1, waiting=10)
    try:
        job = pool.start("heavy", *LONG, visitor="a")
        until(lambda: job.parts)
        pool.disown(job)
        assert pool.start("heavy", *LONG, visitor="a") is job
        pool.start("other", job_targets.squares, 3, visitor="b")
        assert not job._stop_asked.is_set()
    finally:
        pool.close()


@pytest.mark.skipif(sys.platform != "linux", reason="workers are copies of a process there")
def test_a_replaced_worker_is_a_copy_of_a_process_with_modules_and_without_threads(pool):
    finished(pool, "death before a start", job_targets.die)
    assert finished(pool, "a start", job_targets.imported).result == (True, 1)


def test_what_two_visitors_ask_for_counts_against_neither():
    pool = Jobs(slots=2, waiting=10)
    try:
        both = pool.start("both", *LONG, visitor="a")
        assert pool.start("both", *LONG, visitor="b") is both
        assert pool.start("own", job_targets.squares, 3, visitor="a").wait(PATIENCE)
    finally:
        pool.close()


def test_a_visitor_with_too_much_waiting_is_told_and_others_are_served():
    pool = Jobs(slots=2, waiting=30)
    try:
        jobs = [pool.start(f"long {k}", *LONG, visitor="a") for k in range(8)]
        with pytest.raises(InputError, match="8 computations of yours"):
            pool.start("one more", *LONG, visitor="a")
        assert pool.start("other", job_targets.squares, 3, visitor="b").wait(PATIENCE)
        jobs[-1].stop()
        assert pool.start("in its place", *LONG, visitor="a").live
    finally:
        pool.close()


def test_a_job_ends_after_the_time_of_the_server_with_what_to_do():
    pool = Jobs(slots=1, waiting=1, minutes=0.001)
    try:
        job = pool.start("too long", *LONG)
        assert job.wait(PATIENCE) and job.state == "failed" and not job.fault
        wording.found("longer minutes", job.problem.message, 0.001)
        assert job.problem.hint
        pool.minutes = 30
        assert pool.start("next", job_targets.squares, 3).wait(PATIENCE)
    finally:
        pool.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no memory of a process")
def test_a_job_that_needs_too_much_memory_is_told_and_its_worker_goes_on(pool):
    job = finished(pool, "too much", job_targets.fill_memory)
    assert job.state == "failed" and not job.fault
    wording.found("mb memory", job.problem.message, "2,000")
    assert job.problem.hint
    assert finished(pool, "after too much", job_targets.squares, 3).state == "done"


def test_visitors_who_ask_the_same_share_one_job(pool, long_job):
    assert pool.start("long", *LONG) is long_job


def test_a_finished_job_is_kept_for_the_next_visitor(pool):
    job = finished(pool, "kept", job_targets.squares, 3)
    assert pool.start("kept", job_targets.squares, 3) is job


def test_of_finished_jobs_only_the_latest_are_kept(pool):
    jobs = [finished(pool, f"many {k}", job_targets.squares, 1) for k in range(_MAX_KEPT + 2)]
    assert pool.start("many 0", job_targets.squares, 1) is not jobs[0]
    assert pool.start(jobs[-1].key, job_targets.squares, 1) is jobs[-1]


@pytest.mark.parametrize("target", [LONG, (job_targets.flood,)], ids=["slow parts", "many parts"])
def test_a_stop_ends_the_job_and_frees_the_slot(pool, target):
    job = pool.start("to stop", *target)
    until(lambda: job.parts)
    job.stop()
    assert job.wait(PATIENCE)
    assert job.state == "stopped" and job.parts and not job.live
    assert finished(pool, f"after {target}", job_targets.squares, 3).state == "done"


def test_a_stopped_job_begins_again_when_it_is_asked_for_again(pool):
    stopped = pool.start("again", *LONG)
    stopped.stop()
    assert stopped.wait(PATIENCE)
    again = pool.start("again", *LONG)
    assert again is not stopped and again.live
    again.stop()
    assert again.wait(PATIENCE)


def test_stopping_what_has_ended_changes_nothing(pool):
    job = finished(pool, "ended", job_targets.squares, 3)
    job.stop()
    assert job.state == "done"
    assert pool.start("ended", job_targets.squares, 3) is job


def test_a_worker_that_dies_fails_its_job_and_is_replaced(pool):
    job = finished(pool, "death", job_targets.die)
    assert (job.state, job.fault, job.parts) == ("failed", "WorkerDied", ["last words"])
    assert finished(pool, "after death", job_targets.squares, 3).state == "done"


def test_what_a_person_can_put_right_comes_back_in_full(pool):
    job = finished(pool, "refused", job_targets.refuse)
    assert (job.state, job.parts, job.fault) == ("failed", [1], "")
    problem = job.problem
    assert isinstance(problem, InputError)
    assert (problem.message, problem.field, problem.hint) == (
        "Too few people.",
        "people",
        "Ask more.",
    )


def test_a_fault_comes_back_with_its_place_but_without_its_message(pool, logged):
    job = finished(pool, "broken", job_targets.break_on, 3.25)
    assert (job.state, job.fault, job.problem) == ("failed", "ValueError", None)
    assert "break_on" in logged.getvalue() and "3.25" not in logged.getvalue()


@pytest.mark.parametrize(
    "function",
    [job_targets.give_what_cannot_travel, lambda: None],
    ids=["gives a function", "has no name"],
)
def test_work_that_cannot_travel_to_or_from_a_worker_fails_its_job_and_no_other(pool, function):
    job = finished(pool, f"stays {function.__name__}", function)
    assert job.state == "failed" and job.fault
    assert finished(pool, f"after {function.__name__}", job_targets.squares, 3).state == "done"


def test_a_second_job_waits_for_the_only_slot_and_then_runs(pool, long_job):
    second = pool.start("second", job_targets.squares, 3)
    there = len(long_job.parts)
    until(lambda: len(long_job.parts) > there + 2)
    assert (second.state, second.parts) == ("waiting", [])
    long_job.stop()
    assert second.wait(PATIENCE) and second.state == "done"


def test_a_waiting_job_stops_at_once_and_gives_its_place_back(pool, long_job):
    waiting = pool.start("waiting", *LONG)
    waiting.stop()
    assert waiting.state == "stopped"
    pool.start("next", *LONG).stop()


def test_a_full_queue_refuses_kindly(pool, long_job):
    second = pool.start("place", *LONG)
    with pytest.raises(InputError, match="server is busy") as refused:
        pool.start("one too many", *LONG)
    assert refused.value.hint
    second.stop()


def test_progress_is_counted_and_timed_by_the_pace_so_far(long_job):
    assert 0 < long_job.fraction < 1
    until(lambda: len(long_job.parts) > 2)
    before = long_job.parts[:]
    assert long_job.seconds_left > 0.09 * (ENDLESS - len(long_job.parts))  # each takes a tenth
    assert long_job.fraction >= len(before) / ENDLESS


def test_workers_do_not_import_the_web_framework_and_let_the_pages_go_first(pool):
    web, niceness = finished(pool, "surroundings", job_targets.surroundings).result
    assert not web and niceness >= 10


def test_a_closed_pool_has_ended_its_jobs_and_takes_no_more():
    pool = Jobs(slots=1)
    job = pool.start("open", *LONG)
    until(lambda: job.parts)
    pool.close()
    assert job.state == "stopped"
    with pytest.raises(InputError):
        pool.start("closed", *LONG)


@pytest.mark.parametrize(
    "paused, ending",
    few(
        [
            (0, ""),
            (0, "os.kill(os.getpid(), signal.SIGKILL)"),
            (1, "os.kill(os.getpid(), signal.SIGKILL)"),
        ]
    ),
    ids=["at its end", "when killed", "when killed while one stands still"],
)
def test_no_worker_outlives_the_server(paused, ending):
    script = f"""
import os, signal
from pages.shared.server import jobs
from tests.processes.job_targets import named_squares
from tests.waiting import until
jobs.Job.short_seconds, pool = 0.01, jobs.Jobs(slots=2 - {paused}, paused={paused})
some = [pool.start(str(k), named_squares) for k in range(3)]
until(lambda: some[0].parts and some[1].parts)
print("running", flush=True)
{ending}
"""
    # Workers hold the same output open: it ends, and with it the call, when the last has gone.
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert run.stdout == "running\n" and "Traceback" not in run.stderr


# -- who watches ----------------------------------------------------------------------------


def test_who_stops_a_shared_job_leaves_it_to_the_others_and_the_last_one_ends_it(pool, long_job):
    assert long_job.watch("ann") and long_job.watch("bob")
    seen = long_job.leave("ann")
    there = len(long_job.parts)
    assert (seen.state, seen is long_job) == ("stopped", False) and 0 < len(seen.parts) <= there
    until(lambda: len(long_job.parts) > there)
    assert long_job.live and seen.state == "stopped" and len(seen.parts) <= there
    assert long_job.leave("bob") is long_job
    assert long_job.wait(PATIENCE) and long_job.state == "stopped"


def test_who_comes_to_a_job_that_is_being_stopped_is_told_to_begin_another(pool, long_job):
    long_job.watch("ann")
    long_job.leave("ann")
    assert not long_job.watch("bob")
    assert pool.start("long", *LONG, total=ENDLESS) is not long_job


def test_a_stop_does_not_wait_for_who_was_not_heard_of_for_long(long_job):
    long_job.watch("gone")
    long_job.absent_seconds = 0.0
    assert long_job.is_abandoned
    assert long_job.leave("ann") is long_job and long_job.wait(PATIENCE)


def test_an_abandoned_job_goes_on_until_another_needs_its_slot(pool, long_job):
    long_job.watch("gone")
    long_job.absent_seconds = 0.0
    there = len(long_job.parts)
    until(lambda: len(long_job.parts) > there + 2)
    assert long_job.live
    finished(pool, "next", job_targets.squares, 3)
    assert long_job.state == "stopped"


def test_a_job_on_ones_own_data_is_kept_by_its_session_alone(pool):
    result = finished(pool, "own", job_targets.squares, 3, is_kept=False)
    until(lambda: "own" not in pool._jobs)
    assert result.result is not None
    again = finished(pool, "own", job_targets.squares, 3)
    assert again is not result and pool._jobs["own"] is again


def test_a_job_on_ones_own_data_that_was_stopped_while_it_waited_is_forgotten_too(pool, long_job):
    result = pool.start("mine", job_targets.squares, 3, is_kept=False)
    result.stop()
    long_job.stop()
    until(lambda: "mine" not in pool._jobs)


# -- the view -------------------------------------------------------------------------------


@pytest.fixture
def view(monkeypatch):
    """Draw the view of a job."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the tester replaces it

    def page(job):
        import streamlit as st

        from pages.shared.frame.timed import progress

        progress(job, lambda job: st.markdown(f"drawn {len(job.parts)}"), "Settings")

    return lambda job: AppTest.from_function(page, args=(job,), default_timeout=PATIENCE).run()


def ended(state, parts=(1, 2, 3), **how):
    job = Job("key", total=50)
    job.parts = list(parts)
    job._begin()
    for name, value in how.items():
        setattr(job, name, value)
    job._end(state)
    return job


class Steady(Job):
    """A job that always has as long to go."""

    seconds_left = 20.0


def test_a_live_job_shows_how_far_it_is_and_can_be_stopped(view):
    job = Steady("key", total=50)
    job._begin()
    job.parts = list(range(10))
    result = view(job)
    assert [m.value for m in result.markdown] == ["drawn 10"]
    bar = result.get("progress")[0].proto
    assert (bar.value, bar.text) == (20, "Settings: 10 of 50, about 20 seconds left")
    assert [button.label for button in result.button] == ["Stop"]


def test_stop_ends_a_waiting_job_and_says_so(view):
    result = view(Job("key"))
    assert "waiting" in result.get("progress")[0].proto.text
    result.button[0].click().run()
    wording.found("small stopped before", [m.value for m in result.markdown][:1], alone=True)
    assert not result.button


def test_stop_shows_the_job_as_stopped_while_another_visitor_goes_on_watching(view):
    job = Job("key", total=50)
    job._begin()
    job.parts = [1, 2, 3]
    job.watch("another")
    result = view(job)
    result.button[0].click().run()
    job.parts.append(4)
    result.run()
    assert job.live and [m.value for m in result.markdown] == [ROUGHER, "drawn 3"]
    assert not result.button


def test_a_stopped_job_says_that_its_numbers_are_rougher(view):
    result = view(ended("stopped"))
    assert [m.value for m in result.markdown] == [ROUGHER, "drawn 3"]


def test_a_finished_job_is_drawn_without_further_words(view):
    result = view(ended("done"))
    assert [m.value for m in result.markdown] == ["drawn 3"]
    assert not (result.error or result.button or result.get("progress"))


@pytest.mark.parametrize(
    "how, said",
    [
        ({"problem": InputError("Too few people.", hint="Ask more.")}, "Ask more."),
        ({"fault": "ValueError"}, "on our side"),
    ],
)
def test_a_failed_job_says_what_to_do(view, how, said):
    assert said in view(ended("failed", **how)).error[0].value
