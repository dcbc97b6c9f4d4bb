"""Studies of simulated data: scenarios, repeats, errors and sweeps."""
