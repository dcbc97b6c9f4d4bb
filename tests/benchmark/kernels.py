"""The kernels of the benchmark: each over what it cannot do without, or under what is naive.

Every ratio interleaves its candidates, takes the smallest thread time of each, and divides. A study
is compared with its floor, which is derived beside it: see `floors`.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from engine.core.types import Budget, CurveData, Design, Public
from engine.mechanisms import Mechanism
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.noise.laplace import laplace
from engine.numerics.deviations import weighted_within_curves
from engine.numerics.eigensystems import Kernel, eigensystem, midpoints
from engine.numerics.kernels import matern, path_polynomials
from engine.numerics.moments import curve_moments
from engine.running import executors
from engine.simulation.experiments import Cell, Run, blocks, run_block
from engine.simulation.metrics import integrated_squared_errors
from engine.simulation.part_files import PartFiles
from engine.simulation.sweeps import run_sweep
from engine.sources import Source
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.dense_curves import DenseCurves
from engine.sources.regression_points import RegressionPoints
from engine.sources.sparse_curves import SparseCurves, mu1
from engine.sources.sparse_rows import SparseRows
from engine.uploads.people import read
from engine.uploads.reading_of_files import Column, Frame, LineOwner, Reading
from engine.uploads.records import curves_of
from tests.benchmark.floors import (
    CHANGE,
    PASS,
    PRODUCT,
    READ,
    Work,
    horner,
    measured,
    moments_of_a_reading,
)
from tests.benchmark.naive import study as naive_study
from tests.benchmark.record import Row

STUDY = SparseCurves(n_curves=4000, n_observations_per_curve=20)
PUBLISHED = NoisyGradientMean(scheme="split", constants="published", truncation=7)
REPEATS = 5
SIZE, FEATURES = 7, 20  # basis functions; means of 13 waves, and products with the values
GOAL = 1.5  # times the floor
_IDLE = 1.5  # load average of one busy process, at most
TWENTY = [(Budget(float(e), 1e-3),) for e in np.geomspace(0.1, 10, 20)]


def rows() -> list[Row]:
    """Every kernel with its goal, where there is one; see docs/benchmarks.md."""
    return [
        _floored("Monte-Carlo study / its floor", lambda: _run(TWENTY[:1]), _study_work(1), GOAL),
        _floored("twenty budgets / their floor", lambda: _run(TWENTY), _study_work(20), GOAL),
        *_parts_of_the_study(),
        Row("twenty budgets / one budget", _twenty_over_one(), 1.6),
        Row(
            "naive loop / Monte-Carlo study",
            _naive_over_study(),
            more_is_better=True,
            is_compared=False,
        ),
        Row("full-batch study / its moments", _full_batch_over_moments()),
        Row("federated study, 8 servers / central", _federated_over_central()),
        Row(
            "coefficient study, d = 2 / its random numbers",
            _coefficients_over_floor(),
            is_compared=False,
        ),
        _floored("adaptive mean, data and fit / their floor", _adaptive_study, _adaptive_work()),
        Row("adaptive fit / its statistics", _adaptive_over_statistics()),
        Row("adaptive, twenty budgets / one budget", _adaptive_twenty_over_one()),
        Row("100 ICLP paths / their random numbers", _paths_over_floor(), 4.0),
        Row(
            "path by path / 100 ICLP paths",
            _naive_over_paths(),
            more_is_better=True,
            is_compared=False,
        ),
        Row("released means / their random numbers", _whole_means_over_floor(), is_compared=False),
        _floored(
            "wavelets, a million observations / their floor",
            _wavelet_release(READINGS),
            _wavelet_work(READINGS),
            GOAL,
        ),
        _floored(
            "wavelets, 200 small sites / their floor",
            _wavelet_release(SMALL_SITES),
            _wavelet_work(SMALL_SITES),
            GOAL,
        ),
        Row(
            "wavelets at a point / their random numbers", _wavelets_at_a_point(), is_compared=False
        ),
        _floored(
            "sparse regression, data and fit / their floor", _sparse_study, _sparse_work(), GOAL
        ),
        Row("a table of a million observations / its bare read_csv", _table_over_read_csv(), 4.0),
        *(Row(name, ratio) for name, ratio in _sweeps_over_their_blocks().items()),
        *_two_processes(),
    ]


def interleaved(candidates: dict[str, Callable[[], object]], rounds: int = 9) -> dict[str, float]:
    """Smallest thread time of each candidate over rounds that run all of them in turn."""
    best = dict.fromkeys(candidates, float("inf"))
    for run in candidates.values():
        run()
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.thread_time()
            run()
            best[name] = min(best[name], time.thread_time() - start)
    return best


def _generator() -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(1))


def _run(
    budgets: list[tuple[Budget, ...]], mechanism: Mechanism = PUBLISHED, source: Source = STUDY
) -> float:
    """The study of the specification, section 10, at n = 4000, m = 20, r = 7."""
    rng = _generator()
    data = source.draw(REPEATS, rng)
    estimate = mechanism.release_many(data, budgets, 1, rng)
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None
    return float(total.mean())


def _floored(name: str, study: Callable[[], object], work: Work, goal: float | None = None) -> Row:
    """A row of a study over its floor."""
    times = measured(study, work)
    return Row(
        name,
        times.ratio,
        goal,
        milliseconds={
            "random numbers": times.random,
            "passes": times.passes,
            "products": times.products,
            "measured": times.study,
        },
    )


def _study_work(budgets: int) -> Work:
    """Curves, their moments, and rounds in each of which other curves take part, in `_run`."""
    return _drawing_work(STUDY, REPEATS) + _moments_work() + _rounds_work(budgets)


def _drawing_work(source: SparseCurves, repeats: int) -> Work:
    """Each curve a polynomial of its own, at places on [−1, 1]; errors, and their sum with it."""
    degree, terms = (
        number - shift
        for number, shift in zip(path_polynomials(4.0, 0.8, 1.0).shape, (1, 0), strict=True)
    )
    reading = Work(uniforms=1, normals=1, cached=3 * CHANGE + PASS) + horner(degree)
    curve = Work(
        normals=terms, operations=2 * terms * (degree + 1), cached=(degree + 1) * CHANGE
    )  # the mean is added
    curves = repeats * source.n_curves
    return reading.times(curves * source.n_observations_per_curve) + curve.times(curves)


def _moments_work() -> Work:
    """Of seven Fourier functions; divided by the number of readings, and looked at once."""
    curves = REPEATS * STUDY.n_curves
    return moments_of_a_reading(SIZE, True).times(curves * STUDY.n_observations_per_curve) + Work(
        cached=FEATURES * (CHANGE + READ)
    ).times(curves)


def _rounds_work(budgets: int) -> Work:
    """Gradients of every curve once, clipped from both sides and summed; one column has no noise."""
    rows = (budgets + 1) * SIZE
    curve = Work(operations=2 * rows * FEATURES, cached=rows * (2 * CHANGE + READ))
    noise = Work(normals=PUBLISHED._rounds(STUDY.sizes) * REPEATS * SIZE)
    return curve.times(REPEATS * STUDY.n_curves) + noise


def _parts_of_the_study() -> Iterator[Row]:
    """Where a study of twenty budgets spends its time, each part over its own floor."""
    data = STUDY.draw(REPEATS, _generator())
    basis = PUBLISHED.basis(SIZE, data.facts)
    plans = [PUBLISHED.plan(data.public, asked) for asked in TWENTY]
    servers = PUBLISHED._servers(data, basis, plans[0].rounds, 1, _generator())
    yield _floored(
        "drawing its curves / their floor",
        lambda: STUDY.draw(REPEATS, _generator()),
        _drawing_work(STUDY, REPEATS),
    )
    yield _floored(
        "moments of its curves / their floor",
        lambda: curve_moments(data.times, data.values, data.counts, basis),
        _moments_work(),
    )
    yield _floored(
        "its rounds at one budget / their floor",
        lambda: PUBLISHED._descended(servers, plans[:1], SIZE, 1),
        _rounds_work(1),
    )
    yield _floored(
        "its rounds at twenty budgets / their floor",
        lambda: PUBLISHED._descended(servers, plans, SIZE, 1),
        _rounds_work(20),
    )


def _federated_over_central() -> float:
    """The same study with its curves on eight servers of 500."""
    one = [(Budget(1.0, 1e-3),)]
    eight = replace(STUDY, n_servers=8)
    times = interleaved(
        {"federated": lambda: _run(one, PUBLISHED, eight), "central": lambda: _run(one)}
    )
    return times["federated"] / times["central"]


COEFFICIENTS = CoefficientCurves(n_curves=4000, n_observations_per_curve=20, n_covariates=2)
MODEL = NoisyGradientCoefficients(scheme="split", constants="published", truncation=3)


def _coefficients_over_floor() -> float:
    """The study of the specification's varying-coefficient table, over exactly its draws."""
    one, rounds = [(Budget(1.0, 1e-3),)], MODEL._rounds(COEFFICIENTS.sizes)
    curves, m = REPEATS * COEFFICIENTS.n_curves, COEFFICIENTS.n_observations_per_curve

    def floor() -> None:
        rng = _generator()
        rng.random((curves, m))
        rng.uniform(-1.0, 1.0, (curves, 2))
        rng.standard_normal((curves, m))
        rng.standard_normal((rounds, REPEATS, 1, 9))

    times = interleaved({"study": lambda: _run(one, MODEL, COEFFICIENTS), "floor": floor})
    return times["study"] / times["floor"]


