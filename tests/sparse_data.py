"""Rows of a sparse regression, made by hand."""

import numpy as np

from engine.core.types import Covariate, PublicFacts, SampleData, Truth


def facts_of(size, **changed):
    return PublicFacts(
        **{
            "unit_scale": True,
            "reading_sd": 0.5,
            "value_low": -8.0,
            "value_high": 8.0,
            "covariates": (Covariate("x", -4.0, 4.0),) * size,
            **changed,
        }
    )


def neighbours_correlated(n, size, rng):
    """Normal rows with correlation ½ between neighbours, ¼ over two steps, and so on: (n, size)."""
    x = rng.standard_normal((n, size))
    for j in range(1, size):
        x[:, j] *= np.sqrt(0.75)
        x[:, j] += 0.5 * x[:, j - 1]
    return x


def sparse_rows(n, size, rng, machines=1, kept=5, sigma=0.5, equal=False):
    """One data set with ±1/√s at random places, or 1/√s at the first."""
    beta = np.zeros(size)
    where = np.arange(kept) if equal else rng.permutation(size)[:kept]
    beta[where] = (1.0 if equal else rng.choice([-1.0, 1.0], kept)) / np.sqrt(kept)
    x = neighbours_correlated(n, size, rng)
    y = x @ beta + sigma * rng.standard_normal(n)
    return SampleData(
        x[None], y[None], np.arange(n) * machines // n, facts_of(size), Truth.of_vector(beta)
    )
