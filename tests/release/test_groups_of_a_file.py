"""A column of public groups: read, released one by one, and compared from the cards."""

import json
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from engine import __main__
from engine.answers.card import is_doubtful
from engine.core.errors import InputError
from engine.core.types import PublicGroup
from engine.release import request
from engine.release.plan import ReleasePlan
from engine.sources.grouped_curves import GroupedCurves
from engine.sources.growth_curves import GrowthCurves
from tests.alarms import without_alarm
from tests.files import requested
from tests.readings import curves_in, request_with_reading
from tests.sentences import of_topic

wording = of_topic("release")

LONG = (
    b"child,age,height,sex\na,2,86,girl\na,6,115,girl\nb,2,84,boy\nb,6,112,boy\n"
    b"c,2,88,girl\nd,6,120,\n"
)
WIDE = b"child,sex,2,6,10\na,girl,86,115,138\nb,boy,84,112,135\nc,girl,88,118,142\n"
COLUMNS = {"id": "child", "group": "sex"}


def read(content, **roles):
    return curves_in(content, {**COLUMNS, **roles}, groups=["girl", "boy"])


@pytest.mark.parametrize("content,roles", [(LONG, {"time": "age", "value": "height"}), (WIDE, {})])
def test_the_curves_of_a_group_are_those_of_its_people(content, roles):
    curves = read(content, **roles)
    girls = curves.of_group("girl")
    assert sorted(girls.ids) == ["a", "c"] and girls.n_people == girls.n_curves == 2
    assert curves.of_group("boy").ids == ("b",)
    assert set(girls.values[girls.times == 2]) == {86, 88}
    assert len(girls.values) == girls.counts.sum()


def test_whoever_has_no_group_is_in_none():
    curves = read(LONG, time="age", value="height")
    assert curves.group_names == ("girl", "boy", "")
    assert sum(curves.of_group(name).n_curves for name in ("boy", "girl")) == curves.n_curves - 1
    with pytest.raises(InputError, match="Nobody is in the group"):
        curves.of_group("men")


@pytest.mark.parametrize(
    "content,roles",
    [
        (LONG.replace(b"115,girl", b"115,boy"), {"time": "age", "value": "height"}),
        (WIDE.replace(b"c,girl", b"b,girl"), {}),
    ],
)
def test_a_person_in_two_groups_is_refused_with_counts_only(content, roles):
    with pytest.raises(InputError, match=r"1 of \d people are in several groups") as refused:
        read(content, **roles)
    assert "girl" not in str(refused.value)


def test_a_group_keeps_the_sites_it_has():
    content = b"child,sex,site,2,6,10\na,girl,N,86,115,138\nb,boy,S,84,112,135\nc,girl,S,88,1,2\n"
    curves = read(content, server="site")
    assert curves.of_group("boy").server_names == ("S",)
    assert curves.of_group("boy").server.tolist() == [0]
    assert curves.of_group("girl").server_names == ("N", "S")


def reading(words):
    """How the file is read, with what the texts of its groups mean."""
    return {
        "frame": {
            "encoding": "utf-8",
            "separator": ",",
            "header": ["child", "age", "height", "sex"],
        },
        "person": {"column": "child"},
        "columns": {
            "time": {"name": "age"},
            "value": {"name": "height"},
            **(
                {"group": {"name": "sex", "kind": "word", "words": words, "other": "left out"}}
                if words
                else {}
            ),
        },
    }


