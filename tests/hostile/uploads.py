"""What a visitor with curves of their own does, from the file to the picture."""

from __future__ import annotations

import numpy as np

from tests.load.visitor import Visitor

FACTS = {"value_low": 0.0, "value_high": 100.0, "time_low": 0.0, "time_high": 1.0}


def curves_csv(megabytes: float, seed: int = 0) -> bytes:
    """A table of about that size: curves of a hundred readings each."""
    rng = np.random.default_rng(seed)
    times, values = rng.random((2, int(megabytes * 1e6 / 23)))
    return (
        "child,age,height\n"
        + "\n".join(
            f"c{k // 100:06d},{t:.5f},{100 * y:.4f}"
            for k, (t, y) in enumerate(zip(times, values, strict=True))
        )
    ).encode()


async def brings(visitor: Visitor, name: str, content: bytes) -> None:
    """Give a file to the front page, which draws a first picture of it."""
    await visitor.run()
    await visitor.upload("upload_file", name, content)


async def states(visitor: Visitor, origin: str = "a law", **words: str) -> None:
    """Confirm how the file is read, state the facts and show the curves."""
    await visitor.press("state_bounds")
    await visitor.press("question_next")
    for name in ("time_low", "time_high"):
        await visitor.run(**{f"upload_{name}": f"{FACTS[name]:g}"})
    await visitor.run(upload_observations="5")
    await visitor.press("question_next")
    for name in ("value_low", "value_high"):
        await visitor.run(**{f"upload_{name}": f"{FACTS[name]:g}"})
    for name, word in words.items():
        await visitor.run(**{f"upload_{name}": word})
    await visitor.run(upload_origin=origin)
    await visitor.press("question_next")
    await visitor.press("question_next")
