"""`anchorless show` and `anchorless report`: what a model file holds."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorless._cli.options import resolve_model_path
from anchorless._cli.printing import (
    MIN_LISTED,
    format_coherence,
    get_screen_width,
    print_json,
    print_model,
    print_table,
    sanitize,
    topic_to_dict,
)
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.rereading import complete_reading
from anchorless._corpus.io.joined import name_inputs
from anchorless._corpus.io.readers import open_texts
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.identifiability.uniqueness import measure_leeway
from anchorless._locks import FileState
from anchorless._report.earlier_reports import read_other_report, read_report
from anchorless._report.html import DocumentRecord, render_report, shorten_id, write_page
from anchorless._topic_model.model import TopicModel
from anchorless._topic_model.report_data import BEFORE_EDITS
from anchorless._topic_model.summary import Topic, rank_pairs
from anchorless._topic_model.verdicts import describe_identifiability
from anchorless.errors import UsageError

#: Topics listed as often, and as rarely, together with one topic.
MAX_LINKED = 3


def run(options: argparse.Namespace) -> None:
    """Print all topics, or one with its words and documents."""
    model = TopicModel.load(resolve_model_path(options.model))
    if options.topic is None:
        show_all(model, options)
        return
    n_topics = len(model.topic_labels_)
    if not 0 <= options.topic < n_topics:
        raise UsageError(f"there is no topic {options.topic}: the topics of this model are 0 to {n_topics - 1}")
    show_one(model, options)


def show_all(model: TopicModel, options: argparse.Namespace) -> None:
    """Print every topic and the strongest associations."""
    if options.json:
        matrices = {"association": model.topic_association_.tolist(), "correlation": model.topic_correlation_.tolist()}
        trust = {"trust": model.identifiability().as_dict()} if options.trust else {}
        topics, facts = [*map(topic_to_dict, model.topics(options.words))], model.diagnostics_._asdict()
        print_json({"topics": topics, **matrices, "diagnostics": facts} | trust)
        return
    print_model(model, options.words)
    if options.trust:
        print()
        print_identifiability(model, model.identifiability())


def print_identifiability(model: TopicModel, found: Identifiability) -> None:
    """Print each topic's nearest anchor word and how far it could change, then the verdicts in words."""
    if not model._get_layout().is_plain:
        print(f"{BEFORE_EDITS}\n")
    changes = found.leeway or measure_leeway(found.uniqueness, found.n_topics)
    rows = []
    for anchors in found.anchors:
        best = anchors.candidates[0]
        documents = "?" if best.documents is None else str(best.documents)
        change = f"{changes[anchors.topic]:.1%}"
        word = sanitize(model.vocabulary_[best.word])
        rows.append([str(anchors.topic), word, f"{best.share:.1%}", documents, change])
    print_table(["#", "nearest anchor word", "in this topic", "documents", "change"], rows)
    for heading, sentence in describe_identifiability(found, model._record.facts.labels, model.vocabulary_):
        print(f"\n{heading}")
        for text in textwrap.wrap(sanitize(sentence), get_screen_width() - 2, break_on_hyphens=False):
            print(f"  {text}")


def show_one(model: TopicModel, options: argparse.Namespace) -> None:
    """Print a topic: its words, its associations with other topics, its documents."""
    topic = model.topics(options.words)[options.topic]
    documents = model.representative_documents(options.topic, options.documents)
    n_border = options.border if options.border is not None else options.documents if options.full else 0
    border = model.border_documents(options.topic, n_border) if n_border else []
    texts = read_whole_texts(options, model, [document.id for document in [*documents, *border]])
    linked = list_associations(model, options.topic)
    if options.json:
        found, at_border = (
            [document._asdict() | texts.get(document.id, {}) for document in some] for some in (documents, border)
        )
        note = {"note": model.topic_notes_[options.topic]}
        added = {"border": at_border} if n_border else {}
        print_json(topic_to_dict(topic) | note | {"documents": found, **added, "correlations": linked})
        return
    print(f"topic {topic.number}: {sanitize(topic.label)}")
    coherence = format_coherence(topic)
    print(f"share {topic.share:.1%}, coherence {coherence}, exclusivity {topic.exclusivity:.2f}\n")
    if model.topic_notes_[options.topic]:
        print(f"{sanitize(model.topic_notes_[options.topic])}\n")
    print_words(topic)
    print_linked(linked)
    print("\ndocuments")
    print_documents(documents, topic.number, texts)
    if n_border:
        print("\nat the border: another topic is about as large")
        print_documents(border, topic.number, texts)


def print_documents(documents: list[DocumentRecord], topic: int, texts: dict[str, dict[str, str]]) -> None:
    """Print documents with their share of a topic: the beginning of each, or its whole text if it is known."""
    for document in documents:
        share = dict(document.topics).get(topic, 0.0)
        print(f"  {share:>4.0%}  {sanitize(document.id)}")
        whole = texts.get(document.id)
        limit: dict[str, Any] = {} if whole else {"max_lines": 2, "placeholder": " …"}
        paragraphs = whole["text"].splitlines() if whole else [document.snippet]
        for paragraph in paragraphs:
            for line in textwrap.wrap(sanitize(paragraph), get_screen_width() - 8, **limit):
                print(f"        {line}")


