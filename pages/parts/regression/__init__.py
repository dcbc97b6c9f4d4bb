"""The parts of Regression."""
