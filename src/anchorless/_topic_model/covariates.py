"""What `TopicModel` knows of its documents: a table of covariates, as levels and as periods, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.counting import batch_texts
from anchorless._corpus.covariates import SECONDS_PER_DAY, infer_numbers, read_values, require_columns, to_table
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.given_counts import gather_documents, validate_documents
from anchorless._corpus.metadata import parse_dates
from anchorless._effects.levels import Levels
from anchorless._topic_model.document_summary import MAX_PERIODS, find_periods
from anchorless._topic_model.mixtures import Inference
from anchorless._validation import check_choice
from anchorless.errors import InputError

#: Periods of `topics_over_time`, and the unit of NumPy.
PERIODS = {"day": "D", "month": "M", "year": "Y"}


def collect_covariates(corpus: Corpus, metadata: Any, where: str = "metadata") -> pa.Table:
    """Return the covariates of a corpus: a given table, or columns of its file by name; with its labels and dates.

    `where` says in messages who named the columns.
    """
    dates = corpus.metadata.dates
    known = {"label": corpus.metadata.labels, "date": None if dates is None else pa.array(parse_dates(dates))}
    own = {name: values for name, values in known.items() if values is not None}
    if metadata is None:
        table = pa.table({}) if corpus.covariates is None else corpus.covariates
    elif isinstance(metadata, Sequence) and all(isinstance(name, str) for name in metadata):
        table = read_columns(corpus, [metadata] if isinstance(metadata, str) else metadata, set(own), where)
    else:
        table = to_table(metadata, corpus.n_documents)
    for name, values in own.items():
        if name not in table.column_names:
            table = table.append_column(name, values) if table.num_columns else pa.table({name: values})
    return table


def read_columns(corpus: Corpus, names: Sequence[str], own: set[str], where: str) -> pa.Table:
    """Return columns of a corpus's table or of its file, numbers as numbers; those of the corpus itself need not be."""
    tables = []
    for table in corpus.iter_columns() if corpus.covariates is None else [corpus.covariates]:
        wanted = [name for name in names if name in table.column_names or name not in own]
        require_columns(wanted, table, where)
        tables.append(table.select(wanted))
    return infer_numbers(pa.concat_tables(tables))


def count_documents(documents: Any, inference: Inference, n_threads: int) -> Documents:
    """Return the counts of texts, of a corpus or of a matrix, with the words of a model as columns."""
    if isinstance(documents, Corpus):
        return documents.align(inference.vocabulary).documents.materialize(n_threads)
    if isinstance(documents, Documents) or len(getattr(documents, "shape", ())) == 2:
        counts = validate_documents(documents, "documents")
        if counts.shape[1] != len(inference.vocabulary):
            problem = f"documents has {counts.shape[1]} words, but the model knows {len(inference.vocabulary)}"
            raise InputError(problem, remedy="give texts or a Corpus, or count with vocabulary_")
        return counts
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise InputError("it must be texts, a Corpus or counts", parameter="documents", value=documents)
    counted = inference.count_batches(batch_texts(documents), n_threads)
    return gather_documents(counts for counts, _, _ in counted)


def hold_in_memory(counts: Documents) -> Documents:
    """Return counts in memory, for work that needs all of them at a time."""
    return counts if counts.in_memory else gather_documents(counts.map_blocks(lambda block: block, 1))


def build_levels(table: pa.Table, column: str, groups: str | None, known: Any) -> Levels:
    """Return documents by the values of a column, levels in their order."""
    import pandas as pd

    values, is_date = read_covariate(table, column)
    codes, names = pd.factorize(values, sort=True)
    if is_date:
        names = (np.asarray(names) * SECONDS_PER_DAY).astype("datetime64[s]").astype("datetime64[D]").astype(str)
    return finish_levels(column, [*map(to_plain, names)], codes, table, groups, known)


