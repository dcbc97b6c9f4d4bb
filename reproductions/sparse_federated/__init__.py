"""Zhang, Nakada and Zhang (2024), arXiv 2404.16287: its tables, figures and main statements.

The stated noise cannot have produced the printed numbers: see `docs/methods.md`. So they stand
beside what the same sizes allow, and beside sizes at which the noise leaves a signal.
"""

from __future__ import annotations

from reproductions.exhibits import Paper
from reproductions.sparse_federated import as_printed, figures, statements, tables

PAPER = Paper(
    key="sparse_federated",
    title="Sparse regression on many machines",
    reference="Zhang, Nakada and Zhang (2024), arXiv 2404.16287",
    exhibits=(
        tables.TABLE_2,
        tables.INTERVALS,
        tables.TABLE_5,
        figures.FIGURE_3,
        figures.FIGURE_4,
        statements.TRUST,
        statements.DIFFERING,
        statements.COSTS,
        as_printed.AS_PRINTED,
    ),
    order=50,
)
