"""The parts of Sites."""
