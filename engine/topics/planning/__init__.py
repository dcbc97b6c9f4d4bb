"""Sizes and budgets required for an accuracy."""
