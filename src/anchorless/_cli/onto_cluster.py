"""`--dask`: the counts of a corpus on the workers of a cluster that is running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anchorless._cli.corpora import CountedCorpus
from anchorless._corpus.disk.store import StoredCounts
from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks
from anchorless.errors import UsageError


@contextmanager
def move_to_cluster(address: str | None, corpus: CountedCorpus) -> Iterator[CountedCorpus]:
    """Yield the corpus with its counts on the workers of a scheduler, or as it is where none is named.

    The blocks end where those of a fit on this machine end, so that both have the same bits.
    """
    if address is None:
        yield corpus
        return
    distributed = import_dask_support()
    with distributed.connected(address) as client:
        if isinstance(corpus.counts, StoredCounts):
            there = distributed.scattered(client, corpus.counts.documents)
            yield corpus._replace(counts=corpus.counts._replace(documents=there))
        else:
            there = distributed.scattered(client, Documents([*rechunk_blocks(corpus.blocks, NONZEROS_PER_BLOCK)]))
            counts = None if corpus.counts is None else corpus.counts._replace(blocks=there)
            yield corpus._replace(counts=counts, blocks=[there])


def import_dask_support() -> Any:
    """Return the module that knows Dask, or say how to get it."""
    try:
        from anchorless import distributed
    except ImportError as error:
        raise UsageError(f"--dask: {error}") from None
    return distributed
