"""Samplers of noise, and the scales it has for a sensitivity: arrays and numbers in, arrays out.

Noise is *added* in the files of the mechanisms and of their families, in the line before a call of
`engine.privacy.transcript`: `sent`, `sent_by_each` and `summed` for numbers; `weighed` draws the
noise of choices itself. Nothing else leaves a server, but for two: the smoothing that
`engine.mechanisms.summaries.selection` chooses by noisy scores, which certified releases refuse,
and what a site sends by itself, whose noise `Site` of `engine.sites.site` adds. In a real release
the mechanism adds zeros there, and `engine.release.certified` puts noise by `hardened` in their
place.

A new kind of noise is

* a sampler here (for whole functions in `engine.mechanisms.families.function_noise`, for choices a
  `SelectionLaw` in `selection`); Gaussian noise needs none, `gaussian` has its scales;
* a member of `NoiseLaw` in `engine.core.enumerations`, which every line of a ledger states;
* its trade-off in `engine.privacy.tradeoff`, chosen in `engine.privacy.accounting`;
* its loss for the audit in `engine.audit.losses`, its density in `engine.audit.likelihood_ratios`,
  and for covariances the norm of its loss in `engine.audit.shapes`;
* its name in `engine.language.spending`, in `engine.release.guarantee_card` and
  `engine.release.sentences`, and if its trade-off is of a new kind, what its odds are
  computed from in `engine.language.odds_words`;
* to choose it, an option of the mechanism that draws it.

It can then be looked at and audited; publishing it is refused. To publish with it:

* a zero for it in `ZeroGenerator` of `hardened`, and a class of `HardenedNoise` there, which says
  its name, its unit and its cost;
* `engine.release.certified`: `_hardened_noise` chooses it for a line of the ledger, `summed` of
  `_Rehearsal` and `_PreparedTranscript` let it through, `_charge` adds its cost;
* for masked sums, its shares in `shares`.
"""
