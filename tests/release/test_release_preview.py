"""The preview of a release: from stated facts alone, with the noise and band of the real one."""

import itertools
import typing
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.signal import find_peaks

from engine.core.errors import InputError
from engine.core.types import Budget, Covariate, Design, PublicFacts, Sizes, TimeLaw
from engine.language import numbers
from engine.mechanisms import mechanisms
from engine.mechanisms.families.adaptive import check_words
from engine.privacy.feasibility import Feasibility
from engine.sources.twin import Twin
from engine.topics.planning.answer import PlannedStudy, measure
from engine.topics.release import charts, words
from engine.topics.release.preview import PEAKS, maxima, peaks_shown, release_preview
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("release")

FACTS = PublicFacts(
    kind="upload",
    person="child",
    people="children",
    value_name="Height",
    value_unit="cm",
    value_low=60.0,
    value_high=210.0,
    time_low=2,
    time_high=18,
    observations_per_curve=8,
)
SIZES = Sizes((400,), 3200, 8)
ADAPTIVE = mechanisms.build("adaptive_mean", {})


@cache
def seen(epsilon=2.0, sizes=SIZES, facts=FACTS, mechanism=ADAPTIVE, delta=1e-6):
    return release_preview(facts, sizes, mechanism, Budget(epsilon, delta), 1)


def test_nothing_that_can_hold_an_observation_is_given_to_it():
    result = typing.get_type_hints(release_preview)
    assert (result["facts"], result["sizes"]) == (PublicFacts, Sizes)
    assert set(result) == {"facts", "sizes", "mechanism", "budget", "seed", "requested", "return"}


def test_the_release_has_its_band_and_lies_in_the_stated_unit():
    result = seen()
    curve = result.curves[0]
    assert (
        result.band and (curve.low < curve.released).all() and (curve.released < curve.high).all()
    )
    assert result.points[0] == 2 and result.points[-1] == 18
    assert curve.truth.min() > 60 and curve.truth.max() < 210
    assert len(result.errors) >= 20 and 0 < result.error < result.within


@pytest.mark.parametrize("key", few([cls.key for cls in mechanisms.for_task("mean_function")]))
@pytest.mark.parametrize(
    "design",
    [Design(), Design.common([0.1, 0.3, 0.6, 0.9]), Design(law=TimeLaw.UNKNOWN)],
    ids=["even", "common", "unknown"],
)
def test_a_plan_of_the_same_data_shows_the_same_error(key, design):
    """Whatever certification leaves of the budget."""
    facts, sizes = replace(FACTS, design=design, observations_per_curve=4), Sizes((150,), 600, 4)
    mechanism = mechanisms.build(key, {})
    budget = Budget(3.0, mechanism.delta(150, None).value)
    preview = release_preview(facts, sizes, mechanism, Budget(2.99, budget.delta), 1, budget)
    planned = measure(PlannedStudy.of(Twin.of(facts, sizes), mechanism, 3.0), 1)
    assert (preview.error, preview.within) == pytest.approx((planned.error, planned.within))


def test_picture_and_sentence_forecast_one_error_and_the_band_that_will_be_published():
    result = seen()
    said, chart = (
        words.error(result, "mean_function"),
        charts.preview_chart(result, "Age (years)", "Height (cm)"),
    )
    title = chart.spec["layout"]["title"]["text"]
    assert title == f"Forecast: error {numbers.error(result.error, 'cm', result.within)}"
    for value in (result.error, result.within, result.half_width):
        assert numbers.with_unit(numbers.number(value), "cm") in said
    curve, covered = result.curves[0], slice(10, -10)
    assert result.half_width == pytest.approx(
        ((curve.high - curve.low) / 2)[covered].mean(), rel=0.3
    )


def test_a_band_is_drawn_up_to_the_stated_bounds_between_which_the_truth_is():
    curve = seen().curves[0]
    result = replace(seen(), curves=(replace(curve, low=curve.low - 90, high=curve.high + 90),))
    axis = charts.preview_chart(result, "Age (years)", "Height (cm)").spec["layout"]["yaxis"]
    assert FACTS.value_low <= axis["range"][0] < axis["range"][1] <= FACTS.value_high


