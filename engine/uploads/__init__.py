"""From a person's own file to data with stated facts, for curves and for records alike.

    file ── tables (text, workbooks, devices;    cells as text, under the names of the header; days
      │     limits)                              of a device’s export on the hours of one day
    layout, beginnings                           which column plays which role, and what times are
                                                 counted from
      │
    columns (spellings)                          whose each row is, numbers, and the order of people
      │
    curves, rows                                 observations along curves, or a record in each row
      │
    facts, design (doubts, misfits, regressors)  what the holder states from outside the file, and
                                                 whether the file can be what was stated
      │
    source                                       both together: a source like any other

All that curves and records do not share is in `curves` and `rows`. No message holds a cell of the
file, a number of it or a row: names of columns and counts only.
"""
