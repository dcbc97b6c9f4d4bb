"""Directions in which people's curves differ."""
