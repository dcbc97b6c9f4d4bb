"""Exports of glucose monitors, accelerometers and electricity meters, recognised by their headers.

    file ── blocks (one of a person each; a .zip holds many)
      │
    exports                                      which columns, which rows, which unit
      │
    reading                                      a table like any other: a row per observation, with
                                                 the person, the hour of the day and the value

All days of a person become one record on the hours of a day. No message holds a cell of the file.
"""
