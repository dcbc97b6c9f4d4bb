"""The parts of Methods."""
