"""Options that several commands share, the types of their values, and errors in the words of the options.

Libraries are imported where a value needs them, so that help is printed at once.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anchorless._choices import CONSTRAINT_SYNONYMS, CONSTRAINTS, WEIGHTINGS
from anchorless._corpus.io.formats import COUNT_FORMATS, TEXT_FORMATS
from anchorless._files import is_number, parse_toml, read_small_text
from anchorless.errors import AnchorlessError, InputError, UsageError

if TYPE_CHECKING:
    from anchorless._corpus.settings import CountSettings

#: Formats of tables that are written.
TABLE_FORMATS = ("csv", "parquet")
#: Largest numbers: in general, of draws and resamples, of seconds, and of numbers of topics in one option. Far larger
#: ones are slips, and some overflow.
MAX_NUMBER, MAX_DRAWS, MAX_SECONDS, MAX_TOPIC_NUMBERS = 10**9, 10**5, 10**6, 10**4
#: Parameters of the library whose options have another name.
PARAMETER_OPTIONS = {
    "n_topics": "--topics",
    "n_components": "--topics",
    "ngram_range": "--ngrams",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "endpoint": "--label-endpoint",
    "timeout": "--label-timeout",
    "data": "--metadata",
    "n_draws": "--draws",
    "lemmatizer": "--lemmatize",
    "likelihood": "--no-likelihood",
}


def make_int_parser(least: int = 1, most: int = MAX_NUMBER) -> Callable[[str], int]:
    """Return the type of an option that takes a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        number = int(text) if is_number(text.strip()) else -1
        if not least <= number <= most:
            is_slip = number < least and most in (MAX_NUMBER, MAX_DRAWS, MAX_SECONDS)
            limits = f"of at least {least}" if is_slip else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text!r}, but it must be a whole number {limits}")
        return number

    return parse


