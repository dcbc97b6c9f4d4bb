"""Code shared within families of mechanisms: steps, proofs of sensitivity, tuning and plans.

Four families have folders: `adaptive` estimators, `sparse` regression, `wavelets`, and `functional`
releases of whole functions. The files beside them are about one thing that several methods do.
"""
