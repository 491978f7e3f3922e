"""Identifiability, stability and the number of topics."""
