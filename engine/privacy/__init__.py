"""What noise costs and what it hides: accounting, trade-off curves, odds, messages."""