def _paths_over_floor() -> float:
    """Warm draws of 100 paths on 200 points, over the Laplace variables they are made of."""
    paths = eigensystem(Kernel(), midpoints(200)).paths
    times = interleaved(
        {
            "paths": lambda: laplace((100, len(paths)), _generator()) @ paths,
            "floor": lambda: _generator().laplace(size=(100, len(paths))),
        },
        rounds=200,
    )
    return times["paths"] / times["floor"]


def _naive_over_paths() -> float:
    """Each path summed term by term from its own Laplace variables, over all of them at once."""
    paths = eigensystem(Kernel(), midpoints(200)).paths

    def one_by_one() -> None:
        rng = _generator()
        for _ in range(100):
            path = np.zeros(paths.shape[1])
            for term in paths:
                path += rng.laplace() * term

    times = interleaved(
        {"naive": one_by_one, "paths": lambda: laplace((100, len(paths)), _generator()) @ paths}
    )
    return times["naive"] / times["paths"]


def _whole_means_over_floor() -> float:
    """Data sets of 1000 dense curves released by ICLP, over the normals and Laplace variables."""
    source, one = DenseCurves(n_curves=1000), [(Budget(1.0),)]
    terms = len(eigensystem(Kernel("gaussian", length=0.2), source.grid).paths)

    def study() -> None:
        rng = _generator()
        Iclp().release_many(source.draw(REPEATS, rng), one, 20, rng)

    def floor() -> None:
        rng = _generator()
        rng.standard_normal((REPEATS * 1000, terms))
        rng.laplace(size=(REPEATS, 20, 100))

    times = interleaved({"study": study, "floor": floor})
    return times["study"] / times["floor"]


