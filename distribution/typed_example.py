"""What another project writes; its types are checked against the installed wheel."""

import privacy_curves as pc

budgets = [pc.Budget(0.5, 1e-5), pc.Budget(2.0, 1e-5)]
data = pc.simulate(pc.source("sparse_curves", n_curves=500))
releases = pc.simulate_release(data, pc.mechanism("adaptive_mean"), budgets)
table = pc.frame(releases)
odds: float = pc.odds(budgets[0]).right
print(len(table), f"{odds:.2f}")
