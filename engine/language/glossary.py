"""Terms of the field, each with a plain gloss, its formula and where it is met.

This is the one place for glosses: controls get theirs by their label (`of_label`) or by a name
(`explain`), and pages list them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from engine.core.errors import InputError


@dataclass(frozen=True)
class GlossaryTerm:
    """A word of the field with its meaning."""

    name: str
    meaning: str  # in plain words, one or two sentences
    used: str  # where it is met
    formula: str = ""  # LaTeX, without dollar signs; may be empty
    other_names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """All names of the term."""
        return " · ".join((self.name, *self.other_names))


TERMS = (
    # -- the guarantee --
    GlossaryTerm(
        "Privacy budget",
        "ε: how much one person’s data can change the result. No outcome "
        "becomes more likely by more than a factor e^ε (up to δ) if that person’s data are "
        "replaced. Smaller means more private.",
        "The slider of Explore, and every page",
        r"\Pr[M(D)\in A]\le e^{\varepsilon}\Pr[M(D')\in A]+\delta",
        ("ε", "epsilon", "privacy budget ε"),
    ),
    GlossaryTerm(
        "δ",
        "By how much probabilities may exceed the bound given by ε: for no set of outcomes "
        "by more than δ. It must be far below 1/n, with n people in the data; the default is "
        "1/n².",
        "The strip of every page, the options",
        r"\delta \ll 1/n,\qquad\text{by default } 1/n^2",
        ("delta", "failure probability"),
    ),
    GlossaryTerm(
        "Differential privacy",
        "A property of a mechanism: replacing one person’s data by any "
        "others hardly changes the distribution of its output. ε and δ say how little.",
        "All pages",
        r"\Pr[M(D)\in A]\le e^{\varepsilon}\Pr[M(D')\in A]+\delta",
        ("DP",),
    ),
    GlossaryTerm(
        "Unit of protection",
        "What is replaced to make neighbouring data sets: a person’s whole "
        "curve, one observation, one row, or all data of one machine. ε has no meaning without "
        "it.",
        "The strip of every page, the memo of Decide",
        other_names=("unit of privacy",),
    ),
    GlossaryTerm(
        "Event level",
        "Protects one observation of a person: somebody with many observations is protected less.",
        "Lab, regression",
    ),
    GlossaryTerm(
        "Item level",
        "Protects one of several things that a person has in the data, such as one "
        "curve of a person with several. All of them together are protected less. Where one "
        "observation is the thing, this is event level.",
        "The attacker’s accuracy",
    ),
    GlossaryTerm(
        "User level",
        "Protects all that a person has in the data: here the whole curve, with every observation.",
        "The memo of Decide",
    ),
    GlossaryTerm(
        "Neighbouring data sets",
        "Two data sets that differ in one unit of protection. Here one "
        "unit is replaced by another; all sizes stay the same and are public.",
        "Lab, Verify; every proof",
        r"D \sim D' \iff D' = D \text{ with one unit replaced}",
        ("neighbours",),
    ),
    GlossaryTerm(
        "Pure",
        "Differential privacy with δ = 0: the bound given by ε always holds.",
        "Lab, density and sparse regression",
        r"\delta = 0",
        ("pure differential privacy", "(ε, 0)"),
    ),
    GlossaryTerm(
        "Approximate",
        "Differential privacy with δ above zero. At equal ε the definition is "
        "weaker than the pure one; a given mechanism may still protect better.",
        "Explore, Lab",
        r"\delta > 0",
        ("approximate differential privacy", "(ε, δ)"),
    ),
    GlossaryTerm(
        "Group privacy",
        "Several units of one person are protected less than one of them: with "
        "δ = 0, k units have k times the ε.",
        "The attacker’s accuracy",
        r"\varepsilon_k = k\,\varepsilon \quad (\delta = 0)",
    ),
    # -- noise --
    GlossaryTerm(
        "Mechanism",
        "A randomised algorithm that computes a result from data. Each method of the "
        "dashboard is one.",
        "The choice of a method on every page",
        r"M : \text{data} \to \text{random output}",
        ("method",),
    ),
    GlossaryTerm(
        "Sensitivity",
        "The largest change of a statistic when one unit of protection is "
        "replaced. The noise is proportional to it.",
        "The ledger, the method notes",
        r"\Delta = \sup_{D\sim D'}\lVert f(D)-f(D')\rVert",
    ),
    GlossaryTerm(
        "Privacy noise",
        "Random numbers added to a statistic, large enough to hide the "
        "contribution of any one person.",
        "All charts",
        r"f(D) + \text{scale}\cdot Z",
    ),
    GlossaryTerm(
        "Laplace noise",
        "Noise with exponential tails on both sides. With scale sensitivity / ε it gives δ = 0.",
        "Lab",
        r"p(z) \propto e^{-|z|/b},\qquad b = \Delta_1/\varepsilon",
    ),
    GlossaryTerm(
        "Gaussian noise",
        "Normally distributed noise. It needs δ above zero, and composes well "
        "over many releases and many numbers.",
        "Explore, Lab",
        r"Z\sim N(0,\sigma^2),\qquad \mu = \Delta_2/\sigma",
    ),
    GlossaryTerm(
        "Clipping",
        "Values beyond a stated bound are moved to the bound. This makes the "
        "sensitivity finite, and adds bias.",
        "Explore, the options",
        r"\psi_R(h) = h\,\min(1, R/\lVert h\rVert)",
    ),
    GlossaryTerm(
        "Bounds",
        "The smallest and largest possible value, stated from outside the data.",
        "Publish",
        r"\text{value} \in [a, b]",
        ("public bounds",),
    ),
    GlossaryTerm(
        "Public",
        "Known without looking at the data: sizes, bounds, units, the choice of method. "
        "Only public facts may determine the noise.",
        "Publish, the ledger",
        "",
        ("public facts",),
    ),
    GlossaryTerm(
        "Randomised response",
        "Each person gives the true answer with a known probability, and "
        "the opposite otherwise. Averages can be corrected for this; single answers reveal "
        "little.",
        "Lab, sparse regression without a trusted centre",
        r"\Pr[\text{true answer}] = \frac{e^{\varepsilon}}{1+e^{\varepsilon}}",
    ),
    GlossaryTerm(
        "Seed",
        "A number that fixes the random draws, so that a class sees the same chart. Never "
        "used for a release.",
        "The options",
    ),
    # -- composition --
    GlossaryTerm(
        "Release",
        "A result published once, with fresh noise, and recorded in the ledger. Charts "
        "on the other pages are simulations.",
        "Publish",
    ),
    GlossaryTerm(
        "Composition",
        "Several releases about the same people add up: together they cost more "
        "privacy than each alone.",
        "The ledger",
        r"\varepsilon_{1..k}\le\sum_i\varepsilon_i,\qquad \mu^2=\sum_i\mu_i^2",
    ),
    GlossaryTerm(
        "Parallel composition",
        "Releases about different people do not add up, as each person is in only one of them.",
        "Decide, several sites",
        r"\varepsilon = \max_s \varepsilon_s",
    ),
    GlossaryTerm(
        "Post-processing",
        "Whatever is computed from a release alone costs no further budget.",
        "Confidence bands, smoothing after a release",
    ),
    GlossaryTerm(
        "Ledger",
        "The record of the budget spent: every message with its sensitivity and noise, "
        "and the total by composition.",
        "Publish, and the details of every estimate",
    ),
    GlossaryTerm(
        "μ",
        "The strength of Gaussian noise as one number: the attacker has to tell a standard "
        "normal variable from one shifted by μ. Squares of μ add up.",
        "The ledger",
        r"\delta(\varepsilon)=\Phi\big(\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu}\big)"
        r"-e^{\varepsilon}\Phi\big(-\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu}\big)",
        ("Gaussian differential privacy", "mu"),
    ),
    GlossaryTerm(
        "zCDP",
        "Zero-concentrated differential privacy: a guarantee by one number ρ, which "
        "adds up over releases of any kind and is converted to (ε, δ) at the end.",
        "Lab, Publish",
        r"D_\alpha(M(D)\,\Vert\,M(D'))\le\rho\,\alpha",
        ("ρ", "zero-concentrated privacy"),
    ),
    GlossaryTerm(
        "Trade-off curve",
        "The largest power of an attack at each false-positive rate. It "
        "describes the privacy of a mechanism completely.",
        "The attacker’s accuracy",
        r"f(\alpha)=\inf\{\text{misses} : \text{false positives}\le\alpha\}",
    ),
    GlossaryTerm(
        "Attacker’s accuracy",
        "How often, at most, an attacker who knows all other data picks "
        "the right one of two possibilities for one person. Guessing gives 50 %.",
        "The strip of every page",
        r"\text{accuracy}\le\Phi(\mu/2),\qquad \text{or}\quad "
        r"\frac{e^{\varepsilon}+\delta}{1+e^{\varepsilon}}",
        ("odds", "attacker"),
    ),
    GlossaryTerm(
        "Amplification",
        "A secret random sample is better protected against attackers who do not "
        "know who was drawn. It must be declared.",
        "The attacker’s accuracy",
        r"\varepsilon' = \log\big(1+q(e^{\varepsilon}-1)\big)",
        ("secret sample",),
    ),
    GlossaryTerm(
        "Audit",
        "An attack on a mechanism by its authors. It gives a lower bound on ε; an audit "
        "that finds nothing proves nothing.",
        "Lab, Verify",
    ),
    # -- accuracy --
    GlossaryTerm(
        "Estimand", "The quantity to be estimated: here a curve, such as the mean.", "Lab"
    ),
    GlossaryTerm(
        "True mean",
        "The mean curve of the population that people are drawn from. Errors are "
        "distances from it; it is known of simulated people only.",
        "Explore, Lab, lessons",
        r"f(t)=\mathrm{E}f_i(t)",
    ),
    GlossaryTerm(
        "Non-private mean",
        "The mean curve of the people in the data, estimated in the same way "
        "but without privacy noise. It differs from the true mean by sampling variability and "
        "bias.",
        "Explore, lessons",
        other_names=("without privacy",),
    ),
    GlossaryTerm(
        "Adaptive mean",
        "The default method for a mean curve: it learns in a few small releases "
        "how far people are from the mean, clips there, and so needs less noise.",
        "Explore, Lab",
    ),
    GlossaryTerm(
        "Estimator",
        "A rule that computes an estimate from data. Here it is private: it adds noise.",
        "Lab",
        r"\tilde f = \tilde f(\text{data})",
    ),
    GlossaryTerm(
        "Error",
        "The root mean squared distance between a release and the true curve, over the "
        "whole range and all releases. The 95 % value is the distance that 95 % of releases stay "
        "within.",
        "Every page, the memo, the command line",
        r"\Big(\mathrm{E}\int(\tilde f-f)^2\Big)^{1/2}",
        ("root mean squared distance",),
    ),
    GlossaryTerm(
        "Floor",
        "The error that no unbiased method with Gaussian noise can be below, for "
        "simulated people whose covariance is known: the least noise for this guarantee, sampling "
        "variability, and what is left out. Biased estimates can beat it: "
        "they trade bias for noise. It falls with more people, more "
        "observations or a larger budget.",
        "Accuracy on Explore; Decide; Lab",
        r"F_2=\frac{4}{(n\mu)^2}\max_B\frac{(\operatorname{tr}B)^2}{M(B)^2}",
        ("floor of unbiased methods",),
    ),
    GlossaryTerm(
        "Integrated squared error",
        "The squared distance between two curves, averaged over time.",
        "Lab, Theory; the command line",
        r"\int_0^1(\tilde f(t)-f(t))^2\,dt",
        ("ISE",),
    ),
    GlossaryTerm(
        "Bias",
        "How far releases are from the truth on average: from smoothing, clipping and "
        "rounding to a grid. More people do not reduce it.",
        "Sources of the error",
        r"\mathrm{E}\tilde f - f",
    ),
    GlossaryTerm(
        "Privacy noise range",
        "The spread of releases of the same data, caused by the added "
        "noise. It shrinks with more people and a larger ε.",
        "Explore, Share",
    ),
    GlossaryTerm(
        "Sampling range",
        "The spread of the mean over random samples of people. It is there "
        "without privacy as well.",
        "Explore, Share",
        "",
        ("sampling variability",),
    ),
    GlossaryTerm(
        "Confidence band",
        "A region around a released curve that covers the true curve in 95 % "
        "of releases: at each time (pointwise), or everywhere at once (simultaneous).",
        "Explore, Lab",
        other_names=("band",),
    ),
    GlossaryTerm(
        "Confidence interval",
        "A range around a released number that covers the true number in 95 % of releases.",
        "Lab",
    ),
    GlossaryTerm(
        "Coverage",
        "How often a confidence band or interval contains the truth when data and "
        "noise are drawn again and again.",
        "Lab, Verify",
        r"\Pr[\,\text{lower}\le\theta\le\text{upper}\,]",
    ),
    GlossaryTerm(
        "Minimax rate",
        "How fast the error of the best mechanism falls with the sizes, in the "
        "worst case and up to a constant.",
        "Lab, Theory",
        r"\inf_M\sup_f\mathrm{E}\lVert M-f\rVert^2\asymp n^{-a}",
    ),
    GlossaryTerm(
        "Regime",
        "A range of sizes in which one term of the error dominates: number of people, "
        "sparse observations, or privacy.",
        "Lab, Theory",
    ),
    # -- curves --
    GlossaryTerm(
        "Curve",
        "A function of time, or of another variable, that belongs to one person and is "
        "observed at some points.",
        "All pages",
        r"Y_{ij} = f_i(t_{ij}) + \text{error}",
    ),
    GlossaryTerm(
        "Observation", "One value of one curve, with its time.", "All pages", r"(t_{ij}, Y_{ij})"
    ),
    GlossaryTerm(
        "Sparse observations",
        "Few points on each curve: more observations per curve help as much as more people.",
        "Lab, Theory",
        r"m \lesssim n^{1/(2\alpha)}",
        ("sparse",),
    ),
    GlossaryTerm(
        "Dense observations",
        "Many points on each curve: further observations hardly help, only more people do.",
        "Lab, Theory",
        r"m \gtrsim n^{1/(2\alpha)}",
        ("dense",),
    ),
    GlossaryTerm(
        "Smoothness",
        "How quickly a curve may bend. The smoother it is assumed to be, the fewer "
        "basis functions describe it.",
        "Lab",
        r"\alpha",
        ("α",),
    ),
    GlossaryTerm(
        "Basis function",
        "One of a fixed set of curves, such as sines, splines or wavelets, "
        "whose weighted sum approximates any curve. The weights are its coefficients.",
        "Lab, the options",
        r"f=\sum_{l\le r}a_l\varphi_l",
        ("basis", "coefficients"),
    ),
    GlossaryTerm(
        "Wavelets",
        "Basis functions that are local, at every position and of every width: good "
        "for curves with sharp bends.",
        "Lab, regression",
        r"f=\sum_k c_k\varphi_{Jk}",
    ),
    GlossaryTerm(
        "Kernel",
        "The covariance of a random curve at two times. It makes the noise as smooth as "
        "the curves.",
        "Lab, density and covariance",
        r"C(s,t)=\sum_j\lambda_j\phi_j(s)\phi_j(t)",
    ),
    GlossaryTerm(
        "Penalty",
        "A cost for roughness that draws an estimate towards smooth curves.",
        "Lab, density and covariance",
        r"\psi\,\lVert f\rVert_{C,\eta}^2",
    ),
    GlossaryTerm(
        "Density",
        "How records are distributed over their range: high where there are many.",
        "Lab, density and covariance",
    ),
    GlossaryTerm(
        "Covariance",
        "How values at two times vary together, over people.",
        "Lab, density and covariance",
        r"C(s,t)=\mathrm{Cov}(f(s),f(t))",
    ),
    GlossaryTerm(
        "Component",
        "A direction in which people’s curves differ, such as level or trend, with its share of "
        "how they vary. A release of the mean curve tells the first ones at no further cost.",
        "How people differ, on Publish and in Lab",
        r"C(s,t)=\sum_k\lambda_k\varphi_k(s)\varphi_k(t)",
        ("principal component",),
    ),
    GlossaryTerm(
        "Covariate",
        "A number known of every person, such as age or dose, that may influence the curve.",
        "Lab, varying coefficients",
        r"f_i=\beta_0+\sum_k g_{ik}\beta_k",
    ),
    GlossaryTerm(
        "Sparse regression",
        "Regression on many features, only a few of which matter.",
        "Lab, sparse regression",
        r"y=x'\beta+\text{error},\qquad\lVert\beta\rVert_0\le s",
    ),
    GlossaryTerm(
        "Change",
        "The difference between two periods of the same person. A mean of changes has bounds of its "
        "own, usually narrower than those of levels, and so less noise.",
        "Publish, and releases over time on Decide",
        r"d_i(t)=f_{i2}(t)-f_{i1}(t)",
    ),
    GlossaryTerm(
        "Shrinkage",
        "Drawing noisy curves of groups towards what all groups share, as far as their noise asks "
        "for it. It costs no budget.",
        "Many groups of a released curve",
        r"\tilde\theta_s=(1-B_s)\hat\theta_s+B_s\hat\beta",
    ),
    # -- who is trusted --
    GlossaryTerm(
        "Central differential privacy",
        "One trusted centre holds all data and adds noise once.",
        "Decide, Lab, Theory",
        r"N=n\,\mu",
        ("CDP", "central", "trusted centre"),
    ),
    GlossaryTerm(
        "Federated differential privacy",
        "Each site keeps its data and adds its own noise before anything leaves it. Its own "
        "people trust it, and nobody else has to.",
        "Decide, Lab, Theory",
        r"N=n\,\mu/\sqrt S\quad\text{for } S \text{ sites alike}",
        ("FDP", "federated"),
    ),
    GlossaryTerm(
        "Local differential privacy",
        "Nobody is trusted: each person’s own device adds noise before anything leaves "
        "it. Every person is a site of size one, so that N grows with √n only.",
        "Decide, Theory",
        r"N=\sqrt n\,\mu",
        ("LDP", "local", "local privacy", "nobody trusted"),
    ),
    GlossaryTerm(
        "Effective size",
        "What people and budget are worth together. Below 12 nothing is "
        "released. One trusted centre with n people has nμ, k sites alike nμ/√k, and people who "
        "each add noise √n μ.",
        "Explore, Decide",
        r"N=\sqrt{\textstyle\sum_s(n_s\mu_s)^2}",
    ),
    GlossaryTerm(
        "Interaction",
        "How often the centre asks. One message: every site or device answers "
        "once, to a question that is fixed in advance. Several rounds, or sequential: each "
        "question depends on earlier answers. With full interaction sites also talk to each "
        "other in any order; no method here needs it.",
        "The memo of Decide",
        "",
        ("sequential interaction", "non-interactive", "full interaction"),
    ),
    GlossaryTerm(
        "Masked sum",
        "Sites mask what they send, so that only the sum can be read. Each adds a "
        "share of the noise; of S sites one may work with the centre, and the noise variance is "
        "S/(S − 1) times that of a trusted centre.",
        "Decide, Sites, sparse regression",
        "",
        ("secure aggregation",),
    ),
    GlossaryTerm(
        "Simulated",
        "Drawn by the computer from a known mean; no person is behind it.",
        "The strip of every page",
    ),
    # -- survival --
    GlossaryTerm(
        "Late entry",
        "People come under observation after their own time began, as in registers. Until then "
        "nobody would have seen their event, so they do not count among those at risk.",
        "Survival and other counts, and files with a column of starts",
        r"Y_k=\sum_{j<k}a_j-\sum_{j<k}(d_j+c_j)",
        ("left truncation",),
    ),
    GlossaryTerm(
        "Visits",
        "People are seen at public times alone, and may miss some: of an event it is known between "
        "which two visits it was.",
        "Survival and other counts, and files with a last visit without the event",
        r"S_k=1-\sum_{j\le k}p_j",
        ("interval censoring",),
    ),
    GlossaryTerm(
        "Adjusted curve",
        "One survival curve of several groups (strata), in which each counts by a public weight: "
        "survival if the groups had these shares.",
        "Survival and other counts",
        r"S(t)=\sum_g w_g S_g(t)",
        ("strata",),
    ),
    GlossaryTerm(
        "Restricted mean",
        "The mean time without an event up to a stated time: the area under a survival curve.",
        "Survival and other counts, and questions to a released curve",
        r"\int_0^\tau S(t)\,dt",
    ),
)
_BY_NAME = {name.casefold(): term for term in TERMS for name in (term.name, *term.other_names)}


def find(name: str) -> GlossaryTerm:
    """Find the term with this name, or one of its other names.

    Examples
    --------
    >>> find("epsilon").name
    'Privacy budget'
    """
    term = _BY_NAME.get(name.casefold())
    if term is None:
        raise InputError(
            f"The glossary has no term {name!r}.",
            field="term",
            hint="Names are those of engine.language.glossary.TERMS.",
        )
    return term


def alphabetical() -> tuple[GlossaryTerm, ...]:
    """Sort all terms by the alphabet, Greek letters where their names would be.

    Examples
    --------
    >>> [term.name for term in alphabetical() if term.name[0] in "Dδ"][:2]
    ['δ', 'Dense observations']
    """
    return tuple(sorted(TERMS, key=lambda term: "".join(map(_spelled, term.name)).casefold()))


def _spelled(letter: str) -> str:
    name = unicodedata.name(letter)
    return name.rpartition(" ")[2] if name.startswith("GREEK") else letter


def explain(name: str, more: str = "") -> str:
    """Explain a term in plain words, with more sentences that are particular to a control."""
    return f"{find(name).meaning} {more}".strip()


def of_label(label: str) -> str | None:
    """Explain the term that names a control; None if no term does.

    Case and text in parentheses, such as a unit or symbol, do not count.

    Examples
    --------
    >>> of_label("Sensitivity (Δ)") == explain("sensitivity"), of_label("Colour")
    (True, None)
    """
    term = _BY_NAME.get(re.sub(r"\s*\(.*?\)", "", label).strip().casefold())
    return None if term is None else term.meaning


def search(words: str) -> tuple[GlossaryTerm, ...]:
    """Terms that hold every word, those that have it in their name first; all for no word."""
    wanted = words.casefold().split()
    matches = [
        term
        for term in TERMS
        if all(word in f"{term.title} {term.meaning} {term.used}".casefold() for word in wanted)
    ]
    return tuple(
        sorted(matches, key=lambda term: not all(w in term.title.casefold() for w in wanted))
    )
