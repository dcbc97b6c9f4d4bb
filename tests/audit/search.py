"""The search of `engine.audit` over neighbours of chosen data, as tests want it."""

import numpy as np

from engine.audit.losses import compare
from engine.audit.neighbours import PairRequest, family_of


def found(mechanism, budget, tries=400, usual=None, seed=7):
    """What `tries` pairs around the usual data of the mechanism, or others, lose at most."""
    family = family_of(mechanism)
    usual = family.usual(mechanism) if usual is None else usual
    rng = np.random.default_rng(seed)
    pairs = family.pairs(PairRequest(mechanism, usual, budget), tries, rng)
    return compare(mechanism, pairs, budget, seed, rng)
