"""The numbers behind each page, simulated with a known seed: no sentence and no colour."""
