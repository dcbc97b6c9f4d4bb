"""Guesses about a file, made by looking at all of it, for `engine.uploads.proposal` alone.

    framing            bytes → lines of cells, with the frame that cuts them so
    cells              what the cells of a column are, in counts
    names, series      what the names of columns say
    moments            dates and clock times in names, and what times most likely count
    people             whose the lines are
    roles              which column plays which role, and how its cells are read
    questions          what a person has to say, with answers and evidence
    examples           invented cells, read as the reading says

Nothing that is certified may call any of it: one person's cells can change a guess about everybody.
"""
