"""Tables 2 and 5: as printed, what the sizes allow, and intervals and bands that keep a budget."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import ndtri

from engine.core.types import Array
from engine.mechanisms.sparse_inference import SparseInference
from engine.numerics.sparse_fits import precision_rows
from engine.sources.sparse_rows import SparseRows
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse.published import table_2, table_5
from reproductions.drawing import curve, level, log, look, panel
from reproductions.evidence import Check, covers, grows, number, when, where, within
from reproductions.exhibits import (
    Call,
    Claim,
    Exhibit,
    Form,
    Panel,
    Reason,
    Row,
    Table,
    Work,
    frame,
)
from reproductions.sparse_federated import studies
from reproductions.sparse_federated.studies import FederationSetting

BASE = {"n": 4000.0, "m": 15.0, "d": 800.0, "s_star": 15.0, "s0": 8.0, "eps": 0.8}
FEWER = {"quick": 8, "full": 1}  # by which the number of features is divided
_SIGMA = 0.5
IMPOSSIBLE = (
    "Noise that keeps this ε at these sizes is as large as the coefficients. The stated "
    "constants ask for far more of it, so the printed numbers cannot be those of the "
    "stated method."
)
_NAMES = {
    "eps": "Privacy budget ε",
    "n": "Rows of a machine n",
    "m": "Machines m",
    "d": "Features d",
    "s_star": "Features that matter s*",
    "s0": "Shared features s₀",
}


def _along(table: Table | pd.DataFrame, factor: str) -> pd.DataFrame:
    """Select the rows in which nothing but one factor differs from the base point, in its order."""
    return where(
        table, **{name: value for name, value in BASE.items() if name != factor}
    ).sort_values(factor)


def _with_printed(table: pd.DataFrame, printed: Table) -> pd.DataFrame:
    """Put the results at the same place beside each row as printed."""
    return frame(printed).merge(table, on=list(BASE), suffixes=("_printed", ""))


# -- Table 2 ---------------------------------------------------------------------------------------


def error_rows(
    n: int, m: int, d: int, s: int, s0: int, epsilons: tuple[float, ...], repeats: int, fewer: int
) -> list[Row]:
    """Compute errors that keep the budget, without noise too; noise over the least coefficient.

    Of m machines with n rows of d features each, of which s matter, s0 of these for all machines
    alike; `fewer` is what d is divided by, to take less time.
    """
    errors = studies.errors(FederationSetting(n, m, d // fewer, s, s0), epsilons, repeats)
    noise_free, noise_free_se = studies.mean_and_error(errors.noise_free)
    rows: list[Row] = []
    for k, epsilon in enumerate(epsilons):
        place = {
            "n": float(n),
            "m": float(m),
            "d": float(d),
            "s_star": float(s),
            "s0": float(s0),
            "eps": epsilon,
        }
        error, error_se = studies.mean_and_error(errors.released[:, k])
        stated = sparse_topic.reported([place])[0].published.ratio
        rows.append(
            {
                **place,
                "error": error,
                "error_se": error_se,
                "quiet": noise_free,
                "quiet_se": noise_free_se,
                "stated noise": stated,
                "least noise": studies.least_noise(FederationSetting(n, m, d, s, s0), epsilon),
                "features run": d // fewer,
                "repeats": repeats,
            }
        )
    return rows


def _settings() -> dict[tuple[int, ...], tuple[float, ...]]:
    """List every setting of Table 2 with its budgets."""
    settings: dict[tuple[int, ...], tuple[float, ...]] = {}
    for row in table_2():
        key = tuple(int(row[name]) for name in ("n", "m", "d", "s_star", "s0"))
        settings[key] = (*settings.get(key, ()), row["eps"])
    return settings


def _table_2_work(form: Form) -> Work:
    repeats = 8 if form == "quick" else 50
    return Work(
        calls=tuple(
            Call(error_rows, (*place, epsilons, repeats, FEWER[form]))
            for place, epsilons in _settings().items()
        )
    )


def _draw_table_2(table: pd.DataFrame) -> tuple[Panel, ...]:
    panels = []
    for factor, name in _NAMES.items():
        rows, printed = _along(table, factor), _along(table_2(), factor)
        series = [
            curve(
                "As printed",
                printed[factor],
                printed["err"],
                look("bias", "8px,3px", "triangle-up"),
                printed["err_sd"] / math.sqrt(50),
            ),
            curve("ε kept", rows[factor], rows["error"], look("sparse"), rows["error_se"]),
            curve(
                "Without noise",
                rows[factor],
                rows["quiet"],
                look("without", "2px,3px", "square"),
                rows["quiet_se"],
            ),
        ]
        panels.append(
            panel(
                name, series, name, log("Squared error"), f"Errors against {name}, in three ways."
            )
        )
    return (*panels, _lengths_panel())


def _lengths_panel() -> Panel:
    printed = frame(table_2())
    formula = _lengths(printed)
    ends = [min(formula), max(formula)]
    return panel(
        "Printed lengths and a formula",
        [
            curve(
                "Rows of the table",
                formula,
                printed["length"],
                look("bias", marker="triangle-up"),
                mode="markers",
            ),
            level("Equal", ends, ends),
        ],
        "By the formula",
        "Length of an interval, as printed",
        "Printed lengths of intervals against a formula that fits them.",
    )


def _lengths(rows: pd.DataFrame) -> Array:
    """Compute 2·1.96 (σ/√n) (V + K s*² log(2mn)/(nε²))^{1/2}, V = 1.25 and K = 0.72, by row."""
    n, m, s, epsilon = (rows[name].to_numpy() for name in ("n", "m", "s_star", "eps"))
    noise = 0.72 * s**2 * np.log(2 * m * n) / (n * epsilon**2)
    return np.asarray(2 * ndtri(0.975) * _SIGMA / np.sqrt(n) * np.sqrt(1.25 + noise))


def _off_formula(table: pd.DataFrame) -> dict[str, object]:
    """Compare printed lengths with the formula, in per cent."""
    printed = frame(table_2())
    off = 100 * (printed["length"] / _lengths(printed) - 1)
    return {"off": off, "size": off.abs().max(), "mean": np.sqrt((off**2).mean())}


lengths_fit = within(
    _off_formula,
    -6,
    6,
    of="off",
    text="13 lengths, root mean square {mean:.1f} %, at most {size:.1f} % off",
)


def weighted_rows(printed: Table) -> dict[str, float]:
    """Count rows whose coverage is the average over non-zero and zero coefficients, to 0.002."""
    rows = frame(printed)
    share = rows["s_star"] / rows["d"]
    mean = share * rows["cov_S"] + (1 - share) * rows["cov_Sc"]
    off = (rows["cov"] - mean).abs()
    return {"close": (off <= 0.002).sum(), "count": len(rows), "off": off.max()}


def _reached(table: pd.DataFrame) -> dict[str, object]:
    """Count the rows in which errors that keep the budget are at most twice the printed ones."""
    both, base = _with_printed(table, table_2()), where(table, **BASE).iloc[0]
    reached = both["error"] <= 2 * both["err"]
    return {
        "error": base["error"],
        "features": base["features run"],
        "reached": reached.sum(),
        "count": len(both),
        "share": reached.mean(),
    }


def _over_noise_free(table: pd.DataFrame) -> dict[str, object]:
    """Divide printed errors by those without noise."""
    both = _with_printed(table, table_2())
    over = both["err"] / both["quiet"]
    return {"over": over, "middle": np.floor(over.median())}


TABLE_2 = Exhibit(
    "table-2",
    "Table 2: errors and intervals",
    "Squared errors as printed, beside those that the same sizes allow: with the least noise that "
    "is proved to keep ε, for machines that differ, and without any noise. One size changes at a "
    "time. Rounds end where a twentieth of the distance may be left. The quick form has an eighth "
    "of the features, which makes the task easier.",
    _table_2_work,
    _draw_table_2,
    (
        Claim(
            "The printed errors are those of the private estimates",
            within(
                _reached,
                1.0,
                of="share",
                text="{error:.2f} at the base point with "
                "{features:g} features, where 0.0170 is printed; within a factor of two in "
                "{reached} of {count} rows",
            ),
            IMPOSSIBLE,
            Reason.NUMBERS,
        ),
        Claim(
            "The stated noise is larger than the coefficients",
            within(
                lambda t: {
                    name: _along(t, "eps")[f"{name} noise"].iloc[-1] for name in ("stated", "least")
                },
                1,
                of="stated",
                text="the largest of 800 is {stated:,.0f} times a coefficient at the base "
                "point; on a machine of its own the least noise that keeps ε is {least:.1f} "
                "times one",
            ),
            is_ours=True,
        ),
        Claim(
            "Errors without noise are below the printed ones, in most rows a fifth or less",
            when(
                lambda x: bool(x.min() > 1 and np.median(x) >= 5),
                _over_noise_free,
                "printed errors are {over:.0f} times those without noise, more than "
                "{middle:.0f} times in half of the rows",
                of="over",
            ),
            is_ours=True,
        ),
        Claim(
            "The error grows with the number of shared features",
            grows(
                lambda t: _along(table_2(), "s0")["err"],
                text="printed: {0.each:.4f} with 4, 8 and 12 shared ones",
            ),
            "The text says so; the table falls, as Theorem 7 predicts, since shared features are "
            "learned from all machines.",
            Reason.MISPRINT,
            place="Section 6.1, text on Table 2",
        ),
        Claim(
            "From ε = 0.8 to 0.5 the printed error grows less than the square of the noise",
            within(
                lambda t: (
                    number(table_2(), "err", **{**BASE, "eps": 0.5})
                    / number(table_2(), "err", **BASE)
                ),
                high=2,
                text="printed: {:.2f} times from ε = "
                "0.8 to 0.5, where the square of the noise grows 2.56 times; a part that does not "
                "depend on ε would explain it, but without noise the error is many times smaller",
            ),
            is_ours=True,
        ),
        Claim(
            "Printed coverage of all coefficients is the mean over non-zero and zero ones",
            within(
                lambda t: weighted_rows(table_2()),
                13,
                of="close",
                text="{close} of {count} rows within 0.002, at most {off:.3f} apart",
            ),
            is_ours=True,
        ),
        Claim(
            "Printed lengths follow one formula with n, not mn, within 6 %",
            lengths_fit,
            is_ours=True,
        ),
    ),
    published=tuple(table_2()),
    extent="m = 10 to 20, n = 3000 to 5000, d = 600 to 1000, ε = 0.3 to 0.8",
)


# -- intervals at sizes where the noise leaves a signal --------------------------------------------

FEASIBLE = SparseRows(n_curves=200_000, n_servers=10, n_features=100, n_shared=5)
_DELTA = 1e-6
_EPSILONS = (0.35, 0.5, 1.0, 2.0, 4.0)
_VARIANTS = {
    "proper": ("As derived", "sparse", "solid", "circle"),
    "scaled": ("Noise times σ", "functional", "12px,3px,2px,3px", "cross"),
    "naive": ("No noise", "bias", "8px,3px", "triangle-up"),
    "sign": ("Printed sign", "wavelet", "2px,3px", "diamond"),
}
MATTERS, IS_ZERO = "Coefficients that matter", "Coefficients that are zero"


def interval_rows(kind: str, place: int, repeats: int) -> list[Row]:
    """Compute coverage and length of the interval of one coefficient, by ε."""
    corrected = studies.corrections(
        SparseInference(features=str(place + 1), directions="column"),
        FEASIBLE,
        _EPSILONS,
        _DELTA,
        repeats,
    )
    coverage, lengths = corrected.coverage(), corrected.lengths()
    return [
        {
            "kind": kind,
            "feature": place + 1,
            "eps": epsilon,
            "repeats": repeats,
            "length": float(lengths[k]),
            **{variant: float(shares[k]) for variant, shares in coverage.items()},
        }
        for k, epsilon in enumerate(_EPSILONS)
    ]


def _places() -> list[tuple[str, int]]:
    """List two coefficients that matter, the neighbour of one, and one far from all."""
    support = np.flatnonzero(FEASIBLE.truth.node_values)
    return [
        (MATTERS, int(support[0])),
        (MATTERS, int(support[1])),
        (IS_ZERO, int(support[0]) + 1),
        (IS_ZERO, 49),
    ]


def _pooled(table: pd.DataFrame, kind: str, column: str) -> pd.Series[float]:
    """Average over the coefficients of a kind, by ε."""
    return where(table, kind=kind).groupby("eps")[column].mean()


def _draw_intervals(table: pd.DataFrame) -> tuple[Panel, ...]:
    axis, panels = log(_NAMES["eps"]), []
    for kind in (MATTERS, IS_ZERO):
        series = [
            curve(label, _EPSILONS, _pooled(table, kind, variant), look(role, *style))
            for variant, (label, role, *style) in _VARIANTS.items()
        ]
        series.append(level("Nominal", [_EPSILONS[0], _EPSILONS[-1]], [0.95, 0.95]))
        panels.append(
            panel(
                kind,
                series,
                axis,
                "Share of intervals that hold",
                f"{kind}: coverage against ε, in four ways.",
            )
        )
    lengths = [curve("As derived", _EPSILONS, _pooled(table, MATTERS, "length"), look("sparse"))]
    return (
        *panels,
        panel("Length of an interval", lengths, axis, "Length", "Length of intervals against ε."),
    )


def _holds(variant: str, kind: str) -> Check:
    return covers(
        lambda t: where(t, kind=kind),
        variant,
        "{share.low:.3f} to {share.high:.3f} over {rows} cells of {repeats} data sets",
    )


INTERVALS = Exhibit(
    "table-2-feasible",
    "Table 2 at sizes where the noise leaves a signal",
    "How often intervals for one coefficient hold it, where 200 000 rows of 100 features leave "
    "enough signal and the whole pipeline keeps ε: as derived, and with each of three things that "
    "are printed otherwise.",
    lambda form: Work(
        calls=tuple(
            Call(interval_rows, (*place, 400 if form == "quick" else 2000)) for place in _places()
        )
    ),
    _draw_intervals,
    (
        Claim(
            "Intervals cover coefficients that matter in 93 to 97 % of cases",
            _holds("proper", MATTERS),
            place="Table 2 and Theorem 5",
            extent="level 95 %; checked at sizes where the noise leaves a signal",
        ),
        Claim(
            "Intervals cover coefficients that are zero in 93 to 97 % of cases",
            _holds("proper", IS_ZERO),
            place="Table 2 and Theorem 5",
            extent="level 95 %; checked at sizes where the noise leaves a signal",
        ),
        Claim(
            "Intervals without the noise of privacy cover in 93 to 97 % of cases",
            _holds("naive", IS_ZERO),
            "At small ε the noise is as large as chance in the rows, or larger; the theorem asks "
            "that it vanishes beside it.",
            Reason.CONDITION,
            place="Theorem 4",
            extent="s² log²d log(1/δ) log³N/(Nε²) → 0",
        ),
        Claim(
            "Intervals with the noise multiplied by σ cover in 93 to 97 % of cases",
            _holds("scaled", IS_ZERO),
            "The noise is added as it is; σ = ½ counts half of it. The proof has it right.",
            Reason.MISPRINT,
            place="Algorithm 6",
            extent="level 95 %",
        ),
        Claim(
            "Intervals with the printed sign of the correction cover in 93 to 97 % of cases",
            _holds("sign", MATTERS),
            "The gradient has the opposite sign of the residual: added, it doubles the bias of "
            "selection instead of taking it off. The proof has it right.",
            Reason.MISPRINT,
            place="Equation (4.1) and Algorithm 6",
            extent="level 95 %",
        ),
        Claim(
            "With that sign nothing is seen where coefficients are zero",
            when(
                lambda x: bool(x[0] > 0.9 > x[1]),
                lambda t: {
                    "zero": _pooled(t, IS_ZERO, "sign").min(),
                    "matter": _pooled(t, MATTERS, "sign").max(),
                },
                "at least {zero:.3f} where coefficients are zero, at most {matter:.3f} where "
                "they matter",
            ),
            is_ours=True,
        ),
    ),
)


# -- Table 5 ---------------------------------------------------------------------------------------

_BAND = SparseRows(n_curves=100_000, n_servers=4, n_features=20, n_shared=3)
_BAND_EPSILONS = (1.0, 2.0, 4.0)
_ROUNDS = 15  # after which Θ̂ gives the printed lengths
_SAMPLE = 10_000


def band_rows(d: int) -> list[Row]:
    """Compute lengths of bands without privacy, for every row with so many features."""
    source = FederationSetting(d=d).source()
    gram = source.covariance
    root = precision_rows(gram, rounds=_ROUNDS) @ np.linalg.cholesky(gram)
    sample = np.abs(root @ np.random.default_rng(5).standard_normal((d, _SAMPLE)))
    rows: list[Row] = []
    for row in table_5():
        if row["d"] != d:
            continue
        truth = FederationSetting(d=d, s=int(row["s_star"]), s0=int(row["s0"])).source().truth
        support = np.flatnonzero(truth.node_values[0])
        groups = {
            "len": np.arange(d),
            "len_S": support,
            "len_Sc": np.setdiff1d(np.arange(d), support),
        }
        scale = 2 * _SIGMA / math.sqrt(row["n"])
        lengths = {
            name: scale * float(np.quantile(sample[group].max(axis=0), 0.95))
            for name, group in groups.items()
        }
        rows.append({"part": "printed", **{name: row[name] for name in BASE}, **lengths})
    return rows


def coverage_rows(d: int, repeats: int) -> list[Row]:
    """Count how often bands hold all coefficients together, with and without the noise in them."""
    source = _BAND if d == _BAND.n_features else FEASIBLE
    corrected = studies.corrections(
        SparseInference(target="band", sparsity=source.n_shared),
        source,
        _BAND_EPSILONS,
        _DELTA,
        repeats,
    )
    coverage, lengths = corrected.band_coverage(), corrected.lengths()
    return [
        {
            "part": "bands",
            "features": d,
            "eps": epsilon,
            "repeats": repeats,
            "length": float(lengths[k]),
            **{name: float(coverage[name][k]) for name in coverage},
        }
        for k, epsilon in enumerate(_BAND_EPSILONS)
    ]


def _table_5_work(form: Form) -> Work:
    sizes = (800,) if form == "quick" else (600, 800, 1000)
    repeats = {20: 400} if form == "quick" else {20: 2000, 100: 400}  # by the number of features
    return Work(
        calls=(
            *(Call(band_rows, (d,)) for d in sizes),
            *(Call(coverage_rows, sizes) for sizes in repeats.items()),
        )
    )


def _beside_table_5(table: pd.DataFrame) -> pd.DataFrame:
    """Put lengths without privacy beside the rows as printed."""
    return _with_printed(where(table, part="printed"), table_5())


def _draw_table_5(table: pd.DataFrame) -> tuple[Panel, ...]:
    both, series = _beside_table_5(table), []
    for epsilon, role, marker in (
        (0.8, "sparse", "circle"),
        (0.5, "functional", "diamond"),
        (0.3, "bias", "triangle-up"),
    ):
        rows = where(both, eps=epsilon)
        series.append(
            curve(
                f"Printed at ε = {epsilon:g}",
                rows[["len", "len_S"]].to_numpy().ravel(),
                rows[["len_printed", "len_S_printed"]].to_numpy().ravel(),
                look(role, marker=marker),
                mode="markers",
            )
        )
    ends = [0.05, 0.095]
    return (
        panel(
            "Lengths of bands",
            [*series, level("Equal", ends, ends)],
            "Without privacy",
            "As printed",
            "Printed lengths of bands against those without privacy.",
        ),
        _coverage_panel(table),
    )


def _coverage_panel(table: pd.DataFrame) -> Panel:
    rows = where(table, part="bands", features=20)
    series = [
        curve(name, rows["eps"], rows[column], look(role, dash, marker))
        for name, column, role, dash, marker in (
            ("All held together", "joint", "sparse", "solid", "circle"),
            ("Share of coefficients held", "average", "functional", "12px,3px,2px,3px", "diamond"),
            ("Together, noise left out", "naive", "bias", "8px,3px", "triangle-up"),
        )
    ]
    series.append(level("Nominal", [1.0, 4.0], [0.95, 0.95]))
    return panel(
        "Bands that keep ε, 20 features",
        series,
        log(_NAMES["eps"]),
        "Share",
        "Coverage of bands against ε: joint, on average, and with the noise left out.",
    )


def _noise_in_lengths(table: pd.DataFrame) -> dict[str, object]:
    """Subtract lengths without any noise from those printed at ε = 0.8."""
    rows = where(_beside_table_5(table), eps=0.8)
    off = [
        (rows[f"{kind}_printed"] - rows[kind]).abs().max() for kind in ("len", "len_S", "len_Sc")
    ]
    return {"count": len(rows), "off": max(off)}


def _band_holds(column: str) -> Check:
    return covers(
        lambda t: where(t, part="bands"),
        column,
        "{share.each:.2f} at ε = 1, 2, 4 over {repeats} data sets",
        low_share=0.92,
    )


TABLE_5 = Exhibit(
    "table-5",
    "Table 5: simultaneous bands",
    "Printed lengths of bands beside those of a bootstrap without any privacy, of all coefficients "
    "and of those that matter; and how often bands hold that keep ε, at a size that allows it.",
    _table_5_work,
    _draw_table_5,
    (
        Claim(
            "Printed coverage of bands is, in most rows, a mean over coefficients",
            within(
                lambda t: weighted_rows(table_5()),
                10,
                of="close",
                text="equal to the "
                "mean over coefficients in {close} of {count} rows within 0.002, at most "
                "{off:.3f} apart; for bands as wide as these such means would be above 0.99",
            ),
            is_ours=True,
        ),
        Claim(
            "The printed lengths are those of private bands",
            within(
                _noise_in_lengths,
                0.003,
                of="off",
                text="{count} rows at ε = 0.8 differ by "
                "at most {off:.4f} from bands without any noise",
            ),
            "They are those without privacy, with an inverse covariance after 15 steps; at ε = "
            "0.5 and 0.3 they jump, but not like 1/ε.",
            Reason.NUMBERS,
            extent="ε = 0.8",
        ),
        Claim(
            "Bands that keep ε cover all coefficients together in about 95 % of cases",
            _band_holds("joint"),
            is_ours=True,
        ),
        Claim(
            "Bands whose bootstrap leaves the noise of privacy out cover in about 95 % of cases",
            _band_holds("naive"),
            "Estimates hold that noise, and the draws of the bootstrap do not; the theorem asks "
            "that it vanishes.",
            Reason.CONDITION,
            place="Algorithm 7 and Theorem 6",
            extent="as the noise of privacy vanishes",
        ),
        Claim(
            "Bands with a joint coverage of 95 % cover more than 99 of 100 coefficients",
            within("average", 0.99, text="at least {0.low:.3f} of the coefficients"),
            is_ours=True,
        ),
    ),
    published=tuple(table_5()),
    extent="m = 10 to 20, n = 3000 to 5000, d = 600 to 1000, ε = 0.3 to 0.8",
)
