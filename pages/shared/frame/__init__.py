"""Frame around the content of every page: strip, layout, controls, folds."""