def _twenty_over_one() -> float:
    times = interleaved({"twenty": lambda: _run(TWENTY), "one": lambda: _run(TWENTY[:1])})
    return times["twenty"] / times["one"]


def _naive_over_study() -> float:
    """Per replicate; the naive loop is timed on a tenth of the curves of one replicate."""
    small = 400
    budget = Budget(1.0, 1e-3)
    times = interleaved(
        {
            "study": lambda: _run([(budget,)]),
            "naive": lambda: naive_study(
                mu1,
                matern,
                small,
                STUDY.n_observations_per_curve,
                7,
                PUBLISHED,
                budget,
                np.random.default_rng(1),
            ),
        },
        rounds=3,
    )
    return times["naive"] * STUDY.n_curves / small / (times["study"] / REPEATS)


def _full_batch_over_moments() -> float:
    mechanism = NoisyGradientMean(truncation=7)
    data = STUDY.draw(1, _generator())
    basis = mechanism.basis(7, data.facts)
    one = [(Budget(1.0, 1e-3),)]
    times = interleaved(
        {
            "fit": lambda: mechanism.release_many(data, one, 1, _generator()),
            "moments": lambda: curve_moments(data.times, data.values, data.counts, basis),
        }
    )
    return times["fit"] / times["moments"]


ADAPTIVE = AdaptiveMean(truncation=12)
SMALL = SparseCurves(n_curves=1000, n_observations_per_curve=10)


def _adaptive_data() -> CurveData:
    return SMALL.draw(1, _generator())


def _adaptive_study() -> None:
    ADAPTIVE.release_many(_adaptive_data(), [(Budget(1.0, 1e-3),)], 1, _generator())


