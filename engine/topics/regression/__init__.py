"""One curve from values at times, by wavelets."""
