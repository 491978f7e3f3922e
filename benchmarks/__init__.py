"""Measurements of speed and memory, each against its rivals in the same run: `python -m benchmarks`."""
