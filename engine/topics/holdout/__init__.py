"""Training and test halves of a study, as a paper reports them."""
