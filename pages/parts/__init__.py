"""What stands on each page, and on no other."""
