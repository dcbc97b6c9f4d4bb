"""Figures: results in, Plotly specifications out; nothing is computed here beyond reshaping."""
