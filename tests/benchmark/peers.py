"""Other libraries at the same job on the same numbers; those that are not installed are left out.

They are no requirement of the project: `pip install diffprivlib opendp scikit-learn` into any
environment adds their rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module

import numpy as np

from engine.core.types import Budget
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.numerics.wavelet_bases import WaveletBasis
from engine.sources.numbers import Numbers
from engine.sources.sparse_rows import SparseRows
from tests.benchmark.kernels import interleaved
from tests.benchmark.record import Row

NUMBERS = Numbers(n_servers=1000, n_items=1000)
ROWS = SparseRows(n_curves=20_000, n_servers=1, n_features=200, n_shared=5)


def rows() -> Iterator[Row]:
    """A row for each peer that is there; above one, ours is faster."""
    for package, compare in (
        ("diffprivlib.tools", _mean_of_diffprivlib),
        ("opendp", _mean_of_opendp),
        ("sklearn", _lasso),
        ("pywt", _filter_bank),
    ):
        try:
            import_module(package)
        except ImportError as problem:
            print(f"left out, as {package} cannot be imported: {problem}")
        else:
            yield compare()


def _against(name: str, peer: Callable[[], object], ours: Callable[[], object]) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = interleaved({"peer": peer, "ours": ours})
    return Row(name, times["peer"] / times["ours"], more_is_better=True, is_compared=False)


def _our_mean() -> tuple[Callable[[], object], np.ndarray]:
    """Hold a million numbers within their range, average them and add Laplace noise."""
    rng = np.random.Generator(np.random.SFC64(1))
    data, budgets = NUMBERS.draw(1, rng), [(Budget(1.0),)]
    mechanism = UnivariateMean(setting="central_item")
    return (lambda: mechanism.release_many(data, budgets, 1, rng)), data.values[0].copy()


def _mean_of_diffprivlib() -> Row:
    from diffprivlib import tools

    ours, values = _our_mean()
    return _against(
        "diffprivlib, mean of a million numbers / ours",
        lambda: tools.mean(values, epsilon=1.0, bounds=(0.0, 1.0)),
        ours,
    )


def _mean_of_opendp() -> Row:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    ours, values = _our_mean()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    private = (
        space
        >> dp.t.then_clamp((0.0, 1.0))
        >> dp.t.then_resize(len(values), constant=0.5)
        >> dp.t.then_mean()
        >> dp.m.then_laplace(scale=1e-6)
    )
    return _against("OpenDP, mean of a million numbers / ours", lambda: private(values), ours)


def _lasso() -> Row:
    """The lasso has no privacy to care for; both find a few coefficients in the same rows."""
    from sklearn.linear_model import LassoCV

    rng = np.random.Generator(np.random.SFC64(1))
    data = ROWS.draw(1, rng)
    x, y = data.x[0], data.y[0]
    mechanism = SparseRegression(sparsity=5)
    return _against(
        "scikit-learn, cross-validated lasso of 20 000 rows / our private fit",
        lambda: LassoCV(cv=5, alphas=10).fit(x, y),
        lambda: mechanism.release_many(data, [(Budget(1.0, 1e-6),)], 1, rng),
    )


def _filter_bank() -> Row:
    import pywt

    basis = WaveletBasis(2**10, 4)
    signals = np.random.Generator(np.random.SFC64(1)).standard_normal((200, basis.size))
    return _against(
        "PyWavelets, 200 transforms of 1024 / ours",
        lambda: pywt.wavedec(signals, "db4", "periodization", level=7),
        lambda: basis.to_levels(signals),
    )
