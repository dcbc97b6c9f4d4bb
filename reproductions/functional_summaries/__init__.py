"""Lin and Reimherr (2023), arXiv 2309.00125: whole functions under pure privacy."""

from reproductions.exhibits import Paper
from reproductions.functional_summaries import ages, densities, means, paths, real_means, scalar

_EXHIBITS = {
    exhibit.key: exhibit
    for module in (paths, real_means, densities, ages, means, scalar)
    for exhibit in module.EXHIBITS
}

PAPER = Paper(
    "functional_summaries",
    "Functional summaries with a Laplace-like process",
    "Lin and Reimherr (2023), arXiv 2309.00125",
    tuple(
        _EXHIBITS[key]
        for key in (
            *(f"table-{k}" for k in range(1, 4)),
            *(f"figure-{k}" for k in range(1, 10)),
            "scalar-example",
        )
    ),
    order=30,
)
