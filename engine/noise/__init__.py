"""Samplers of noise, and the scales it has for a sensitivity: arrays and numbers in, arrays out."""
