"""No page calls privacy nearly free where its measured part of the squared error is above a tenth."""

import re

import numpy as np
import pytest

from engine.language import error_words
from pages.shared.state import links, run
from tests.pages.opening import visit
from tests.pages.reading import words

_CLAIM = re.compile(r"From about \*\*ε = ([\d.]+)\*\* on privacy is nearly free")
_PAGES = (
    ("rates", ""),
    ("rates", "constants-one"),
    ("rates", "r-varying_coefficients"),
    ("rates", "r-wavelet_regression"),
    ("rates", "r-univariate_mean"),
    ("explore", "open-accuracy"),
    ("lab", ""),
)


def scenario(number):
    """A page with its settings, and simulated curves of random sizes: the same for every run."""
    random = np.random.default_rng([23, number])
    page, settings = _PAGES[number % len(_PAGES)] if number >= 2 else _PAGES[0]
    people = 3000 if number == 0 else round(float(np.exp(random.uniform(np.log(60), np.log(3000)))))
    observations, epsilon = int(random.integers(3, 31)), random.choice([0.5, 1.0, 2.0, 4.0])
    return page, "~".join(
        filter(
            None,
            [
                f"c-sparse_curves~c.n_curves-{people}~c.n_observations_per_curve-{observations}"
                f"~epsilon-{epsilon:g}",
                settings,
            ],
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", range(40))
def test_privacy_is_called_nearly_free_only_where_that_is_measured(number):
    page, token = scenario(number)
    text = words(visit(page, token))
    claims = _CLAIM.findall(text)
    assert text.count("nearly free") == len(claims) + text.count("is privacy nearly free here")
    assert claims or number  # many people: the first is called free from some ε on
    now, _ = links.decode(token)
    measured = run.mean_at_every_step(
        now.source, now.mechanism, 1 / now.source.sizes.n_curves**2, now.seed
    )
    private = measured.study.shares[:, 0]
    for claim in claims:
        larger = [budget.epsilon >= float(claim) for budget in measured.budgets]
        assert any(larger) and measured.published[larger].all()
        assert (private[larger] <= error_words.NEARLY_FREE).all(), (claim, token)
