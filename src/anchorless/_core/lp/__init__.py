"""Linear programs over {x : Ux ≥ 0, s·x = 1}."""
