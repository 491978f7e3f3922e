"""What the tests of clusters share: blocks whose sums show their order, and documents weighed as they are cut."""

import scipy.sparse as sp

from anchorless._corpus.documents import Documents


def blocks_of(documents):
    return [*documents.map_blocks(lambda block: block, 1)]


def numbers(n, rng):
    """Return one-entry blocks whose sum depends on the order and the grouping of the terms."""
    return [sp.csr_matrix([[value]]) for value in 10.0 ** rng.uniform(-12, 12, n)]


def entry(block):
    return block.toarray()


class StillDocuments(Documents):
    """Blocks in this process that are weighed where they end, as those of a cluster are."""

    in_memory = False
