"""The parts of Verify: claims, attacks, coverage, and noise used twice."""
