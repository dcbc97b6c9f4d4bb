"""Samplers of noise, and the scales it has for a sensitivity: arrays and numbers in, arrays out.

Noise is *added* by the mechanisms: in `fitted` of each, where it calls `engine.privacy.transcript`
(`sent`, `sent_by_each`, `summed`; `weighed` for choices). In a real release `hardened` draws it
instead. A new kind of noise is

* a sampler here (for whole functions in `engine.mechanisms.families.function_noise`),
* a member of `NoiseLaw` in `engine.core.enumerations`,
* its trade-off in `engine.privacy.tradeoff`, chosen in `engine.privacy.accounting`,
* its loss for the audit in `engine.audit.losses` and `engine.audit.likelihood_ratios`,
* its name in `engine.language.spending`, and if its trade-off is of a new kind, what its odds are
  computed from in `engine.language.odds_words`,
* to publish with it, its lattice: a member of `HardenedNoise` in `hardened`, chosen by
  `_hardened_noise` and taken up by `_PreparedTranscript` in `engine.release.certified`, and its
  name in `engine.release.guarantee_card`,
* and for masked sums, its shares in `shares`.
"""
