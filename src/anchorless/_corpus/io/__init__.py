"""Readers of texts and counts, writers of counts."""
