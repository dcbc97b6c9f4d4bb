"""The sentences of each page, of glossary and guide; numbers as they are read."""
