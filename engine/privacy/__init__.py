"""Privacy of noise, and its costs: accounting, trade-off curves, odds, messages."""
