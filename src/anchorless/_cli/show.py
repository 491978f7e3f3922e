"""`anchorless show` and `anchorless report`: what a model file holds."""

from __future__ import annotations

import argparse
import math
import textwrap
from typing import Any

from anchorless._cli.options import Command, add_flags, add_model, add_number, resolve_model_path
from anchorless._cli.printing import (
    MIN_LISTED,
    get_screen_width,
    print_json,
    print_model,
    print_table,
    sanitize,
    topic_to_dict,
)
from anchorless._cli.progress import ConsoleProgress
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.identifiability.uniqueness import measure_leeway
from anchorless._topic_model.model import TopicModel
from anchorless._topic_model.summary import Topic, rank_pairs
from anchorless._topic_model.verdicts import describe_identifiability
from anchorless.errors import UsageError

#: Topics listed as often, and as rarely, together with one topic.
MAX_LINKED = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `show`."""
    add_model(parser)
    parser.add_argument("topic", nargs="?", type=int, metavar="TOPIC", help="number of one topic (default: all)")
    add_number(parser, "-w", "--words", default=10, help="words per topic")
    add_number(parser, "-d", "--documents", default=5, help="documents")
    parser.add_argument("--trust", action="store_true", help="check whether other topics fit as well (takes seconds)")
    add_flags(parser, force=False)


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
    changes = found.leeway or measure_leeway(found.uniqueness, found.n_topics)
    rows = []
    for anchors, stretch in zip(found.anchors, found.scattering.stretch, strict=True):
        best = anchors.candidates[0]
        documents = "?" if best.documents is None else str(best.documents)
        change = f"{changes[anchors.topic]:.1%}"
        word = sanitize(model.vocabulary_[best.word])
        rows.append([str(anchors.topic), word, f"{best.share:.1%}", documents, format_stretch(stretch), change])
    print_table(["#", "nearest anchor word", "in this topic", "documents", "stretch", "change"], rows)
    for heading, sentence in describe_identifiability(found, model._record.facts.labels, model.vocabulary_):
        print(f"\n{heading}")
        for text in textwrap.wrap(sanitize(sentence), get_screen_width() - 2, break_on_hyphens=False):
            print(f"  {text}")


def format_stretch(stretch: float) -> str:
    """Return a topic's stretch, or a dash if it was not computed."""
    return f"{stretch:.4f}" if math.isfinite(stretch) else "-"


def show_one(model: TopicModel, options: argparse.Namespace) -> None:
    """Print a topic: its words, its associations with other topics, its documents."""
    topic = model.topics(options.words)[options.topic]
    documents = model.representative_documents(options.topic, options.documents)
    linked = list_associations(model, options.topic)
    if options.json:
        found = [document._asdict() for document in documents]
        print_json(topic_to_dict(topic) | {"documents": found, "correlations": linked})
        return
    print(f"topic {topic.number}: {sanitize(topic.label)}")
    print(f"share {topic.share:.1%}, coherence {topic.coherence:.3f}, exclusivity {topic.exclusivity:.2f}\n")
    print_words(topic)
    print_linked(linked)
    print("\ndocuments")
    for document in documents:
        share = dict(document.topics).get(topic.number, 0.0)
        print(f"  {share:>4.0%}  {sanitize(document.id)}")
        for line in textwrap.wrap(sanitize(document.snippet), get_screen_width() - 8, max_lines=2, placeholder=" …"):
            print(f"        {line}")


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


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    add_model(parser)
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="(default: report.html)")
    parser.add_argument("--title", default="Topics", help="title of the page")
    parser.add_argument("--trust", action="store_true", help="check whether other topics fit as well")
    add_flags(parser, force=True)


def run_report(options: argparse.Namespace) -> None:
    """Write the report of a model file."""
    model = TopicModel.load(resolve_model_path(options.model))
    trust = model.identifiability() if options.trust else None
    model.report(options.output, title=options.title, force=options.force, trust=trust)
    if options.json:
        print_json({"report": options.output})
    ConsoleProgress(quiet=options.quiet).log(f"wrote {options.output}; open it in a browser")


SHOW = Command(
    "show",
    "print the topics of a model, or one topic with its documents",
    "Print the topics of a model, or one topic with its words (ranked by relevance, with the probability of each),\n"
    "the topics that are often or rarely together with it, and its representative documents.",
    "anchorless show reviews-topics 3 --words 20",
    add_options,
    run,
)
REPORT = Command(
    "report",
    "write the HTML report of a model",
    "Write the report of a model: one HTML file that opens without a network. A model file keeps only the\n"
    "representative documents, so this report shows fewer documents than the one that `fit` writes.",
    "anchorless report reviews-topics -o reviews.html --title 'What reviews are about'",
    add_report_options,
    run_report,
)
