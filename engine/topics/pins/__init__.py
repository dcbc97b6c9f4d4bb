"""What was set aside to be compared."""
