"""The parts of Decide."""
