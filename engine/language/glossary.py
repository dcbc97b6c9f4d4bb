"""Words of the field, each explained in a plain sentence, with its formula and where it is met.

Pages show them as a list, and take single ones with `explain`.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.errors import InputError


@dataclass(frozen=True)
class Term:
    """A word of the field with its meaning.

    Parameters
    ----------
    name : str
        The word.
    meaning : str
        In plain words, one or two sentences.
    used : str
        Where it is met.
    formula : str
        LaTeX, without dollar signs; may be empty.
    other_names : tuple of str
        What it is also called.
    """

    name: str
    meaning: str
    used: str
    formula: str = ""
    other_names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """All names of the term."""
        return " · ".join((self.name, *self.other_names))


TERMS = (
    # -- what is promised --
    Term("ε", "Limits how much one person can shift what is published: exchanging their data makes "
         "no outcome more likely by more than the factor e^ε. Smaller means better protected.",
         "The slider of Explore, and the strip of every page",
         r"\Pr[M(D)\in A]\le e^{\varepsilon}\Pr[M(D')\in A]+\delta",
         ("epsilon", "protection", "privacy budget")),
    Term("δ", "The small chance that the limit set by ε may fail. It must stay far below one in "
         "the number of people.", "The strip of every page, More options",
         r"\delta \ll 1/n,\qquad\text{usually } 1/n^2", ("delta",)),
    Term("Differential privacy", "A promise about a way to publish: whatever one person’s data "
         "are, what comes out would have been nearly as likely with others in their place.",
         "All pages", r"\Pr[M(D)\in A]\le e^{\varepsilon}\Pr[M(D')\in A]+\delta"),
    Term("Unit of protection", "What may be exchanged without being noticed: one person’s whole "
         "curve, one reading, one row, one machine. ε means nothing without it.",
         "The strip of every page"),
    Term("Neighbours", "Two data sets that differ in one unit of protection. Here one unit is "
         "replaced by another, and all sizes stay the same and public.", "Audit, and every proof",
         r"D \sim D' \iff D' = D \text{ with one unit replaced}", ("neighbouring data",)),
    Term("Pure", "A promise with δ = 0: the limit always holds.", "Summaries, Sparse regression",
         r"\delta = 0", ("pure privacy", "(ε, 0)")),
    Term("Approximate", "A promise that may fail with the chance δ. At equal ε it is weaker than a "
         "pure one.", "Explore, Summaries", r"\delta > 0", ("(ε, δ)",)),
    Term("Group privacy", "What protects one unit protects several together less: k units of one "
         "person have k times the ε where δ = 0.", "The odds card",
         r"\varepsilon_k = k\,\varepsilon \quad (\delta = 0)"),
    # -- how noise is made --
    Term("Mechanism", "A randomised way to compute something from data. Pages call it a method.",
         "The choice Method on every page", r"M : \text{data} \to \text{random output}",
         ("method",)),
    Term("Sensitivity", "The most that replacing one unit can change what is computed, before "
         "noise. It decides how much noise is needed.", "The ledger, Method notes",
         r"\Delta = \sup_{D\sim D'}\lVert f(D)-f(D')\rVert"),
    Term("Privacy noise", "Random numbers that are added so that one person’s part cannot be told "
         "from chance.", "All pictures", r"f(D) + \text{scale}\cdot Z"),
    Term("Laplace noise", "Noise with two exponential tails. It gives δ = 0 if its scale is the "
         "sensitivity over ε.", "Summaries, Regression at single points",
         r"p(z) \propto e^{-|z|/b},\qquad b = \Delta_1/\varepsilon"),
    Term("Gaussian noise", "Normal noise. It needs δ above 0, and adds up well over many releases "
         "and many numbers.", "Explore, Sites, Regression",
         r"Z\sim N(0,\sigma^2),\qquad \mu = \Delta_2/\sigma"),
    Term("Clipping", "Whatever lies beyond a stated limit is moved to it, so that no person counts "
         "too much. It makes sensitivity finite, and adds bias.", "Explore, More options",
         r"\psi_R(h) = h\,\min(1, R/\lVert h\rVert)"),
    Term("Bounds", "The lowest and highest possible value, stated from outside the data.",
         "Use my curves", r"\text{value} \in [a, b]", ("public bounds",)),
    Term("Public", "Known without looking at the data: sizes, bounds, units, the choice of method. "
         "Only such facts may decide how noise is made.", "Use my curves, the ledger"),
    Term("Randomised response", "Each person tells the truth with a stated chance and the opposite "
         "otherwise; averages can be corrected, single answers cannot be trusted.",
         "Sparse regression, without trust",
         r"\Pr[\text{true answer}] = \frac{e^{\varepsilon}}{1+e^{\varepsilon}}"),
    Term("Seed", "A number that fixes chance, so that a class sees the same picture. Never used "
         "for a release.", "Explore, More options"),
    # -- how it adds up --
    Term("Release", "What is published once, for real, with fresh noise, and written in the "
         "ledger. Pictures on other pages are not releases.", "Release"),
    Term("Composition", "Several releases about the same people add up: together they tell more "
         "than each alone.", "The ledger of every page",
         r"\varepsilon_{1..k}\le\sum_i\varepsilon_i,\qquad \mu^2=\sum_i\mu_i^2"),
    Term("Parallel composition", "Releases about different people do not add up: each person is in "
         "one of them only.", "Sites", r"\varepsilon = \max_s \varepsilon_s"),
    Term("Post-processing", "Whatever is computed from a release alone costs nothing more.",
         "Bands, smoothing after a release"),
    Term("Ledger", "The list of what was spent: every message, its sensitivity, its noise, and "
         "how the costs add up.", "The fold What was spent, and Release"),
    Term("μ", "The strength of Gaussian noise as one number: the attacker’s task is to tell a "
         "normal variable from one moved by μ. Squares of μ add.", "The ledger",
         r"\delta(\varepsilon)=\Phi\big(\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu}\big)"
         r"-e^{\varepsilon}\Phi\big(-\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu}\big)",
         ("Gaussian differential privacy", "mu")),
    Term("zCDP", "Another way to count, by one number ρ that adds over releases of any kind and is "
         "turned into (ε, δ) once, at the end.", "Sparse regression, Release",
         r"D_\alpha(M(D)\,\Vert\,M(D'))\le\rho\,\alpha", ("ρ", "zero-concentrated privacy")),
    Term("Trade-off curve", "For every rate of false alarms an attacker accepts, the most they can "
         "catch. It says all about a method’s protection.", "The odds card",
         r"f(\alpha)=\inf\{\text{misses} : \text{false alarms}\le\alpha\}"),
    Term("Odds", "How often an attacker who knows everything else, and has two candidates for one "
         "person, picks the right one, at most.", "The odds card",
         r"\text{right}\le\Phi(\mu/2),\qquad \text{or}\quad "
         r"\frac{e^{\varepsilon}+\delta}{1+e^{\varepsilon}}", ("right guess",)),
    Term("Amplification", "A secret random sample protects more against those who do not know who "
         "was drawn. It must be declared.", "The odds card",
         r"\varepsilon' = \log\big(1+q(e^{\varepsilon}-1)\big)", ("secret sample",)),
    Term("Audit", "An attack on a method by its makers: whatever it finds is a lower bound on what "
         "is really spent. Finding nothing proves nothing.", "Audit"),
    # -- how wrong it is --
    Term("Error", "The root mean squared distance of a release from the truth, averaged over the "
         "whole curve and over releases. Beside it stands the distance that 95 % of releases stay "
         "within.", "Every page, Plan, the memo, the command line",
         r"\Big(\mathrm{E}\int(\tilde f-f)^2\Big)^{1/2}", ("root mean squared distance",)),
    Term("Integrated squared error", "The squared distance between two curves, averaged over time.",
         "Rates, Sweeps, the command line", r"\int_0^1(\tilde f(t)-f(t))^2\,dt", ("ISE",)),
    Term("Bias", "Error that does not shrink with more people: from smoothing, clipping and "
         "rounding to a grid.", "What limits accuracy",
         r"\mathrm{E}\tilde f - f"),
    Term("Privacy noise range", "Where releases of the same data fall, because of the noise that "
         "is added. It shrinks with more people and a larger ε.", "Explore, Numbers and files"),
    Term("Sampling range", "How far chance in who took part moves the result. It is there without "
         "protection, too.", "Explore, Numbers and files"),
    Term("Band", "Limits around a released curve that hold the truth in 95 of 100 cases, at each "
         "time or all along the curve.", "Explore", other_names=("confidence band",)),
    Term("Coverage", "How often limits hold the truth when everything is repeated.", "Audit",
         r"\Pr[\,\text{lower}\le\theta\le\text{upper}\,]"),
    Term("Minimax rate", "How fast the error of the best method must fall, in the worst case, as "
         "sizes grow; up to a constant.", "Rates",
         r"\inf_M\sup_f\mathrm{E}\lVert M-f\rVert^2\asymp n^{-a}"),
    Term("Regime", "A range of sizes in which one term of the error is largest: people, sparse "
         "readings, privacy.", "Rates"),
    # -- curves --
    Term("Curve", "A function of time, or of something else, that belongs to one person, known at "
         "some points.", "All pages", r"Y_{ij} = f_i(t_{ij}) + \text{error}"),
    Term("Sparse readings", "Few points on each curve: then more readings help as much as more "
         "people.", "Rates", r"m \lesssim n^{1/(2\alpha)}", ("sparse",)),
    Term("Dense readings", "Many points on each curve: then more readings help no further, only "
         "more people do.", "Rates", r"m \gtrsim n^{1/(2\alpha)}", ("dense",)),
    Term("Smoothness", "How quickly a curve may bend. The smoother it is stated to be, the fewer "
         "waves describe it.", "More options, Rates", r"\alpha", ("α",)),
    Term("Basis", "Fixed curves, such as waves or wavelets, whose mixture describes any curve by a "
         "few numbers.", "More options", r"f=\sum_{l\le r}a_l\varphi_l"),
    Term("Wavelets", "Short waves at every place and in every width: good for curves that bend "
         "sharply somewhere.", "Regression", r"f=\sum_k c_k\varphi_{Jk}"),
    Term("Kernel", "Says how alike the values of a random curve are at two times; it gives noise "
         "the shape of a smooth curve.", "Summaries", r"C(s,t)=\sum_j\lambda_j\phi_j(s)\phi_j(t)"),
    Term("Penalty", "A price for roughness that pulls an estimate towards smooth curves.",
         "Summaries", r"\psi\,\lVert f\rVert_{C,\eta}^2"),
    Term("Density", "How records are spread over their range: high where many of them lie.",
         "Summaries"),
    Term("Covariance", "How values at two times go together, over people.", "Summaries",
         r"C(s,t)=\mathrm{Cov}(f(s),f(t))"),
    Term("Covariate", "A number known of every person, such as age or dose, that may shape the "
         "curve.", "Varying coefficients", r"f_i=\beta_0+\sum_k g_{ik}\beta_k"),
    Term("Sparse regression", "A response depends on few of many features; which ones is to be "
         "found.", "Sparse regression", r"y=x'\beta+\text{error},\qquad\lVert\beta\rVert_0\le s"),
    # -- who is trusted --
    Term("Central", "One trusted holder has all data and adds noise once.", "Sites, Rates",
         other_names=("trusted centre",)),
    Term("Federated", "Each site keeps its people’s data and adds its own noise before anything "
         "leaves.", "Sites, Regression"),
    Term("Local", "Nobody is trusted: each person adds noise alone.", "Rates",
         other_names=("local privacy",)),
    Term("Masked sum", "Machines mask what they send, so that only the sum can be read.",
         "Sparse regression"),
    Term("Simulated", "Made by the computer from a known average. No person is behind it.",
         "The strip of every page"),
)
_BY_NAME = {name.casefold(): term for term in TERMS for name in (term.name, *term.other_names)}


def find(name: str) -> Term:
    """The term with this name, or one of its other names.

    Parameters
    ----------
    name : str
        In any case.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> find("epsilon").name
    'ε'
    """
    term = _BY_NAME.get(name.casefold())
    if term is None:
        raise InputError(f"The glossary has no term {name!r}.", field="term",
                         hint="Names are those of engine.language.glossary.TERMS.")
    return term


def explain(name: str) -> str:
    """What a term means, in plain words, for a tooltip or a sentence.

    Parameters
    ----------
    name : str
        Of the term, or one of its other names.

    Raises
    ------
    InputError
        If there is none.
    """
    return find(name).meaning


def search(words: str) -> tuple[Term, ...]:
    """Terms that hold every word, those that have it in their name first; all for no word.

    Parameters
    ----------
    words : str
        Parts of words count, too; in any case.
    """
    wanted = words.casefold().split()
    matches = [term for term in TERMS if all(
        word in f"{term.title} {term.meaning} {term.used}".casefold() for word in wanted)]
    return tuple(sorted(matches, key=lambda term: not all(w in term.title.casefold()
                                                          for w in wanted)))
