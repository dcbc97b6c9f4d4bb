"""The page on wavelet regression: it draws, reacts, refuses kindly and links; its closed forms."""

import json
import math

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Public
from engine.mechanisms.families.wavelets.risk import RiskParts
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.rates.wavelet_regression import WaveletRate
from engine.sources.regression_points import RegressionPoints
from engine.topics.regression import answer as regression_topic
from engine.topics.regression import words as regression_words
from engine.topics.regression.answer import NETWORKS, Group, Network
from pages.shared.state import links, settings
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.sentences import of_topic

wording = of_topic("regression")

ALIKE = Network(NETWORKS["Sixteen sites alike"])
SMALL = Network((Group(4, 1000, 1.0),))


def test_it_opens_and_says_what_the_closed_form_gives():
    at = visit("regression")
    assert not at.error and at.session_state.settings.estimand == "regression"
    shown = regression_topic.regression_answer(RegressionPoints(), WaveletGlobal(), ALIKE, 1)
    assert shown.squared_error == pytest.approx(0.0050665, rel=1e-4)
    assert regression_words.accuracy(shown) in words(at)


def test_where_the_exact_error_disagrees_with_the_rates_both_are_said():
    private, free = (RiskParts(0.0, 0.0, 1 - share, share) for share in (0.8, 0.2))
    result = Network((Group(4, 1000, 0.01),))
    for network, disagrees, agrees in ((ALIKE, private, free), (result, free, private)):
        said = regression_words.limited(network, 2.0, disagrees)
        wording.found("squared error", said, f"{100 * disagrees.privacy:.0f}")
        assert regression_words.limited(network, 2.0, agrees) == regression_words.limited(
            network, 2.0
        )
    wording.found("privacy noise makes", words(visit("regression")), 78)


def test_a_curve_of_a_besov_class_takes_the_place_of_a_test_curve_and_back():
    at = visit("regression")
    at.selectbox(key="w_signal").set_value("besov").run()
    source = at.session_state.settings.source_of("wavelet_regression")
    assert not at.error and source.key == "besov_points" and source.radius == source.bound
    at.selectbox(key="w_signal").set_value("blocks").run()
    again = at.session_state.settings.source_of("wavelet_regression")
    assert not at.error and again == RegressionPoints(signal="blocks")


@pytest.mark.slow
def test_every_network_curve_and_method_draws():
    at = visit("regression")
    for key, options in (
        ("w_network", [*NETWORKS]),
        ("w_signal", ["blocks", "ramp", "cusp"]),
        ("w_wavelet_method", [*regression_topic.methods()]),
    ):
        for option in options:
            at.selectbox(key=key).set_value(option).run()
            assert not at.exception and len(at.error) <= 1, option
            assert not any("nan" in text for text in words(at).split()), option


@pytest.mark.slow
def test_the_curve_that_is_centred_first_is_offered_with_its_point_and_levels():
    """Where one message is planned to be better, everything is that of one message."""
    at = visit("regression")
    at.selectbox(key="w_wavelet_method").set_value("Wavelets, centred first").run()
    assert not at.exception and not at.error
    assert session_method(at).key == "wavelet_adaptive"
    plan = session_method(at).plan(ALIKE.source(RegressionPoints()).public, ALIKE.budgets)
    staged = "messages" in plan.tuning
    assert staged == (len({line.step.key for line in plan.spends}) == 3)
    one = WaveletGlobal(level=3)
    assert regression_topic.risk_by_level(RegressionPoints(), session_method(at), ALIKE).parts == (
        regression_topic.risk_by_level(RegressionPoints(), one, ALIKE).parts
    )


def session_method(at):
    return at.session_state.settings.mechanism_of("wavelet_regression")


def test_changing_one_epsilon_changes_the_error_and_the_name_of_the_network():
    at = visit("regression")
    before = words(at)
    at.text_input(key="w_group_0_epsilon").set_value("0.3").run()
    assert not at.exception and words(at) != before
    assert at.session_state.settings.network.groups == (Group(16, 4000, 0.3),)
    assert at.selectbox(key="w_network").value == "Your own network"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("w_group_0_epsilon", 50.0, "must lie between"),
        ("w_group_0_sites", 0, "at least one site"),
        ("w_group_0_readings", 10**8, "There may be at most"),
    ],
)
def test_a_number_that_cannot_be_is_refused_beside_its_field_and_nothing_is_lost(
    key, value, problem
):
    at = visit("regression")
    at.text_input(key=key).set_value(str(value)).run()
    assert any(problem in error.value for error in at.error)
    assert at.session_state.settings.network == ALIKE


