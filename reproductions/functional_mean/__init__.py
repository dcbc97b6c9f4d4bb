"""Xue, Lin and Yu (2024), arXiv 2412.06582: figures 1 to 8, Remark 6, tables 1 to 8."""

from reproductions.exhibits import Paper
from reproductions.functional_mean import borders, growth, hormone, patterns, rates, remarks

_EXHIBITS = {
    exhibit.key: exhibit
    for module in (patterns, growth, hormone, rates, remarks, borders)
    for exhibit in module.EXHIBITS
}

PAPER = Paper(
    "functional_mean",
    "Private mean curves and varying coefficients",
    "Xue, Lin and Yu (2024), arXiv 2412.06582",
    tuple(_EXHIBITS[key] for key in sorted(_EXHIBITS)),
    order=10,
)
