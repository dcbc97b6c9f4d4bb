"""Privacy Curves: what differential privacy costs when the data are curves."""

__version__ = "0.1.0"