@pytest.mark.slow
def test_kinds_of_sites_can_be_added_and_removed():
    at = visit("regression")
    at.button(key="add_kind").click().run()
    assert len(at.session_state.settings.network.groups) == 2 and not at.exception
    at.button(key="remove_kind").click().run()
    assert at.session_state.settings.network == ALIKE


def test_budgets_that_allow_no_estimate_are_said_and_everything_else_stays():
    at = visit("regression", "network-10x50x0.1")
    assert len(at.error) == 1 and "allow no estimate" in at.error[0].value
    assert at.text_input(key="w_group_0_epsilon")


def test_a_link_restores_network_point_level_and_curve():
    token = (
        "w-regression_points~w.signal-doppler~v-wavelet_global~v.level-6~point-0.2~"
        "network-1x40000x2_24x1000x0.1"
    )
    chosen, problems = links.decode(token)
    assert not problems
    assert chosen.network == Network(NETWORKS["One large site and many small"])
    assert chosen.evaluation_point == 0.2 and chosen.mechanism_of("wavelet_regression").level == 6
    assert links.decode(links.encode(chosen)) == (chosen, [])
    at = visit("regression", token)
    assert not at.error
    wording.found("released value", words(at), 0.2)
    assert links.decode("network-3x5~point-7")[1] == ["network", "point"]


def test_a_link_to_the_method_for_single_points_is_said_to_be_in_vain():
    at = visit("regression", "v-wavelet_pointwise~v.points-0.2~point-0.2")
    warned = " ".join(warning.value for warning in at.warning)
    wording.found("link asked something", warned)
    assert "wavelet\\_pointwise" in warned
    usual = settings.Settings().mechanism_of("wavelet_regression")
    assert at.session_state.settings.mechanism_of("wavelet_regression") == usual == WaveletGlobal()
    assert at.selectbox(key="w_wavelet_method").value == WaveletGlobal.label and not at.error


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        ("m-wavelet_global", "wavelet_global"),
        ("v-noisy_gradient_mean", "noisy_gradient_mean"),
        ("w-sparse_curves", "sparse_curves"),
        ("c-regression_points", "regression_points"),
        ("v-upload", "upload"),
    ],
)
def test_a_link_cannot_put_a_method_or_curves_on_a_page_they_are_not_for(token, problem):
    assert links.decode(token) == (settings.Settings(), [problem])


def test_a_link_with_more_kinds_of_sites_than_the_page_asks_for_is_in_vain():
    kinds = "_".join(["1x1000x1"] * 13)
    assert links.decode(f"network-{kinds}") == (settings.Settings(), ["network"])


def test_one_point_is_not_shown_where_times_are_stated_not_to_be_even():
    at = visit("regression", "v-wavelet_global~v.density-0.5, 1.5~v.design-weighted")
    assert not at.error and regression_words.ONLY_EVEN in words(at)
    assert "w_point" not in {slider.key for slider in at.select_slider}


@pytest.mark.slow
def test_the_point_uses_the_ends_of_the_range_that_the_whole_curve_uses():
    at = visit("regression", "v-wavelet_global~v.edges-corrected~point-0.02")
    method = WaveletGlobal(edges="corrected")
    plan = method.plan(
        Public(ALIKE.source(RegressionPoints()).sizes, RegressionPoints().facts), ALIKE.budgets
    )
    found = regression_topic.point_answer(
        RegressionPoints(), WaveletPointwise(edges="corrected"), plan, ALIKE, 0.02, 1
    )
    assert regression_words.point(found) in words(at)


def test_budget_controls_that_this_page_does_not_use_are_not_there():
    at = visit("regression", "open-regression_more")
    keys = {field.key for field in at.text_input}
    assert "w_seed" in keys and not keys & {"w_epsilon", "w_delta"}


