"""Mutated files end in curves or in one sentence, never in a fault."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import InputError
from engine.regressors import MOST_COVARIATES
from engine.sources.upload import (
    StatedCovariate,
    Upload,
    declare,
    read_curves,
    suggest_layout,
)
from engine.tables import read_table
from tests import files

KINDS = files.growth_frame().assign(sex="f", dose=1.5)
SEEDS = [files.csv(), files.csv(KINDS), files.csv(sep=";", decimal=","), files.csv(files.wide_frame()), files.xlsx(),
         files.csv().decode().encode("utf-16"), files.csv(sep="\t")]


def mutated(content, rng):
    kind = rng.integers(5)
    if kind == 0:
        cut = bytearray(content)
        for place in rng.integers(len(cut), size=rng.integers(1, 8)):
            cut[place] = rng.integers(256)
        return bytes(cut)
    if kind == 1:
        return content[:rng.integers(len(content))]
    if kind == 2:
        lines = content.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    token = files.NASTY[rng.integers(len(files.NASTY))].encode()
    if kind == 3:
        place = rng.integers(len(content))
        return content[:place] + token + content[place:]
    parts = content.split(b",")
    parts[rng.integers(len(parts))] = token
    return b",".join(parts)


def described(table, layout):
    """Every other column is taken for a covariate: a refusal of those is a sentence, too."""
    free = tuple(name for name in table.columns if name not in layout.columns)[:MOST_COVARIATES]
    try:
        curves = read_curves(table, replace(layout, covariates=free))
        ranges = [StatedCovariate(name, 0, 1) for name in free]
        Upload(curves=curves, declared=declare(0, 1, 0, 1, "a law", ranges)).check_regressors()
    except InputError as problem:
        assert str(problem)


def outcome(content):
    try:
        table = read_table(content)
        layout = suggest_layout(table)
        n_curves = read_curves(table, layout).n_curves
        described(table, layout)
        return n_curves
    except InputError as problem:
        assert str(problem)
        return 0


def run(count, seed):
    rng, accepted = np.random.default_rng(seed), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parsers, about files that are broken on purpose
        for k in range(count):
            start = time.perf_counter()
            accepted += outcome(mutated(SEEDS[k % len(SEEDS)], rng)) > 0
            assert time.perf_counter() - start < 2
    return accepted


def test_four_hundred_mutants_end_in_curves_or_in_a_sentence():
    accepted = run(400, 1)
    assert 40 < accepted < 390


@pytest.mark.slow
def test_ten_thousand_mutants_end_in_curves_or_in_a_sentence():
    assert run(10_000, 2) > 1000
