"""How often confidence bands contain the truth."""
