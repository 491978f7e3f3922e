"""Writers of results for other programs: tables and arrays in, files out. No text of a corpus is executed."""
