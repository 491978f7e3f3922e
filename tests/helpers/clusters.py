"""What the tests of clusters share."""

import numpy as np
import pandas as pd

from anchorless._corpus.documents import Documents
from tests.helpers.planted_texts import planted_texts

#: Sums on a cluster are in another order than on one machine: every published number agrees to this.
CLUSTER = 1e-10


def assert_same(found, expected):
    """Compare numbers of a cluster with those of one machine, relative to the largest of them where they are small."""
    scale = np.max(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=CLUSTER, atol=1e-14 * scale)


def fetch_blocks(documents):
    return [*documents.map_blocks(lambda block: block, 1)]


def sum_columns(block):
    return np.asarray(block.sum(axis=0)).ravel()


def split_texts():
    """Return the planted texts in five parts of unequal size."""
    texts, _ = planted_texts(160)
    return [texts[:50], texts[50:51], texts[51:90], texts[90:91], texts[91:]]


def write_parts(folder, parts):
    """Write the parts as files of several formats, with other columns beside the text."""
    names = [folder / f"part-{i}" for i in range(5)]
    frames = [pd.DataFrame({"n": range(len(part)), "body": part}) for part in parts]
    for i, frame in enumerate(frames):
        frame["label"] = [f"from part {i}"] * len(frame)
        frame["date"] = f"200{i}-01-01"
    frames[0].to_parquet(names[0].with_suffix(".parquet"))
    frames[1].to_csv(names[1].with_suffix(".csv"), index=False)
    frames[2].to_json(names[2].with_suffix(".jsonl"), orient="records", lines=True)
    frames[3].to_csv(names[3].with_suffix(".tsv.gz"), index=False, sep="\t")
    frames[4].drop(columns="label").to_csv(names[4].with_suffix(".csv"), index=False)
    return sorted(str(path) for path in folder.iterdir())


def wait_for_both_workers(client):
    """Wait for the worker that replaces a killed one; on a busy machine its start may time out."""
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        client.cluster.scale(1)
        client.cluster.scale(2)
        client.wait_for_workers(2, timeout=60)


class RemoteDocuments(Documents):
    """Blocks in this process that the package treats as if they were elsewhere."""

    in_memory = False
