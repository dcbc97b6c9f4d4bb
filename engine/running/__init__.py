"""How long work runs: on processes and machines, within limits, left and taken up again."""
