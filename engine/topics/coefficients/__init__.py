"""Effects of covariates along a curve."""
