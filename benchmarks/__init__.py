"""Measurements of speed and memory, each compared with other libraries in the same run: `python -m benchmarks`."""