def choose_time_column(table: pa.Table) -> str:
    """Return the column of times: date, the first that holds dates, or year."""
    names, refused = [], []
    for name in table.column_names:
        try:
            names += [name] if name == "date" or read_values(table, name)[1] else []
        except InputError as error:  # most of its values are dates; it was not asked for
            refused.append(error)
    found = next((name for name in ["date", *names, "year"] if name in table.column_names), None)
    if found is None and refused:
        raise refused[0]
    if found is None:
        listed = ", ".join(map(repr, table.column_names)) or "none"
        raise InputError(f"no column holds dates; there are: {listed}", remedy="name a column with {column}")
    return found


def build_periods(table: pa.Table, column: str, period: str | None, groups: str | None, known: Any) -> Levels:
    """Return documents by day, month or year; by default the finest that gives at most 60 periods.

    Few different numbers, such as years, are periods as they are.
    """
    values, is_date = read_covariate(table, column)
    if not is_date and values.dtype.kind == "f" and values.nunique() <= MAX_PERIODS:
        return build_levels(table, column, groups, known)
    if not is_date:
        present = values.dropna().iloc[0]
        problem = f"the column {column!r} holds no dates, but values such as {present!r}"
        raise InputError(problem, remedy="give dates such as 2008-05-31, or use topics_by or effects with s()")
    there = np.asarray(values.notna())
    moments = (np.asarray(values)[there] * SECONDS_PER_DAY).round().astype(np.int64).astype("datetime64[s]")
    codes = np.full(len(values), -1)
    if period is None:
        periods, codes[there] = find_periods(moments, MAX_PERIODS)
    else:
        check_choice("period", period, tuple(PERIODS))
        periods, codes[there] = np.unique(moments.astype(f"datetime64[{PERIODS[period]}]"), return_inverse=True)
    return finish_levels(column, [str(one) for one in periods], codes, table, groups, known)


def read_covariate(table: pa.Table, column: str) -> tuple[Any, bool]:
    """Return a column and whether it holds dates."""
    also = f", or keep it when the model is fitted: fit(…, metadata=[{column!r}])"
    require_columns([column], table, f"column={column!r}", also)
    values, is_date = read_values(table, column)
    if values.isna().all():
        raise InputError(f"all values of the column {column!r} are missing", remedy="name another column")
    return values, is_date


def finish_levels(
    column: str, names: Sequence[Any], codes: Any, table: pa.Table, groups: str | None, known: Any
) -> Levels:
    """Return levels without documents that have no word, and without levels that have no document."""
    import pandas as pd

    clusters, codes = None, np.where(known, codes, -1)
    if groups is not None:
        require_columns([groups], table, f"groups={groups!r}")
        clusters, _ = pd.factorize(read_values(table, groups)[0])
        codes = np.where(clusters >= 0, codes, -1)
        if len(np.unique(clusters[codes >= 0])) == (codes >= 0).sum():
            problem = f"every group of the column {groups!r} has one document, which is the same as no groups"
            raise InputError(problem, remedy="leave out {groups}")
    present, moved = np.unique(codes[codes >= 0], return_inverse=True)
    codes = codes.astype(np.intp)
    codes[codes >= 0] = moved
    return Levels(column, [names[i] for i in present], codes, clusters)


def to_plain(value: Any) -> Any:
    """Return a whole number as int and other values as they are."""
    if isinstance(value, float | np.floating):
        return int(value) if float(value).is_integer() else float(value)
    return str(value)


def find_level(levels: Levels, value: Any, parameter: str) -> int:
    """Return the number of a level by its value."""
    for i, name in enumerate(levels.names):
        if value == name or str(value) == str(name):
            return i
    listed = ", ".join(map(repr, levels.names[:20]))
    problem = f"the column {levels.column!r} has no such value; it has: {listed}"
    raise InputError(problem, parameter=parameter, value=value)


def encode_table(table: pa.Table) -> Array:
    """Return a table as bytes in Arrow's stream format, for a model file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def decode_table(content: Array) -> pa.Table:
    """Return the table that `encode_table` encoded."""
    return pa.ipc.open_stream(content.tobytes()).read_all()