def test_the_folds_hold_messages_the_worst_pair_numbers_ledger_and_a_command():
    details = {
        key: visit("regression", f"open-{key}")
        for key in (
            "regression_messages",
            "regression_worst",
            "regression_ledger",
            "regression_code",
        )
    }
    assert not any(at.error for at in details.values())
    assert "noisy numbers, once" in words(details["regression_messages"])
    assert details["regression_ledger"].dataframe
    code = details["regression_code"].code[1].value
    plain = json.loads(code[code.index("{") : code.rindex("}") + 1])
    assert plain["mechanism"]["key"] == "wavelet_global"


def test_the_table_of_sites_gives_shares_and_says_what_limits_each_kind():
    at = visit("regression", "network-1x40000x2_24x1000x0.1~open-regression_messages")
    rows = next(frame.value for frame in at.dataframe if "Weight of each" in frame.value)
    assert list(rows["Weight of each"]) == ["100 %", "0.0045 %"]
    assert list(rows["Bottleneck"]) == ["observations", "privacy"]
    wording.found("privacy bottleneck sites", words(at), 24, 25)
    assert "regime 9" in words(at)


@pytest.mark.slow
def test_slopes_of_the_theory_stand_beside_exact_ones():
    at = visit("regression", "open-regression_slopes")
    assert not at.exception and not at.error
    table = next(frame.value for frame in at.dataframe if "slope in theory" in frame.value)
    assert list(table["over"][:3]) == ["2^10 to 2^24", "2^16 to 2^32", "2^-11 to 2^-2"]
    assert list(table["slope in theory"][:2]) == ["-0.667", "-0.500"]
    assert list(table["slope of exact errors"][[0, 2, 8]]) == ["-0.657", "-0.887", "+0.426"]


@pytest.mark.slow
def test_times_that_are_not_even_are_measured_where_no_formula_is_known():
    at = visit("regression", "v-wavelet_global~v.design-released~network-8x2000x2")
    assert not at.error and "simulated" in words(at)


# -- closed forms -----------------------------------------------------------------------------


def test_the_rule_picks_its_level_without_the_curve_and_the_parts_add_up():
    result = regression_topic.risk_by_level(RegressionPoints(), WaveletGlobal(), ALIKE)
    other = regression_topic.risk_by_level(
        RegressionPoints(signal="blocks"), WaveletGlobal(), ALIKE
    )
    assert result.chosen == other.chosen == 5
    at = result.levels.index(5)
    shown = regression_topic.regression_answer(RegressionPoints(), WaveletGlobal(), ALIKE, 1)
    assert result.parts[at].total == pytest.approx(shown.squared_error)
    assert sum(regression_words.shares(result.parts[at])) == pytest.approx(1)


def test_noise_on_the_grid_is_what_releases_scatter_by():
    """400 releases of the same readings: at each of 513 positions within five standard errors."""
    source, method = SMALL.source(RegressionPoints()), WaveletGlobal()
    shown = regression_topic.regression_answer(RegressionPoints(), method, SMALL, 1)
    data = source.draw(1, generator(1, 0, 0))
    many = method.release_many(data, [SMALL.budgets], 400, generator(2, 1, 0))
    spread = (many.coefficients[0, 0] @ many.basis(shown.times).T).std(axis=0)
    assert np.abs(spread / shown.noise_sd - 1).max() < 5 / np.sqrt(2 * 400) + 0.02


def test_one_point_agrees_with_its_own_mechanism_and_is_quieter_than_the_whole_curve():
    whole = WaveletGlobal().plan(
        Public(ALIKE.source(RegressionPoints()).sizes, RegressionPoints().facts), ALIKE.budgets
    )
    found = regression_topic.point_answer(
        RegressionPoints(), WaveletPointwise(), whole, ALIKE, 0.37, 1
    )
    assert found.kind == "laplace" and found.low < found.released < found.high
    assert found.noise_sd < found.whole_sd
    assert found.printed > found.exact


