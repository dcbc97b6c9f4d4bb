"""The parts of Rates."""
