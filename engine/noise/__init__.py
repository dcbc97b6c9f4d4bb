"""Noise draws and the shapes of their scales: arrays and numbers in, arrays out."""
