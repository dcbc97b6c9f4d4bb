"""The commands of `python -m engine`: each module adds its own to the parser."""
