"""The methods of `TopicModel` that write results for other programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.documents import Array
from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.stability import Stability
from anchorless._estimators.base import resolve_n_jobs
from anchorless._export import mallet
from anchorless._export.excel import describe_sheet, write_excel
from anchorless._export.network import Edge, Node, format_gexf, format_graphml
from anchorless._export.paper import PairRow, TopicRow, format_latex, format_markdown
from anchorless._files import PathLike, atomic_write
from anchorless._folders import atomic_write_folder
from anchorless._topic_model import frames
from anchorless._topic_model.covariates import count_documents
from anchorless._topic_model.fitted import Diagnostics, ModelRecord, get_versions
from anchorless._topic_model.mixtures import Inference, Mixtures
from anchorless._topic_model.pyldavis import prepare_pyldavis, render_pyldavis
from anchorless._topic_model.summary import Topic, rank_pairs
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

#: Formats, and the endings of file names by which they are chosen. MALLET's files are a folder.
ENDINGS = {
    ".xlsx": "xlsx",
    ".tex": "latex",
    ".md": "markdown",
    ".gexf": "gexf",
    ".graphml": "graphml",
    ".html": "pyldavis",
}
FORMATS = ("xlsx", "latex", "markdown", "gexf", "graphml", "mallet", "pyldavis")
#: Formats with a row for each document.
WITH_DOCUMENTS = ("xlsx", "mallet")
#: Words of each topic, if their number is not given: in tables for paper, and in the others.
PAPER_WORDS, TABLE_WORDS = 8, 20
#: Documents that stand for each topic, in Excel.
EXAMPLES = 20
#: Pairs of topics in Markdown, from both ends.
LISTED_PAIRS = 5
CAPTION = (
    "Topics by their share of all tokens. Coherence: mean normalized pointwise mutual information (NPMI) of the ten "
    "leading words in the training documents, from -1 to 1."
)


class ExportedDocuments(NamedTuple):
    """Documents whose mixtures are exported."""

    columns: pa.Table  # what is known of them
    mixtures: Mixtures
    lengths: Array  # (N,), tokens


class ExportMixin:
    """Write the results of a fitted model for other programs."""

    if TYPE_CHECKING:  # what `TopicModel` has
        topic_labels_: list[str]
        topic_notes_: list[str]
        topic_word_: Array
        topic_shares_: Array
        vocabulary_: list[str]
        rest_share_: float
        fingerprint_: str
        _lengths: Array

        @property
        def diagnostics_(self) -> Diagnostics: ...
        def topics(self, n_words: int = 10) -> list[Topic]: ...
        def _get_record(self) -> ModelRecord: ...
        def _get_stability(self) -> Stability | None: ...
        def _get_inference(self) -> Inference: ...
        def _infer(self, X: Any) -> Mixtures: ...
        def _get_training_documents(self) -> tuple[Metadata, Mixtures]: ...

    def export(
        self,
        path: PathLike,
        to: str | None = None,
        *,
        n_words: int | None = None,
        documents: Any = None,
        force: bool = False,
    ) -> None:
        """Write the results for another program.

        Texts of the corpus cannot do harm in any of the files: they are never formulas, commands or markup.

        Parameters
        ----------
        path : path
            The file; for "mallet" a folder.
        to : {"xlsx", "latex", "markdown", "gexf", "graphml", "mallet", "pyldavis"} or None, default=None
            Excel, with a sheet for each table; tables of topics for a paper or a wiki; the network of topics that are
            often together, for Gephi, igraph or Cytoscape; the files that MALLET writes; or the page of pyLDAvis, which
            opens without a network. None to choose by the ending of the path: .xlsx, .tex, .md, .gexf, .graphml, .html.
        n_words : int or None, default=None
            Leading words of each topic; None for 8 in LaTeX and Markdown, 20 elsewhere.
        documents : iterable of str, Corpus, matrix of counts or None, default=None
            Documents whose mixtures are written; None for those of the fit. A model file has none: then Excel and
            MALLET are written without them, and pyLDAvis is refused.
        force : bool, default=False
            Replace an existing file.
        """
        self._get_record()
        format = choose_format(path, to)
        number = (PAPER_WORDS if format in ("latex", "markdown") else TABLE_WORDS) if n_words is None else n_words
        topics = self.topics(check_whole("n_words", number))
        if format == "mallet":
            self._write_mallet(Path(path), topics, self._find_documents(documents), force)
        elif format == "xlsx":
            write_excel(path, self._build_sheets(topics, self._find_documents(documents)), force=force)
        else:
            text = self._format(format, topics, documents)
            with atomic_write(path, force=force) as temporary:
                temporary.write_text(text, encoding="utf-8", newline="\n")

    def to_excel(
        self, path: PathLike, *, n_words: int | None = None, documents: Any = None, force: bool = False
    ) -> None:
        """Write an Excel workbook with a sheet for each table.

        The sheets are topics, words, documents, examples (documents that stand for each topic), correlations, pairs,
        and, where they are known, over time, by label, stability and effects. The first sheet says what the numbers
        are. Needs XlsxWriter: ``pip install 'anchorless[excel]'``.

        Parameters
        ----------
        path, n_words, documents, force
            As in `export`.
        """
        self.export(path, "xlsx", n_words=n_words, documents=documents, force=force)

    def _format(self, format: str, topics: list[Topic], documents: Any) -> str:
        """Return the text of a file."""
        origin = self._describe_origin()
        if format == "pyldavis":
            found = self._find_documents(documents)
            if found is None:
                problem = "pyLDAvis needs documents, and a model file has none"
                raise InputError(problem, remedy="give them with {documents}")
            return render_pyldavis(prepare_pyldavis(self._get_record(), found.mixtures, found.lengths))
        if format in ("gexf", "graphml"):
            return (format_gexf if format == "gexf" else format_graphml)(*self._build_network(topics), origin)
        rows = [TopicRow(t.number, mark_junk(t), t.share, t.coherence, t.words) for t in topics]
        if format == "latex":
            return format_latex(rows, CAPTION, origin)
        return format_markdown(rows, self._list_pairs(), CAPTION, origin)

    def _describe_origin(self) -> str:
        """Say which model the numbers are of."""
        return f"anchorless {get_versions()['anchorless']}, model {self.fingerprint_}"

    def _find_documents(self, documents: Any) -> ExportedDocuments | None:
        """Return given documents with their mixtures, or those of the fit; None for a model file."""
        if documents is None:
            if not hasattr(self, "_metadata"):
                return None
            metadata, mixtures = self._get_training_documents()
            return ExportedDocuments(frames.tabulate_metadata(metadata), mixtures, self._lengths)
        counts = count_documents(documents, self._get_inference(), resolve_n_jobs(self))
        if isinstance(documents, Corpus):
            columns = pa.concat_tables(documents.iter_columns())
        else:
            columns = pa.table({"id": [str(i) for i in range(counts.shape[0])]})
        lengths = np.concatenate([np.asarray(b.sum(axis=1)).ravel() for b in counts.map_blocks(lambda block: block, 1)])
        return ExportedDocuments(columns, self._infer(counts), lengths)

    def _list_pairs(self) -> list[PairRow]:
        """Return the most and the least associated pairs, that stand out."""
        pairs = [pair for pair in rank_pairs(self._get_record().association) if abs(pair.value) >= 0.0005]
        ends = pairs if len(pairs) <= 2 * LISTED_PAIRS else [*pairs[:LISTED_PAIRS], *pairs[-LISTED_PAIRS:]]
        labels = [f"{k} {label}" for k, label in enumerate(self.topic_labels_)]
        return [PairRow(labels[a], labels[b], value) for a, b, value in ends]

    def _build_network(self, topics: list[Topic]) -> tuple[list[Node], list[Edge]]:
        """Return topics as nodes, and the pairs of positive association: layouts misread negative weights."""
        record = self._get_record()
        groups = {} if not record.groupings else name_groups(record.groupings[-1], self.topic_labels_)
        nodes = [
            Node(
                t.number,
                t.label,
                {"share": t.share, "coherence": t.coherence}
                | {"words": ", ".join(t.words), "group": groups.get(t.number), "junk": t.junk},
            )
            for t in topics
        ]
        pairs = [pair for pair in rank_pairs(record.association) if pair.value > 0]
        R = record.correlation
        return nodes, [Edge(a, b, {"association": value, "correlation": float(R[a, b])}) for a, b, value in pairs]

    def _write_mallet(self, folder: Path, topics: list[Topic], found: ExportedDocuments | None, force: bool) -> None:
        """Write the files of MALLET into a folder."""
        record = self._get_record()
        alpha = self.topic_shares_ if record.tokens is None else record.tokens.alpha
        tokens = self.topic_shares_ * record.diagnostics.n_tokens
        with atomic_write_folder(folder, force=force, list_replaced=lambda _: (mallet.DOCUMENTS,)) as temporary:
            mallet.write_keys(temporary, alpha, [topic.words for topic in topics])
            mallet.write_weights(temporary, self.topic_word_ * tokens[:, None], self.vocabulary_)
            if found is not None:
                names = found.columns["id"].to_pylist()
                mallet.write_documents(temporary, names, found.mixtures.shares)

    def _build_sheets(self, topics: list[Topic], found: ExportedDocuments | None) -> dict[str, DataFrame]:
        """Return the tables of a workbook by the names of their sheets."""
        record, labels = self._get_record(), self.topic_labels_
        sheets = {"topics": frames.topics_frame(topics, self.topic_notes_), "words": frames.words_frame(topics)}
        if found is not None:
            with_rest = self.rest_share_ > 0
            sheets["documents"] = frames.to_documents_frame(found.columns, found.mixtures, labels, with_rest=with_rest)
        sheets["examples"] = frames.examples_frame(record.kept, labels, EXAMPLES)
        sheets["correlations"] = frames.correlation_frame(record.correlation).reset_index()
        stability = self._get_stability()
        sheets["pairs"] = frames.correlation_edges(record.association, record.correlation, labels, stability)
        sheets |= frames.group_frames(record.kept, labels)
        if stability is not None:
            sheets["stability"] = frames.stability_frame(stability, labels, self.vocabulary_)
        if hasattr(self, "effects_"):
            sheets["effects"] = cast(Any, self).effects_.frame()
        return {"about": self._describe_sheets(sheets), **sheets}

    def _describe_sheets(self, sheets: Mapping[str, Any]) -> DataFrame:
        """Return a table that says what the model is, and what is in each sheet."""
        facts = self.diagnostics_
        rows = [("model", self._describe_origin()), ("documents", f"{facts.n_documents:,}")]
        rows += [("tokens", f"{facts.n_tokens:,} of words in the vocabulary")]
        rows += [(f"sheet {name}", describe_sheet(name, [*frame.columns])) for name, frame in sheets.items()]
        return pa.table({"what": [row[0] for row in rows], "value": [row[1] for row in rows]}).to_pandas()


def mark_junk(topic: Topic) -> str:
    """Return the label of a topic, and what its words look like if not like a subject."""
    return topic.label if topic.junk is None else f"{topic.label} (looks like {topic.junk})"


def choose_format(path: PathLike, to: str | None) -> str:
    """Return the format that was named, or that of the ending of a path; refuse a workbook with another ending."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if to is None:
        if ending in ENDINGS:
            return ENDINGS[ending]
        problem = f"the ending of {os.fspath(path)} does not tell the format"
        raise InputError(problem, remedy=f"name it with {{to}}, one of {', '.join(FORMATS)}")
    check_choice("to", to, FORMATS)
    if to == "xlsx" and ending != ".xlsx":
        raise InputError(f"Excel opens {os.fspath(path)} only if it ends in .xlsx", remedy="change the ending")
    return to


def name_groups(groups: list[list[int]], labels: list[str]) -> dict[int, str]:
    """Return the name of the group of each topic: that of its first topic, which has the largest share."""
    return {topic: labels[min(group)] for group in groups for topic in group}
