"""Replacing one person changes nothing that is published but through the noised messages.

Two files differ in one person: eight observations become one, at a time nobody else has, with other
values, anywhere in the file. The noisy numbers are frozen to the same multiples of the lattice,
or the same whole counts, whatever is sent. Then all that is published must be the same to the last byte: the curve, its band,
the card with quote, sizes, tuning and bounds, the report and the request. The same for a record, for
people with one time each, and for what sites with files of their own send each other.
"""

import io
import json
import re
import shutil
import zlib
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.tasks import DENSITY, MEAN_FUNCTION, UNIVARIATE_MEAN
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.noise.hardened import CountNoise, LatticeNoise
from engine.release import certified, ledger, published
from engine.release import files as release_files
from engine.release.ledger import Ledger
from engine.sites import centre
from engine.sites.secret_store import SecretStore
from engine.sites.study import SiteStudy
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.events import counted_for, declare_events
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.people import read
from engine.uploads.reading_of_files import LineOwner
from engine.uploads.records import curves_of
from tests import files, site_runs
from tests.files import requested
from tests.heavy import all_but, few
from tests.pages.opening import visit
from tests.readings import (
    events_upload_of,
    reading_of,
    request_with_reading,
    rows_upload_of,
    upload_of,
)
from tests.sentences import of_topic
from tests.site_runs import noise_is

wording = of_topic("upload")

TASKS = (MEAN_FUNCTION.key, UNIVARIATE_MEAN.key)
BUDGET = Budget(2.0, 1e-5)
N, TIMES = 60, (2, 4, 6, 8, 10, 12, 14, 16)
BOUNDS = {"value_low": 60, "value_high": 210, "time_low": 1, "time_high": 18, "origin": "a chart"}
DESIGNS = {
    "common": StatedDesign(law="common", times=TIMES),
    "even": StatedDesign(law="even"),
    "unknown": StatedDesign(law="unknown"),
}
CURVE_METHODS = [
    ("adaptive_mean", {}),
    ("noisy_gradient_mean", {}),
    ("noisy_gradient_mean", {"scheme": "split", "n_iterations": 5}),
    ("iclp", {}),
    ("bernstein", {}),
    ("univariate_mean", {"setting": "central_user"}),
]


@pytest.fixture(autouse=True)
def _frozen(monkeypatch):
    """The same noisy numbers whatever is sent."""

    def frozen(self, values):
        seed = zlib.crc32(
            f"{self.law} {self.sensitivity!r} {self.size} {np.shape(values)}".encode()
        )
        return np.random.default_rng(seed).normal(0, 50, np.shape(values)).round()

    def frozen_counts(self, values):
        seed = zlib.crc32(f"{self.epsilon!r} {self.size} {np.shape(values)}".encode())
        return np.random.default_rng(seed).integers(0, 20, np.shape(values)).astype(float)

    noise_is(monkeypatch, LatticeNoise, frozen)
    noise_is(monkeypatch, CountNoise, frozen_counts)


def long_file():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            (f"c{k:03d}", time, round(float(85 + 5 * time + rng.normal(0, 4)), 1))
            for k in range(N)
            for time in TIMES
        ],
        columns=["child", "age", "height"],
    )


def replaced(frame, place):
    """One observation of another height at a time of its own, elsewhere in the file."""
    rest = frame[frame.child != "c007"]
    one = pd.DataFrame([("c007", 7.31, 199.9)], columns=frame.columns)
    cut = {"first": 0, "middle": 8 * 30, "last": len(rest)}[place]
    return pd.concat([rest[:cut], one, rest[cut:]])


def wide(frame):
    """As another program spreads it out: a column for every time that anybody has."""
    return frame.pivot_table(index="child", columns="age", values="height").reset_index()


def curves(frame, law):
    facts = declare(
        **BOUNDS,
        design=DESIGNS[law],
        observations=8,
        value_name="Height",
        person="child",
        people="children",
    )
    return upload_of(files.csv(frame), facts)


def everything(source, mechanism, folder, budget=BUDGET):
    """All that a release gives away, without the random label of its ledger and the time."""
    one = published.publish(source, mechanism, budget, Ledger(folder / "ledger"), "growth")
    return without_label(
        release_files.all_files(one)
        | {
            "request": release_files.request(one),
            "numbers": repr(
                (one.x, dict(one.columns), dict(one.ranges), one.cost, one.facts)
            ).encode(),
        },
        one.card,
    )


