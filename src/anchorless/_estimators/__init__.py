"""scikit-learn adaptors of the algorithms."""
