"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anchorless._core.weighting import WEIGHTINGS
from anchorless._corpus.corpus import parse_memory
from anchorless._corpus.io.count_readers import COUNT_FORMATS
from anchorless._corpus.io.readers import TEXT_FORMATS
from anchorless._corpus.settings import CountSettings
from anchorless._validation import OLD_CONSTRAINTS
from anchorless.errors import AnchorlessError, InputError, UsageError

#: Parameters of the library whose options have another name.
PARAMETER_OPTIONS = {
    "n_topics": "--topics",
    "n_components": "--topics",
    "ngram_range": "--ngrams",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}


class Command(NamedTuple):
    """A command as the parser needs it."""

    name: str
    summary: str  # one line of the list of commands
    description: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def add_command(commands: Any, command: Command) -> argparse.ArgumentParser:
    """Add a command with its options and its example to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.description,
        epilog=f"example:\n  {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_options(parser)
    parser.set_defaults(run=command.run)
    return parser


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the input and how to read it."""
    parser.add_argument(
        "input",
        metavar="INPUT",
        help="texts: .csv .tsv .jsonl .parquet, a folder of .txt, one document per line, or - for stdin; "
        "counts: .npz .mtx .mm docword.*.txt .svm .ldac .mat; all may be gzipped",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--text-column", metavar="NAME", help="column with the texts (guessed if one is obvious)")
    group.add_argument("--id-column", metavar="NAME", help="column with the ids (guessed; else row numbers)")
    group.add_argument("--label-column", metavar="NAME", help="column with a label per document, for the report")
    group.add_argument("--date-column", metavar="NAME", help="column with a date per document, for the report")
    group.add_argument(
        "--format", choices=(*TEXT_FORMATS, *COUNT_FORMATS), help="format of the input (told from its name)"
    )
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of the texts (default: utf-8)")
    group.add_argument("--strict", action="store_true", help="stop at the first row that would be skipped")
    group.add_argument("--vocabulary", metavar="FILE", help="words of counts, one per line (found beside them)")


def add_counting(parser: argparse.ArgumentParser) -> None:
    """Add how texts are counted."""
    group = parser.add_argument_group("counting")
    group.add_argument("--stop-words", default="english", metavar="LANGUAGE", help="or none (default: english)")
    group.add_argument(
        "--extra-stop-words",
        type=parse_words,
        default=(),
        metavar="WORDS",
        help="more of them: a,b,c or @file, one per line",
    )
    group.add_argument("--ngrams", type=parse_ngrams, default=(1, 1), metavar="N", help="1, 2, or a range such as 1-2")
    group.add_argument(
        "--min-df", type=parse_frequency, metavar="N", help="least number (or share) of documents of a word"
    )
    group.add_argument("--max-df", type=parse_frequency, default=0.5, metavar="N", help="largest one (default: 0.5)")
    group.add_argument("--max-features", type=parse_positive_int, metavar="N", help="keep the N most frequent words")
    group.add_argument("--email", action="store_true", help="drop headers, quotations and signatures of mail and news")
    group.add_argument(
        "--html", action="store_true", help="drop tags, scripts and styles of web pages; read &amp; as &"
    )


def add_fitting(parser: argparse.ArgumentParser) -> None:
    """Add how topics are found."""
    group = parser.add_argument_group("fitting")
    group.add_argument("--weighting", choices=WEIGHTINGS, default="tfidf-ncw", help="(default: tfidf-ncw)")
    group.add_argument(
        "--constraint",
        choices=("reliable", "all", *OLD_CONSTRAINTS),
        default="reliable",
        metavar="{reliable,all}",
        help="words that constrain the topics (default: reliable)",
    )
    group.add_argument("--seed", type=parse_seed, default=0, metavar="N", help="seed (default: 0)")
    add_jobs(group)


def add_jobs(parser: Any) -> None:
    """Add the number of threads."""
    parser.add_argument(
        "-j",
        "--jobs",
        "--threads",
        type=parse_positive_int,
        metavar="N",
        help="threads (default: every core); same result",
    )


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the memory that may be used."""
    parser.add_argument(
        "--memory",
        type=parse_size,
        default="2GB",
        metavar="SIZE",
        help="texts that would need more are counted on disk: 500MB, 2GB … (default: 2GB)",
    )


def add_flags(parser: argparse.ArgumentParser, *, force: bool) -> None:
    """Add what every command has."""
    if force:
        parser.add_argument("-f", "--force", action="store_true", help="replace what is there")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def add_model(parser: argparse.ArgumentParser, name: str = "model") -> None:
    """Add a model file."""
    parser.add_argument(name, metavar=name.upper(), help="a model file, or the folder that `fit` wrote")


def resolve_model_path(given: str) -> Path:
    """Return the model file that was named, or the one in the folder that was named."""
    path = Path(given)
    return path / "model.anchorless" if path.is_dir() else path


def build_count_settings(options: argparse.Namespace) -> CountSettings:
    """Return how texts are counted, by the options."""
    try:
        return CountSettings(
            stop_words=options.stop_words,
            extra_stop_words=options.extra_stop_words,
            ngram_range=options.ngrams,
            min_df=options.min_df,
            max_df=options.max_df,
            max_features=options.max_features,
            email=options.email,
            html=options.html,
        )
    except InputError as error:
        parts = {name: getattr(error, name) for name in ("parameter", "value", "limit", "remedy")}
        raise UsageError(error.problem, **parts) from None


def name_option(parameter: str) -> str:
    """Return the option that sets a parameter of the library."""
    return PARAMETER_OPTIONS.get(parameter) or f"--{parameter.replace('_', '-')}"


def render_error(error: AnchorlessError) -> str:
    """Return the message of an error with the names of the options: n_topics=30 is --topics 30."""
    return error.render(name_option, lambda option, value: f"{option} {value}")


def parse_positive_int(text: str) -> int:
    """Return a whole number of at least 1."""
    number = int(text) if text.strip().isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be a whole number of at least 1")
    return number


def parse_size(text: str) -> int:
    """Return a number of bytes: 2GB, 500MB, 1.5G."""
    try:
        return parse_memory(text) or 0
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{text!r}, but {error.problem}") from None


def parse_int_or_auto(text: str) -> int | str:
    """Return a whole number of at least 1, or "auto"."""
    return "auto" if text.strip() == "auto" else parse_positive_int(text)


def parse_resamples(text: str) -> int:
    """Return a number of resamples: at least 10."""
    number = parse_positive_int(text)
    if number < 10:
        raise argparse.ArgumentTypeError(f"{text!r}, but fewer than 10 resamples say nothing about a spread")
    return number


def parse_seed(text: str) -> int:
    """Return a seed."""
    if not text.strip().isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r}, but a seed is a whole number from 0 to {2**32 - 1}")
    return int(text)


def parse_frequency(text: str) -> int | float:
    """Return a number of documents, or a share of them if it has a point."""
    try:
        value = float(text) if any(mark in text for mark in ".eE") else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}, but it must be a number such as 5, or a share such as 0.5"
        ) from None
    return value


def parse_ngrams(text: str) -> tuple[int, int]:
    """Return the least and largest length of n-grams."""
    parts = text.split("-")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be a number such as 1, or a range such as 1-2")
    return int(parts[0]), int(parts[-1])


def parse_words(text: str) -> tuple[str, ...]:
    """Return words from a,b,c or from the lines of @file."""
    if not text.startswith("@"):
        return tuple(word.strip() for word in text.split(",") if word.strip())
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"cannot read {text[1:]}: {error}") from None
    return tuple(line.strip() for line in lines if line.strip())


def parse_topic_numbers(text: str) -> Sequence[int]:
    """Return numbers of topics from 5,10,20 or from a range such as 5-50 or 5-50:5."""
    result: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition(":")
        first, _, last = span.partition("-")
        try:
            low, high, by = int(first), int(last or first), int(step or 1)
        except ValueError:
            low = high = by = 0
        if low < 2 or high < low or by < 1:
            raise argparse.ArgumentTypeError(f"{text!r}, but it must be numbers from 2 on: 5,10,20 or 5-50:5")
        result.update(range(low, high + 1, by))
    return sorted(result)
