"""Measurements of speed and memory, each against its rival in the same run: `python -m benchmarks.NAME`."""
