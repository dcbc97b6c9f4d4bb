"""The data behind `ledger_of_050.sqlite3`, which version 0.5.0 wrote, and how to write it.

    python tests/golden/ledgers_of_050.py FOLDER

in a copy of the repository at version 0.5.0, with this file in it, writes the ledger, its witness,
and what was left of each data set by that version. Charges are as `CHARGES` lists them.
"""

import json
import sys
from pathlib import Path

import numpy as np

from engine.sources import sources
from engine.uploads.facts import declare
from tests import files

FACTS = declare(0.0, 900.0, 0.0, 200.0, "a manual", **files.EVEN)


def file_of(rows, names=True):
    """A file with an id for each person, or without."""
    if names:
        return "\n".join(["id,time,value", *(",".join(map(str, row)) for row in rows)]).encode()
    return "\n".join(
        [
            "1,2,3,4,5,6,7,8",
            *(
                ",".join(str(v) for w, _, v in rows if w == who)
                for who in dict.fromkeys(who for who, _, _ in rows)
            ),
        ]
    ).encode()


def study(n, ids, seed):
    rng = np.random.default_rng(seed)
    return [
        (ids.format(k), t, round(70 + 6 * t + 8 * rng.normal(), 1))
        for k in range(n)
        for t in range(1, 9)
    ]


def data(read):
    """All data sets, by name; `read` makes curves of a file."""

    def own(rows, names=True):
        return read(file_of(rows, names))

    children = study(40, "child-{}", 1)
    return {
        "children": own(children),
        "fewer children": own(children[8:]),
        "months": own([(f"m-{who}", 12 * t, v) for who, t, v in children]),
        "namesakes": own(study(40, "child-{}", 2)),
        "nobody named": own(study(30, "x{}", 3), False),
        "pupils": own(study(20, "pupil-{}", 4)),
        "both": own(study(20, "pupil-{}", 4) + children),
        "many": own(study(2100, "p{}", 5)),
        "sea": sources.build("sea_temperature", {}),
    }


# data set, ε, δ, ρ, total (ε, δ) or None, whether the same people, in this order
CHARGES = [
    ("children", 1.0, 1e-4, 0.02, (3.0, 1e-3), None),
    ("children", 0.5, 0.0, 0.125, None, None),
    ("fewer children", 0.25, 0.0, None, (2.5, 1e-3), True),
    ("months", 0.125, 0.0, None, None, True),
    ("namesakes", 0.1875, 0.0, 0.02, (3.0, 1e-3), False),
    ("nobody named", 1.5, 0.0, None, None, None),
    ("pupils", 0.25, 1e-4, 0.01, (2.75, 1e-3), None),
    ("both", 0.125, 0.0, None, None, True),
    ("many", 0.5, 1e-7, 0.01, (2.0, 1e-4), None),
    ("sea", 0.75, 0.0, None, None, None),
]

if __name__ == "__main__":
    from engine.uploads.layout import suggest_layout
    from engine.uploads.tables import read_table

    from engine.core.types import Budget
    from engine.release.data_content import content_of
    from engine.release.ledger import Ledger
    from engine.uploads.curves import Upload, read_curves

    def read_by_050(content):
        table = read_table(content)
        return Upload(curves=read_curves(table, suggest_layout(table)), declared=FACTS)

    folder, known = Path(sys.argv[1]), data(read_by_050)
    book = Ledger(folder / "ledger_of_050.sqlite3")
    for k, (name, epsilon, delta, rho, total, same) in enumerate(CHARGES):
        receipt = book.charge(
            content_of(known[name]),
            Budget(epsilon, delta),
            f"release {k}",
            "what",
            None if total is None else Budget(*total),
            None,
            rho,
            known[name].traces(),
            same,
            request=f"request {k}".encode(),
        )
        if k % 3 == 0:
            book.store(receipt, b"noise")
    left = {name: book.odometer(content_of(source)).left for name, source in known.items()}
    (folder / "ledger_of_050.json").write_text(json.dumps(left, indent=1) + "\n")
