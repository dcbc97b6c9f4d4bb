"""Lin and Reimherr (2023), arXiv 2309.00125: whole functions under pure privacy."""

from engine.exhibits import Paper
from engine.papers.functional_summaries import means, real_means

PAPER = Paper(
    "functional_summaries", "Functional summaries with a Laplace-like process",
    "Lin and Reimherr (2023), arXiv 2309.00125", (*means.EXHIBITS, *real_means.EXHIBITS), order=30)