@pytest.mark.slow
def test_more_budget_and_more_people_make_the_preview_more_accurate_and_show_more_peaks():
    weak, strong = seen(0.3), seen(8.0, Sizes((20_000,), 160_000, 8))
    assert weak.error > 3 * strong.error
    assert weak.peaks < PEAKS and strong.peaks == PEAKS
    assert "three" in words.survives(strong, "mean_function")


@pytest.mark.slow
def test_two_common_times_cannot_show_three_peaks_whatever_is_spent():
    facts = replace(FACTS, design=Design.common((0.25, 0.75)), observations_per_curve=2)
    assert seen(8.0, Sizes((20_000,), 40_000, 2), facts).peaks < PEAKS


def test_no_release_is_called_good_without_more_where_it_hides_peaks():
    for peaks, effective, change in itertools.product((PEAKS, 0), (150.0, 50.0), (0.0, 3.0)):
        result = seen()
        result = replace(result, peaks=peaks, verdict=Feasibility(effective), change=change)
        said = words.survives(result, "mean_function")
        assert ("broad shape" in said) == ("Details are lost" in said) == (peaks < PEAKS)


def test_each_warning_of_simulated_releases_comes_with_how_many_carry_it():
    result = seen(1.0, Sizes((150,), 1200, 8))
    carried = words.carried(result)
    assert len(carried) == len(result.warnings) > 0
    for sentence, (_, share) in zip(carried, result.warnings, strict=True):
        assert (numbers.percent(share) in sentence) == (share < 1)


def test_what_a_release_would_not_show_is_no_warning_of_its_preview():
    """Its sizes follow the noise: each release of the twin has a sentence of its own."""
    texts = [text for text, _ in seen(1.0).warnings]
    assert not any(text.startswith(check_words.NOT_VISIBLE.split("{")[0]) for text in texts)


def test_the_preview_says_from_which_size_on_a_release_tells_a_change():
    """Twice the width of the published band to either side, in the unit of values."""
    result = seen(2.0)
    curve = result.curves[0]
    assert result.change == pytest.approx(float((curve.high - curve.low).mean()), rel=0.3)
    assert not result.is_tested and result.grade == "usable"
    assert "falls above" in words.survives(result, "mean_function")
    assert seen(8.0, Sizes((2000,), 16_000, 8)).change < 0.4 * result.change


def test_a_preview_whose_bands_span_a_quarter_of_the_range_is_coarse_whatever_sizes_say():
    for wide, is_flat in ((0.3, False), (0.1, True)):
        result = replace(seen(), wide=wide, is_flat=is_flat)
        assert result.verdict.verdict == "good" and result.grade == "coarse"
        assert "only the level" in words.survives(result, "mean_function")


def test_a_preview_whose_releases_warn_that_their_bands_cannot_be_relied_on_is_doubtful():
    result = replace(seen(), is_unreliable=True)
    assert result.grade == "doubtful" and "**Doubtful:**" in words.survives(result, "mean_function")
    assert not seen().is_unreliable


def test_a_band_that_is_narrow_at_a_few_visits_is_marked_and_measured_there():
    visits = (0.0, 0.04, 0.12, 0.25, 0.5, 1.0)
    result = seen(
        1.0,
        Sizes((300,), 1800, 6),
        replace(FACTS, design=Design.common(visits), observations_per_curve=6),
    )
    assert 0 < result.at_times < 1.2 * result.half_width
    assert numbers.number(result.at_times) in words.error(result, "mean_function")
    marks = charts.preview_chart(result, "Age (years)", "Height (cm)").spec["layout"]["shapes"]
    assert [mark["x0"] for mark in marks] == pytest.approx([2 + 16 * visit for visit in visits])
    assert seen().at_times == 0
    assert not charts.preview_chart(seen(), "Age (years)", "Height (cm)").spec["layout"]["shapes"]


