"""The commands behind `anchorless`: each parses, calls and prints; the work is done elsewhere in the package."""
