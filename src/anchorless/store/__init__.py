"""Counts on disk: blocks of documents that are counted once, checked, and walked over again and again."""
