"""The algorithms, on arrays."""
