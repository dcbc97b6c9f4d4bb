"""What a person takes away: numbers as files, pages to print, and code that gives the same."""
