"""Samplers of noise, and the scales it has for a sensitivity: arrays and numbers in, arrays out.

Noise is *added* in the files of the mechanisms and of their families, where they call
`engine.privacy.transcript` or just before: `sent`, `sent_by_each` and `summed` for numbers;
`weighed` draws the noise of choices itself. Exact numbers leave a machine only for a trusted
centre, by `entrusted`; nothing of them is published. Two releases call none of these: the
smoothing that `engine.mechanisms.summaries.selection` chooses by noisy scores, which certified
releases refuse, and what a site sends by itself, whose noise `Site` of `engine.sites.site` adds.
In a real release the mechanism adds zeros there, and `engine.release.certified` puts noise by
`hardened` in their place.

A new kind of noise is

* a sampler here (for whole functions in `engine.mechanisms.families.functional.noise`, for choices
  a `SelectionLaw` in `selection`); Gaussian noise needs none, `gaussian` has its scales;
* a member of `NoiseLaw` in `engine.core.enumerations`, which every line of a ledger states, and its
  name in `engine.language.spending`;
* where δ = 0 and more is known of it than ε, its rows in `_CURVES` and `_PARTS` of
  `engine.privacy.accounting`: the curve of one release, and its part among several. If no pair of
  `engine.privacy.tradeoff` is its worst, they are a `Curve` and a `ReleasePart` there, and
  `engine.language.odds_words` says what odds are computed from;
* a class of `engine.audit.laws`, with its loss and its log-likelihood ratio;
* to choose it, an option of the mechanism that draws it (for a value at one point with its name in
  `engine.topics.regression.words`).

A law is no record of all of this, because each part stands on another floor: what names it may not
import what audits it. It can then be looked at and audited; publishing it is refused. To publish
with it:

* a zero for it in `ZeroGenerator` of `hardened`, and there a class with the attributes of
  `LatticeNoise` and `CountNoise`, which joins them in the union `HardenedNoise`: its law, unit and
  cost, and how it is drawn (with real numbers on a lattice, a case of each in `LatticeNoise`);
* `engine.release.certified`: `_hardened_noise` chooses it for a line of the ledger, `summed` of
  `_Rehearsal` and `_PreparedTranscript` let it through, `_charge` adds its cost, and
  `engine.release.guarantee_card` and `engine.release.sentences` say how that is proved;
* for masked sums, its shares in `shares`.
"""
