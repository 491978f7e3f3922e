"""A plain record in, one HTML page out."""
