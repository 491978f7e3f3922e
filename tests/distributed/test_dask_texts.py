import json
import os
import pickle
import signal

import dask
import dask.bag as db
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from anchorless import Corpus, TopicModel
from anchorless._corpus.counting import batch_texts, count_texts
from anchorless._corpus.settings import CountSettings
from anchorless._distributed.texts import build_inference, infer_part
from anchorless.distributed import count, transform
from anchorless.errors import InputError, UsageError
from tests.helpers.clusters import (
    RemoteDocuments,
    assert_same,
    fetch_blocks,
    split_texts,
    wait_for_both_workers,
    write_parts,
)
from tests.helpers.planted_texts import planted_texts

ALL_WORDS = CountSettings(min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def parts():
    return split_texts()


@pytest.mark.parametrize(
    "settings",
    [CountSettings(), CountSettings(ngram_range=(1, 2), min_df=2, max_features=60), CountSettings(min_df=0.05)],
)
def test_texts_are_counted_as_on_one_machine(client, parts, tmp_path, settings):
    expected = count_texts(batch_texts(text for part in parts for text in part), settings, 1)
    files = write_parts(tmp_path, parts)
    bag = db.from_delayed([dask.delayed(part) for part in parts])
    for texts, reading in ((files, {"text_column": "body"}), (bag, {}), (client.scatter(parts, hash=False), {})):
        with count(client, texts, settings, **reading) as corpus:
            assert corpus.vocabulary == expected.vocabulary
            assert (corpus.n_tokens, corpus.n_documents) == (expected.n_tokens, 160)
            assert (sp.vstack(fetch_blocks(corpus.documents)) != sp.vstack(expected.documents.blocks)).nnz == 0


def test_what_files_carry_comes_with_the_counts(client, parts, tmp_path):
    files = write_parts(tmp_path, parts)
    with count(client, files, text_column="body") as corpus:
        columns = pd.concat(table.to_pandas() for table in corpus.iter_columns())
        assert columns["id"].tolist()[49:53] == [
            "part-0.parquet:50",
            "part-1.csv:1",
            "part-2.jsonl:1",
            "part-2.jsonl:2",
        ]
        assert columns["n"].tolist() == [i for part in parts for i in range(len(part))]
        assert corpus.metadata.ids.to_pylist() == columns["id"].tolist()
        labels = [None if i == 4 else f"from part {i}" for i, part in enumerate(parts) for _ in part]
        assert corpus.metadata.labels.to_pylist() == labels
        assert corpus.metadata.dates.to_pylist() == [f"200{i}-01-01" for i, part in enumerate(parts) for _ in part]
        texts = [text for part in parts for text in part]
        with Corpus.from_texts(texts) as expected:
            assert corpus.take_snippets(range(160)) == expected.take_snippets(range(160))
        assert corpus.source["name"] == f"{files[0]} and 4 more"
        assert [source["format"] for source in corpus.source["parts"]] == ["parquet", "csv", "jsonl", "tsv", "csv"]
        assert (corpus.source["documents"], corpus.source["tokens"]) == (160, corpus.n_tokens)


def test_columns_can_be_named(client, tmp_path):
    (tmp_path / "a.csv").write_text("body,key,place,when\ngood <b>words</b>,x,here,1999\nwords again,y,,2000\n")
    settings = CountSettings(min_df=1, max_df=1.0, html=True)
    named = {"text_column": "body", "id_column": "key", "label_column": "place", "date_column": "when"}
    with count(client, [tmp_path / "a.csv"], settings, **named) as corpus:
        metadata = corpus.metadata
        assert [column.to_pylist() for column in metadata] == [["x", "y"], ["here", None], ["1999", "2000"]]
        assert corpus.take_snippets([1, 0]) == ["words again", "good words"]
    with count(client, [tmp_path / "a.csv"], settings, text_column="body") as corpus:
        assert corpus.metadata.labels is corpus.metadata.dates is None
    with pytest.raises(UsageError, match=r"label_column='theme', but .*a\.csv has no such column"):
        count(client, [tmp_path / "a.csv"], settings, text_column="body", label_column="theme")


def test_documents_without_ids_are_numbered(client, parts, tmp_path):
    with count(client, db.from_delayed([dask.delayed(part) for part in parts])) as corpus:
        assert corpus.metadata.ids.to_pylist() == [str(i) for i in range(160)]
    (tmp_path / "a.txt").write_text("one text\nanother text\n")
    with count(client, tmp_path / "a.txt", ALL_WORDS) as corpus:
        assert corpus.metadata.ids.to_pylist() == ["1", "2"]


def test_a_topic_model_agrees_with_the_local_one(client, parts):
    with count(client, db.from_delayed([dask.delayed(part) for part in parts])) as corpus:
        here = Corpus(RemoteDocuments(fetch_blocks(corpus.documents)), corpus.vocabulary, counting=corpus.counting)
        remote, local = TopicModel(4).fit(corpus), TopicModel(4).fit(here)
        shares = transform(client, remote, corpus.documents).compute()
    assert_same(remote.components_, local.components_)
    assert_same(remote.topic_correlation_, local.topic_correlation_)
    assert_same(remote.coherence_, local.coherence_)
    for name in ("n_documents", "n_tokens", "mean_explained", "log_volume", "n_constraints", "eigengap"):
        assert_same(getattr(remote.diagnostics_, name), getattr(local.diagnostics_, name))
    assert_same(remote.document_topics_, local.document_topics_)
    assert_same(shares, local.transform([text for part in parts for text in part]))


def test_topics_of_new_texts_stay_on_the_workers(client, parts, tmp_path):
    texts = [text for part in parts for text in part]
    model = TopicModel(4).fit(texts)
    files = write_parts(tmp_path, parts)
    rows = transform(client, model, files, text_column="body")
    assert rows.chunks == ((50, 1, 39, 1, 69), (4,))
    assert_same(rows.compute(), model.transform(texts))
    pattern = transform(client, model, tmp_path / "part-[13]*", text_column="body")
    assert_same(pattern.compute(), model.transform(parts[1] + parts[3]))


def test_topics_that_are_lost_with_a_worker_are_computed_again(client, parts, tmp_path):
    texts = [text for part in parts for text in part]
    model = TopicModel(4).fit(texts)
    shares = transform(client, model, write_parts(tmp_path, parts), text_column="body")
    worker, pid = min(client.run(os.getpid).items())
    assert any(worker in workers for workers in client.who_has().values())
    os.kill(pid, signal.SIGKILL)
    assert_same(shares.compute(), model.transform(texts))
    wait_for_both_workers(client)


def test_a_model_is_sent_without_its_training_documents():
    texts, labels = planted_texts(160)
    small = TopicModel(4).fit(texts, labels=labels)
    large = TopicModel(4).fit(texts * 20, labels=labels * 20)
    n_topics, n_words = large.components_.shape
    for model in (small, large):
        sent = pickle.dumps(build_inference(model))
        # Components, two weights per word, the words themselves, and stop words.
        assert len(sent) < 8 * (n_topics + 2) * n_words + 20 * n_words + 10_000
    assert len(pickle.dumps(large)) > 5 * len(sent)
    assert np.array_equal(infer_part(pickle.loads(sent), texts, {}), large.transform(texts))


def test_dask_warns_of_a_large_model_only(client):
    texts, _ = planted_texts(160)
    model = TopicModel(4).fit(texts * 20)
    n_sent, n_model = len(pickle.dumps(build_inference(model))), len(pickle.dumps(model))
    bag, threshold = db.from_sequence(texts[:3], npartitions=1), "distributed.admin.large-graph-warning-threshold"
    assert n_sent + 10_000 < n_model / 2
    with dask.config.set({threshold: n_model / 2}):
        transform(client, model, bag)  # the documents of the model are not sent; a warning is an error
    with dask.config.set({threshold: n_sent / 2}), pytest.warns(UserWarning, match="large graph"):
        transform(client, model, bag)


def test_a_model_is_sent_with_its_vectorizer(client, parts):
    texts = [text for part in parts for text in part]
    model = TopicModel(4, vectorizer=CountVectorizer()).fit(texts)
    assert_same(transform(client, model, db.from_sequence(texts, npartitions=2)).compute(), model.transform(texts))


def test_texts_that_cannot_be_counted_are_refused(client, tmp_path):
    (tmp_path / "a.csv").write_text("body,n\nsome words here,1\n")
    (tmp_path / "b.csv").write_text("text,n\nother words there,1\n")
    (tmp_path / "c.jsonl").write_text(json.dumps({"body": "good"}) + "\n" + json.dumps({"body": " "}) + "\n")
    with pytest.raises(InputError, match=r"missing.csv does not exist on .*every worker"):
        count(client, [tmp_path / "missing.csv"])
    with pytest.raises(InputError, match=r"there are no parts in .*parquet"):
        count(client, str(tmp_path / "*.parquet"))
    with pytest.raises(InputError, match=r"part 1 is \['a'\]"):
        count(client, [tmp_path / "a.csv", ["a"]])
    with pytest.raises(InputError, match=r"'body' of .*a\.csv, but in 'text' of .*b\.csv; pass text_column"):
        count(client, [tmp_path / "a.csv", tmp_path / "b.csv"], ALL_WORDS)
    with pytest.raises(InputError, match="1 document: topics are what documents share"):
        count(client, [tmp_path / "a.csv"], CountSettings(min_df=2))
    with pytest.raises(InputError, match="text_column='body', but it is for files"):
        count(client, db.from_sequence(["a b"], npartitions=1), text_column="body")
    with count(client, [tmp_path / "a.csv", tmp_path / "c.jsonl"], ALL_WORDS) as corpus:
        assert "without text" in corpus.notes[0]
    with pytest.raises(InputError, match=r"document 1 is 3 \(int\)"):
        count(client, db.from_sequence(["a b", 3], npartitions=1))


def test_parts_with_other_types_in_a_column_are_refused(client, tmp_path):
    pd.DataFrame({"text": ["some words"], "n": [1], "gone": [None]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"text": ["more words"], "n": ["one"], "gone": ["x"]}).to_parquet(tmp_path / "b.parquet")
    pd.DataFrame({"text": ["last words"], "n": [2], "gone": ["x"]}).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: the column 'n' .* int64"):
        count(client, str(tmp_path / "[ab].parquet"), ALL_WORDS)
    with count(client, str(tmp_path / "[ac].parquet"), ALL_WORDS) as corpus:
        assert [value for table in corpus.iter_columns() for value in table["gone"].to_pylist()] == [None, "x"]
