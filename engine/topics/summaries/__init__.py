"""Averages, densities and regressions that are released as whole functions."""