def without_label(content, card):
    """Random names are drawn anew for every ledger, and the time of day goes on.

    So do digests of files that hold these; the files themselves are compared.
    """
    named = card["release"]
    labels = [named[key] for key in ("data_set", "id", "release_id") if key in named]
    labels += [named["at"], named["at"][:10]]
    for label in labels:
        content = {
            name: text.replace(str(label).encode(), b"label") for name, text in content.items()
        }
    return {name: re.sub(b"sha256:[0-9a-f]{64}", b"digest", text) for name, text in content.items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == other[name], name


# -- the engine


@pytest.mark.parametrize("law", few(DESIGNS))
@pytest.mark.parametrize(("key", "chosen"), CURVE_METHODS, ids=lambda value: str(value))
def test_one_person_of_a_long_file_changes_nothing_but_the_messages(key, chosen, law, tmp_path):
    mechanism = mechanisms.build(key, chosen)
    released = []
    for place in ("", "first", "last"):
        frame = replaced(long_file(), place) if place else long_file()
        (tmp_path / f"of-{place}").mkdir()
        released.append(everything(curves(frame, law), mechanism, tmp_path / f"of-{place}"))
    for other in released[1:]:
        assert_same(released[0], other)


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        (cls.key, chosen)
        for task in TASKS
        for cls in mechanisms.for_task(task)
        for _, chosen in cls.presets_for(task)
    ],
    ids=lambda value: str(value),
)
def test_every_method_is_published_without_the_counts_of_single_curves_or_not_at_all(key, chosen):
    """Whatever is refused is refused for both files, in the same words and before any charge."""
    mechanism, said = mechanisms.build(key, chosen), []
    for frame in (long_file(), replaced(long_file(), "last")):
        budget = mechanism.suited(Budget(2.0, 1e-5))
        try:
            said.append(repr(published.release_cost(curves(frame, "even"), mechanism, budget)))
        except InputError as refused:
            said.append(str(refused))
    assert said[0] == said[1]


@pytest.mark.parametrize("law", few(DESIGNS))
def test_one_person_of_a_wide_file_changes_nothing_but_the_messages(law, tmp_path):
    """The time of that one visit is a column of the file, and no knot of what is published."""
    released, header = (
        [],
        wide(replaced(long_file(), "last")).columns,
    )  # of both: it is in the reading
    for name, frame in (("a", long_file()), ("b", replaced(long_file(), "last"))):
        table = wide(frame).reindex(columns=header)
        assert table[7.31].notna().any() == (name == "b")
        (tmp_path / name).mkdir()
        released.append(
            everything(curves(table, law), mechanisms.build("adaptive_mean", {}), tmp_path / name)
        )
    assert_same(*released)
    assert b"7.31" not in released[1]["release.csv"] + released[1]["release.svg"]


def _moved(frame):
    """Another curve."""
    return frame.apply(
        lambda column: column if column.name == "child" else column - 2 * float(column.name)
    )


@pytest.mark.parametrize("of_rows", [True, False])
def test_who_a_row_of_a_wide_file_belongs_to_changes_nothing_that_is_published(of_rows, tmp_path):
    """A row of somebody with two becomes that of a person of their own, or the other way round."""
    released = []
    for name, owner in (("a", "c006"), ("b", "new")):
        frame = wide(long_file())
        frame.loc[7, "child"] = owner
        if not of_rows and owner == "c006":
            frame = pd.concat(
                [frame, _moved(frame.iloc[:1]).assign(child="c007")]
            )  # as many people
        facts = declare(
            **BOUNDS, design=DESIGNS["common"], observations=8, person="child", people="children"
        )
        content = files.csv(frame)
        reading = reading_of(content, several="average")
        if of_rows:
            reading = replace(reading, person=LineOwner(rows=True))
        source = Upload(curves=curves_of(read(content, reading)), declared=facts, reading=reading)
        (tmp_path / name).mkdir()
        released.append(everything(source, mechanisms.build("adaptive_mean", {}), tmp_path / name))
    assert_same(*released)
    unit = json.loads(released[0]["guarantee.json"])["unit_of_protection"]
    (wording.found if of_rows else wording.missing)("rows protected less", unit)


