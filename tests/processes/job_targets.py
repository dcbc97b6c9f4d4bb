"""What the tests of jobs run in workers."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from engine.core.errors import InputError


def squares(count, pause=0.0):
    """Yield squares, return their sum."""
    total = 0.0
    for k in range(count):
        time.sleep(pause)
        total += k**2 / 3
        yield k, k**2 / 3
    return total


def named_squares():
    """Yield the number of the process, and then squares for hours."""
    yield os.getpid()
    yield from squares(1_000_000, 0.01)


def flood():
    """Parts that never end and never pause."""
    while True:
        yield 0


def die():
    yield "last words"
    os._exit(9)


def refuse():
    yield 1
    raise InputError("Too few people.", field="people", hint="Ask more.")


def break_on(reading):
    yield 1
    raise ValueError(f"cannot use {reading}")


def give_what_cannot_travel():
    yield lambda: None


def surroundings():
    """Whether the web framework was imported, and how far the worker steps back."""
    yield from ()
    return "streamlit" in sys.modules, os.nice(0)


def imported():
    """Whether the worker began with what jobs use, as a copy of a process without threads."""
    yield from ()
    threads = {
        name.read_text().strip() for name in Path(f"/proc/{os.getppid()}/task").glob("*/comm")
    }
    return "engine.topics.mean.answer" in sys.modules, len(threads - {"jemalloc_bg_thd"})


# -- what no bounds would let go on ---------------------------------------------------------------

SECRET = "Zaphodella"


def spin():
    while True:
        pass


def gather():
    return [bytearray(b"1" * 10_000_000) for _ in range(10_000)]


def rest():
    threading.Event().wait()


def end():
    os.abort()


def break_on_file(content):
    raise ValueError(f"{SECRET} {content[:10]!r}")


def break_down():
    os.kill(os.getpid(), signal.SIGSEGV)


def leave():
    os._exit(3)


def chatter():
    print(SECRET, flush=True)
    os.write(2, SECRET.encode())
    raise ValueError(SECRET)


def decline():
    raise InputError("Too few people.", field="people", hint="Ask more.")


def fill_memory():
    yield "begun"
    bytearray(3_000_000_000)
