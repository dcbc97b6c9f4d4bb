"""The average curve at one budget after another."""
