"""Cards that several pages show."""
