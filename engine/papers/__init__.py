"""What the papers report: their tables as data."""
