"""Long work: on processes and machines, within limits, left and taken up again."""
