"""Exports of glucose monitors, accelerometers and electricity meters, recognised by their headers.

    file ── archives (a .zip with one of each person)
      │
    exports                 which columns and lines are read, and in which unit (format)
      │
    lines                   a line of each observation: person, hour of the day and value

All days of a person become one record on the hours of a day. No message holds a cell of the file.
"""
