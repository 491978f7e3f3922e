"""Whether topics are the only ones that their co-occurrences allow."""
