"""Many processes at one ledger, and a kill at any instant."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.release.ledger import Ledger
from tests.ledgers import Some, pure, spent

ROOT = Path(__file__).parents[2]
HELD = Some(["anna"])

_SPENDER = """
import sys
from engine.core.errors import InputError
from engine.release.ledger import Ledger
from engine.core.types import Budget
from tests.ledgers import Some, pure
done = 0
for k in range(40):
    try:
        Ledger(sys.argv[1]).charge(Some(["anna"]), pure(0.1), f"{sys.argv[2]}-{k}", "what",
                                   Budget(2.0))
    except InputError:
        continue
    done += 1
print(done)
"""


def started(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_three_writers_at_once_spend_the_total_and_no_more(tmp_path):
    """Three processes ask 40 times each for a twentieth of the total: 20 of 120 are granted."""
    path = tmp_path / "ledger"
    writers = [started(_SPENDER, path, who) for who in range(3)]
    assert sum(int(writer.communicate()[0]) for writer in writers) == 20
    assert Ledger(path).standing(HELD) == {0.0: 1}


_PUBLISHER = """
import sys
from engine.release.ledger import Ledger
from engine.core.types import Budget
from tests.ledgers import Some, pure
for k in range(10_000):
    Ledger(sys.argv[1]).charge(Some(["anna"]), pure(1e-4), f"{sys.argv[2]}-{k}", "what", Budget(9.0))
    print(k, flush=True)  # the release is shown
"""


@pytest.mark.slow
def test_a_kill_at_any_instant_never_undercharges(tmp_path):
    """Three publishers are killed in the middle: the ledger has at least what each had shown."""
    path, shown = tmp_path / "ledger", 0
    for who in range(3):
        with started(_PUBLISHER, path, who) as process:
            for _ in range(3 + 2 * who):
                assert process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            shown += 3 + 2 * who + process.stdout.read().count(b"\n")
        entries = Ledger(path).entries()
        assert shown <= len(entries) <= shown + who + 1
    Ledger(path).charge(HELD, pure(1e-4), "after", "what")
    assert spent(Ledger(path), HELD) > 0
