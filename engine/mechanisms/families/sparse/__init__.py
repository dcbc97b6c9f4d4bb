"""Sparse regression: rounds of private hard thresholding, and intervals for its coefficients."""