def test_the_preview_carries_the_warning_of_few_basis_functions_before_anything_is_spent():
    result = seen(1.0, Sizes((150,), 1200, 8))
    few = [share for text, share in result.warnings if "kept basis functions smooth" in text]
    assert few == [1.0] and any("short features" in text for text in words.carried(result))
    wording.missing("basis functions kept", [text for (text, _) in seen(8.0).warnings])


def test_verdicts_come_from_the_public_sizes():
    assert seen(1.0, Sizes((80,), 640, 8)).verdict.verdict == "coarse"
    wording.found(
        "flat line fits", words.survives(seen(1.0, Sizes((80,), 640, 8)), "mean_function")
    )


@pytest.mark.parametrize(
    ("key", "chosen", "facts", "curves"),
    few(
        [
            ("iclp", {}, FACTS, 1),
            ("univariate_mean", {"setting": "central_user"}, FACTS, 1),
            (
                "adaptive_coefficients",
                {},
                replace(FACTS, covariates=(Covariate("dose", 0, 20),)),
                2,
            ),
            (
                "iclp",
                {"task": "density"},
                replace(FACTS, covariates=(Covariate("age", 0, 100),)),
                1,
            ),
            (
                "frl",
                {"task": "risk_minimisation"},
                replace(FACTS, covariates=(Covariate("age", 0, 100),)),
                1,
            ),
            (
                "frl",
                {"task": "risk_minimisation"},
                replace(FACTS, covariates=(Covariate("age", 0, 100),), two_classes=True),
                1,
            ),
            ("frl", {"task": "covariance", "grid_size": 20}, FACTS, 1),
            ("wavelet_global", {}, replace(FACTS, reading_sd=20.0, observations_per_curve=1), 1),
        ],
        3,
    ),
)
def test_every_kind_of_release_can_be_previewed(key, chosen, facts, curves):
    mechanism = mechanisms.build(key, chosen)
    each = facts.observations_per_curve
    sizes = Sizes((2000,), 2000 * each, each, len(facts.covariates))
    result = seen(4.0, sizes, facts, mechanism, 0.0 if mechanism.guarantee == "pure" else 1e-7)
    assert len(result.curves) == curves and np.isfinite(result.errors).all()
    assert words.error(result, chosen.get("task", "mean_function"))


def test_previews_of_new_kinds_come_nearer_to_the_twin_with_more_people():
    predicting = replace(FACTS, covariates=(Covariate("age", 0, 100),))
    single = replace(FACTS, reading_sd=20.0, observations_per_curve=1)
    for key, chosen, facts, delta in (
        ("frl", {"task": "risk_minimisation"}, predicting, 0.0),
        ("frl", {"task": "covariance", "grid_size": 20}, FACTS, 0.0),
        ("wavelet_global", {}, single, 1e-7),
    ):
        each, mechanism = facts.observations_per_curve, mechanisms.build(key, chosen)
        few, many = (
            seen(
                4.0, Sizes((n,), n * each, each, len(facts.covariates)), facts, mechanism, delta
            ).error
            for n in (400, 4000)
        )
        assert many < 0.8 * few, key


def test_the_forecast_of_an_average_number_counts_that_other_people_might_have_been_asked():
    average = mechanisms.build("univariate_mean", {"setting": "central_user"})
    errors = [
        seen(1000.0, Sizes((n,), 8 * n, 8), mechanism=average, delta=0.0).error for n in (100, 400)
    ]
    spread = 0.12 * 75 * np.sqrt(0.8)  # of people's averages, in which errors hardly count
    assert errors == pytest.approx([spread / 10, spread / 20], rel=0.6)


def test_an_error_is_the_distance_from_the_truth_of_the_twin():
    aged = replace(FACTS, covariates=(Covariate("age", 0, 100),))
    density = seen(2.0, SIZES, aged, mechanisms.build("iclp", {"task": "density"}), 0.0)
    assert density.errors[0] == pytest.approx(_distance(density.curves[0]))
    mean = seen(2.0)  # its errors are those of more releases than the picture has
    assert mean.errors.min() < _distance(mean.curves[0]) < mean.errors.max()


