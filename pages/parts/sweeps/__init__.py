"""The parts of Sweeps."""
