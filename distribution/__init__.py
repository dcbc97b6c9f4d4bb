"""What makes a distribution of the project's folder: see `distribution/names.py`."""
