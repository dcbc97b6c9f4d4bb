"""Topics: what can be asked about, one folder each.

A topic has the numbers (`answer`, and files named for more of them), the sentences (`words`) and
the charts (`charts`) of one subject. Its `KIND`, in `question`, says which function answers and
which numbers of the answer stand on a page: with that it can be asked in code, by the command line
and in a file (see `engine.questions`).
"""
