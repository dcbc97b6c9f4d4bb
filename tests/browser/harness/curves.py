"""The made-up curves of the page, for the page and for the tests that know what it must say."""

import numpy as np

from engine.topics.mean.answer import PlausibleBand

EPSILONS = (
    0.05,
    0.06,
    0.08,
    0.1,
    0.12,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    1.0,
    1.2,
    1.5,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
    6.0,
    8.0,
    10.0,
)
EVIL = "<img src=x onerror='window.__harm=1'><script>window.__harm=1</script>"


def growth(t):
    """A mean height in cm on [0, 1], which stands for ages 2 to 18."""
    return 83 + 92 * t - 6 * np.cos(5 * t) + 4 * np.sin(9 * t) * t


def made_up(seed=7):
    """Arrays of the right shapes that look like a growth study of 200 children."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 101)
    waves = np.array([np.cos(np.pi * k * t) / (1 + 0.4 * k) for k in range(8)])
    ordinary = growth(t) + 0.35 * waves.T @ rng.normal(size=8)
    scales = 3.6 / np.array(EPSILONS) ** 0.9
    noise = rng.normal(size=(100, 8)) @ waves
    releases = ordinary + scales[:, None, None] * noise
    curves = []
    for _ in range(90):
        at = np.sort(rng.uniform(0.02, 0.99, 30))
        person = rng.normal(0, 5.5) + rng.normal(0, 3) * at
        curves.append((at, growth(at) + person + rng.normal(0, 0.9, 30)))
    return t, ordinary, releases, curves, scales


def band(releases, scales):
    """A band around each release, as wide as the noise."""
    half = 3 * scales[:, None, None] * np.ones_like(releases)
    return PlausibleBand(
        releases - half, releases + half, np.full(101, 2.0), "simultaneous", (12,) * len(scales)
    )