def test_one_record_changes_nothing_but_the_messages(tmp_path):
    rng = np.random.default_rng(0)
    ages = rng.uniform(0, 100, 80).round(1)
    released = []
    for name, row in (("a", ages[7]), ("b", 99.9), ("c", np.nan)):
        frame = pd.DataFrame(
            {"id": [f"p{k}" for k in range(80)], "age": np.where(np.arange(80) == 7, row, ages)}
        )
        facts = declare_rows(DENSITY.key, [StatedCovariate("age", 0, 105)], "a law")
        (tmp_path / name).mkdir()
        released.append(
            everything(
                rows_upload_of(files.csv(frame), facts),
                mechanisms.build("iclp", {"task": "density"}),
                tmp_path / name,
                Budget(2.0),
            )
        )
    assert_same(released[0], released[1])
    assert_same(released[0], released[2])


COUNTS = pd.DataFrame(
    {
        "id": [f"p{k}" for k in range(150)],
        "days": [1 + 7 * k % 89 for k in range(150)],
        "end": [("death", "relapse", "alive")[k % 3] for k in range(150)],
        "arm": [("A", "B")[k % 2] for k in range(150)],
    }
)


def asked_of_counts(task, frame):
    """The plan and the sizes of all messages: what is published follows from them and the messages."""
    columns = {"time": "days", "id": "id", "group": "arm"} | (
        {} if task == "distribution" else {"status": "end"}
    )
    source = events_upload_of(
        files.csv(frame),
        lambda named: declare_events(0, 90, "a protocol", named),
        counted_for(task),
        columns,
        groups=["A", "B"],
        events=[] if task == "distribution" else ["death", "relapse"],
    )
    mechanism = mechanisms.build("noisy_counts", {"task": task})
    plan = published.planned(source, mechanism, Budget(2.0), "counts")
    messages = certified.hardened(certified.publishable_data(source), mechanism, plan.cost)[1]
    return plan.to_bytes(), {key: np.shape(numbers) for key, numbers in messages.items()}


@pytest.mark.parametrize("task", ["survival", "cumulative_incidence", "distribution", "roc"])
def test_one_person_of_a_file_of_counts_changes_nothing_but_the_messages(task):
    before = asked_of_counts(task, COUNTS)
    rest, row = COUNTS.drop(7), COUNTS.loc[[7]]
    for change in (
        {"days": np.nan},
        {"days": 1e6},
        {"days": -3},
        {"end": ""},
        {"end": "lost"},
        {"arm": "A"},
        {"arm": "C"},
        {"id": "new"},
    ):
        other = row.assign(**change)
        assert asked_of_counts(task, pd.concat([other, rest])) == before
        assert asked_of_counts(task, pd.concat([rest, other])) == before


def test_what_is_published_says_the_stated_number_and_design(tmp_path):
    result = everything(
        curves(replaced(long_file(), "first"), "common"),
        mechanisms.build("adaptive_mean", {}),
        tmp_path,
    )
    card = json.loads(result["guarantee.json"])
    assert card["public"]["observations_per_person"] == 8
    assert "readings" not in card["public"]
    assert card["stated"]["design"]["law"] == "common"
    assert card["stated"]["design"]["times"] == list(TIMES)
    assert card["stated"]["symmetric"] is False
    wording.found("one trusted centre", card["trust"], alone=True)
    report = result["release.html"].decode()
    wording.found("everybody common times", report, 8)
    assert "8 observations" in report


# -- the other doors


# Of every kind: a file, what is stated of it, and what is asked. One row of the file is somebody else
# in the neighbour, who has the same sites and groups: these are public.

STATED = {**BOUNDS, "value_name": "Height", "design": {"law": "even"}, "observations_per_curve": 8}
ROLES = {"id": "child", "time": "age", "value": "height"}
AT_MOST = {"covariates": [{"name": "weight", "low": 5, "high": 90}]}
COUNTED = {
    "columns": {"id": "id", "time": "time", "status": "end"},
    "events": ["death"],
    "facts": {"time_low": 0, "time_high": 100, "origin": "a protocol"},
}


