"""How numbers, nouns, budgets and odds are written: shared by releases, views, words and charts."""
