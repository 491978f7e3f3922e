"""`anchorless evaluate`: how well the topics of a model fit other documents."""

from __future__ import annotations

import argparse
import math
from typing import Any

from anchorless import metrics
from anchorless._cli import options as shared
from anchorless._cli.apply import read_aligned
from anchorless._cli.printing import print_json, print_table
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.corpus import Corpus
from anchorless._topic_model.model import TopicModel

N_WORDS = 10


def run(options: argparse.Namespace) -> None:
    """Print the measures of a model on documents."""
    progress = ConsoleProgress(quiet=options.quiet)
    model = TopicModel.load(shared.resolve_model_path(options.model)).set_params(n_jobs=options.jobs)
    with read_aligned(options, model, progress) as corpus:
        found = compute_measures(model, corpus, options.seed)
        found |= {"documents": corpus.n_documents, "tokens": corpus.n_tokens, "unknown_tokens": corpus.n_unknown}
        labels = corpus.metadata.labels
        if labels is not None and labels.null_count < len(labels):
            lead = model._infer(corpus.documents).shares.argmax(axis=1)
            known = labels.is_valid().to_numpy(zero_copy_only=False)
            named = labels.drop_null().to_pylist()
            found["clustering_accuracy"] = metrics.clustering_accuracy(named, lead[known])
    if options.json:
        print_json(found)
        return
    rows = [
        [name, f"{value:,}" if isinstance(value, int) else f"{value:.4g}", MEASURE_DESCRIPTIONS[name]]
        for name, value in found.items()
    ]
    print_table(["measure", "value", "what it says"], rows)


def compute_measures(model: TopicModel, corpus: Corpus, seed: int) -> dict[str, Any]:
    """Return the measures of the topics of a model on documents."""
    components = model.components_
    n_words = min(N_WORDS, components.shape[1])
    completion = metrics.document_completion(model.topic_word_, corpus, random_state=seed)
    return {
        "npmi": float(metrics.npmi(components, corpus, n_words).mean()),
        "umass": float(metrics.umass(components, corpus, n_words).mean()),
        "diversity": float(metrics.topic_diversity(components, n_words)),
        "exclusivity": float(metrics.exclusivity(components, n_words).mean()),
        "completion": completion.log_likelihood,
        "completion_unigram": completion.unigram,
        "perplexity": math.exp(-completion.log_likelihood),
        "perplexity_unigram": math.exp(-completion.unigram),
    }


MEASURE_DESCRIPTIONS = {
    "npmi": "coherence of the 10 leading words, -1 to 1; higher is better",
    "umass": "coherence by UMass; nearer to 0 is better",
    "diversity": "share of different words among the leading words; 1 is best",
    "exclusivity": "how far leading words belong to one topic; 1 is best",
    "completion": "log-likelihood per token of half a document given the other half; higher is better",
    "completion_unigram": "the same without topics: what to beat",
    "perplexity": "exp of minus the log-likelihood per token; lower is better",
    "perplexity_unigram": "the same without topics: what to beat",
    "clustering_accuracy": "documents with a label whose leading topic is that of the label",
    "documents": "documents that were measured",
    "tokens": "tokens in them",
    "unknown_tokens": "of words that the model does not know",
}
