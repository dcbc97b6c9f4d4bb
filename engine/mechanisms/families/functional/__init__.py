"""Whole functions released at once: summaries, the laws of their noise, and kernels."""
