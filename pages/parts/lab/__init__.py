"""The parts of Lab."""
