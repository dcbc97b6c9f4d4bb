"""The rates of the theory, and what rules them."""
