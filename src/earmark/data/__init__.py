"""Runs, judgments and collections: what evaluation starts from, and how it is read and written."""
