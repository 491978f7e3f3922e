"""Texts to counts: what a word is, which words are left out, and the fold over batches."""
