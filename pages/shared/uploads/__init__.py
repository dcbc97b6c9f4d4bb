"""Use my own data, for every task: the file, the roles of its columns, and what is stated of it."""
