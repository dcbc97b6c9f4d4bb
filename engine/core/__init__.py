"""What everything stands on: records, errors, grids, registries, and the only way in for input."""
