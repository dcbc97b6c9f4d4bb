"""Xue, Lin and Yu (2024), arXiv 2412.06582: figures 1 to 8 and tables 1 to 8."""

from engine.exhibits import Paper
from engine.papers.functional_mean import borders, growth, hormone, patterns, rates

_FOUND = {one.key: one for module in (patterns, growth, hormone, rates, borders)
          for one in module.EXHIBITS}

PAPER = Paper(
    "functional_mean", "Private mean curves and varying coefficients",
    "Xue, Lin and Yu (2024), arXiv 2412.06582",
    tuple(_FOUND[key] for key in sorted(_FOUND)), order=10)
