"""Figures of topics, from arrays and tables, with matplotlib (extra `plot`)."""
