"""Coverage of confidence bands."""