@pytest.mark.slow
def test_intervals_cover_the_value_at_a_point():
    """60 seeds at one point of a smooth curve: 88 % or more, as 95 % less two errors is."""
    whole = WaveletGlobal().plan(
        Public(SMALL.source(RegressionPoints()).sizes, RegressionPoints().facts), SMALL.budgets
    )
    found = [
        regression_topic.point_answer(
            RegressionPoints(), WaveletPointwise(), whole, SMALL, 0.6, seed
        )
        for seed in range(60)
    ]
    assert np.mean([one.low <= one.truth <= one.high for one in found]) > 0.88


def test_privacy_begins_to_cost_a_point_earlier_and_the_cost_is_one_above():
    result = regression_topic.cost_of_privacy(ALIKE, 1.0, 0.75)
    assert result.elbows[0] < result.elbows[1]
    assert (result.whole[result.epsilons > result.elbows[0] * 1.01] == 1).all()
    assert result.elbows[0] == pytest.approx(4000**-0.5 * 64_000 ** (1 / 6))


def test_the_planned_cost_falls_to_one_and_is_that_of_single_plans():
    method, facts = WaveletGlobal(), RegressionPoints().facts
    epsilons, times = regression_topic.planned_cost(method, facts, ALIKE)
    assert (np.diff(times) <= 0).all() and times[-1] >= 1
    sizes = ALIKE.source(RegressionPoints()).sizes
    at_one, free = (
        method.plan(Public(sizes, facts), (Budget(epsilon, ALIKE.delta),) * 16).criterion
        for epsilon in (epsilons[15], math.inf)
    )
    assert epsilons[15] == pytest.approx(1) and times[15] == pytest.approx(math.sqrt(at_one / free))
    assert times[0] == pytest.approx(
        facts.value_half_width / math.sqrt(free)
    )  # nothing is released
    assert f"**{times[15]:.2g} times**" in regression_words.planned_cost((epsilons, times))


def test_taking_rising_times_for_even_costs_and_stating_them_mends_it():
    result = regression_topic.design_demo(RegressionPoints(), WaveletGlobal(), ALIKE)
    assert result.rising**2 == pytest.approx(0.082, abs=0.006)
    assert result.weighted < 2 * result.even < result.rising


def test_a_network_states_its_limits():
    for groups in ((), (Group(0, 10, 1.0),), (Group(1, 10, 99.0),), (Group(500, 10, 1.0),)):
        with pytest.raises(InputError):
            Network(groups)
    assert math.isclose(Network((Group(2, 10, 1.0),)).budgets[1].epsilon, 1.0)


@pytest.mark.parametrize(("signal", "interval"), [("smooth", True), ("bumps", False)])
def test_the_page_gives_an_interval_or_says_why_not(signal, interval):
    source = RegressionPoints(signal=signal)
    point = regression_topic.point_answer(
        source,
        WaveletPointwise(points="0.42"),
        WaveletGlobal().plan(Public(ALIKE.source(source).sizes, source.facts), ALIKE.budgets),
        ALIKE,
        0.42,
        1,
    )
    shown = regression_topic.regression_answer(source, WaveletGlobal(), ALIKE, 1)
    assert (shown.band is not None) == interval == (not shown.no_band)
    (wording.missing if interval else wording.found)("no band", regression_words.band(shown))
    result = regression_words.point(point)
    (wording.found if point.low is None else wording.missing)("no interval", result)
    (wording.missing if point.low is None else wording.found)("bias at most", result)


def test_both_ends_of_the_range_can_be_asked_for_on_the_page():
    for point in ("0", "1"):
        at = visit("regression", f"point-{point}")
        assert not at.exception and not at.error
        assert f"At {point} the released value" in words(at)


def test_the_rates_name_the_budget_below_which_no_estimate_is_better_than_none():
    """1/(n√m): 4000 observations on each of 16 sites; the rate for the curve is one there."""
    costs = regression_topic.cost_of_privacy(ALIKE, 1.0)
    assert costs.smallest_epsilon == pytest.approx(1 / (4000 * math.sqrt(16)))
    assert WaveletRate(smoothness=1.0).evaluate(n=4000, S=16, epsilon=costs.smallest_epsilon)[
        1
    ] == (pytest.approx(1))
    assert regression_words.number(costs.smallest_epsilon, 2) in regression_words.elbows(costs)
