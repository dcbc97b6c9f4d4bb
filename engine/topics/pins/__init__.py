"""Views set aside for comparison."""
