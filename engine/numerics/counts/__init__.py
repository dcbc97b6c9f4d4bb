"""Whole-number counts of people by cell: what they are, and all that follows once they are noised.

`cells` says which cell a row belongs to. `tables` holds noised counts, repairs them and says how
far off whatever is computed from them may be. `life_tables`, `distributions` and `comparisons`
compute curves and tests; `bands` draws limits around them. `estimands` says what each task makes
of these: its cells, its curves, and the ordinary curves that they stand beside. Nothing here sees a
row but `cells` and those ordinary curves: everything else uses noised counts and public numbers
alone, and so costs no privacy.

Curves of one group have the last axis of cells m, tables of several the last two, groups × m. All
axes before them are those of repeats and draws.
"""