def children(n, seed=3):
    """Curves with a site, a group and a covariate of each child, and another child at the same."""
    rng = np.random.default_rng(seed)
    each = [
        (f"c{k:03d}", "NS"[k % 2], ("girls", "boys", "boys")[k % 3], round(rng.uniform(10, 60), 1))
        for k in range(n)
    ]
    rows = [
        (*child, time, round(float(85 + 5 * time + rng.normal(0, 4)), 1))
        for child in each
        for time in rng.uniform(1, 18, 8).round(2)
    ]
    frame = pd.DataFrame(rows, columns=["child", "site", "sex", "weight", "age", "height"])
    other = frame[frame.child == "c007"].iloc[:1].assign(age=7.31, height=199.9, weight=88.8)
    rest = frame[frame.child != "c007"]
    return frame, pd.concat([rest[:400], other, rest[400:]])


def pupils(n, seed=4):
    """Children who were measured once, and another one."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"child": [f"c{k}" for k in range(n)], "age": rng.uniform(1, 18, n).round(2)}
    )
    frame["height"] = (85 + 5 * frame.age + rng.normal(0, 4, n)).round(1)
    other = frame.copy()
    other.loc[7, ["age", "height"]] = 7.31, 199.9
    return frame, other


def patients(n, seed=5):
    """Times with their ends in two groups, and another patient, whose time is not known."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "time": rng.uniform(0, 99, n).round(2),
            "end": rng.choice(["death", "left"], n),
            "arm": ["A", "B"] * (n // 2),
        }
    )
    other = frame.copy()
    other.loc[7, ["time", "end"]] = np.nan, "death" if frame.end[7] == "left" else "left"
    return frame, other


CURVES, SINGLE, EVENTS = (partial(children, 200), partial(pupils, 400), partial(patients, 200))
KINDS = {
    "percentile curves": (CURVES, {"columns": ROLES, "facts": STATED}, "percentile_curves", {}),
    "coefficients": (
        CURVES,
        {"columns": {**ROLES, "covariates": ["weight"]}, "facts": STATED | AT_MOST},
        "adaptive_coefficients",
        {},
    ),
    "coefficients by gradients": (
        CURVES,
        {"columns": {**ROLES, "covariates": ["weight"]}, "facts": STATED | AT_MOST},
        "noisy_gradient_coefficients",
        {"n_iterations": 3},
    ),
    "whole coefficients": (
        CURVES,
        {"columns": {**ROLES, "covariates": ["weight"]}, "facts": STATED | AT_MOST},
        "iclp",
        {"task": "varying_coefficients"},
    ),
    "FRL": (CURVES, {"columns": ROLES, "facts": STATED}, "frl", {}),
    "Gaussian process": (CURVES, {"columns": ROLES, "facts": STATED}, "gaussian_process", {}),
    "covariance": (CURVES, {"columns": ROLES, "facts": STATED}, "iclp", {"task": "covariance"}),
    "sites of one file": (
        CURVES,
        {"columns": {**ROLES, "server": "site"}, "facts": STATED},
        "adaptive_mean",
        {},
    ),
    "groups": (
        CURVES,
        {"columns": {**ROLES, "group": "sex"}, "groups": ["girls", "boys"], "facts": STATED},
        "adaptive_mean",
        {},
    ),
    "observations": (
        SINGLE,
        {
            "columns": ROLES,
            "facts": {
                name: value for name, value in STATED.items() if name != "observations_per_curve"
            }
            | {"reading_sd": 6},
        },
        "wavelet_global",
        {},
    ),
    "prediction": (
        SINGLE,
        {
            "features": [{"name": "age", "low": 1, "high": 18}],
            "columns": {"value": "height"},
            "facts": {name: BOUNDS[name] for name in ("value_low", "value_high", "origin")},
        },
        "iclp",
        {"task": "risk_minimisation"},
    ),
    "survival": (EVENTS, COUNTED, "noisy_counts", {}),
    "survival of groups": (
        EVENTS,
        COUNTED
        | {
            "columns": {**COUNTED["columns"], "group": "arm"},
            "groups": ["A", "B"],
            "group_sizes": [100, 100],
        },
        "noisy_counts",
        {},
    ),
    "ROC": (EVENTS, COUNTED, "noisy_counts", {"task": "roc"}),
    "distribution": (
        EVENTS,
        {"columns": {"id": "id", "time": "time"}, "facts": COUNTED["facts"]},
        "noisy_counts",
        {"task": "distribution"},
    ),
}


