"""How far the topics of a model can be trusted: identifiability and stability."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from threadpoolctl import threadpool_limits

from anchorless._choices import CONSTRAINT_SYNONYMS
from anchorless._core.token_model import TokenTopics
from anchorless._core.weighting import compute_relevance, compute_relevance_factors
from anchorless._corpus.corpus import PathLike
from anchorless._diagnostics.identifiability.identifiability import Evidence, Identifiability, assess_identifiability
from anchorless._diagnostics.identifiability.shuffled import Margins
from anchorless._diagnostics.stability import BootstrapSettings, Stability
from anchorless._diagnostics.token_intervals import TokenFit, add_token_intervals, estimate_draw_cost
from anchorless._estimators.base import resolve_n_jobs
from anchorless._topic_model.edits import count_leaves
from anchorless._topic_model.fitted import ModelRecord, TokenRecord
from anchorless._topic_model.stability_file import read_stability, write_stability
from anchorless._topic_model.stability_view import view_stability
from anchorless._validation import resolve_job_count
from anchorless.errors import InputError
from anchorless.progress import ProgressCallback


class DiagnosticsMixin:
    """Check a fitted model: whether its topics are unique, and whether other documents would give them, too."""

    if TYPE_CHECKING:
        _record: ModelRecord
        _weighted: Any
        _counts: Any
        _order: Any
        _is_new: Any
        constraint: Any
        vocabulary_: Any

        def _get_record(self) -> ModelRecord: ...
        def _get_leaves(self) -> ModelRecord: ...
        def _get_layout(self) -> Any: ...
        def _get_curated(self) -> Any: ...
        def _trace_leaves(self) -> list[int]: ...
        def _make_estimator(self, n_components: int) -> Any: ...
        def _draw_seed(self) -> int: ...

    def identifiability(
        self, *, n_starts: int = 10, time_limit: float = 60.0, random_state: int = 0
    ) -> Identifiability:
        """Check whether other topics would explain the same co-occurrences.

        Topics of the same tokens in random order are fitted for comparison; if these topics do not stand out from
        them, the verdict is "not supported". See `docs/trust.md`.

        Parameters
        ----------
        n_starts, time_limit, random_state
            As in `AnchorFree.identifiability`.

        Returns
        -------
        identifiability : Identifiability
        """
        self._get_record()
        record = self._record  # edits change what is shown, not what was fitted
        evidence = Evidence(
            record.document_frequency,
            record.diagnostics.eigengap,
            record.clipped_mass,
            record.word_noise,
            record.eigenvalues,
            self._get_margins(),
        )
        C, E = record.components, record.moments
        return assess_identifiability(
            C, E, evidence, n_starts=n_starts, time_limit=time_limit, random_state=random_state
        )

    def stability(
        self,
        n_resamples: int = 50,
        *,
        level: float = 0.9,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Stability:
        """Measure how far the topics depend on which documents were collected, by a bootstrap over the documents.

        The stability of the leading words is that of `components_`. Intervals of probabilities, shares, correlations
        and associations come from draws of the posterior of the token model, and so does the stability of the words of
        topics that only the token model tells apart. The result is kept for tables and the report. The weighting of the
        words stays as it is.

        Parameters
        ----------
        n_resamples, level, n_jobs, progress
            As in `AnchorFree.stability`.

        Returns
        -------
        stability : Stability
        """
        record = self._get_record()
        if not hasattr(self, "_weighted"):
            problem = "documents on disk, on a cluster or of a model file cannot be resampled"
            raise InputError(problem, remedy="fit in memory")
        record = self._get_leaves()
        documents, found = self._weighted.documents, self._make_estimator(len(self._record.components))
        n_threads = resolve_n_jobs(self) if n_jobs is None else resolve_job_count(n_jobs)
        settings = BootstrapSettings(n_resamples, level, seed=self._draw_seed(), n_threads=n_threads)
        rank = partial(
            compute_relevance,
            weights=record.weights,
            document_frequency=record.document_frequency,
            n_documents=record.diagnostics.n_documents,
            topic_word=None if self._record.tokens is None else self._record.topic_word[np.argsort(self._order)],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has given them
            cost = estimate_draw_cost(len(self._record.components))
            steps = 1 + cost  # for the time left: how long a resample and its draw take
            part = None if progress is None or record.tokens is None else (lambda n, total: progress(n, steps * total))
            result = found._bootstrap(documents, settings._replace(rank=rank), part or progress)
        result = self._expand_stability(result.reorder(self._order))
        if record.tokens is not None:
            second = None if progress is None else (lambda n, total: progress(total + cost * n, steps * total))
            with threadpool_limits(1, user_api="blas"):
                result = add_token_intervals(result, self._get_token_fit(), settings, second)
        self._bootstrapped = (self._get_curated().splits, result)
        return self.stability_

    @property
    def stability_(self) -> Stability:
        """The last result of `stability`, for the topics that are shown."""
        found, curated = self._get_bootstrapped(), self._get_curated()
        if found is None:
            raise AttributeError("stability_: call stability() first, and again after a split")
        return view_stability(found, curated.layout, curated.leaves)

    def _get_stability(self) -> Stability | None:
        self._get_record()
        return getattr(self, "stability_", None)

    def _get_bootstrapped(self) -> Stability | None:
        """Return the last result of `stability` for the topics before they were merged; None after a split."""
        n_splits, found = self._find_bootstrapped()
        return found if n_splits == len(self._get_curated().splits) else None

    def _find_bootstrapped(self) -> tuple[int, Stability | None]:
        """Return the last result of `stability`, and after how many of the splits it was made; None if they are undone.

        It comes back when later splits are undone.
        """
        splits, found = getattr(self, "_bootstrapped", ((), None))
        n = len(splits)
        is_same = [*map(id, splits)] == [*map(id, self._get_curated().splits[:n])]
        return n, found if is_same else None

    def _write_stability(self, arrays: Any, header: dict[str, Any]) -> None:
        """Add the result of `stability` to the arrays and the header of a model file."""
        n_splits, found = self._find_bootstrapped()
        if found is not None:
            header["stability"] = write_stability(found, arrays) | {"n_splits": n_splits}

    def _read_stability(self, arrays: Any, header: dict[str, Any], path: PathLike) -> None:
        """Read the result of `stability` in a model file, if there is one."""
        if header.get("stability") is None:
            return
        curated = self._get_curated()
        try:
            n_splits = header["stability"].get("n_splits", len(curated.splits))
            if type(n_splits) is not int or n_splits < 0:
                raise ValueError("stability")
            n_leaves = count_leaves(len(curated.record.components), curated.edits, n_splits)
            found = read_stability(header["stability"], arrays, n_leaves, len(self.vocabulary_))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            problem = f"{path} is not consistent: its part {error} does not fit the others; fit again"
            raise InputError(problem) from error
        self._bootstrapped = (curated.splits[:n_splits], found)

    def _expand_stability(self, found: Stability) -> Stability:
        """Return the stability of the leaves from that of the fit; parts of a split topic get theirs from draws."""
        return found.reorder(np.maximum(self._trace_leaves(), 0))

    def _get_token_fit(self) -> TokenFit:
        """Return what corpora are generated from."""
        record = self._get_leaves()
        tokens = cast(TokenRecord, record.tokens)
        topics = TokenTopics(tokens.topic_word, tokens.alpha, record.facts.shares)
        factors = compute_relevance_factors(record.weights, record.document_frequency, record.diagnostics.n_documents)
        ranking = factors if record.weights.idf is None else factors * record.weights.idf
        is_new = np.isin(np.array(self._trace_leaves()), [-1, *np.flatnonzero(self._is_new)])
        return TokenFit(topics, self._counts, record.correlation, record.association, is_new, ranking)

    def _get_margins(self) -> Margins | None:
        """Return what is needed to shuffle the training tokens; None for a model file that does not have it."""
        record = self._get_record()
        if record.document_lengths is None:
            return None
        n_documents = record.diagnostics.n_documents - record.diagnostics.n_without_words
        all_words = CONSTRAINT_SYNONYMS.get(self.constraint, self.constraint) == "all"
        return Margins(record.word_counts, record.document_lengths, n_documents, record.weights.weighting, all_words)
