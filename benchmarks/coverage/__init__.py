"""Tables of coverage: whether bands and intervals hold on data as they come.

    python -m benchmarks.coverage --of mean

Each module has one table: its settings, what is measured of a setting, and how rows are written.
"""