def parse_number_or_auto(text: str) -> int | str:
    """Return a number of topics, or "auto"."""
    if text.strip() == "auto":
        return "auto"
    try:
        return make_int_parser()(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or auto to choose it by the documents") from None


def parse_size(text: str) -> int:
    """Return a number of bytes: 2GB, 500MB, 1.5G."""
    from anchorless._corpus.storage import parse_memory

    try:
        return parse_memory(text) or 0
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{text!r}, but {error.problem}") from None


def parse_frequency(text: str) -> int | float:
    """Return a number of documents, or a share of them if it has a decimal point."""
    try:
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    except ValueError:
        message = f"{text!r}, but it must be a number such as 5, or a share such as 0.5"
        raise argparse.ArgumentTypeError(message) from None


def parse_ngrams(text: str) -> tuple[int, int]:
    """Return the smallest and the largest length of n-grams."""
    parts = text.split("-")
    if len(parts) > 2 or not all(is_number(part.strip()) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be a number such as 1, or a range such as 1-2")
    return int(parts[0]), int(parts[-1])


def parse_words(text: str) -> tuple[str, ...]:
    """Return words from a,b,c or from the lines of @file."""
    words = text.split(",")
    if text.startswith("@"):
        try:
            words = read_small_text(text[1:]).splitlines()
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    elif Path(text).is_file() and Path(text).suffix:  # a file without an ending may have the name of a word
        raise argparse.ArgumentTypeError(f"{text} is a file; for the words in it, write @{text}")
    return tuple(word.strip() for word in words if word.strip())


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of words from a:b,c:d."""
    pairs = [part.split(":") for part in parse_words(text)]
    if not all(len(pair) == 2 and all(word.strip() for word in pair) for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be pairs of words such as apple:fruit,bank:river")
    return tuple((first.strip(), second.strip()) for first, second in pairs)


def parse_names(text: str) -> tuple[str, ...]:
    """Return names of columns from a,b,c."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be different names of columns: party,year")
    return names


def parse_targets(text: str) -> list[int | list[int]]:
    """Return topics, and topics taken together, from 0,3,1+4."""
    try:
        parts = [[int(number) for number in part.split("+")] for part in text.split(",")]
    except ValueError:
        message = f"{text!r}, but it must be numbers of topics; + takes topics together: 0,3,1+4"
        raise argparse.ArgumentTypeError(message) from None
    return [numbers[0] if len(numbers) == 1 else numbers for numbers in parts]


def parse_assignment(text: str) -> tuple[int, str]:
    """Return number and text of TOPIC=TEXT; an empty text takes away what the topic has."""
    number, mark, value = text.partition("=")
    if not mark or not is_number(number.strip()):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be a number and a text, such as 3=immigration")
    return int(number), value.strip()


def parse_numbers(text: str) -> list[int]:
    """Return numbers of topics from 1,4."""
    parts = text.split(",")
    if not all(is_number(part.strip()) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be numbers of topics, such as 1,4")
    return [int(part) for part in parts]


def parse_topic_split(text: str) -> tuple[int, int]:
    """Return the number of a topic and of its parts from 3 or 3=2."""
    number, _, n = text.partition("=")
    if not is_number(number.strip()) or not is_number((n or "2").strip()) or int(n or 2) < 2:
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be a topic, or a topic and a number of parts: 3=2")
    return int(number), int(n or 2)


def parse_level(text: str) -> float:
    """Return the level of intervals, above 0 and below 1."""
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r}, but it must be above 0 and below 1, such as 0.9")
    return level


def read_seed_words(path: str | None) -> dict[str, list[str]] | None:
    """Return names of topics and their words from a TOML file."""
    if path is None:
        return None
    text = read_small_text(path)
    try:
        found = parse_toml(text)
    except ValueError as error:
        problem = f"--seed-words: {path} is not TOML: {error}"
        raise UsageError(problem, remedy='write lines such as economy = ["bank", "inflation"]') from None
    for name, words in found.items():
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            problem = f"--seed-words: in {path}, {name} is {words!r}, but it must be a list of words"
            raise UsageError(problem, remedy='write, for example, economy = ["bank", "inflation"]')
    if not found:
        raise UsageError(f"--seed-words: {path} names no topic", remedy='write, for example, economy = ["bank"]')
    return found


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
            raise argparse.ArgumentTypeError(f"{text!r}, but it must be numbers of at least 2: 5,10,20 or 5-50:5")
        if (high - low) // by >= MAX_TOPIC_NUMBERS:
            raise argparse.ArgumentTypeError(
                f"{text!r} is more than {MAX_TOPIC_NUMBERS} numbers; give fewer, as in 5-50:5"
            )
        result.update(range(low, high + 1, by))
    return sorted(result)


class InputAction(argparse.Action):
    """Keep the names of the inputs as `inputs`, and what messages call them as `input`."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        from anchorless._corpus.io.joined import name_inputs

        namespace.inputs = list(values)
        namespace.input = name_inputs(namespace.inputs) if len(values) > 1 else values[0]


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the input and how to read it."""
    parser.add_argument(
        "input",
        nargs="+",
        action=InputAction,
        metavar="INPUT",
        help="texts: tables (.csv .tsv .json .jsonl .parquet .xlsx .xls .ods), one document per line (.txt), documents "
        "(.md .html .pdf .docx .eml .srt .vtt), a mailbox (.mbox), folders, .zip and .tar of documents, - for stdin; "
        "several files or a quoted pattern such as 'texts/**/*.txt'; "
        "counts: .npz .mtx .mm docword.*.txt .svm .ldac .mat; all may be gzipped",
    )
    formats = (*TEXT_FORMATS, *COUNT_FORMATS)
    group = parser.add_argument_group("reading")
    group.add_argument("--text-column", metavar="NAME", help="column with the texts (guessed if one is obvious)")
    group.add_argument("--id-column", metavar="NAME", help="column with the ids (guessed; else row numbers)")
    group.add_argument("--label-column", metavar="NAME", help="column with a label per document, for the report")
    group.add_argument("--date-column", metavar="NAME", help="column with a date per document, for the report")
    group.add_argument("--format", choices=formats, help="format of the input (default: by its name)")
    help = "sheet of a spreadsheet, or list in a JSON file, such as data.items (default: the first)"
    group.add_argument("--table", metavar="NAME", help=help)
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of the texts (default: utf-8)")
    group.add_argument("--strict", action="store_true", help="stop at the first row that would be skipped")
    group.add_argument("--vocabulary", metavar="FILE", help="words of counts, one per line (default: the file beside)")
    help = "texts that would need more are counted on disk: 500MB, 2GB … (default: 2GB)"
    group.add_argument("--memory", type=parse_size, default="2GB", metavar="SIZE", help=help)


def add_rereading(parser: Any, files: str) -> None:
    """Add how to read the documents that the option `files` names."""
    as_before = f"of {files} (default: as in the fit, for a file of the same name)"
    parser.add_argument("--text-column", metavar="NAME", help=f"column with the texts {as_before}")
    parser.add_argument("--id-column", metavar="NAME", help=f"column with the ids {as_before}")
    parser.add_argument("--format", choices=TEXT_FORMATS, help=f"format {as_before}")
    parser.add_argument("--table", metavar="NAME", help=f"sheet or list {as_before}")
    parser.add_argument("--encoding", metavar="NAME", help=f"encoding {as_before}")


def add_counting(parser: argparse.ArgumentParser) -> None:
    """Add how texts are counted."""
    group = parser.add_argument_group("counting")
    help = "language of the texts, or several: german, de, english,german (default: auto, found from the first texts)"
    group.add_argument("--language", default="auto", metavar="NAME", help=help)
    help = "languages whose stop words are left out: german, or english,german; or none (default: those of --language)"
    group.add_argument("--stop-words", default="auto", metavar="LANGUAGE", help=help)
    help = "further stop words: a,b,c or @file with one per line"
    group.add_argument("--extra-stop-words", type=parse_words, default=(), metavar="WORDS", help=help)
    group.add_argument("--ngrams", type=parse_ngrams, default=(1, 1), metavar="N", help="1, 2, or a range such as 1-2")
    help = "count two words that stand out together as one, such as climate change"
    group.add_argument("--phrases", action="store_true", help=help)
    help = "simplemma: count words in their dictionary form; korean: without particles"
    group.add_argument("--lemmatize", dest="lemmatizer", metavar="NAME", help=help)
    help = "words of Chinese, Japanese, Thai …: rjieba, sudachipy, pythainlp, ngrams or none (default: auto)"
    group.add_argument("--segmenter", default="auto", metavar="NAME", help=help)
    help = "keep words in at least N documents; a share if it has a point, such as 0.01"
    group.add_argument("--min-df", type=parse_frequency, metavar="N", help=help)
    help = "keep words in at most N documents (default: 0.5)"
    group.add_argument("--max-df", type=parse_frequency, default=0.5, metavar="N", help=help)
    group.add_argument("--max-features", type=make_int_parser(), metavar="N", help="keep the N most frequent words")
    group.add_argument("--email", action="store_true", help="drop headers, quotations and signatures of mail and news")
    group.add_argument("--html", action="store_true", help="drop tags, scripts and styles of web pages")
    help = "drop lines that stand in many documents, and encoded binaries"
    group.add_argument("--drop-boilerplate", action="store_true", help=help)
    help = "leave out near-copies of earlier documents"
    group.add_argument("--deduplicate", action="store_true", help=help)
    add_split(group)


def add_split(group: Any) -> None:
    """Add how long documents are divided."""
    help = "divide long documents into parts: paragraph, section, or a number of words such as 500"
    group.add_argument("--split", type=check_split, metavar="HOW", help=help)


def check_split(text: str) -> str | int:
    """Return how documents are divided."""
    from anchorless._corpus.text.splitting import parse_split

    try:
        rule = parse_split(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{text!r}, but {error.problem}") from None
    return text if rule is None else rule.value


def add_fitting(parser: argparse.ArgumentParser) -> None:
    """Add how topics are found."""
    group = parser.add_argument_group("fitting")
    group.add_argument("--weighting", choices=WEIGHTINGS, default="chi2-ncw", help="(default: chi2-ncw)")
    group.add_argument(
        "--constraint",
        type=lambda word: CONSTRAINT_SYNONYMS.get(word, word),
        choices=CONSTRAINTS,
        default="reliable",
        help="words that constrain the topics (default: reliable)",
    )
    add_seed(group, "seed (default: 0)")
    add_jobs(group)


def add_likelihood(parser: argparse.ArgumentParser) -> None:
    """Add whether the token model is fitted."""
    help = "no token model: faster; probabilities, shares and mixtures by least squares of weighted words"
    parser.add_argument("--no-likelihood", dest="likelihood", action="store_false", help=help)


def add_metadata(parser: Any) -> None:
    """Add the table of what is known of the documents."""
    help = "table with a row per document, in their order (default: the columns of INPUT)"
    parser.add_argument("--metadata", metavar="FILE", help=help)


def add_embeddings(parser: Any) -> None:
    """Add the embeddings of the documents."""
    help = "embeddings of the documents: .npy or .parquet with a row for each, or a column of INPUT with lists"
    parser.add_argument("--embeddings", metavar="SOURCE", help=help)


def name_new_input(inputs: Sequence[str]) -> str:
    """Return a name for new documents that are in a file like the first of the given ones, or in a folder."""
    first = Path(inputs[0]) if inputs else Path("-")
    if str(first) == "-":
        return "NEW.csv"
    ending = re.search(r"\.[a-z0-9]{2,8}(\.gz)?$", first.name)
    return "NEW" if ending is None or first.is_dir() else f"NEW{ending[0]}"


def name_new_embeddings(given: str | None) -> list[str]:
    """Return the option with which new documents get embeddings, as those of the fit did: from a file or a column."""
    from anchorless._corpus.io.embeddings import is_embedding_file

    if given is None:
        return []
    return ["--embeddings", f"NEW{Path(given).suffix}" if is_embedding_file(given) else given]


def read_given_embeddings(given: str | None, tables: Any, name: str) -> Any:
    """Return the embeddings of the file, or of the column of an input's tables, that was named; None if none was."""
    from anchorless._corpus.io.embeddings import collect_embeddings, is_embedding_file, read_embeddings

    if given is None:
        return None
    return read_embeddings(given) if is_embedding_file(given) else collect_embeddings(tables(), given, name)


def add_effects(parser: Any) -> None:
    """Add how intervals of effects are found."""
    help = "column of documents that were collected together, such as their author"
    parser.add_argument("--groups", metavar="COLUMN", help=help)
    parser.add_argument("--level", type=parse_level, default=0.9, metavar="P", help="of the intervals (default: 0.9)")
    help = "draws of the topics for the intervals (default: 20)"
    parser.add_argument("--draws", type=make_int_parser(4, MAX_DRAWS), default=20, metavar="N", help=help)


def add_number(parser: argparse.ArgumentParser, *names: str, default: int, help: str) -> None:
    """Add an option that takes a whole number of at least 1."""
    help = f"{help} (default: {default})"
    parser.add_argument(*names, type=make_int_parser(), default=default, metavar="N", help=help)


def add_seed(parser: Any, help: str) -> None:
    """Add the seed of random numbers."""
    parser.add_argument("--seed", type=make_int_parser(0, 2**32 - 1), default=0, metavar="N", help=help)


def add_jobs(parser: Any) -> None:
    """Add the number of threads."""
    help = "threads (default: every core); same result"
    parser.add_argument("-j", "--jobs", "--threads", type=make_int_parser(), metavar="N", help=help)


def add_flags(parser: argparse.ArgumentParser, *, force: bool) -> None:
    """Add what every command has."""
    if force:
        parser.add_argument("-f", "--force", action="store_true", help="replace existing files")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def add_raw_cells(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that write texts of the input into CSV files."""
    help = "keep formulas and control characters in CSV files, which are neutralized otherwise"
    parser.add_argument("--raw-cells", action="store_true", help=help)


def add_model(parser: argparse.ArgumentParser, name: str = "model") -> None:
    """Add a model file."""
    parser.add_argument(name, metavar=name.upper(), help="a model file, or the folder that `fit` wrote")


def resolve_model_path(given: str) -> Path:
    """Return the model file that was named, or the one in the folder that was named."""
    path = Path(given)
    return path / "model.anchorless" if path.is_dir() else path


def build_count_settings(options: argparse.Namespace) -> CountSettings:
    """Return how texts are counted, by the options."""
    from anchorless._corpus.settings import COUNTING_PARAMETERS, CountSettings

    given = vars(options) | {"ngram_range": options.ngrams}
    try:
        return CountSettings(**{name: given[name] for name in COUNTING_PARAMETERS})
    except InputError as error:
        parts = {name: getattr(error, name) for name in ("parameter", "value", "limit", "remedy")}
        raise UsageError(error.problem, **parts) from None


def name_option(parameter: str) -> str:
    """Return the option that sets a parameter of the library."""
    return PARAMETER_OPTIONS.get(parameter) or f"--{parameter.replace('_', '-')}"


def render_error(error: AnchorlessError) -> str:
    """Return the message of an error with the names of the options: n_topics=30 is --topics 30."""
    return error.render(name_option, lambda option, value: f"{option} {write_value(option, value)}")


def write_value(option: str, value: Any) -> str:
    """Return a value as it is written after an option: 1-2 for (1, 2) of --ngrams, 1,2 for other lists."""
    if isinstance(value, list | tuple):
        return ("-" if option == "--ngrams" else ",").join(map(str, value))
    return str(value)
