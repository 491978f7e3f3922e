"""Whether the topics of a model are the only ones that its co-occurrences allow."""
