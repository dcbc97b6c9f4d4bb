"""The laws of noise that the audit knows: what a shift loses, and which data set is likelier."""

import numpy as np
import pytest
from scipy import stats

from engine.audit.laws import AUDITED, audited
from engine.core.enumerations import NoiseLaw

UNIT = np.ones((1, 1, 3))
SHIFT = np.array([[0.7, -0.2, 0.4]])
NOISE = np.random.default_rng(1).standard_normal((200, 3))


@pytest.mark.parametrize("law", [law for law in NoiseLaw if law not in AUDITED])
def test_an_audit_takes_no_law_for_another(law):
    with pytest.raises(ValueError, match="no loss"):
        audited(law)


def test_a_law_stands_under_its_own_name():
    assert all(known.law is law for law, known in AUDITED.items())


@pytest.mark.parametrize(
    ("law", "density"),
    [(NoiseLaw.GAUSSIAN, stats.norm()), (NoiseLaw.LAPLACE, stats.laplace(scale=np.sqrt(0.5)))],
)
def test_scores_are_log_likelihood_ratios(law, density):
    expected = (density.logpdf(NOISE - SHIFT) - density.logpdf(NOISE)).sum(axis=1)
    np.testing.assert_allclose(audited(law).score(SHIFT, NOISE), expected)


@pytest.mark.parametrize("law", [NoiseLaw.LAPLACE, NoiseLaw.NORM])
def test_no_noise_of_a_pure_law_tells_more_than_the_loss_of_the_shift(law):
    loss = audited(law).loss(SHIFT[:, None], UNIT)[0, 0]
    assert abs(audited(law).score(SHIFT, NOISE)).max() <= loss + 1e-12
    assert audited(law).score(SHIFT, 100 * SHIFT)[0] == pytest.approx(loss)  # beyond both data sets


def test_whole_numbers_lose_the_shift_over_the_scale():
    scale = 2.0
    spread = np.full((1, 1, 3), np.sqrt(1 / (2 * np.sinh(1 / (2 * scale)) ** 2)))
    counts = np.array([[[1.0, -1.0, 0.0]]])
    assert audited(NoiseLaw.DISCRETE_LAPLACE).loss(counts / spread, spread)[0, 0] == pytest.approx(
        2 / scale
    )
