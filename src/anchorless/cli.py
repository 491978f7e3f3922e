"""The command line: parse, call, print."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.pipeline import make_pipeline

from anchorless import __version__, datasets
from anchorless.errors import AnchorlessError
from anchorless.estimators import AnchorFree
from anchorless.weighting import NormalizedCutWeighting, TfidfWeighting

#: Words that every docstring has: they say that it is a docstring, not what it is about.
DOCSTRING_WORDS = """
    array_like attributes bool deprecated dtype example examples float import int ndarray none note notes np object
    optional parameter parameters raises ref reference references return returned returns scipy seealso shape sklearn
    str true type users value values version versionadded versionchanged warnings
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 it could not be done, 2 the call was wrong."""
    parser = argparse.ArgumentParser(prog="anchorless", description="Correlated topic models without anchor words.")
    parser.add_argument("--version", action="version", version=f"anchorless {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo_parser = commands.add_parser(
        "demo", help="find the topics of the docstrings of NumPy, SciPy and scikit-learn", description=demo.__doc__
    )
    demo_parser.add_argument("-k", "--topics", type=int, default=12, help="number of topics (default: 12)")
    demo_parser.set_defaults(run=demo)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except AnchorlessError as error:
        print(f"anchorless: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("anchorless: interrupted", file=sys.stderr)
        return 130
    return 0


def demo(options: argparse.Namespace) -> None:
    """Find the topics of the docstrings of NumPy, SciPy and scikit-learn, which are installed with anchorless."""
    corpus = datasets.load_docstrings()
    print(f"read {len(corpus.texts):,} docstrings of {', '.join(datasets.DOCSTRING_PACKAGES)}", file=sys.stderr)
    vectorizer = CountVectorizer(
        token_pattern=r"(?u)\b[a-zA-Z][a-zA-Z_]{2,}\b", stop_words=stop_words(), min_df=5, max_df=0.3
    )
    counts = vectorizer.fit_transform(corpus.texts)
    print(f"vocabulary of {counts.shape[1]:,} words, {int(counts.sum()):,} tokens", file=sys.stderr)
    start = time.perf_counter()
    weighted = make_pipeline(TfidfWeighting(), NormalizedCutWeighting()).fit_transform(counts)
    model = AnchorFree(n_components=options.topics).fit(weighted)
    print(f"{options.topics} topics in {time.perf_counter() - start:.1f} s\n", file=sys.stderr)
    words = vectorizer.get_feature_names_out()
    print_topics(model, words)
    print("\nstrongest correlations:")
    for f, g, value in strongest_correlations(model.topic_correlation_):
        names = " / ".join(" ".join(leading_words(model.components_[topic], words, 2)) for topic in (f, g))
        print(f"  {f:>2} and {g:>2}  {value:+.2f}  {names}")


def stop_words() -> list[str]:
    """Return English stop words and those of docstrings."""
    return sorted(ENGLISH_STOP_WORDS.union(DOCSTRING_WORDS.split()))


def print_topics(model: AnchorFree, words: Sequence[str], n_words: int = 9) -> None:
    """Print each topic's share and leading words."""
    print(" #  share  leading words")
    for f, topic in enumerate(model.components_):
        print(f"{f:>2} {model.topic_shares_[f]:>6.1%}  {' '.join(leading_words(topic, words, n_words))}")


def leading_words(topic: np.typing.NDArray[np.float64], words: Sequence[str], n_words: int) -> list[str]:
    """Return the most probable words of a topic, most probable first."""
    return [words[i] for i in np.argsort(-topic, kind="stable")[:n_words]]


def strongest_correlations(correlation: np.typing.NDArray[np.float64], n: int = 6) -> list[tuple[int, int, float]]:
    """Return the `n` pairs of topics with the strongest correlations of either sign, largest first."""
    f, g = np.triu_indices(len(correlation), k=1)
    strongest = np.argsort(-abs(correlation[f, g]), kind="stable")[:n]
    order = strongest[np.argsort(-correlation[f, g][strongest], kind="stable")]
    return [(int(f[i]), int(g[i]), float(correlation[f[i], g[i]])) for i in order]


if __name__ == "__main__":
    sys.exit(main())
