"""The parts of Learn: the path, a lesson, its slides, a class, and the guide."""
