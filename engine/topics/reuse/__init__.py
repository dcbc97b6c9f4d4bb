"""Noise that is used twice."""
