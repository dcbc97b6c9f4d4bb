"""The parts of Plan."""
