"""The base of the engine: records, errors, grids, registries, and the only way in for input."""
