"""The methods of `TopicModel` with which people read and name topics: codebook, intrusion tasks, sources of names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from anchorless._corpus.documents import Array
from anchorless._files import PathLike, atomic_write
from anchorless._report.html import DocumentRecord
from anchorless._topic_model import codebook, intrusion
from anchorless._topic_model.curation import CurationMixin, is_list
from anchorless._topic_model.edits import check_text, check_topic, make_edit
from anchorless._topic_model.intrusion import IntrusionScore, IntrusionTask
from anchorless._topic_model.label_endpoint import LabelServer, ask_server, build_prompt, clean_answer
from anchorless._topic_model.matching import CarriedName, compute_similarity, match_names
from anchorless._topic_model.summary import Topic
from anchorless._validation import check_positive, check_whole
from anchorless.errors import InputError

#: Topics are the same if the cosine similarity of their words is at least this.
MIN_SIMILARITY = 0.7
#: Words and quotes of a topic that a language model is shown.
LABEL_WORDS, LABEL_QUOTES = 15, 3


class AnnotationMixin(CurationMixin):
    """Read and name the topics of a fitted model."""

    if TYPE_CHECKING:
        topic_word_: Array
        vocabulary_: list[str]

        @property
        def n_topics_(self) -> int: ...
        def topics(self, n_words: int = 10) -> list[Topic]: ...

    def write_codebook(
        self, path: PathLike, *, n_words: int = 15, n_quotes: int = 3, n_border: int = 1, force: bool = False
    ) -> None:
        """Write a codebook: for each topic its words, documents, name and note.

        As CSV it comes back by `apply_codebook`, after a person has filled the columns `name` and `note`.

        Parameters
        ----------
        path : path
            A file name that ends in .csv or .md.
        n_words, n_quotes, n_border : int
            Words of each topic, documents that stand for it, and documents in which another topic is about as large.
        force : bool, default=False
            Replace an existing file.
        """
        suffix = str(path).rpartition(".")[2].lower()
        if suffix not in ("csv", "md"):
            raise InputError(f"cannot write {path}: a codebook is .csv or .md", remedy="choose one of these endings")
        write = codebook.write_csv if suffix == "csv" else codebook.write_markdown
        text = write(self._list_codebook(n_words, n_quotes, n_border), self.fingerprint_)
        with atomic_write(path, force=force) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")

    def apply_codebook(self, path: PathLike, *, by: str | None = None) -> Self:
        """Take names and notes from a codebook that a person has filled.

        Parameters
        ----------
        path : path
            A file that `write_codebook` wrote, as CSV. Names and notes that were not changed are no edits.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        found = codebook.read_csv(path, self.n_topics_, self.fingerprint_)
        self._set_names(found.names, found.notes, by)
        return self

    def carry_names(
        self, earlier: Any, *, min_similarity: float = MIN_SIMILARITY, by: str | None = None
    ) -> list[CarriedName]:
        """Take names and notes from an earlier model, such as one of last year's documents, by matching the topics.

        Parameters
        ----------
        earlier : TopicModel
            A model with named topics. The two models may have other words and other numbers of topics.
        min_similarity : float, default=0.7
            Cosine similarity of the words of two topics from which they are the same topic.
        by
            As in `rename_topics`.

        Returns
        -------
        names : list of CarriedName
            All given names of the earlier model, also those that no topic of this model could take. Topics that have a
            note only are among them, with an empty name.
        """
        words = self.topic_word_, self.vocabulary_, earlier.topic_word_, earlier.vocabulary_
        found = match_names(compute_similarity(*words), earlier.topic_names_, earlier.topic_notes_, min_similarity)
        carried = [name for name in found if name.is_carried]
        names = {name.topic: name.name for name in carried if name.name}
        notes = {name.topic: earlier.topic_notes_[name.earlier] for name in carried}
        self._set_names(names, {topic: note for topic, note in notes.items() if note}, by)
        return found

    def intrusion_tasks(self, *, random_state: int = 0) -> list[IntrusionTask]:
        """Make intrusion tasks for human raters, who say which word and which document does not belong to the others.

        Parameters
        ----------
        random_state : int, default=0
            Seed; the same seed gives the same tasks.

        Returns
        -------
        tasks : list of IntrusionTask
        """
        return intrusion.build_tasks(self._get_record(), check_whole("random_state", random_state, least=0))

    def write_intrusion_form(self, path: PathLike, *, random_state: int = 0, force: bool = False) -> None:
        """Write the intrusion tasks as a form for raters, without the solution.

        Parameters
        ----------
        path : path
            A file name that ends in .csv. Raters write the number of the choice that does not belong into the column
            `answer`.
        random_state
            As in `intrusion_tasks`.
        force : bool, default=False
            Replace an existing file.
        """
        if not str(path).lower().endswith(".csv"):  # a browser would run the texts of a form that is named .html
            raise InputError(f"cannot write {path}: a form is .csv", remedy="choose this ending")
        text = intrusion.write_form(self.intrusion_tasks(random_state=random_state), random_state, self.fingerprint_)
        with atomic_write(path, force=force) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")

    def score_intrusion(self, path: PathLike) -> list[IntrusionScore]:
        """Score a form of intrusion tasks that raters have filled.

        Parameters
        ----------
        path : path
            The form; those of several raters may be put below each other, also with their headings, and if they were
            made with different seeds.

        Returns
        -------
        scores : list of IntrusionScore
            For words and for documents: of all topics, then of each topic.
        """
        rows = codebook.read_rows(path)
        seeds = intrusion.list_seeds(rows, str(path))
        tasks = {seed: self.intrusion_tasks(random_state=seed) for seed in seeds}
        return intrusion.score_answers(intrusion.read_answers(rows, str(path), tasks, self.fingerprint_))

    def label_topics(
        self,
        endpoint: str,
        *,
        model: str = "default",
        topics: Any = None,
        n_quotes: int = LABEL_QUOTES,
        timeout: float = 60.0,
        by: str | None = None,
    ) -> Self:
        """Name topics by a language model on a server that you name. Prompts and answers are kept with the edit.

        Words and quotes of documents are sent to the server, and nowhere else. If one request fails, nothing changes.

        Parameters
        ----------
        endpoint : str
            Address of a server with the chat interface of OpenAI, such as ``"http://127.0.0.1:8080"``.
        model : str, default="default"
            Name of the language model on the server.
        topics : list of int or None, default=None
            Topics to name; None for those without a given name.
        n_quotes : int, default=3
            Documents of each topic that are sent; 0 for words only.
        timeout : float, default=60.0
            Seconds to wait for each answer.
        by
            As in `rename_topics`.

        Returns
        -------
        self : TopicModel
        """
        server = LabelServer(endpoint, model, check_positive("timeout", timeout))
        check_text(model, "the name of the language model")
        make_edit("label", {}, by)  # refuses a bad name before anything is sent
        n = check_whole("n_quotes", n_quotes, least=0)
        asked, described = self._choose_asked(topics), self.topics(LABEL_WORDS)
        prompts = [build_prompt(described[f], self._quote_topic(f, n)) for f in asked]
        answers = [ask_server(server, prompt) for prompt in prompts]
        names = [[int(f), name] for f, name in zip(asked, map(clean_answer, answers), strict=True) if name]
        if not names:
            problem = f"{endpoint} gave no name for any topic; its first answer was {answers[0][:80]!r}"
            raise InputError(problem, remedy="try another language model")
        about = {"endpoint": endpoint, "model": model, "topics": [int(f) for f in asked]}
        return self._edit("label", {"names": names, **about, "prompts": prompts, "answers": answers}, by)

    def _set_names(self, names: Mapping[int, str | None], notes: Mapping[int, str], by: str | None) -> None:
        """Give names and notes to topics; those that topics have are no edits."""
        new_names = {f: name for f, name in names.items() if name != self.topic_names_[f]}
        new_notes = {f: note for f, note in notes.items() if note != self.topic_notes_[f]}
        if new_names:
            self.rename_topics(new_names, by=by)
        if new_notes:
            self.annotate_topics(new_notes, by=by)

    def _choose_asked(self, topics: Any) -> list[int]:
        """Return the topics to name by a language model: those that were given, or those without a name."""
        if topics is not None and not is_list(topics):
            raise InputError(f"the topics to name are {topics!r}, but they must be a list", remedy="write [3]")
        unnamed = (f for f, name in enumerate(self.topic_names_) if name is None)
        asked = [*dict.fromkeys(unnamed if topics is None else topics)]
        for f in asked:
            check_topic(self._get_layout(), f)
        if not asked:
            raise InputError("every topic has a name already", remedy="name some again with {topics}")
        return asked

    def _quote_topic(self, topic: int, n: int) -> list[DocumentRecord]:
        """Return documents that stand for a topic."""
        kept = self._get_record().kept
        return [kept.documents[i] for i in kept.representatives[topic][:n]]

    def _list_codebook(self, n_words: int, n_quotes: int, n_border: int) -> list[codebook.CodebookRow]:
        """Return the rows of the codebook."""
        kept, rows = self._get_record().kept, []
        for topic, name, note in zip(self.topics(n_words), self.topic_names_, self.topic_notes_, strict=True):
            border = [] if kept.borders is None else kept.borders[topic.number][:n_border]
            quotes = self._quote_topic(topic.number, n_quotes)
            rows.append(codebook.CodebookRow(topic, name or "", note, quotes, [kept.documents[i] for i in border]))
        return rows
