"""Documents on the workers of a cluster."""