def plain(words=MappingProxyType({"girls": "girls", "boys": "boys"}), **changes):
    data = {
        "file": "h.csv",
        "reading": reading(dict(words)),
        "facts": {
            "value_low": 60,
            "value_high": 210,
            "time_low": 2,
            "time_high": 18,
            "origin": "chart",
            "design": {"law": "even"},
            "symmetric": True,
            "observations_per_curve": 10,
            "value_unit": "cm",
            "time_unit": "years",
        },
    }
    return {
        "version": 1,
        "name": "heights",
        "data": {**data, **changes},
        "mechanism": {"key": "adaptive_mean", "parameters": {}},
        "budgets": [{"epsilon": 2.0, "delta": 1e-6}],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file with 150 girls and 150 boys."""
    rows = ["child,age,height,sex"]
    for sex in ("girls", "boys"):
        source = GrowthCurves(children=sex, n_curves=150, n_observations_per_curve=10)
        data = source.draw(1, np.random.default_rng(len(sex)))
        for k, (age, height) in enumerate(
            zip(source.facts.from_unit_time(data.times[0]), data.values[0], strict=True)
        ):
            rows.append(f"{sex}{k // 10},{age:.3f},{height:.1f},{sex}")
    place = tmp_path_factory.mktemp("groups")
    (place / "h.csv").write_text("\n".join(rows))
    (place / "r.json").write_text(json.dumps(plain()))
    return place


def test_a_request_asks_for_a_release_of_each_group_or_of_one(folder):
    both = request.from_json(json.dumps(plain()), folder)
    assert [each.name for each in both] == ["heights, girls", "heights, boys"]
    assert [each.source.facts.group for each in both] == [
        PublicGroup("heights", "girls", ("boys",)),
        PublicGroup("heights", "boys", ("girls",)),
    ]
    one = requested(json.dumps(plain(group="boys")), folder)
    assert one.source.facts == both[1].source.facts
    assert one.source.sizes.n_curves == 150


@pytest.mark.parametrize(
    "changes,message",
    [
        ({"words": {"girls": "girls"}}, "2 to 12"),
        ({"group": "men"}, "must be one of"),
        ({"words": {"girls": "girls", "men": "men"}}, "Nobody"),
        ({"groups": ["girls"]}, "looking"),
        ({"words": {}, "group": "girls"}, "needs a column"),
    ],
)
def test_groups_that_a_request_cannot_mean_are_refused(folder, changes, message):
    with pytest.raises(InputError, match=message):
        request.from_json(json.dumps(plain(**changes)), folder)


def test_a_group_stands_in_the_plan_and_plans_without_one_are_as_before(folder):
    first, _ = request.from_json(json.dumps(plain()), folder)
    plan = ReleasePlan.of(first.source, first.mechanism, first.budget, "x", "one curve", {})
    again = ReleasePlan.read(plan.to_bytes())
    assert again.stand_in.facts.group == first.source.facts.group
    whole = replace(first.source, declared=replace(first.source.declared, group=None))
    without = ReleasePlan.of(whole, first.mechanism, first.budget, "x", "one curve", {})
    assert "group" not in without.plain["data"]["facts"]


def released_in_groups(folder, out):
    """The cards of both groups, by their paths, released with a ledger of their own."""
    words = ["release", str(folder / "r.json"), "--ledger", str(out / "l.db")]
    words += ["--witness", str(out / "w"), "--out", str(out), "--yes"]
    assert __main__.main(words) == 0
    paths = [out / f"group-{k}" / "guarantee.json" for k in (1, 2)]
    return {str(path): json.loads(path.read_text()) for path in paths}


def test_groups_are_released_one_by_one_and_compared_from_their_cards(folder, capsys):
    def tried(k):
        capsys.readouterr()
        return released_in_groups(folder, folder / f"out-{k}")

    released = without_alarm(tried, lambda cards: any(map(is_doubtful, cards.values())))
    told = capsys.readouterr().out
    wording.found("girls boys differ", told)
    wording.found("budgets add", told)
    # Each group has its own total: neither release counts for the people of the other.
    spent = [line.split(",")[1] for line in told.splitlines() if line.startswith("Spent by one")]
    assert len(spent) == 2 and len({*spent}) == 1
    cards = [*released]
    assert __main__.main(["compare-cards", *cards]) == 0  # they state that they are disjoint
    assert capsys.readouterr().out.strip() in told
    assert __main__.main(["compare-cards", cards[0], cards[0]]) == 2  # the same people twice
    assert released[cards[0]]["answers"]["groups"] == {
        "set": "heights",
        "name": "girls",
        "membership": "public",
        "disjoint_from": ["boys"],
    }


@pytest.mark.parametrize(
    "source",
    [
        GrowthCurves(n_curves=301),
        GrowthCurves(n_servers=3, site_sizes="101, 50, 150", n_curves=301),
        GroupedCurves(n_curves=301),
        GroupedCurves(mean="growth", n_curves=301, n_servers=2),
    ],
)
def test_simulated_groups_share_out_the_people_and_their_means_average_to_that_of_all(source):
    first, second = (source.of_group(name) for name in source.group_names)
    assert first.n_curves + second.n_curves == source.n_curves
    assert first.sizes.n_servers == second.sizes.n_servers == source.n_servers
    assert abs(first.n_curves - second.n_curves) <= source.n_servers
    assert first.facts.group.is_apart_from(second.facts.group) and not first.group_names
    np.testing.assert_allclose(
        (first.truth.grid_values + second.truth.grid_values) / 2, source.truth.grid_values
    )
    with pytest.raises(InputError):
        source.of_group("men")


def test_simulated_groups_differ_as_their_truths_say():
    source = GroupedCurves(n_curves=4000, difference=1.0)
    groups = [source.of_group(name) for name in source.group_names]
    means = [float(np.mean(group.draw(1, np.random.default_rng(3)).values)) for group in groups]
    difference = float(np.mean(groups[1].truth.grid_values - groups[0].truth.grid_values))
    assert means[1] - means[0] == pytest.approx(difference, abs=0.02)
    pooled = float(np.mean(source.draw(1, np.random.default_rng(3)).values))
    assert pooled == pytest.approx(sum(means) / 2, abs=0.05)


def test_two_groupings_of_one_file_are_refused_the_second_time_with_the_count(tmp_path, capsys):
    """Everybody is in a region and in an age group: at ε = 3 of 3 nobody has enough left for both."""
    rng = np.random.default_rng(1)
    rows = [
        f"p{k},{time},{50 + rng.normal(0, 10):.2f},{'ABC'[k % 3]},{'XYZ'[k // 3 % 3]}\n"
        for k in range(90)
        for time in (0.1, 0.4, 0.7, 0.9)
    ]
    content = "".join(["id,t,v,region,age\n", *rows]).encode()
    (tmp_path / "file.csv").write_bytes(content)
    codes = []
    for name, column, names in (
        ("region", "region", ["A", "B", "C"]),
        ("age", "age", ["X", "Y", "Z"]),
    ):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(
                request_with_reading(
                    {
                        "version": 1,
                        "name": name,
                        "data": {
                            "file": "file.csv",
                            "columns": {"id": "id", "time": "t", "value": "v", "group": column},
                            "groups": names,
                            "facts": {
                                "value_low": 0,
                                "value_high": 100,
                                "time_low": 0,
                                "time_high": 1,
                                "origin": "a manual",
                                "design": {"law": "even"},
                                "observations_per_curve": 4,
                            },
                        },
                        "mechanism": {"key": "adaptive_mean"},
                        "budgets": [{"epsilon": 3.0, "delta": 1e-4}],
                    },
                    content,
                )
            )
        )
        codes.append(
            __main__.main(
                [
                    "release",
                    str(tmp_path / f"{name}.json"),
                    "--yes",
                    "--ledger",
                    str(tmp_path / "ledger"),
                    "--out",
                    str(tmp_path / name),
                ]
            )
        )
    assert codes == [0, 2]
    wording.found("people less left", capsys.readouterr().err, 30, 30)
    assert (
        __main__.main(
            ["ledger", "show", str(tmp_path / "age.json"), "--ledger", str(tmp_path / "ledger")]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert shown.count("Left for the person with least: ε = ") == 3
    assert shown.count("“region, A”, “region, B”, “region, C”") == 3 and "p1," not in shown


def test_groups_whose_curves_cannot_be_compared_are_published_all_the_same(tmp_path, capsys):
    content = "".join(
        [
            "id,t,v,arm\n",
            *(
                f"p{k},{time},{50 + k % 7},{'AB'[k % 2]}\n"
                for k in range(204)
                for time in (0.1, 0.4, 0.7, 0.9)
            ),
        ]
    ).encode()
    (tmp_path / "file.csv").write_bytes(content)
    (tmp_path / "arms.json").write_text(
        json.dumps(
            request_with_reading(
                {
                    "version": 1,
                    "name": "arms",
                    "data": {
                        "file": "file.csv",
                        "columns": {"id": "id", "time": "t", "value": "v", "group": "arm"},
                        "groups": ["A", "B"],
                        "facts": {
                            "value_low": 0,
                            "value_high": 100,
                            "time_low": 0,
                            "time_high": 1,
                            "origin": "a manual",
                            "design": {"law": "even"},
                            "observations_per_curve": 4,
                        },
                    },
                    "mechanism": {"key": "adaptive_mean"},
                    "budgets": [{"epsilon": 0.5, "delta": 1e-6}],
                },
                content,
            )
        )
    )
    assert (
        __main__.main(
            [
                "release",
                str(tmp_path / "arms.json"),
                "--yes",
                "--ledger",
                str(tmp_path / "ledger"),
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    assert "cannot be compared" in capsys.readouterr().out
    assert all((tmp_path / "out" / f"group-{k}" / "guarantee.json").exists() for k in (1, 2))