def of_command(frame, stated, key, chosen, folder):
    """Every file that the command writes, and all that it prints."""
    folder.mkdir()
    (folder / "file.csv").write_bytes(files.csv(frame))
    (folder / "request.json").write_text(
        json.dumps(
            request_with_reading(
                {
                    "version": 1,
                    "name": "growth",
                    "data": {"file": "file.csv", **stated},
                    "mechanism": {"key": key, "parameters": chosen},
                    "budgets": [
                        {
                            "epsilon": 20.0,
                            "delta": 0.0 if mechanisms.get(key).guarantee == "pure" else 1e-5,
                        }
                    ],
                },
                files.csv(frame),
            )
        )
    )
    out, printed = folder / "out", io.StringIO()
    with redirect_stdout(printed):
        assert (
            __main__.main(
                [
                    "release",
                    str(folder / "request.json"),
                    "--ledger",
                    str(folder / "ledger"),
                    "--total-epsilon",
                    "20",
                    "--out",
                    str(out),
                    "--yes",
                ]
            )
            == 0
        )
    written = {
        str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()
    }
    for name in [name for name in written if name.endswith("guarantee.json")]:
        written = without_label(written, json.loads(written[name]))
    return written | {"printed": printed.getvalue().replace(str(folder), "").encode()}


@pytest.mark.parametrize(
    "kind",
    all_but(
        [
            "coefficients by gradients",
            "whole coefficients",
            "covariance",
            "observations",
            "survival of groups",
            "distribution",
        ],
        KINDS,
    ),
)
def test_one_person_changes_nothing_that_the_command_writes_of_any_kind(kind, tmp_path):
    make, *asked = KINDS[kind]
    one, other = make()
    assert files.csv(one) != files.csv(other)
    assert_same(
        of_command(one, *asked, tmp_path / "one"), of_command(other, *asked, tmp_path / "other")
    )


SITES = {
    "curves": (site_runs.CURVES, "adaptive_mean", {}, "{who},9.123,199.9"),
    "events": (site_runs.EVENTS, "noisy_counts", {}, "7.31,left,{last}"),
    "records": (site_runs.RECORDS, "iclp", {"task": "density"}, "{who},99.9"),
}


@pytest.mark.parametrize("kind", all_but(["curves"], SITES))
def test_one_person_of_a_site_changes_nothing_that_several_sites_send_or_publish(kind, tmp_path):
    """Each keeps its own file; what travels between them is the same to the last byte as well."""
    reading, key, chosen, row = SITES[kind]
    stated = site_runs.study(reading=reading, key=key, parameters=chosen)
    north, south, east = site_runs.files_of(SiteStudy.of(stated))
    header, first, *rest = south.splitlines()
    who, *_, last = first.split(",")
    rest = [line for line in rest if not line.startswith(f"{who},")]
    changed = "\n".join([header, *rest[:20], row.format(who=who, last=last), *rest[20:]]) + "\n"
    parties, sign_offs = site_runs.agreed(stated, tmp_path)
    written = []
    for name, text in (("one", south), ("other", changed)):
        (tmp_path / name).mkdir()
        copies = [
            replace(party, store=SecretStore(Path(shutil.copy(party.store.path, tmp_path / name))))
            for party in parties
        ]
        sites = site_runs.seated(copies, sign_offs, tmp_path / name, [north, text, east])
        wire = site_runs.run(sites)
        heard = site_runs.run_of(sites, wire)
        release = centre.released(heard, heard.checked(site_runs.RING))
        written.append(release_files.all_files(release) | {str(turn): wire[turn] for turn in wire})
    assert_same(*written)


def command(frame, folder):
    (folder / "heights.csv").write_bytes(files.csv(frame))
    (folder / "request.json").write_text(
        json.dumps(
            request_with_reading(
                {
                    "version": 1,
                    "name": "growth",
                    "data": {
                        "file": "heights.csv",
                        "facts": {
                            **BOUNDS,
                            "value_name": "Height",
                            "design": {"law": "common", "times": TIMES},
                            "observations_per_curve": 8,
                        },
                    },
                    "mechanism": {"key": "adaptive_mean"},
                    "budgets": [{"epsilon": 2.0, "delta": 1e-5}],
                },
                files.csv(frame),
            )
        )
    )
    return folder / "request.json"


