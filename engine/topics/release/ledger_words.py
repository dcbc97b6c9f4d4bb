"""Sentences about the file of the ledger, for the holder of the data alone, in plain text."""

from __future__ import annotations

from engine.language.numbers import small
from engine.release.books import Odometer
from engine.release.repair import Repaired, State
from engine.release.sentences import became

_FEW = 6  # significant digits


def verified(state: State) -> list[str]:
    """Whether the ledger can be believed, and what was spent by it.

    Parameters
    ----------
    state : State
        From `engine.release.repair.verify`.

    Returns
    -------
    list of str
        Lines.
    """
    if state.problem is not None:
        return [f"Wrong: {state.problem}", _counts(state)]
    if not state.exists:
        return ["There is no ledger yet, and no witness of one: nothing was ever charged here."]
    out = [f"Right: all {state.n_rows} entries have their seals, and the witness lists every "
           "charge." if state.is_witnessed else
           f"Right: all {state.n_rows} entries have their seals. The last line of the witness is "
           "missing, because a process was ended there; it is written before anything else."]
    if state.n_damaged:
        out.append(f"{state.n_damaged} lines of the witness are unfinished or damaged, and are "
                   "written again.")
    for odometer in state.odometers:
        out += spent(odometer)
    return out


def _counts(state: State) -> str:
    if not state.exists:
        return f"There is no ledger; the witness has {state.n_lines} lines."
    damaged = f", {state.n_damaged} more are damaged" if state.n_damaged else ""
    return (f"{state.n_rows} of its entries can be read, {state.n_intact} with a good seal; the "
            f"witness has {state.n_lines} lines{damaged}.")


def spent(odometer: Odometer) -> list[str]:
    """What was spent on one group of people, and all of their releases.

    Parameters
    ----------
    odometer : Odometer
        Of the group.
    """
    lines = [f"{odometer.label}: ε = {odometer.spent_epsilon:.{_FEW}g} of "
             f"{odometer.total.epsilon:.{_FEW}g}, "
             f"δ = {small(odometer.spent_delta)} of {small(odometer.total.delta)} spent."]
    for entry in odometer.entries:
        note = became(entry)
        lines.append(f"  {entry.at[:10]} {entry.release_id or 16 * '-'} ε = "
                     f"{entry.budget.epsilon:.{_FEW}g} {entry.name or entry.what}"
                     + (f" ({note})" if note else ""))
    return lines


def repaired(done: Repaired | None) -> list[str]:
    """What a repair did.

    Parameters
    ----------
    done : Repaired or None
        From `engine.release.repair.repair`.
    """
    if done is None:
        return ["Nothing to repair: the ledger can be believed."]
    if done.added:
        return [f"The ledger is sound. Its witness lacked {done.added} lines, which were written "
                "again from the ledger. Should the ledger have been set back as well, nobody can "
                "know."]
    out = ["A new ledger was made from what can still be read and from the witness."]
    if done.damaged_file:
        out.append(f"The damaged one is kept beside it as {done.damaged_file}.")
    for label, more in done.more.items():
        out.append(f"{label}: ε = {more / 1e9:.9g} was charged beyond the entries that can be "
                   "read, because the witness says so.")
    if done.closed:
        out.append("Too little is known of what is gone, so nothing is left for anybody in it.")
    if done.unknown:
        out.append("Of some people it is no longer known who they were. Whoever publishes new data "
                   "is asked whether they are the same.")
    for odometer in done.odometers:
        out += spent(odometer)
    return out
