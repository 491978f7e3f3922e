"""The methods of `TopicModel` that edit topics: rename, merge, drop, split, reorder, annotate and undo.

The fit stays as it is. Edits are a list, in the model and in its file, and what is shown follows from both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anchorless._core.topics import argsort_descending
from anchorless._corpus.metadata import Metadata
from anchorless._effects.effects import Effects, rename_targets
from anchorless._estimators.base import resolve_n_jobs
from anchorless._files import PathLike
from anchorless._report.html import DocumentRecord
from anchorless._topic_model.covariates import hold_in_memory
from anchorless._topic_model.curated import Curated, compute_fingerprint, curate
from anchorless._topic_model.edits import (
    Edit,
    Layout,
    apply_edit,
    check_distinct,
    check_text,
    check_topic,
    clean_name,
    from_json,
    make_edit,
    number_kept_leaves,
    start_layout,
    sum_columns,
    to_json,
)
from anchorless._topic_model.embeddings import Embeddings
from anchorless._topic_model.file import Arrays
from anchorless._topic_model.fitted import FIT_TOKEN_MODEL, ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.plans import EditPlan, check_plan, find_all, find_topic, read_plan
from anchorless._topic_model.splitting import (
    SplitRecord,
    TrainingDocuments,
    fit_split,
    measure_coherence,
    read_split,
    write_split,
)
from anchorless._topic_model.view import average_rows, sum_dropped
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

#: What edits set; the next fit forgets them.
CURATION_ATTRIBUTES = ("_edits", "_splits", "_curated", "_shown")


class CurationMixin:
    """Edit the topics of a fitted model. Numbers of topics are those that are shown before the edit."""

    if TYPE_CHECKING:
        _record: ModelRecord
        _mixtures: Mixtures
        _embeddings: Any
        _metadata: Metadata
        _edits: tuple[Edit, ...]
        _splits: tuple[SplitRecord, ...]
        _curated: Curated
        _shown: tuple[Curated, Mixtures]
        effects_: Effects

        def _get_record(self) -> ModelRecord: ...
        def _get_counts(self, documents: Any, n_jobs: int | None) -> Any: ...
        def _infer_leaves(self, X: Any) -> Any: ...

    def rename_topics(self, names: Mapping[int, str | None], *, by: str | None = None) -> Self:
        """Give names to topics. No number changes.

        Parameters
        ----------
        names : dict of int to str or None
            The new name by the number of the topic; None for the topic's most distinctive words.
        by : str or None, default=None
            Who made the edit; None for the user who is logged in.

        Returns
        -------
        self : TopicModel
        """
        given = check_table(names, "what to rename", '{3: "immigration"}')
        pairs = [[to_number(number), None if name is None else clean_name(name)] for number, name in given.items()]
        return self._edit("rename", {"names": pairs}, by)

    def annotate_topics(self, notes: Mapping[int, str | None], *, by: str | None = None) -> Self:
        """Set the notes of topics, free text that the model file keeps.

        Parameters
        ----------
        notes : dict of int to str or None
            The note by the number of the topic; an empty one, or None, removes it.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        given = check_table(notes, "what to note", '{3: "also asylum"}')
        texts = ("" if note is None else check_text(note, "a note") for note in given.values())
        pairs = [[to_number(number), text] for number, text in zip(given, texts, strict=True)]
        return self._edit("note", {"notes": pairs}, by)

    def merge_topics(self, groups: Sequence[Sequence[int]], *, by: str | None = None) -> Self:
        """Merge topics. The result takes the place of the first of them, and topics after it move up.

        Shares, mixtures and effects of the merged topic are sums, to the last bit; its words are means with the shares
        as weights; its correlations and associations follow from the sums of the covariances of the proportions. A
        given name is kept; several are joined.

        Parameters
        ----------
        groups : list of lists of int
            Numbers of topics to merge: ``[[1, 4], [2, 7, 8]]``.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        if not is_list(groups) or not all(map(is_list, groups)):
            problem = f"what to merge is {groups!r}, but it must be a list of lists"
            raise InputError(problem, remedy="write [[1, 4]] to merge 1 and 4")
        values: dict[str, Any] = {"groups": [[to_number(number) for number in group] for group in groups]}
        after = apply_edit(self._get_layout(), Edit("merge", values, "", ""))  # refuses bad groups
        return self._edit("merge", values | {"coherence": self._measure_coherence(after, values["groups"])}, by)

    def drop_topics(self, topics: Iterable[int], *, by: str | None = None) -> Self:
        """Show topics no more. Other topics keep their numbers of everything; topics after it move up.

        Shares and mixtures then sum to less than one: the rest belongs to what was dropped. `rest_share_` has its share
        of all tokens, and tables of documents get a column `rest`.

        Parameters
        ----------
        topics : list of int
            Numbers of topics.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        if not is_list(topics):
            raise InputError(f"what to drop is {topics!r}, but it must be a list", remedy="write [7] to drop 7")
        return self._edit("drop", {"topics": [to_number(number) for number in topics]}, by)

    def reorder_topics(self, order: Sequence[int] | None = None, *, by: str | None = None) -> Self:
        """Put the topics into another order.

        Parameters
        ----------
        order : list of int or None, default=None
            The present number of each topic in the new order; None for the largest share first.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        if order is not None and not is_list(order):
            raise InputError(f"the order is {order!r}, but it must be a list", remedy="write [2, 0, 1]")
        shares = sum_columns(self._get_leaves().facts.shares[None], self._get_layout().nodes)[0]
        numbers = argsort_descending(shares).tolist() if order is None else order
        return self._edit("reorder", {"order": [to_number(number) for number in numbers]}, by)

    reorder = reorder_topics
    """The same as `reorder_topics`."""

    def split_topic(self, topic: int, n: int = 2, *, documents: Any = None, by: str | None = None) -> Self:
        """Split a topic by a fit within its tokens. The parts take its place, the largest first; later topics move on.

        Shares and probabilities of the words of the parts add up to those of the topic; other topics stay as they are.
        Mixtures are found anew with all topics. Nothing is random.

        Parameters
        ----------
        topic : int
            Number of the topic.
        n : int, default=2
            Number of parts.
        documents : iterable of str, Corpus, matrix of counts or None, default=None
            The documents of the fit, in their order; None for those in memory. A model file has no documents.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        layout, leaves = self._get_layout(), self._get_leaves()
        check_topic(layout, topic)
        check_whole("n", n, least=2)
        training = self._get_training(documents)
        with threadpool_limits(1, user_api="blas"):
            found = fit_split(leaves, layout, int(topic), n, training, resolve_n_jobs(self))
        return self._edit("split", {"topic": int(topic), "n": n}, by, found)

    def apply_edits(self, plan: Mapping[str, Any] | PathLike, *, documents: Any = None, by: str | None = None) -> Self:
        """Apply several edits at once, from a dictionary or a TOML file. Either all are made, or none.

        Parameters
        ----------
        plan : dict or path
            ``rename`` and ``note`` (name and text by number), ``merge`` (lists of numbers), ``drop`` (numbers),
            ``split`` (number of parts by number), ``order`` (numbers) and ``model`` (the `fingerprint_` of the model
            that the plan is for; others are refused). All numbers are those before the first of these edits.
        documents
            As in `split_topic`.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        given = read_plan(plan) if isinstance(plan, str | os.PathLike) else plan
        checked, before = check_plan(given, self.fingerprint_), self._get_curated()
        try:
            self._apply_plan(checked, documents, checked.by if by is None else by)
        except BaseException:
            self._set_edits(before.edits, before.splits)
            raise
        return self

    def undo(self, n: int = 1) -> Self:
        """Take back the last edits; what was before comes back with the same bits.

        Parameters
        ----------
        n : int, default=1
            Number of edits.

        Returns
        -------
        self : TopicModel
        """
        edits = self.edits
        if not edits:
            raise InputError("there is nothing to undo: this model has no edits")
        if check_whole("n", n) > len(edits):
            problem = (
                f"{n} edits cannot be undone: this model has {len(edits)}" if edits else "there is no edit to undo"
            )
            raise InputError(problem, limit=len(edits))
        kept = edits[: len(edits) - n]
        n_splits = sum(edit.kind == "split" for edit in kept)
        self._set_edits(kept, self._get_curated().splits[:n_splits])
        return self

    def border_documents(self, topic: int, n: int = 5) -> list[DocumentRecord]:
        """List training documents at the border of a topic: another topic is about as large in them.

        A fit and a model file keep 10 of each topic.

        Parameters
        ----------
        topic, n : int
            Number of the topic, and of documents.

        Returns
        -------
        documents : list of DocumentRecord
        """
        kept = self._get_record().kept
        check_choice("topic", topic, range(len(kept.representatives)))
        if kept.borders is None:
            raise InputError("this model file is from a version that kept no documents at borders", remedy="fit again")
        return [kept.documents[i] for i in kept.borders[topic][: check_whole("n", n)]]

    @property
    def edits(self) -> list[Edit]:
        """The edits of the topics, in their order."""
        return list(self._get_curated().edits)

    @property
    def topic_names_(self) -> list[str | None]:
        """The name that each topic was given, by an edit or with seed words; None where `topic_labels_` has words."""
        return [topic.name for topic in self._get_layout().topics]

    @property
    def topic_notes_(self) -> list[str]:
        """The note of each topic."""
        return [topic.note for topic in self._get_layout().topics]

    @property
    def rest_share_(self) -> float:
        """Share of tokens in topics that were dropped."""
        curated = self._get_curated()
        return sum_dropped(curated.leaves.facts.shares, curated.layout)

    @property
    def fingerprint_(self) -> str:
        """A short name of the fit and of the topics that are shown, for files of edits and codebooks."""
        return self._get_curated().fingerprint

    def _apply_plan(self, plan: EditPlan, documents: Any, by: str | None) -> None:
        """Apply the edits of a plan, whose numbers are those of the present topics."""
        before = self._get_layout()
        if plan.rename:
            self.rename_topics({number: name or None for number, name in plan.rename.items()}, by=by)
        if plan.note:
            self.annotate_topics(plan.note, by=by)
        if plan.merge:
            self.merge_topics(plan.merge, by=by)
        if plan.drop:
            check_distinct(before, plan.drop, "what to drop")
            self.drop_topics(find_all(before, self._get_layout(), plan.drop), by=by)
        if plan.order:
            self.reorder_topics(find_all(before, self._get_layout(), plan.order), by=by)
        places = {find_topic(before, self._get_layout(), number): n for number, n in plan.split.items()}
        for place in sorted(places, reverse=True):  # so that the numbers of those before it stay
            self.split_topic(place, places[place], documents=documents, by=by)

    def _edit(self, kind: str, values: dict[str, Any], by: str | None, split: SplitRecord | None = None) -> Self:
        """Append an edit; nothing changes if it is refused."""
        curated = self._get_curated()
        splits = curated.splits if split is None else (*curated.splits, split)
        self._set_edits([*curated.edits, make_edit(kind, values, by)], splits)
        return self

    def _set_edits(self, edits: Sequence[Edit], splits: Sequence[SplitRecord]) -> None:
        """Replace the edits; effects stay if the topics are the same, whatever they are called."""
        before = self._get_curated().changes if hasattr(self, "effects_") else None
        self._curated = curate(self._record, edits, splits, self._name_seeded())
        self._edits, self._splits = self._curated.edits, self._curated.splits
        found = self.__dict__.pop("effects_", None)
        if found is not None and self._curated.changes == before:
            self.effects_ = rename_targets(found, self._curated.view.facts.labels)

    def _get_curated(self) -> Curated:
        """Return the fit with its edits."""
        cached = getattr(self, "_curated", None)
        if cached is None or cached.record is not getattr(self, "_record", None):  # `partial_fit` has a new record
            check_is_fitted(self, "_record")
            made = getattr(self, "_edits", ()), getattr(self, "_splits", ())
            cached = curate(self._record, *made, self._name_seeded())
            self._curated = cached
        return cached

    def _name_seeded(self) -> dict[int, str]:
        """Return the names that topics of the fit have from supported seeds."""
        seeds = getattr(self, "seeds_", [])
        return {seed.topic: seed.name for seed in seeds if seed.topic is not None and seed.supported}

    def _get_layout(self) -> Layout:
        return self._get_curated().layout

    def _get_leaves(self) -> ModelRecord:
        return self._get_curated().leaves

    def _get_view(self) -> ModelRecord:
        return self._get_curated().view

    def _trace_leaves(self) -> list[int]:
        """Return the topic of the fit that each leaf is, −1 for a part of a split topic."""
        layout, fitted = start_layout(len(self._record.components)), list(range(len(self._record.components)))
        for edit in self._get_curated().edits:
            if edit.kind == "split":
                kept = number_kept_leaves(layout, edit.values["topic"])
                fitted = [fitted[leaf] for leaf in kept] + [-1] * edit.values["n"]
            layout = apply_edit(layout, edit)
        return fitted

    def _get_leaf_mixtures(self) -> Mixtures:
        """Return the mixtures of the training documents under the topics before they were merged or dropped."""
        splits = self._get_curated().splits
        if splits and splits[-1].mixtures is not None:
            return splits[-1].mixtures
        if splits or not hasattr(self, "_mixtures"):
            raise AttributeError("document_topics_: the mixtures of the training documents are not in a model file")
        return self._mixtures

    def _get_training_mixtures(self) -> Mixtures:
        """Return the mixtures of the training documents under the topics that are shown."""
        curated, mixtures = self._get_curated(), self._get_leaf_mixtures()
        if curated.layout.is_plain:
            return mixtures
        cached = getattr(self, "_shown", None)
        if cached is None or cached[0] is not curated:
            shown = mixtures._replace(shares=sum_columns(mixtures.shares, curated.layout.nodes))
            cached = self._shown = (curated, shown)
        return cached[1]

    def _get_training(self, documents: Any) -> TrainingDocuments:
        """Return the documents of the fit for a split."""
        record = self._get_leaves()
        if record.tokens is None:
            problem = "a split needs the token model, which this model does not have"
            raise InputError(problem, remedy=FIT_TOKEN_MODEL)
        if record.kept.positions is None:
            raise InputError("this model file is from a version whose topics cannot be split", remedy="fit again")
        counts, n = hold_in_memory(self._get_counts(documents, None)), record.diagnostics.n_documents
        if counts.shape[0] != n:
            problem = f"the model was fitted on {n:,} documents, but {counts.shape[0]:,} were given"
            raise InputError(problem, remedy="give the documents of the fit, in their order")
        if documents is None:
            return TrainingDocuments(counts, self._get_leaf_mixtures().shares, self._metadata, self._get_embeddings())
        if record.neighbors is not None:
            problem = "the topics of a model file that was fitted with embeddings cannot be split"
            raise InputError(
                problem, remedy="in Python, split them before the model is saved, or fit without {embeddings}"
            )
        return TrainingDocuments(counts, self._infer_leaves(counts), Metadata(None, None, None))

    def _get_embeddings(self) -> Embeddings | None:
        """Return the embeddings of the training documents."""
        vectors = self._embeddings
        return None if vectors is None else Embeddings(vectors, vectors.any(axis=1))

    def _measure_coherence(self, layout: Layout, groups: Sequence[Sequence[int]]) -> list[float | None]:
        """Return the coherence of merged topics, None for each where the documents are not in memory."""
        if not hasattr(self, "_weighted"):
            return [None] * len(groups)
        places = [min(group) - sum(n > min(o) and n < min(group) for o in groups for n in o) for group in groups]
        leaves = self._get_leaves()
        nodes = [layout.topics[place].node for place in places]
        relevance = average_rows(leaves.relevance, leaves.facts.shares, nodes)
        return [float(value) for value in measure_coherence(relevance, self._weighted.documents)]

    def _list_records(self) -> list[ModelRecord]:
        """Return the records of the fit, of its topics after splits, and of those that are shown."""
        curated = self._get_curated()
        return [curated.record, curated.leaves, curated.view]

    def _add_edits(self, arrays: Arrays, header: dict[str, Any], used: Sequence[int]) -> None:
        """Add the edits to the arrays and the header of a model file."""
        curated = self._get_curated()
        if not curated.edits:
            return
        header["edits"] = {"fit": compute_fingerprint(curated.record), "list": to_json(curated.edits), "splits": []}
        for i, split in enumerate(curated.splits):
            header["edits"]["splits"].append(write_split(split, f"split{i}", arrays, used))

    def _read_edits(self, arrays: Arrays, header: dict[str, Any], path: Any) -> None:
        """Read the edits of a model file."""
        found = header.get("edits")
        if found is None:
            return
        if found["fit"] != compute_fingerprint(self._record):
            raise InputError(f"the edits in {path} were made for another fit", remedy="fit again, or edit it anew")
        splits = [read_split(item, f"split{i}", arrays) for i, item in enumerate(found["splits"])]
        self._set_edits(from_json(found["list"]), splits)
        self._get_view()  # refuses parts that do not fit each other


def to_number(number: Any) -> Any:
    """Return numbers of NumPy as those of Python; other values are refused where they are used."""
    return int(number) if isinstance(number, np.integer) else number


def is_list(value: Any) -> bool:
    """Tell whether a value is a list, or something that can be used in place of one."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def check_table(value: Any, what: str, example: str) -> Mapping[Any, Any]:
    """Return a dictionary by numbers of topics; refuse other values, and an empty one."""
    if not isinstance(value, Mapping) or not value:
        problem = f"{what} is {value!r}, but it must be a dictionary with at least one topic"
        raise InputError(problem, remedy=f"write {example}")
    return value