def _adaptive_work() -> Work:
    """n = 1000 curves of 10 readings, 12 cosines, four releases and a band.

    Inverses for 1, 2, … functions come by bordering; every release reads T_i and t_i once.
    """
    n, m, r, releases = 1000, 10, 12, 4
    waves, borders = 2 * (r - 1) + 1, sum(s**2 for s in range(r))
    curve = Work(
        operations=(
            waves * r * (r + 1)  # rows of S_i
            + 2 * r**3
            + 2 * releases * r * (r + 1)
            + 2 * r**2
        ),  # T_i, h_i, their products
        cached=(
            (waves + r) * (CHANGE + READ)
            + borders * (READ + READ + PASS)  # S⁻¹ times a border, and its own change
            + r**2 * (PRODUCT + 2 * CHANGE)
            + releases * (r * (r + 1) * READ + r * (PASS + PRODUCT))
        ),
    )
    return (
        _drawing_work(SMALL, 1)
        + moments_of_a_reading(r, False).times(n * m)
        + curve.times(n)
        + Work(normals=releases * 2 * r + r**2)
    )


def _adaptive_over_statistics() -> float:
    """One fit with its band at n = 1000, m = 10, r = 12, over the pass that makes each curve's
    moments and T_i, t_i from its readings."""
    data, one = _adaptive_data(), [(Budget(1.0, 1e-3),)]
    basis, design = ADAPTIVE.functions(12, data.facts), Design()
    scale = ADAPTIVE.scale(data.facts)

    def statistics() -> None:
        moments = curve_moments(data.times, scale(data.times, data.values), data.counts, basis)
        list(weighted_within_curves(moments, data.counts, {12}, design))

    times = interleaved(
        {
            "fit": lambda: ADAPTIVE.release_many(data, one, 1, _generator()),
            "statistics": statistics,
        },
        rounds=30,
    )
    return times["fit"] / times["statistics"]


def _adaptive_twenty_over_one() -> float:
    data = _adaptive_data()
    times = interleaved(
        {
            "twenty": lambda: ADAPTIVE.release_many(data, TWENTY, 1, _generator()),
            "one": lambda: ADAPTIVE.release_many(data, TWENTY[:1], 1, _generator()),
        },
        rounds=20,
    )
    return times["twenty"] / times["one"]


READINGS = RegressionPoints(n_curves=1_000_000, n_servers=16)
SMALL_SITES = RegressionPoints(n_curves=64_000, n_servers=200)


WAVELETS = WaveletGlobal()


def _wavelet_release(
    source: RegressionPoints, mechanism: Mechanism = WAVELETS
) -> Callable[[], object]:
    """A release from readings that are there."""
    data, one = source.draw(_wavelet_repeats(source), _generator()), [(Budget(1.0, 1e-5),)]
    return lambda: mechanism.release_many(data, one, 1, _generator())


def _wavelet_repeats(source: RegressionPoints) -> int:
    return 1_000_000 // source.n_curves or 1


def _wavelet_work(source: RegressionPoints) -> Work:
    """Readings are checked and clipped, placed on a table, and spread over the functions they meet.

    A reading adds to 2A − 1 functions from two rows of the table.
    """
    repeats, mechanism = _wavelet_repeats(source), WaveletGlobal()
    plan = mechanism.plan(Public(source.sizes, source.facts), (Budget(1.0, 1e-5),))
    width = 2 * mechanism.moments - 1
    checked = Work(large=4 * READ, cached=2 * CHANGE)  # counted, then times and values looked at
    placed = 3 * CHANGE + 12 + 8 + PASS  # on [0, 1], in steps, whole steps, what is left
    spread = 2 * PASS + 3 * 8 + 2 * width * PASS
    message = Work(normals=1, cached=PASS + CHANGE + PASS)  # noise of its scale, then the sum
    return (checked + Work(cached=placed + spread)).times(
        repeats * source.n_curves
    ) + message.times(repeats * source.n_servers * plan.basis.size)


def _wavelets_at_a_point() -> float:
    """A release from readings that are there, over the time to draw their times and errors."""

    def floor() -> None:
        rng = _generator()
        rng.random(READINGS.n_curves)
        rng.standard_normal(READINGS.n_curves)

    times = interleaved(
        {"release": _wavelet_release(READINGS, WaveletPointwise(points="0.37")), "floor": floor}
    )
    return times["release"] / times["floor"]


