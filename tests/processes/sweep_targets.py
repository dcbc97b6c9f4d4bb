"""Curves for the tests of sweeps: some end the process that draws them, some take their time."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from engine.sources.sparse_curves import SparseCurves


@dataclass(frozen=True, kw_only=True)
class Deadly(SparseCurves):
    """Kills its process at its first draws, as lack of memory would; `marks` counts the deaths."""

    marks: str
    deaths: int
    spared: int = os.getpid()  # the process that asks, in case the test itself is broken

    def draw(self, n_repeats, rng):
        so_far = len(list(Path(self.marks).iterdir()))
        if so_far < self.deaths:
            (Path(self.marks) / str(so_far)).touch()
            assert os.getpid() != self.spared
            os.kill(os.getpid(), signal.SIGKILL)
        return super().draw(n_repeats, rng)


@dataclass(frozen=True, kw_only=True)
class Slow(SparseCurves):
    """Takes a while to draw, and leaves a file in `marks` for every draw."""

    marks: str
    seconds: float

    def draw(self, n_repeats, rng):
        (Path(self.marks) / str(self.n_curves)).touch()
        time.sleep(self.seconds)
        return super().draw(n_repeats, rng)


def process_id():
    return os.getpid()


def wrong():
    raise KeyError("a bug")
