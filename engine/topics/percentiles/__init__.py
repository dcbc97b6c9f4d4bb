"""Percentile curves of readings, and the time in stated ranges."""
