"""Worked examples of Decide: each is one line, an address and what it is called."""

from __future__ import annotations

EXAMPLES = (
    ("Glucose in twelve hospitals", "c-hormone_study~c.n_curves-1800~c.n_servers-12~target-0.5"),
    ("Growth in schools", "c-sparse_curves~c.n_curves-1000~c.n_servers-10~target-2"),
    ("Electricity by district", "c-sparse_curves~c.mean-mu1~c.n_curves-2000~c.n_servers-8"),
)
