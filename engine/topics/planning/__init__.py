"""What is needed for an accuracy."""
