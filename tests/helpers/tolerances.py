"""Tolerances that more than one test file uses, each with its reason."""

#: Two ways to one float64 result, with sums in another order: some thousand roundings of 1e-16 each.
ROUNDING = 1e-12
