"""A sparse linear model, with intervals."""
