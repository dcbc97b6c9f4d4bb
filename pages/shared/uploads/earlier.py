"""AnswerRows to the questions about a file, from the settings of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.release.request import StatedFacts, stated_in
from pages.shared.frame.controls import kept, show_kept, written
from pages.shared.uploads import fields
from pages.shared.uploads.files import key_of
from pages.shared.uploads.statements import MAX_LISTED, Bound


def draw() -> None:
    """Take statements over from the saved settings of an earlier release."""
    st.file_uploader(
        "Settings of an earlier release: again.json",
        "json",
        key="upload_settings",
        on_change=_restore,
        max_upload_size=1,
    )
    show_kept("upload_settings_problem")


def _restore() -> None:
    """Fill the fields with what the settings of an earlier release state; they stay free."""
    file = st.session_state.upload_settings
    if file is not None:
        with kept("upload_settings_problem"):
            stated = stated_in(file.getvalue().decode("utf-8", "replace"))
            st.session_state.update(_fields(stated))


def _fields(stated: StatedFacts) -> dict[str, Any]:
    """Return the fields of the form, by key, as that file states them."""
    design = stated.design
    found: dict[str, Any] = {
        **{name: word[: fields.LONGEST] for name, word in stated.words.items()},
        **{name: _written(number) for name, number in stated.numbers.items()},
        **stated.flags,
        "law": design.law,
        "gap": _written(design.gap),
        "window": _written(design.window),
        "times": _typed(design.times),
        "heights": _typed(design.heights),
        "event_edges": _typed(stated.edges),
        "origin": stated.words.get("origin"),
    }
    if planned := found.pop("observations_per_curve", None):
        found["observations"] = planned
    for covariate in stated.covariates:
        key = f"covariate_{covariate.name}"
        found |= {
            f"{key}_low": _written(covariate.low),
            f"{key}_high": _written(covariate.high),
            f"{key}_unit": covariate.unit[: fields.LONGEST],
        }
    of_rows = {
        "rows_two_classes": found.pop("two_classes", None),
        key_of("rows_others"): [covariate.name for covariate in stated.features]
        if len(stated.features) > MAX_LISTED
        else None,
    }
    by_key = {f"upload_{name}": value for name, value in found.items()} | of_rows
    return {key: value for key, value in by_key.items() if value is not None}


def _typed(numbers: Sequence[float]) -> str | None:
    return ", ".join(map(written, numbers)) or None


def _written(number: Bound) -> str | None:
    return None if number is None else written(number)
