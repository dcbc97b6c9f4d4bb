"""Search over neighbouring curves for releases of whole functions: claims are never exceeded.

Scales of the noise follow from public facts, so the loss of a pair of neighbours is a closed form:
how far one curve moves what a site sends, in units of the noise. Mechanisms run as they are, with
their standard noise replaced by zeros; earlier messages, on which later ones may build, are
replaced by values an adversary chooses, the same for both neighbours. Pairs are repeats of one
batch, so that hundreds are tried in one run.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from engine import accounting, transcript
from engine.functional_release import Linear, Space
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import THEOREM_8_EXCESS, Iclp
from engine.numerics.eigensystems import midpoints
from engine.summaries import selection
from engine.summaries.coefficients import CoefficientSummary
from engine.summaries.covariance import CovarianceSummary, second_moments
from engine.summaries.mean import MeanSummary
from engine.types import Budget, Covariate, CurveData, PublicFacts

BUDGET = Budget(0.8, 1e-3)
GRID, TAU, BOUND, N_COVARIATES = midpoints(30), 1.3, 60.0, 2
FACTS = PublicFacts(value_low=-BOUND, value_high=BOUND, norm_bound=TAU, common_times=GRID.times)
WITH_COVARIATES = replace(FACTS, covariates=(Covariate("G1", -2.0, 6.0), Covariate("G2")))
COVARIATES_TO_TRY = np.array([-2.0, 6.0, -1.0, 1.0, 0.3, 1e300, -1e9, np.nan, np.inf, -np.inf])
TRIES = 240


@dataclass(frozen=True)
class Finding:
    """The largest loss of each message over its line of the ledger, and of all over the budget."""

    each: np.ndarray
    total: float

    @property
    def worst(self):
        return max(self.total, *self.each)


# -- neighbours ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shapes:
    """Curves that may be the worst: `some` (…, K) of any size, and `lifting` (K,) of its own."""

    some: np.ndarray
    lifting: np.ndarray

    def one(self, rng):
        return self.some[rng.integers(len(self.some))] * rng.choice([-1, 1])


def shapes_of(mechanism, n):
    """Along s/b, where sums are largest; constant, a spike, jagged; along single functions."""
    own = CurveData(np.zeros((1, n)), np.zeros((1, n)), np.ones(n, int), np.zeros(n, int), FACTS)
    space = mechanism.space(GRID, own.sizes)
    smoothing = mechanism.smoothings(space.eigenvalues, n, n * BUDGET.epsilon)[0]
    changes, shape = smoothing.differences(2 / n, 2 / n, n), mechanism.shape(space.eigenvalues)
    filtered = changes.moving * getattr(smoothing, "shrink", 1.0)
    worst = [filtered / one for one in (shape, np.maximum(changes.spectrum, 1e-12))]
    functions = space.basis(GRID.points[:, 0]).T
    one = np.ones(GRID.size)
    some = [*(w @ functions for w in worst), space.analysis.sum(axis=1), one, one * (np.arange(GRID.size) == 7),
            one - 2 * (np.arange(GRID.size) % 2), *functions[:6], functions[-1]]
    used = worst[mechanism.constants == "optimal"]
    return Shapes(np.array(some), TAU * lifting(smoothing, used, n) @ functions)


def lifting(smoothing, worst, n):
    """What n − 1 curves must be to lift two opposite means above all thresholds at once."""
    if isinstance(smoothing, Linear):
        return 0 * worst
    unit = worst / np.linalg.norm(worst)
    return np.where(unit > 0, (n * smoothing.thresholds + unit) / (n - 1) * (1 + 1e-9), 0.0)


def sized(shape, size):
    """The shape with this root mean square."""
    return shape * (size / np.sqrt(np.mean(shape**2)))


def extreme(shapes, rng):
    """A worst shape at the bound or far beyond it, wild numbers, or none in places."""
    curve = sized(shapes.one(rng), TAU * rng.choice([1.0, 1.0, 1 + 1e-9, 0.2, 5.0, 1e5, 1e150]))
    kind = rng.integers(8)
    if kind == 0:
        curve[rng.integers(len(curve), size=5)] = rng.choice([np.nan, np.inf, -np.inf, 1e308])
    if kind == 1:
        curve = rng.standard_normal(len(curve)) * 10.0**rng.integers(-3, 9)
    if kind == 2:
        curve = np.full(len(curve), rng.choice([0.0, 5e-324, np.nan, np.inf]))
    return curve


def ends(shapes, k, rng):
    """The curve of all others (None: ordinary ones), and two curves that replace each other."""
    count = len(shapes.some)
    if k < 3 * count:
        shape = sized(shapes.some[k % count], TAU)
        return (None, shape, shapes.lifting)[k // count], shape, -shape
    if k < 4 * count:
        return None, sized(shapes.some[k - 3 * count], TAU), sized(shapes.some[k - 3 * count - 1], TAU)
    first = extreme(shapes, rng)
    second = (-first, first, extreme(shapes, rng), sized(shapes.one(rng), TAU))[k % 4]
    return (None, sized(shapes.one(rng), TAU), extreme(shapes, rng))[k % 3], first, second


def pairs(mechanism, n, with_covariates):
    """Data sets 2k and 2k + 1 differ in one curve and in what is known of that person."""
    rng, shapes = np.random.default_rng(11), shapes_of(mechanism, n)
    values = rng.normal(size=(2 * TRIES, n, GRID.size))
    known = rng.choice(COVARIATES_TO_TRY, (2 * TRIES, n, N_COVARIATES))
    values[1::2], known[1::2] = values[::2], known[::2]
    for k in range(TRIES):
        curve, both = int(rng.integers(n)), slice(2 * k, 2 * k + 2)
        others, *replaced = ends(shapes, k, rng)
        if others is not None:
            values[both] = others
        values[both, curve] = replaced
        known[both, curve] = (6.0, 1.0) if k % 2 else rng.choice(COVARIATES_TO_TRY, (2, N_COVARIATES))
    values = values.reshape(2 * TRIES, -1)
    times = np.broadcast_to(np.tile(GRID.times, n), values.shape)
    return CurveData(times, values, np.full(n, GRID.size), np.zeros(n, int),
                     WITH_COVARIATES if with_covariates else FACTS,
                     covariates=known if with_covariates else None)


# -- the search ----------------------------------------------------------------------------------


def search(mechanism, n=50):
    """Run the mechanism once on all pairs, without noise and with messages of an adversary."""
    rng, losses = np.random.default_rng(12), []

    def note(server, step, sent, spread):
        noise = np.broadcast_to(spread, (len(sent), 1, sent.shape[-1]))
        losses.append(_loss(mechanism, sent[::2, 0] - sent[1::2, 0], noise[::2, 0], noise[1::2, 0]))
        size = rng.choice([0.0, 0.1, 1.0, 1e4], size=(len(sent) // 2, 1, 1))
        return np.repeat(rng.standard_normal((len(sent) // 2, *sent.shape[1:])) * size, 2, axis=0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcript, "sent", note)
        patch.setattr(type(mechanism), "draw", lambda self, shape, rng: np.zeros(shape))
        data = pairs(mechanism, n, mechanism.task == "varying_coefficients")
        spends = mechanism.release_many(data, [(BUDGET,)], 1, rng).spends[0]
    claims = [spend.mu if spend.epsilon is None else spend.epsilon for spend in spends]
    worst, pure = np.array([loss.max() for loss in losses]), mechanism.guarantee == "pure"
    asked = BUDGET.epsilon if pure else accounting.exact_mu(BUDGET.epsilon, BUDGET.delta)
    return Finding(worst / claims, float(np.linalg.norm(worst, 1 if pure else 2) / asked))


def _loss(mechanism, moved, noise, other_noise):
    """ε or μ of every pair: (pairs,); infinite where the noise is not the same for both."""
    if not (noise == other_noise).all() or not np.isfinite(moved).all():
        return np.full(len(moved), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        units = np.where(moved == 0, 0.0, moved / noise)
    if mechanism.guarantee == "approximate":
        return np.linalg.norm(units, axis=1)
    if getattr(mechanism, "noise", "laplace") == "norm":
        return np.linalg.norm(units, axis=1) * np.sqrt(moved.shape[1] + 1)  # variance r + 1
    return np.abs(units).sum(axis=1) * np.sqrt(2)  # variance 2


# -- claims --------------------------------------------------------------------------------------

EXACT = [Iclp(), Iclp(constants="optimal"), Iclp(kernel="exponential", eta=2.5),
         Iclp(kernel="gaussian", length=0.2), Frl(), Frl(constants="optimal"), Frl(noise="norm"),
         Bernstein(), Bernstein(degree=7, iterations=3), GaussianProcess(),
         GaussianProcess(constants="optimal")]
PRINTED = [cls(constants="published") for cls in (Iclp, Frl, Bernstein, GaussianProcess)]
OTHERS = [(Iclp, {}), (Iclp, {"constants": "optimal"}), (Iclp, {"constants": "published"}), (Frl, {}),
          (Frl, {"noise": "norm"}), (Bernstein, {"degree": 8}), (GaussianProcess, {}),
          (GaussianProcess, {"constants": "optimal"}), (GaussianProcess, {"constants": "published"})]
every_kind = pytest.mark.parametrize(("cls", "chosen"), OTHERS, ids=str)


def is_round(cls, chosen):
    """Whether all changes of one ℓ2 norm cost the same."""
    through_filter = cls is GaussianProcess and chosen.get("constants") == "optimal"
    return through_filter or chosen.get("noise") == "norm"


@pytest.mark.parametrize("mechanism", [*EXACT, *PRINTED], ids=lambda one: f"{one.key} {one.changed()}")
def test_no_curve_moves_a_mean_further_than_claimed_and_some_reach_the_claim(mechanism):
    """Printed constants claim less than was asked, and that less is attained as well."""
    finding = search(mechanism)
    assert 0.999 <= finding.each[0] <= 1 + 1e-9
    assert finding.total <= (1 if mechanism in EXACT else 0.7)


@pytest.mark.parametrize(("n", "attained"), [(50, True), (100, False), (200, True)])
@pytest.mark.parametrize("constants", ["tight", "optimal", "published"])
def test_no_curve_moves_a_mean_under_thresholds_further_and_some_do_where_there_is_room(
        n, attained, constants):
    """At n = 100 thresholds leave no room for all coordinates to move at once: an upper bound."""
    finding = search(Iclp(penalty="absolute", eta=3.0, constants=constants), n)
    assert finding.worst <= 1 + 1e-9
    assert finding.each[0] >= (0.95 if attained else 0.6)


@every_kind
@pytest.mark.parametrize("centre", ["nothing", "private_mean", "sample_mean"])
def test_no_curve_moves_a_covariance_further_than_claimed(cls, chosen, centre):
    """A change has two eigenvalues at most, so only noise that looks at its norm alone is exact."""
    finding = search(cls(task="covariance", centre=centre, **chosen), 20)
    assert finding.worst <= 1 + 1e-9
    assert finding.each[-1] >= (0.95 if is_round(cls, chosen) else 0.65)


@every_kind
def test_nobody_moves_coefficients_further_than_claimed_whatever_is_known_of_them(cls, chosen):
    """Products with curves reach their claim jointly; second moments have few directions."""
    finding = search(cls(task="varying_coefficients", **chosen), 20)
    assert finding.worst <= 1 + 1e-9
    assert finding.each[0] >= 0.7
    assert finding.each[1] >= 0.98


class Favours:
    """A stream whose noise is zero but for one candidate, which it makes better by `amount`."""

    def __init__(self, candidate, amount):
        self.candidate, self.amount = candidate, amount

    def laplace(self, size):
        noise = np.zeros(size)
        noise[..., self.candidate] = -self.amount
        return noise


def noise_on_scores(mechanism, plan, records, scores):
    """The scale of the noise of a choice: what turns the worst candidate into the chosen one."""
    worst, low, high = int(scores.argmax()), 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        chosen = selection.choose(mechanism, plan, [records], 1, Favours(worst, middle))
        low, high = (low, middle) if chosen[0, 0] == worst else (middle, high)
    return np.ptp(scores) / high


def opposite_halves(mechanism, n):
    """Curves that are held out are one shape, the others its opposite; one of those turns over."""
    shape = sized(shapes_of(mechanism, n).some[6], TAU)
    values = np.tile(shape, (2, n, 1)) * np.where(np.arange(n) % 2, 1, -1)[:, None]
    values[1, 1] = -shape
    return replace(pairs(mechanism, n, False), values=values.reshape(2, -1),
                   times=np.tile(GRID.times, (2, n)))


@pytest.mark.parametrize("cls", [Iclp, Frl])
def test_no_curve_moves_scores_of_candidates_further_than_the_noise_of_a_paid_choice_allows(cls):
    """Report-noisy-min: twice the largest move of a score, in units of its noise, is what it costs."""
    mechanism, n = cls(selection_rule="paid"), 60
    worst = 0.0
    for data in (pairs(mechanism, n, False), opposite_halves(mechanism, n)):
        plan = mechanism.plan(data.sizes, (BUDGET,), FACTS)
        records = mechanism.summary(data.sizes, FACTS).records(data)
        scores = selection._scores(plan, records, 2, 1.0)[:, 0]
        scale = noise_on_scores(mechanism, plan, mechanism.summary(data.sizes, FACTS).records(
            data.repeat(0)), scores[0])
        worst = max(worst, 2 * np.abs(scores[::2] - scores[1::2]).max() / scale)
    spend = mechanism.plan(data.sizes, (BUDGET,), FACTS).spends[0]
    assert spend.epsilon == pytest.approx(0.2 * BUDGET.epsilon)
    assert 0.85 * spend.epsilon <= worst <= spend.epsilon * (1 + 1e-9)


# -- broken releases -----------------------------------------------------------------------------


class Broken:
    """Puts another summary, or curves that are held otherwise, into a release."""

    another: type | None = None

    def summary(self, sizes, facts):
        if self.another is None:
            return super().summary(sizes, facts)
        return self.another(self, sizes, facts)


class OwnLargestNorm(MeanSummary):
    """Divides by the norm of the largest curve, as "normalised" data often are."""

    def records(self, data):
        kept = super().records(data)
        largest = np.sqrt(np.nan_to_num(kept.curves**2).mean(axis=-1).max(axis=1))
        return replace(kept, shortening=np.ones_like(kept.shortening) / np.maximum(
            largest, 1e-9)[:, None])


class NanPasses(MeanSummary):
    def records(self, data):
        kept = super().records(data)
        seen = data.values.reshape(kept.curves.shape)
        return replace(kept, curves=np.where(np.isnan(seen), np.nan, kept.curves))


class DividesByCompleteCurves(MeanSummary):
    """Leaves out curves with a missing reading: how many there are is private."""

    def values(self, block, records, smoothing, earlier):
        share = (np.abs(records.curves).sum(axis=-1) > 0).mean(axis=1)
        return super().values(block, records, smoothing, earlier) / share[:, None, None]


class FewerShared(MeanSummary):
    """Believes that a new curve adds itself and takes nothing away: 1/n instead of 2/n."""

    def blocks(self, smoothing):
        own, = super().blocks(smoothing)
        return (replace(own, differences=lambda n: own.differences(2 * n)),)


class UncentredConstant(CovarianceSummary):
    def _most(self, n):
        return np.sqrt(2) / n


class NotHeldAgain(CovarianceSummary):
    """Curves of norm one are not of norm one about another mean."""

    def values(self, block, records, smoothing, earlier):
        if block == 0:
            return super().values(block, records, smoothing, earlier)
        moments = second_moments(records.coefficients, earlier[0], np.inf)
        return smoothing(self.basis.coordinates(moments))


class PairsTwice(CovarianceSummary):
    """Releases θ_jl for j ≤ l with the noise of entries, though each stands for two."""

    def values(self, block, records, smoothing, earlier):
        return super().values(block, records, smoothing, earlier) * np.sqrt(self.basis.multiplicity)


class SeparateBudgets(CoefficientSummary):
    """Gives every one of the p functions a budget of its own."""

    def blocks(self, smoothing):
        first, second = super().blocks(smoothing)
        return first, replace(second, differences=lambda n: second.differences(n * np.sqrt(self.p)))


class RegressorsBeyondRange(CoefficientSummary):
    """Moves covariates to [−1, 1] but not into their range first."""

    def records(self, data):
        curves, x = super().records(data)
        wild = np.nan_to_num(data.covariates.swapaxes(1, 2), posinf=0, neginf=0).clip(-1e12, 1e12)
        return curves, np.concatenate([x[:, :1], wild], axis=1)


class Unheld(Space):
    def shortening(self, curves):
        return np.ones(curves.shape[:-1])


class HeldInMeanSize(Space):
    """Bounds the mean of |x|, which bounds no norm."""

    def shortening(self, curves):
        return 1 / np.maximum(np.abs(curves).mean(axis=-1), 1)


class HeldOnTheGrid(Space):
    """Bounds a norm on the grid, where lattice values are released."""

    def shortening(self, curves):
        return 1 / np.maximum(np.sqrt((curves**2).mean(axis=-1)), 1)


class RawEigenvectors(Space):
    """Coefficients in the eigenvectors of a matrix, which are √K times those of curves."""

    def shortening(self, curves):
        return super().shortening(curves) * np.sqrt(curves.shape[-1])


def with_space(cls, other):
    def space(self, grid, sizes):
        return other(**vars(cls.space(self, grid, sizes)))
    return type(f"{other.__name__}{cls.__name__}", (cls,), {"space": space})


def with_summary(cls, other):
    return type(f"{other.__name__}{cls.__name__}", (Broken, cls), {"another": other})


def with_scales(cls, name, change):
    def calibrated(self, block, n, budget):
        own = cls.calibrated(self, block, n, budget)
        return replace(own, scales=change(own.scales, block))
    return type(name, (cls,), {"calibrated": calibrated})


def last_dropped(scales, block):
    last = np.flatnonzero(scales)[-1]
    return np.where(np.arange(len(scales)) == last, 0.0, scales)


THEOREM_8 = with_scales(Iclp, "Theorem8", lambda scales, block: scales / THEOREM_8_EXCESS)
NO_LAST = with_scales(Iclp, "LastCoordinateWithoutNoise", last_dropped)
FLAT = with_scales(GaussianProcess, "ShapeForgotten",
                   lambda scales, block: scales * block.shape / block.shape[0])
COVARIANCE = {"task": "covariance"}


@pytest.mark.parametrize(("cls", "chosen"), [
    (with_summary(Iclp, OwnLargestNorm), {}), (with_space(Iclp, Unheld), {}),
    (with_space(Frl, HeldInMeanSize), {}), (with_space(Bernstein, HeldOnTheGrid), {"degree": 8}),
    (with_space(Iclp, RawEigenvectors), {}), (THEOREM_8, {}), (FLAT, {}),
    (NO_LAST, {"penalty": "absolute", "eta": 3.0}), (with_summary(Iclp, FewerShared), {}),
    (with_summary(Iclp, NanPasses), {}), (with_summary(Frl, DividesByCompleteCurves), {}),
    (with_summary(Frl, UncentredConstant), {**COVARIANCE, "centre": "sample_mean"}),
    (with_summary(GaussianProcess, UncentredConstant), {**COVARIANCE, "centre": "sample_mean"}),
    (with_summary(Iclp, NotHeldAgain), {**COVARIANCE, "centre": "private_mean"}),
    (with_summary(GaussianProcess, PairsTwice),
     {**COVARIANCE, "centre": "nothing", "constants": "optimal"}),
    (with_summary(Iclp, SeparateBudgets), {"task": "varying_coefficients"}),
    (with_summary(Frl, RegressorsBeyondRange), {"task": "varying_coefficients"})],
    ids=lambda value: getattr(value, "__name__", ""))
def test_broken_releases_are_caught(cls, chosen):
    assert search(cls(**chosen)).worst > 1.05
