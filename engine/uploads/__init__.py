"""Reading of a person's own file: data with stated facts, for curves, records and times alike.

    file ── proposal (proposing)      a reading with gaps, found by looking at all of the file: for
      │     looking                   its holder, who may look at once, fills the gaps and confirms
    reading_of_files                  the reading: all statements by which bytes become records
      │
    lines (devices), cells, ids       each line is cut, and each cell read, by the reading alone
      │
    people                            whose each line is, and what it says
      │
    records                           one curve, row of numbers or time of each person
      │
    facts, design (doubts, misfits,   what the holder states from outside the file, and whether the
      │            regressors)        file can be what was stated
    source                            both together: a source like any other

Tables of curves of any size take the same steps a batch of lines at a time: `files`, `batches`,
`stored_table`, `stored_curves`; compressed text, Parquet and Arrow are unpacked by `packed`.

What curves, records and times do not share is in `curves`, `rows` and `events`. No message holds a
cell of the file, a number of it or a line: names of columns and counts only.
"""
