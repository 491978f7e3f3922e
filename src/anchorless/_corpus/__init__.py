"""Documents, their words and metadata: read, counted, stored."""
