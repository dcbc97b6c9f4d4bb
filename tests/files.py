"""Good and bad files for the tests of reading and for the browser journeys."""

import io
import zipfile

import numpy as np
import pandas as pd


def growth_frame(n=12, m=5, seed=0):
    """Long table of made-up heights with unsorted, unequal curves."""
    rng = np.random.default_rng(seed)
    rows = [(f"c{i:03d}", round(float(age), 2), round(float(85 + 5 * age + rng.normal()), 1))
            for i in range(n) for age in rng.uniform(2, 18, m + i % 3)]
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=["child", "age", "height"])


def csv(frame=None, **options):
    return (growth_frame() if frame is None else frame).to_csv(index=False, **options).encode()


def wide_frame(n=6):
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=["0", "0.25", "0.5", "1"]
                        ).assign(id=[f"p{i}" for i in range(n)])


def xlsx(frame=None, **extra_sheets):
    out = io.BytesIO()
    with pd.ExcelWriter(out) as writer:
        (growth_frame() if frame is None else frame).to_excel(writer, sheet_name="data",
                                                             index=False)
        for name, other in extra_sheets.items():
            other.to_excel(writer, sheet_name=name, index=False)
    return out.getvalue()


def zip_of(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


NASTY = ["", "NaN", "inf", "-inf", "1e400", "=1+1", "@SUM(A1)", "<script>alert(1)</script>", "3,14",
         "1,234.5", "\x00", "é", "“", "[x](javascript:0)", "$\\href{x}{y}$", "-", "0x10", "1_000",
         "\t", ";", ",", '"', "’", "٣", "01.02.2024", "True", "None", "1e-400", "9" * 400]
