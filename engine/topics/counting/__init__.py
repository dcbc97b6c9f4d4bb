"""Survival, incidence, distributions and ROC curves from one table of noised counts."""
