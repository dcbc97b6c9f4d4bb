"""Federated wavelet regression: what its estimators share, their bias and their exact errors."""
