"""Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755: experiments on its estimators.

The paper reports none, so these were designed for this project. They hold simulated errors against
exact ones, exact errors against the rates, and printed constants against exact ones.
"""

from __future__ import annotations

from reproductions.exhibits import Paper
from reproductions.federated_wavelets import constants, errors, planning, repairs, slopes

PAPER = Paper(
    key="federated_wavelets",
    title="Federated nonparametric regression",
    reference="Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755",
    exhibits=(
        errors.CURVES,
        errors.POINT,
        slopes.SLOPES,
        repairs.BASES,
        repairs.TIMES,
        repairs.CLIPS,
        planning.NETWORKS,
        planning.SITES,
        constants.CONSTANTS,
    ),
    order=40,
)
