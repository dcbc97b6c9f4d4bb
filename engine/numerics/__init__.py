"""Pure functions of arrays: no privacy, no randomness, no data types."""