def _distance(curve):
    return np.sqrt(((curve.released - curve.truth) ** 2).mean())


def test_sizes_that_are_too_large_to_simulate_are_refused_with_what_still_holds():
    gradient = mechanisms.build("noisy_gradient_mean", {})
    with pytest.raises(InputError, match="at most 2,000,000 observations"):
        seen(1.0, Sizes((1_000_000,), 8_000_000, 8), mechanism=gradient)


def test_a_nation_is_previewed_by_a_few_people_who_count_as_all():
    errors = [seen(1.0, Sizes((n,), 8 * n, 8), delta=1e-15).error for n in (100_000, 10_000_000)]
    assert 1.5 < errors[0] / errors[1] < 10  # the rest is bias, which no number of people changes


def test_a_plan_and_a_preview_show_one_error_of_a_few_who_count_as_all():
    facts, sizes = replace(FACTS, observations_per_curve=2), Sizes((7000,), 14_000, 2)
    mechanism, budget = mechanisms.build("frl", {}), Budget(3.0)
    preview = release_preview(facts, sizes, mechanism, budget, 1, budget)
    planned = measure(PlannedStudy.of(Twin.of(facts, sizes), mechanism, 3.0), 1)
    assert preview.error == pytest.approx(planned.error)


def test_a_peak_is_shown_where_a_maximum_near_its_place_stands_out():
    t = np.linspace(0, 1, 101)
    where, ripple = (np.arange(3) + 0.5) / 3, 0.1 * np.sin(40 * np.pi * t)
    three = -np.cos(6 * np.pi * t)
    assert peaks_shown(three + ripple, where, 1.0) == 3
    assert peaks_shown(0.2 * three + ripple, where, 1.0) == 0
    assert peaks_shown(-np.cos(2 * np.pi * t) + ripple, where, 1.0) == 1  # all in the middle
    assert peaks_shown(-three, where, 1.0) == 0  # maxima in the valleys


def glucose(**more):
    return declare(
        2.2,
        22.2,
        0,
        24,
        "a manual",
        value_name="Glucose",
        value_unit="mmol/L",
        time_unit="hours",
        observations=24,
        design=StatedDesign(law="even"),
        **more,
    )


def test_the_picture_of_a_known_kind_shows_a_typical_public_curve_and_changes_no_number():
    facts, sizes = glucose(), Sizes((300,), 7200, 24)
    like = release_preview(facts, sizes, ADAPTIVE, Budget(2.0, 1e-6), 1)
    other = release_preview(
        replace(facts, value_name="Level"), sizes, ADAPTIVE, Budget(2.0, 1e-6), 1
    )
    assert "glucose" in like.typical and not other.typical
    assert np.ptp(like.curves[0].truth) > 1.5 and like.curves[0].truth.max() < 15  # three meals
    assert (like.error, like.half_width, like.change) == (
        other.error,
        other.half_width,
        other.change,
    )
    assert like.typical in words.about(like).lower()
    wording.found("invented curve", words.about(other))


def test_a_preview_in_which_a_flat_line_fits_says_first_that_no_shape_survives():
    preview = release_preview(glucose(), Sizes((100,), 2400, 24), ADAPTIVE, Budget(0.5, 1e-4), 1)
    assert preview.is_flat
    wording.found("flat line fits", words.survives(preview, "mean_function"))


def test_maxima_are_those_of_scipy():
    rng = np.random.default_rng(5)
    for k in range(300):
        n = rng.integers(1, 60)
        curve = rng.integers(0, 5, n) * 1.0 if k % 2 else np.cumsum(rng.normal(size=n))
        least = rng.choice([0.0, 0.5, 1.0, 2.0])
        assert maxima(curve, least) == [*find_peaks(curve, prominence=least)[0]]
