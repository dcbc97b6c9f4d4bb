"""Draw the figures of the paper, from the public interface alone.

    python scripts/paper_figures.py [FOLDER]

Seeds are fixed, so every run draws the same figures: `paper/figures/` if no folder is named.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from engine import api as pc  # noqa: E402
from engine.figures import drawn  # noqa: E402
from engine.figures.drawn import Axis, Mark, Picture, plain_ticks  # noqa: E402

FEW, CHILDREN, MANY = 100, 400, 4000
DELTA = 1e-5
SHOWN = {0.25: ("bias", "2,3"), 1.0: ("gradient", ""), 4.0: ("functional", "8,3")}
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
REPEATS = 60


def main(words: Sequence[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "paper" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (("releases", releases()), ("errors", errors())):
        (folder / f"{name}.svg").write_text(svg(picture, name), "utf-8")
    return 0


def releases() -> Picture:
    """One release at each of three budgets, of the same simulated children."""
    data = pc.simulate(pc.source("sparse_curves", mean="growth", n_curves=FEW))
    released = pc.simulate_release(
        data, pc.mechanism("adaptive_mean"), [pc.Budget(epsilon, DELTA) for epsilon in SHOWN]
    )
    table = pc.frame(released)
    time, value = table.columns[-2:]
    marks = [
        Mark(
            rows[time].to_numpy(),
            rows[value].to_numpy(),
            role,
            f"ε = {epsilon:g}",
            dash=dash,
            width=1.8,
        )
        for (_, rows), (epsilon, (role, dash)) in zip(
            table.groupby("budget"), SHOWN.items(), strict=True
        )
    ]
    low, high = table[value].min(), table[value].max()
    ends = 10 * np.floor(low / 10), 10 * np.ceil(high / 10)
    years = table[time].min(), table[time].max()
    return Picture(
        Axis(time, *years, plain_ticks(*range(2, int(years[1]) + 1, 4))),
        Axis(value, *ends, plain_ticks(*range(int(ends[0]), int(ends[1]) + 1, 20))),
        tuple(marks),
        f"Released mean heights of {FEW} children at three budgets.",
        "",
        asks=False,
    )


def errors() -> Picture:
    """Errors over ε: both sample sizes, and the part of it that is noise for privacy."""
    stated = pc.read_scenario(
        {
            "version": 1,
            "seed": 1,
            "repeats": REPEATS,
            "mechanism": {"key": "adaptive_mean"},
            "source": {
                "key": "sparse_curves",
                "parameters": {"mean": "growth", "n_curves": CHILDREN},
            },
            "budgets": [{"epsilon": 1, "delta": DELTA}],
            "axes": {"budgets.epsilon": list(EPSILONS), "source.n_curves": [CHILDREN, MANY]},
        }
    )
    table = pc.frame(pc.run_scenario(stated))
    marks = []
    for n_curves, role in ((CHILDREN, "gradient"), (MANY, "functional")):
        rows = table[table["source.n_curves"] == n_curves]
        epsilon = rows["budgets.epsilon"].to_numpy()
        total = rows["rms_error"].to_numpy()
        private = np.sqrt(rows["squared_privacy_error_mean"].to_numpy())
        marks += [
            Mark(epsilon, total, role, f"{n_curves} children"),
            Mark(epsilon, total, role, shape="dot"),
            Mark(epsilon, private, role, "privacy part", dash="6,4", width=1.6),
        ]
    low, high = min(mark.y.min() for mark in marks), max(mark.y.max() for mark in marks)
    return Picture(
        Axis("ε (log scale)", EPSILONS[0], EPSILONS[-1], plain_ticks(*EPSILONS), True),
        Axis(
            "Error of the mean curve (cm, log scale)",
            0.9 * low,
            1.1 * high,
            plain_ticks(
                *[tick for tick in (0.01, 0.03, 0.1, 0.3, 1, 3) if 0.9 * low <= tick <= 1.1 * high]
            ),
            True,
        ),
        tuple(marks),
        "Error over the privacy budget for two sizes of a study.",
        "",
        asks=False,
    )


def svg(picture: Picture, name: str) -> str:
    """A drawing that stands alone: with its colours and font, on white."""
    colours = drawn.palette("light")
    text = re.sub(
        r"var\(--pc-(\w+)\)", lambda role: colours[role[1]], drawn.svg(picture, drawn.PRINTED, name)
    )
    return text.replace("<svg ", '<svg font-family="sans-serif" style="background:#fff" ', 1) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
