"""Curves and tests of independent survival libraries, made once: survival_oracle.json.

Run by hand in an environment of its own, since neither the dashboard nor its tests need these packages:

    pip install lifelines==0.30.3 statsmodels==0.15.0
    python tests/golden/make_survival_oracle.py

Grouped people: everybody's time is the middle of an interval, in which either events happen or people are
censored. Then the actuarial estimate is the Kaplan–Meier one, and a table of counts can be compared with a
library to the last digits. Patients: the bundled ones, by day and by months of 30 days, so with many ties.
"""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import KaplanMeierFitter
from lifelines.statistics import logrank_test
from statsmodels.duration.survfunc import CumIncidenceRight, SurvfuncRight, survdiff

HERE = Path(__file__).parent
PATIENTS = HERE.parents[1] / "data" / "heart_failure.csv"


def grouped():
    """Two causes (codes 1 and 2), two groups, ten intervals of [0, 10]: events in odd ones, censoring in even ones."""
    rng = np.random.default_rng(20)
    rows = []
    for group, (first, second, gone) in enumerate(((0.16, 0.08, 0.06), (0.10, 0.09, 0.05))):
        left = 400
        for k in range(10):
            chances = (first, second) if k % 2 == 0 else (gone,)
            for code, chance in enumerate(chances, start=1 if k % 2 == 0 else 0):
                number = int(rng.binomial(left, chance))
                rows += [(k + 0.5, code, group)] * number
                left -= number
        rows += [(11.0, 0, group)] * left
    return [list(column) for column in zip(*rows, strict=True)]


def at(times, values, points, start):
    """A step function at points."""
    place = np.searchsorted(times, points, side="right") - 1
    return [float(values[k]) if k >= 0 else start for k in place]


def curves(time, event, points):
    fitted = KaplanMeierFitter().fit(time, event)
    other = SurvfuncRight(time, event)
    assert np.allclose(
        fitted.predict(points), at(other.surv_times, other.surv_prob, points, 1.0), atol=1e-14
    )
    return {
        "survival": at(other.surv_times, other.surv_prob, points, 1.0),
        "greenwood": at(other.surv_times, other.surv_prob_se, points, 0.0),
    }


def test(time, event, group):
    time, event, group = map(np.asarray, (time, event, group))
    chi2, p = survdiff(time, event, group)
    other = logrank_test(time[group == 0], time[group == 1], event[group == 0], event[group == 1])
    assert abs(other.test_statistic - chi2) < 1e-9
    return {"chi2": float(chi2), "p": float(p)}


def main():
    time, status, group = grouped()
    time, status, group = np.array(time), np.array(status), np.array(group)
    points = np.arange(1.0, 11.0)
    incidence = CumIncidenceRight(time, status)
    out = {
        "grouped": {
            "time": time.tolist(),
            "status": status.tolist(),
            "group": group.tolist(),
            "points": points.tolist(),
            **curves(time, status > 0, points),
            "test": test(time, status > 0, group),
            "incidence": [at(incidence.times, each, points, 0.0) for each in incidence.cinc],
        }
    }
    with PATIENTS.open() as lines:
        rows = pd.DataFrame(
            [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]
        )
    days, death, high = (rows[name].to_numpy() for name in ("days", "death", "high_blood_pressure"))
    for name, time in (("by day", days), ("by month", np.ceil(days / 30) * 30)):
        points = np.arange(15.0, 271.0, 15.0)
        out[name] = {
            "points": points.tolist(),
            **curves(time, death, points),
            "test": test(time, death, 1 - high),
        }
    (HERE / "survival_oracle.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
