"""Writing of numbers, nouns, budgets and odds: shared by releases, views, words and charts."""
