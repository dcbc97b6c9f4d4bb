"""A study at several sites: which budget reaches an accuracy, and what it gives an attacker."""
