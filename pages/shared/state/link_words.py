"""The words of settings in links, which links of earlier editions have: they never change."""

from __future__ import annotations

from collections.abc import Mapping

# Settings whose word differs from their name.
_WORD_OF = {
    "explore_view": "view",
    "further_lines": "shown",
    "theory_along": "axis",
    "theory_sites": "federated",
    "shape_question": "shape",
    "group_size": "group",
    "decided_task": "decided",
    "noise_place": "noise",
    "unknown_quantity": "unknown",
    "target_distance": "target",
    "typical_error": "typical",
    "attacker_accuracy": "risk",
    "epsilon_limit": "rule",
    "budget_split": "split",
    "learn_part": "learn",
    "class_code": "class",
    "compared_methods": "methods",
    "compared_budgets": "budgets",
    "lab_tab": "tab",
    "compare_part": "comparison",
    "theory_part": "theory",
    "evaluation_point": "point",
    "summary_task": "summary",
    "counted_task": "counted",
    "rate_axis": "along",
    "rate_second_axis": "across",
    "rate_preset": "example",
    "rate_constants": "constants",
    "audit_part": "part",
    "audited_method": "audited",
    "audited_data": "around",
    "planted_fault": "variant",
    "coverage_limits": "limits",
    "second_epsilon": "again",
    "second_noise": "draw",
    "published_task": "publish",
    "publish_step": "step",
    "guide_chapter": "chapter",
    "notes_method": "about",
    "open_folds": "open",
}


def word_of(setting: str) -> str:
    """Return the word of a field of `Settings` in links."""
    return _WORD_OF.get(setting, setting)


# Until version 0.5.0 the mean of curves was a summary as well, with two letters of its own.
_SUMMARY_OF_CURVES = "functional_summary"
_LETTERS = {"f": "c", "p": "m"}
_GONE = ("against",)  # words of choices that no page has any more
_FIRST_CHOICE = {"f": "dense_curves", "p": "iclp"}


def of_today(words: Mapping[str, str]) -> dict[str, str]:
    """Read an earlier link to a summary of curves as one to the mean, with its data and method.

    >>> of_today({"estimand": "summaries", "f": "dense_curves", "f.n_curves": "90"})
    {'c': 'dense_curves', 'm': 'iclp', 'c.n_curves': '90'}
    """
    words = {name: text for name, text in words.items() if name not in _GONE}
    kind = words.get("summary", _SUMMARY_OF_CURVES)
    is_shown = words.get("estimand") == "summaries" and kind == _SUMMARY_OF_CURVES
    is_wanted = is_shown or words.get("sweep.task") == _SUMMARY_OF_CURVES
    kept, moved = dict[str, str](), dict[str, str]()
    for name, text in ({**_FIRST_CHOICE, **words} if is_wanted else words).items():
        letter = name.partition(".")[0]
        if letter in _LETTERS:
            moved[_LETTERS[letter] + name[1:]] = text
        elif text != _SUMMARY_OF_CURVES and not (is_shown and name == "estimand"):
            kept[name] = text
    if not is_wanted:
        return kept
    return {n: t for n, t in kept.items() if n.partition(".")[0] not in _LETTERS.values()} | moved