def _sweeps_over_their_blocks() -> dict[str, float]:
    """A hundred blocks of a few milliseconds, over the same blocks one after the other."""
    cells = [
        Cell({}, SparseCurves(n_curves=n, n_observations_per_curve=5), NoisyGradientMean(), one)
        for n in range(100, 200)
        for one in TWENTY[:2]
    ]
    work = blocks(cells, Run(repeats=3))
    with (
        executors.make("serial") as here,
        TemporaryDirectory() as kept,
        TemporaryDirectory() as new,
    ):
        list(run_sweep(work, here, PartFiles(kept)))

        def into_files() -> None:
            list(run_sweep(work, here, PartFiles(new)))
            for file in Path(new).iterdir():
                file.unlink()

        times = interleaved(
            {
                "blocks": lambda: [run_block(block) for block in work],
                "sweep of small blocks": lambda: list(run_sweep(work, here)),
                "sweep kept in files": into_files,
                "sweep resumed from files": lambda: list(run_sweep(work, here, PartFiles(kept))),
            }
        )
    alone = times.pop("blocks")
    return {f"{name} / its blocks": spent / alone for name, spent in times.items()}


ROWS = SparseRows(n_curves=2000, n_servers=1, n_features=1000, n_shared=10, design="identity")
FEW = SparseRegression(sparsity=10, rounds=20)


def _sparse_study() -> None:
    """Drawing 2000 rows of 1000 features and fitting them in 20 rounds."""
    rng = _generator()
    FEW.release_many(ROWS.draw(1, rng), [(Budget(1.0, 1e-6),)], 1, rng)


def _sparse_work() -> Work:
    """Rows are copied, clipped and looked at; half of X'X; then every round reads all rows once.

    Each round chooses 10 of 1000 features with a Gumbel variable each, and has noise ready for all
    values.
    """
    n, d, rounds = ROWS.n_curves, ROWS.n_features, FEW.rounds or 0
    numbers = n * d
    once = 3 * CHANGE + READ + READ + CHANGE  # copied, clipped, drawn back to a norm; looked at
    return Work(
        normals=numbers + n + rounds * d,
        gumbels=rounds * d,
        large=numbers * (once + rounds * READ),
        cached=2 * d**2 * CHANGE,
        operations=numbers * (d + 1),
    )


def _table_over_read_csv() -> float:
    """Reading and checking 100 000 people with ten readings each, over reading the numbers.

    A million rows in 20 MB, the largest file that may be given.
    """
    rng, people, readings = _generator(), 100_000, 10
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(people), readings),
            "time": rng.random((people, readings)).round(3).ravel(),
            "value": rng.standard_normal((people, readings)).round(2).ravel(),
        }
    )
    content = frame.to_csv(index=False).encode()
    reading = Reading(
        frame=Frame(header=("id", "time", "value")),
        person=LineOwner(column="id"),
        columns={role: Column(names=(role,)) for role in ("time", "value")},
    )

    def checked() -> None:
        curves_of(read(content, reading))

    times = interleaved(
        {"checked": checked, "bare": lambda: pd.read_csv(io.BytesIO(content))}, rounds=3
    )
    return times["checked"] / times["bare"]


def _two_processes() -> Iterator[Row]:
    """The speed-up, where both cores are idle but for this benchmark."""
    if hasattr(os, "getloadavg") and os.getloadavg()[0] < _IDLE:
        yield Row(
            "one process / two, sweep of 200 cells",
            _one_process_over_two(),
            1.6,
            more_is_better=True,
            is_compared=False,
        )


def _one_process_over_two() -> float:
    """Seconds of the clock, because the work is elsewhere: needs two idle cores to mean anything.

    200 cells of some 20 ms each, in workers that have run one before.
    """
    cells = [
        Cell({}, SparseCurves(n_curves=n), NoisyGradientMean(), one)
        for n in range(300, 400)
        for one in TWENTY[:2]
    ]
    work = blocks(cells, Run(repeats=8))
    seconds = {}
    for count in (1, 2):
        with executors.make(f"processes:{count}") as pool:
            list(run_sweep(work[:8], pool))
            start = time.perf_counter()
            list(run_sweep(work, pool))
            seconds[count] = time.perf_counter() - start
    return seconds[1] / seconds[2]
