"""Files in, as batches of documents: texts and counts of every format people hold. Files out: beside, then renamed."""
