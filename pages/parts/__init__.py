"""Content of each single page."""
