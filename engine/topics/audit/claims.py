"""Claims of the product: each with its proof, its test, what was measured, and an attack on it.

A test opens every path and finds every section, test and figure named here.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.topics.audit import answer as audit_topic

ATTACK, COVERAGE, REUSE = "attack", "coverage", "reuse"  # parts of *Verify*
_NOTES = "docs/methods/"


@dataclass(frozen=True)
class ProductClaim:
    """A sentence that must hold, and what speaks for it."""

    text: str
    proof: str  # a file of the project
    section: str  # a heading or sentence in it
    test: str  # as pytest names it
    part: str = ""  # of *Verify*, which attacks it; "" if its test alone does
    subject: str = ""  # the attacked method, or the repeated limits
    measured: str = ""  # coverage, the bad cases with the good ones
    recorded: tuple[str, ...] = ()  # where that stands, word for word, in docs/methods*.md

    @property
    def method_of_proof(self) -> str:
        """The method whose notes hold the proof; "" if another file does."""
        is_note = self.proof.startswith(_NOTES)
        return self.proof.removeprefix(_NOTES).removesuffix(".md") if is_note else ""

    @property
    def attacked(self) -> str:
        """Say what the attack does, and how many planted faults it is tried on."""
        if not self.part:
            return "by its test alone"
        if self.part == COVERAGE:
            return "500 releases, misses counted"
        if self.part == REUSE:
            return "two releases with one noise"
        method = audit_topic.audited_method(self.subject).default()
        faults = len(audit_topic.variants_of(method))
        return f"worst pair of neighbours; {faults} planted faults caught"


_WHY = "## Why the noise is enough"
_EVERY = (
    "tests/audit/test_every_mechanism.py::"
    "test_no_neighbour_finds_more_than_is_claimed_and_some_find_what_is_attained"
)
_FAULTS = "tests/audit/test_broken.py::test_every_broken_variant_is_caught"

CLAIMS = (
    ProductClaim(
        "Releasing a mean curve spends at most ε",
        "docs/methods/adaptive_mean.md",
        _WHY,
        _EVERY,
        ATTACK,
        "adaptive_mean.mean_function",
    ),
    ProductClaim(
        "Releasing a survival curve spends at most ε",
        "docs/methods/noisy_counts.md",
        _WHY,
        _EVERY,
        ATTACK,
        "noisy_counts.survival",
    ),
    ProductClaim(
        "Sites send noised messages and nothing else",
        "docs/methods/noisy_gradient_mean.md",
        _WHY,
        "tests/audit/test_what_crosses.py::test_a_mechanism_that_looks_past_its_messages_is_caught",
        ATTACK,
        "noisy_gradient_mean.mean_function",
    ),
    ProductClaim(
        "The order of a file reveals nobody",
        "engine/release/random_order.py",
        "*Proof.*",
        "tests/release/test_random_order.py::"
        "test_every_order_is_equally_likely_whatever_the_order_of_the_file",
    ),
    ProductClaim(
        "Every release draws new noise", "docs/methods/adaptive_mean.md", _WHY, _FAULTS, REUSE
    ),
    ProductClaim(
        "95 % bands include the whole mean curve",
        "docs/methods/adaptive_mean.md",
        "## Guarantee",
        "tests/statistical/test_adaptive_mean.py::"
        "test_bands_hold_the_true_curve_over_curves_sizes_and_deltas",
        COVERAGE,
        "curve",
        "95 to 100 % without a warning; almost never if a fifth lie far above and clipping is tight",
        (
            "ones covered all of it in 95.2 to 100 % of data sets",
            "the tight band holds nearly nowhere",
        ),
    ),
    ProductClaim(
        "95 % intervals include each sparse coefficient",
        "docs/methods/sparse_inference.md",
        _WHY,
        "tests/statistical/test_sparse_coverage.py::"
        "test_intervals_hold_95_of_100_for_coefficients_that_matter_and_that_do_not",
        COVERAGE,
        "coefficient",
        "96 to 100 % for a strong feature; never if it hardly varies, which the release says",
        (
            "in none of the data sets that are not refused, and all of them say so",
            "and now does in 96 %",
            "in 90 and now\n100 %",
            "it covered in 58 %, now in 96 %",
        ),
    ),
)


def title() -> str:
    """Count the claims."""
    return f"{len(CLAIMS)} claims, and what stands behind each"
