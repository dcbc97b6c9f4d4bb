"""What the mechanisms of one family share: steps, proofs of sensitivity, tuning and plans."""
