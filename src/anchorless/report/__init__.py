"""The report: a plain record in, one self-contained HTML page out."""
