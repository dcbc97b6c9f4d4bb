"""Errors along the axes of a scenario."""
