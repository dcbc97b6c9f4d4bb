"""Exports: numbers as files, pages to print, and code that gives the same."""
