"""The words of settings in links, which links of earlier editions have: they never change."""

from __future__ import annotations

# Settings whose word differs from their name.
_WORD_OF = {
    "explore_view": "view",
    "further_lines": "shown",
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
    "rate_curve_axis": "against",
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
