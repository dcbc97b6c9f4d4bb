"""Sites: rules of the table, three ways to use the curves, shares, and what the centre sees."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.figures.theme import in_theme
from engine.mechanisms import mechanisms
from engine.privacy.failure import usual_delta
from engine.sources import sources
from engine.sources.sparse_curves import SparseCurves
from engine.topics.sites import answer as sites_topic
from engine.topics.sites import charts as sites_charts
from engine.topics.sites import words as site_words
from engine.topics.sites.answer import federation
from engine.topics.sites.site_table import PRESETS, SiteRow, budgets, checked, preset_of, rows_of
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("sites")

pytestmark = pytest.mark.usefixtures("few_data_sets")

WAVE = SparseCurves()
ADAPTIVE = mechanisms.get("adaptive_mean")()
GRADIENTS = mechanisms.get("noisy_gradient_mean")()
FEW = (SiteRow("A", 60, 8), SiteRow("B", 40, 5, 4.0), SiteRow("C", 30, 8, 2.0))


@cache
def found(rows, mechanism=ADAPTIVE, source=WAVE, seed=1):
    """One answer of several tests; no chart and no sentence changes it."""
    return federation(source, mechanism, rows, seed)


class Shelf(dict):
    """Keeps answers and counts how often one had to be computed."""

    computed = 0

    def answer(self, function, *arguments):
        if (key := (function, arguments)) not in self:
            self[key] = function(*arguments)
            self.computed += 1
        return self[key]


# -- simulated sites of unequal size ------------------------------------------------------------


def test_sites_can_differ_in_people_and_readings():
    source = SparseCurves(site_sizes="40, 25, 10", site_readings="10, 10, 6")
    data = source.draw(2, generator(1, 0, 0))
    assert data.sizes == source.sizes
    assert source.sizes.n_curves_per_server == (40, 25, 10)
    assert set(data.counts[data.server == 2].tolist()) == {6}
    assert (source.n_curves, source.n_servers, source.n_observations_per_curve) == (75, 3, 6)


def test_a_sites_curves_do_not_depend_on_the_size_of_the_others():
    small, large = (
        SparseCurves(site_sizes=f"40, {n}", site_readings="10, 6")
        .draw(1, generator(1, 0, 0))
        .of_servers([0])
        for n in (10, 300)
    )
    assert np.array_equal(small.values, large.values)
    assert np.array_equal(small.times, large.times)


@pytest.mark.parametrize("times", ["even", "common", "windows"])
def test_people_can_differ_in_how_often_they_are_observed(times):
    """As many have each number."""
    source = SparseCurves(
        n_curves=60, n_observations_per_curve=2, more_observations=4, n_servers=2, times=times
    )
    data = source.draw(3, generator(1, 0, 0))
    assert data.sizes == source.sizes and source.sizes.n_observations == data.times.shape[1]
    assert np.bincount(data.counts[data.server == 1]).tolist() == [0, 0, 6, 6, 6, 6, 6]
    assert len(np.unique(data.times[0])) > 5 and (np.diff(np.sort(data.times, axis=1)) >= 0).all()
    if times == "common":
        assert len(np.unique(data.times)) == 6


def test_visits_are_as_many_for_everybody():
    with pytest.raises(InputError, match="as many for everybody"):
        SparseCurves(times="visits", n_observations_per_curve=3, more_observations=1)


def test_the_lists_are_dropped_when_a_source_is_resized():
    source = SparseCurves(site_sizes="40, 25", site_readings="10, 6").resized(30, 5, 4)
    assert (source.site_sizes, source.site_readings) == (None, None)
    assert source == SparseCurves(n_curves=120, n_servers=4, n_observations_per_curve=5)


@pytest.mark.parametrize(
    "chosen",
    [
        {"site_sizes": "3, x"},
        {"site_sizes": "0, 4"},
        {"site_sizes": "-3, 4"},
        {"site_sizes": "3, 4", "n_curves": 8},
        {"site_sizes": "3, 4", "n_servers": 3},
        {"site_readings": "3, 4"},
        {"site_sizes": "3, 4", "site_readings": "5"},
        {"site_sizes": "3, 4", "site_readings": "5, 6", "n_observations_per_curve": 6},
        {"site_sizes": "1," * 2000},
    ],
)
def test_lists_that_do_not_fit_are_refused(chosen):
    with pytest.raises(InputError, match="site_"):
        SparseCurves(**chosen)


def test_only_simulated_sites_can_be_chosen():
    result = next(cls for cls in sources.all() if not cls.has_free_sites)
    with pytest.raises(InputError, match="cannot be changed"):
        result().with_sites([3], [4])


# -- rules of the table -------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_preset_is_a_table_that_can_be_simulated(preset):
    assert checked(preset.rows) == preset.rows
    assert PRESETS[preset_of(preset.rows)] == preset


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ((), "1 to 50 sites"),
        ((SiteRow("A", 10, 5),) * 51, "1 to 50 sites"),
        ((SiteRow("A", 0, 5),), "people must lie between"),
        ((SiteRow("A", 20_001, 5),), "people must lie between"),
        ((SiteRow("A", 10, 0),), "observations each must lie between"),
        ((SiteRow("A", 10, 5, 0.01),), "ε must lie between"),
        ((SiteRow("A", 10, 5, math.nan),), "ε must lie between"),
        ((SiteRow("A", 10, 5, 1.0, 0.2),), "δ must be 0, or lie below"),
        ((SiteRow("A", 10, 5), SiteRow("a", 10, 5)), "same name"),
        ((SiteRow("A", 10, 5, included=False),), "No site takes part"),
        ((SiteRow("A", 20_000, 1000),), "observations together"),
        ((SiteRow("", 10, 5),), "name starts with"),
        ((SiteRow("A_B*C", 10, 5),), "name starts with"),
        ((SiteRow("x" * 21, 10, 5),), "name starts with"),
        ((SiteRow("<b>", 10, 5),), "name starts with"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_limit(rows, problem):
    with pytest.raises(InputError, match=problem):
        checked(rows)


def test_the_usual_delta_is_one_over_n_squared_of_all_who_take_part():
    rows = (
        SiteRow("A", 250, 10),
        SiteRow("B", 50, 10, 2.0, 1e-6),
        SiteRow("C", 200, 10, included=False),
    )
    assert budgets(rows)[:2] == (Budget(1.0, 1 / 300**2), Budget(2.0, 1e-6))
    assert budgets(rows, is_pure=True)[0] == Budget(1.0, 0.0)


def test_sites_that_come_with_the_curves_get_fit_names():
    source = SparseCurves(n_curves=7, n_servers=2)
    assert [row.name for row in rows_of(source)] == ["Site 1", "Site 2"]
    assert [row.name for row in rows_of(source, ["St. Mary_1", "$x$"])] == ["St. Mary 1", "x"]
    assert [row.name for row in rows_of(source, ["UKE, Haus 2", "www.x"])] == [
        "UKE, Haus 2",
        "www x",
    ]
    assert [row.name for row in rows_of(source, ["A", "a"])] == ["A", "a 2"]
    assert [row.name for row in rows_of(source, ["??", "b"])] == ["Site 1", "Site 2"]
    assert [row.n_curves for row in rows_of(source)] == [4, 3]


# -- three ways to use the curves ---------------------------------------------------------------


def test_pooled_keeps_the_strictest_promise_of_all():
    result = found(FEW)
    assert result.pooled.budgets == (Budget(1.0, usual_delta(130)),)
    assert result.together.budgets == budgets(FEW)


@pytest.mark.slow
def test_the_best_site_has_the_largest_number_of_curves_times_mu():
    rows = PRESETS["mixed"].rows
    assert found(rows).members[found(rows).best].row.name == "North"
    assert found((*rows[:1], replace(rows[1], n_curves=200, epsilon=10.0), rows[2])).best == 1


def test_a_site_that_leaves_does_not_change_the_others_curves_on_screen():
    rows, without = PRESETS["equal"].rows, PRESETS["leaves"].rows
    alone = (0,), (Budget(1.0, 1e-6),)
    desks = [
        sites_topic._Desk.of(WAVE, GRADIENTS, table, 1, sites_topic._here)
        for table in (rows, without)
    ]
    before, after = (desk.possible(sites_topic._Case(*alone)) for desk in desks)
    assert np.array_equal(before.releases, after.releases)
    left = found(without, GRADIENTS)
    assert [member.row.name for member in left.members] == ["North", "East", "South"]


@pytest.mark.slow
def test_sites_that_are_alike_are_equally_good_alone():
    assert len({member.alone for member in found(PRESETS["equal"].rows).members}) == 1


@pytest.mark.parametrize("mechanism", few([ADAPTIVE, GRADIENTS]), ids=lambda m: m.key)
def test_shares_of_the_error_sum_to_one_and_so_do_weights(mechanism):
    result = found(FEW, mechanism)
    assert sum(member.share for member in result.members) == pytest.approx(1)
    assert sum(member.weight for member in result.members) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("mechanism", few([GRADIENTS, ADAPTIVE]), ids=lambda m: m.key)
def test_permuting_sites_permutes_their_shares_and_changes_the_error_only_by_chance(mechanism):
    rows = PRESETS["mixed"].rows
    order = (2, 0, 1)
    one, other = found(rows, mechanism), found(tuple(rows[k] for k in order), mechanism)
    for at, k in enumerate(order):
        assert other.members[at].weight == pytest.approx(one.members[k].weight, rel=0.1, abs=0.01)
        assert other.members[at].share == pytest.approx(one.members[k].share, rel=0.2, abs=0.02)
    noise = math.hypot(one.together.standard_error, other.together.standard_error)
    assert abs(one.together.error - other.together.error) < 4 * noise


def test_weights_by_inverse_variance_beat_the_published_rate_weights():
    rows = PRESETS["mixed"].rows
    ours = found(rows, GRADIENTS).together.error
    assert ours < 0.7 * found(rows, replace(GRADIENTS, weights="rate")).together.error


def test_every_site_gets_the_budget_it_asked_for_and_no_more_is_spent():
    for member, budget in zip(found(FEW).members, budgets(FEW), strict=True):
        assert member.guarantee == budget
        assert member.odds.right > 0.5


def test_too_few_people_publish_nothing_and_have_no_shares():
    result = found((SiteRow("A", 5, 4, 0.1), SiteRow("B", 5, 4, 0.1)))
    assert result.together.is_refused and math.isnan(result.together.error)
    assert math.isnan(result.members[0].weight) and math.isnan(result.members[0].alone)
    assert result.members[0].guarantee.epsilon < 1e-9


@pytest.mark.slow
def test_twenty_small_sites_reach_together_what_none_reaches_alone():
    result = found(PRESETS["small"].rows)
    assert result.together.error < 0.2
    assert math.isnan(result.alone.error) or result.alone.error > 2 * result.together.error
    assert result.alone.feasibility.verdict in ("not feasible", "coarse")


@pytest.mark.slow
def test_real_curves_are_measured_against_their_average_without_protection():
    cls = next(c for c in sources.all() if not c.is_random and "mean_function" in c.tasks)
    source = cls(n_servers=3)
    result = found(tuple(rows_of(source)), ADAPTIVE, source)
    assert (result.baseline, result.truth) == (None, None)
    target = result.ordinary
    distance = np.sqrt(((result.together.releases - target) ** 2).mean(axis=1))
    assert result.together.errors[0, : len(distance)] == pytest.approx(distance)


# -- what is kept -------------------------------------------------------------------------------


def test_only_what_depends_on_a_changed_budget_is_computed_again():
    results = Shelf()
    first = federation(WAVE, GRADIENTS, FEW, 1, results.answer)
    before = results.computed
    changed = (replace(FEW[0], epsilon=1.2), *FEW[1:])
    again = federation(
        WAVE, GRADIENTS, (FEW[0], replace(FEW[1], epsilon=3.0), FEW[2]), 1, results.answer
    )
    assert again.members[0].alone == first.members[0].alone
    assert results.computed - before <= 4  # together twice, that site alone, the best site alone
    kept = federation(WAVE, GRADIENTS, changed, 1, results.answer)
    assert kept.together.error == found(changed, GRADIENTS).together.error


def test_the_error_without_privacy_can_come_later_and_changes_nothing_else():
    partial, whole = sites_topic.without_baseline(WAVE, GRADIENTS, FEW, 1), found(FEW, GRADIENTS)
    assert partial.baseline is None and partial.together.error == whole.together.error
    assert sites_topic.baseline(WAVE, GRADIENTS, FEW, 1) == whole.baseline
    assert "ithout privacy" not in site_words.compared(partial)
    assert "Without privacy" in site_words.compared(whole)
    assert "non-private mean" not in site_words.compared(partial)  # that is said of real curves


# -- what if, and the transcript ----------------------------------------------------------------


def test_leaving_and_tightening_are_what_the_table_itself_would_give():
    cases = list(sites_topic.what_if(WAVE, GRADIENTS, FEW, 1))
    assert [case.name for case in cases] == ["A", "B", "C"]
    gone = found((FEW[0], replace(FEW[1], included=False), FEW[2]), GRADIENTS)
    assert cases[1].leaves == gone.together.error
    half = (FEW[0], replace(FEW[1], epsilon=2.0), FEW[2])
    assert cases[1].tightens == found(half, GRADIENTS).together.error
    assert {case.now for case in cases} == {found(FEW, GRADIENTS).together.error}


def test_the_last_site_cannot_leave():
    (case,) = sites_topic.what_if(WAVE, GRADIENTS, FEW[:1], 1)
    assert math.isnan(case.leaves)


def test_the_centre_sees_six_messages_of_each_site_with_the_adaptive_mean():
    messages = sites_topic.transcript_of(WAVE, ADAPTIVE, FEW, 1)
    assert len(messages) == 6 * 3
    assert {message.site for message in messages} == {"A", "B", "C"}
    assert all((message.noise > 0).all() for message in messages)


def test_the_centre_sees_one_message_of_each_site_and_round_with_noisy_gradients():
    table = (*FEW, SiteRow("D", 50, 5, included=False))
    messages = sites_topic.transcript_of(WAVE, GRADIENTS, table, 1)
    assert len(messages) == GRADIENTS.n_iterations * 3
    assert {message.numbers for message in messages} == {len(messages[0].values)}


# -- words and pictures -------------------------------------------------------------------------


def test_sentences_hold_the_numbers_that_were_found():
    result = found(FEW)
    text = site_words.compared(result)
    for arrangement in (result.together, result.pooled):
        assert f"{arrangement.error:.3f}"[:4] in text
    wording.found("everybody", text, 1)
    wording.found("budgets from to", site_words.budgets(FEW), 1, 4, alone=True)
    assert site_words.budgets(FEW[:1]) == "ε = 1"


def test_the_attacker_of_a_federation_may_sit_at_the_centre_and_a_trusted_centre_is_named():
    result = found(FEW)
    wording.found("sits another site", site_words.odds(result, "sites"))
    wording.found("centre sees curves", site_words.odds(result, "centre"))
    assert "trusts only itself" in site_words.trust("sites", result.facts)


def test_privacy_never_helps():
    result = found(FEW)
    for way in (result.together, result.pooled, result.alone):
        assert way.error > result.baseline - 3 * way.standard_error


def test_one_site_with_most_of_the_error_and_the_weight_is_named_once():
    result = found(FEW)
    first, *others = (replace(m, noise=0.1, sampling=0.1, weight=0.2) for m in result.members)
    most = replace(first, noise=0.3, sampling=0.3, weight=0.5)
    text = site_words.largest_share(replace(result, members=(most, *others)))
    wording.found("adds most largest", text, most.row.name, 60)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (1.32, 1.35, "error **1.32 → 1.35 cm** (+2 %)"),
        (1.0, 1.001, "no change"),
        (math.nan, 1.0, "a curve can be published"),
        (1.0, math.nan, "**nothing can be published**"),
        (math.nan, math.nan, "still nothing"),
        (2.0, 1.0, "(−50 %)"),
    ],
)
def test_a_change_is_said_with_both_numbers(before, after, text):
    assert text in site_words.change(before, after, "cm", "Since your change")


@pytest.mark.parametrize("theme", few(["light", "dark"]))  # themes differ in colours alone
@pytest.mark.parametrize("rows", [FEW, (SiteRow("A", 5, 4, 0.1), SiteRow("B", 300, 4))])
def test_every_picture_is_valid_with_a_sentence_and_a_table(rows, theme):
    result = found(rows)
    charts = [chart for _, chart in sites_charts.panels(result, "adaptive_mean", "gradient")]
    charts.append(sites_charts.shares(result, "gradient"))
    charts.append(sites_charts.what_if(list(sites_topic.what_if(WAVE, ADAPTIVE, rows, 1)), "cm"))
    for chart in charts:
        go.Figure(in_theme(chart.spec, theme))
        assert chart.alt.endswith(".")
        assert len({len(column) for column in chart.table.values()}) == 1


def test_the_three_panels_have_the_same_axes_and_as_many_releases():
    panels = sites_charts.panels(found(FEW), "adaptive_mean", "gradient")
    assert len({str(chart.spec["layout"]["yaxis"]["range"]) for _, chart in panels}) == 1
    assert all(chart.spec["data"][0]["x"].count(None) == 20 for _, chart in panels)


class Given(SparseCurves):
    """Simulated curves that come with their sites."""

    has_free_sites = False


def test_random_curves_that_come_with_their_sites_are_drawn_afresh_as_well():
    source = Given(n_curves=120, n_servers=3)
    result = found(tuple(rows_of(source)), GRADIENTS, source)
    assert result.baseline is not None and len(result.members) == 3
    with pytest.raises(InputError, match="does not fit"):
        found(FEW[:2], GRADIENTS, source)