def test_one_person_changes_nothing_that_the_command_writes_or_says(tmp_path, capsys):
    written, said = [], []
    for name, frame in (
        ("a", long_file()),
        ("b", replaced(long_file(), "middle")),
        ("c", replaced(long_file(), "last")),
    ):
        (tmp_path / name).mkdir()
        file = command(frame, tmp_path / name)
        out = tmp_path / name / "out"
        assert (
            __main__.main(
                [
                    "release",
                    str(file),
                    "--ledger",
                    str(tmp_path / name / "ledger"),
                    "--out",
                    str(out),
                    "--yes",
                ]
            )
            == 0
        )
        content = {file.name: file.read_bytes() for file in out.iterdir()}
        written.append(without_label(content, json.loads(content["guarantee.json"])))
        said.append(capsys.readouterr().out.replace(str(out), "out"))
    assert_same(written[0], written[1])
    assert_same(written[0], written[2])
    assert said[0] == said[1] == said[2]


def test_a_unit_in_the_name_of_a_column_that_is_not_the_stated_one_is_refused(tmp_path, capsys):
    file = command(long_file().rename(columns={"height": "height_cm"}), tmp_path)
    file.write_text(file.read_text().replace('"value_name"', '"value_unit": "m", "value_name"'))
    assert __main__.main(["release", str(file), "--ledger", str(tmp_path / "ledger")]) == 2
    wording.found("as if cm", capsys.readouterr().err)


def test_the_command_works_out_the_cost_once(tmp_path, monkeypatch):
    reckoned = []

    def counted(data, *others, cost=certified.release_cost):
        reckoned.append(data)
        return cost(data, *others)

    monkeypatch.setattr(certified, "release_cost", counted)
    file = command(long_file().assign(height=lambda frame: frame.height + 0.25), tmp_path)
    file.write_text(file.read_text().replace("1e-05", "1.25e-05"))
    assert (
        __main__.main(
            [
                "release",
                str(file),
                "--ledger",
                str(tmp_path / "ledger"),
                "--out",
                str(tmp_path / "out"),
                "--yes",
            ]
        )
        == 0
    )
    assert len(reckoned) == 1


def test_one_person_alone_is_published_by_no_door(tmp_path):
    """Whatever the method: the rule stands where the cost is worked out."""
    sources = {"adaptive_mean": curves(long_file().iloc[:8], "even")}
    for method, source in sources.items():
        assert source.sizes.n_curves == 1
        mechanism = mechanisms.build(method, {})
        with pytest.raises(InputError, match="alone"):
            published.publish(
                source, mechanism, mechanism.suited(BUDGET), Ledger(tmp_path / "ledger"), "one"
            )
    assert not (tmp_path / "ledger").exists()


def test_one_person_changes_no_quote_of_a_request_file(tmp_path):
    quotes = []
    for name, frame in (("a", long_file()), ("b", replaced(long_file(), "middle"))):
        (tmp_path / name).mkdir()
        file = command(frame, tmp_path / name)
        text = requested(file.read_text(), file.parent)
        quotes.append(published.release_cost(text.source, text.mechanism, text.budget))
    assert repr(quotes[0]) == repr(quotes[1])


def test_one_person_changes_nothing_that_the_page_publishes(tmp_path, monkeypatch):
    released = []
    for name, frame in (("a", long_file()), ("b", replaced(long_file(), "first"))):
        monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / name / "ledger"))
        at = visit("release", upload=curves(frame, "common"), show_upload=True)
        for box in at.checkbox:
            box.check()
        key = next(w.key for w in at.text_input if w.key.startswith("release_name"))
        at.text_input(key=key).set_value("growth").run()
        at.button(key="release_publish").click().run()
        assert not at.exception
        (one,) = at.session_state["released"]
        released.append(without_label(release_files.all_files(one), one.card))
    assert_same(*released)


def test_frozen_noise_is_the_same_only_for_the_same_kind_of_message():
    """The freeze itself can tell releases apart: a larger message has other numbers."""
    small, large = LatticeNoise("gaussian", 1.0, 3), LatticeNoise("gaussian", 1.0, 4)
    assert np.array_equal(small(np.zeros(3)), small(np.ones(3)))
    assert not np.array_equal(small(np.zeros(3)), large(np.zeros(4))[:3])