def read_whole_texts(
    options: argparse.Namespace, model: TopicModel, ids: list[str], shorten: Callable[[str], str] = str
) -> dict[str, dict[str, str]]:
    """Return the texts of documents by their ids, from the file that was fitted; refuse one that lacks them.

    `ids` are those that `shorten` returns. An id of several documents with different texts has none: either could be
    that of the other.
    """
    if options.full is None:
        return {}
    wanted, found, repeated = set(ids), dict[str, str](), set[str]()
    split = None if model.fitted_counting_ is None else model.fitted_counting_.split
    with open_texts(options.full, **complete_reading(options, options.full), split=split) as source:
        for batch in source:
            for whole, text in zip(batch.other_columns.column(0).to_pylist(), batch.texts.to_pylist(), strict=True):
                if (id := shorten(whole)) in wanted and found.setdefault(id, text) != text:
                    repeated.add(id)
    missing = [id for id in ids if id not in found]
    if missing:
        problem = (
            f"{name_inputs(options.full)} has no document {missing[0]!r}: {len(missing)} of {len(ids)} are not in it"
        )
        raise UsageError(problem, remedy="give the files that the model was fitted on, read as they were then")
    if repeated:
        what = f"{len(repeated):,} ids, such as {min(repeated)!r}, are those of several documents"
        ConsoleProgress(quiet=options.quiet).log(f"note: {what}, which are shown without their whole texts")
    return {id: {"text": text} for id, text in found.items() if id not in repeated}


def print_words(topic: Topic) -> None:
    """Print the leading words with the numbers of each: the words are ranked by relevance."""
    cells = zip(topic.words, topic.relevance, topic.probabilities, topic.distinctiveness, strict=True)
    header = ["word", "relevance", "probability", "distinctiveness"]
    print_table(header, [[sanitize(w), f"{r:.4f}", f"{p:.4f}", f"{d:.2f}"] for w, r, p, d in cells])


def print_linked(linked: list[dict[str, Any]]) -> None:
    """Print the topics that are most often and those that are most rarely together with a topic."""
    often = [link for link in linked if link["association"] >= MIN_LISTED][:MAX_LINKED]
    rarely = [link for link in reversed(linked) if link["association"] <= -MIN_LISTED][:MAX_LINKED]
    for links, how in ((often, "often"), (rarely, "rarely")):
        if links:
            print(f"\n{how} together, beyond what their sizes explain (association)")
        for link in links:
            print(f"  {link['association']:+.2f}  {link['topic']:>2} {sanitize(link['label'])}")


def list_associations(model: TopicModel, topic: int) -> list[dict[str, Any]]:
    """Return the other topics by their association with this one, those that are most often together with it first."""
    pairs = [pair for pair in rank_pairs(model.topic_association_) if topic in pair[:2]]
    others = [(b if a == topic else a, value) for a, b, value in pairs]
    correlation = model.topic_correlation_[topic].tolist()
    return [
        {"topic": g, "label": model.topic_labels_[g], "association": value, "correlation": correlation[g]}
        for g, value in others
    ]


def run_report(options: argparse.Namespace) -> None:
    """Write the report of a model file, with the documents of the report that is next to it."""
    path, progress = Path(resolve_model_path(options.model)), ConsoleProgress(quiet=options.quiet)
    state = FileState.read(path)
    model, beside = TopicModel.load(path), path.parent / "report.html"
    output, current = beside if options.output is None else Path(options.output), read_report(beside)
    found = current or read_other_report(beside)
    earlier = found if found is not None and found["fingerprint"] == model.fingerprint_ else None
    for note in describe_earlier(beside, found, earlier):
        progress.log(f"note: {note}")
    data = model._build_report_data(
        options.title or (found or {}).get("title") or "Topics", model.identifiability() if options.trust else None
    )
    if earlier is None:
        whole = read_whole_texts(options, model, [document.id for document in data.documents])
    else:
        whole = read_whole_texts(options, model, earlier["documents"]["id"], shorten_id)
    texts = {id: known["text"] for id, known in whole.items()}
    # The report next to a model is made from it.
    force = options.force or (options.output is None and current is not None)
    # A report among the results of a model is of this model.
    made_from = state if state.path.parent == Path(os.path.realpath(output)).parent else None
    write_page(output, render_report(data, texts, earlier), force=force, made_from=made_from)
    if options.json:
        print_json({"report": str(output)})
    progress.log(f"wrote {output}; open it in a browser")


def describe_earlier(path: Path, found: dict[str, Any] | None, earlier: dict[str, Any] | None) -> Iterator[str]:
    """Yield what the new report has not of the one next to the model: `earlier` is what was found, if of its topics."""
    if found is None and path.is_file():
        yield f"{path} is no report of anchorless; the new one has the documents of the model file"
    elif found is not None and earlier is None:
        yield f"{path} shows other topics; the new report has the documents of the model file"
    elif earlier is not None and earlier.get("had_effects"):
        yield f"{path} is of another version; run `anchorless effects` again to have effects in the new report"
