"""Counts on disk: blocks that are written once, verified, and read in every pass over the documents."""
