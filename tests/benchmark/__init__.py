"""How quick the engine is."""

import engine  # noqa: F401  (before NumPy: it sets one thread for products of matrices)
