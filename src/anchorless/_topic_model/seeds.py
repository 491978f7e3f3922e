"""Seed words of a user: checked against the vocabulary, and what the fit made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.seed_matches import SeedMatch
from anchorless._core.seed_starts import build_starts
from anchorless._core.token_model import TokenTopics
from anchorless._corpus.documents import Documents
from anchorless._topic_model.edits import clean_name
from anchorless._topic_model.summary import TopicFacts
from anchorless.errors import InputError


class Seed(NamedTuple):
    """What became of the seed words of one name.

    Attributes
    ----------
    name : str
        The name that was given.
    words : list of str
        The words that were given.
    topic : int or None
        The topic that the words indicate most; None if there are more seeds than topics.
    supported : bool
        Whether the topic has these words; then it has the name. Most of the words are among its 15 most probable or
        15 most distinctive ones and not less frequent in it than elsewhere (or among 100 and at least twice as
        frequent, if at least half of the pairs of these words come from it and 10 documents have two of them; of a
        single word, at least half of its tokens come from it); and they are more frequent, by 2 standard errors, in
        documents that have the topic, judged by their other words.
    support : float
        The part of the pairs of these words in documents that comes from the topic, as the model says; of a single
        word, the probability of the topic.
    accepted : list of str
        Those of the words that are words of the topic.
    rejected : dict of str to int
        The other words, each with the topic to which it belongs most.
    moved : float
        Half the ℓ1 distance, from 0 to 1, between the topic and the words of the documents that contain the seed words
        (beyond what every document contains).
    restarted : bool
        Whether the topic was fitted from these documents, since no topic of the first fit had the words.
    reason : str
        Why the seed is not supported; empty if it is.
    """

    name: str
    words: list[str]
    topic: int | None
    supported: bool
    support: float
    accepted: list[str]
    rejected: dict[str, int]
    moved: float
    restarted: bool
    reason: str = ""

    def describe(self) -> str:
        """Say in a sentence what became of the seed.

        Returns
        -------
        str
        """
        words = ", ".join(self.words)
        if self.topic is None:
            return f"seed {self.name} ({words}): there are more seeds than topics; fit more topics"
        part = f"{self.support:.0%} of what its words have in common comes from topic {self.topic}"
        if not self.supported:
            return f"seed {self.name} ({words}): not supported by the documents; {part}" + (
                self.reason and f", but {self.reason}"
            )
        others = ", ".join(f"{word} belongs to topic {topic}" for word, topic in self.rejected.items())
        return f"seed {self.name} ({words}): topic {self.topic}; {part}" + (f"; {others}" if others else "")


class SeparatedWords(NamedTuple):
    """Two words that were not to be used together, and the topics to which they belong most.

    Attributes
    ----------
    words : tuple of str
        The two words.
    topics : tuple of int
        The topic of each.
    separated : bool
        Whether these are different topics.
    """

    words: tuple[str, str]
    topics: tuple[int, int]
    separated: bool

    def describe(self) -> str:
        """Say in a sentence whether the words are in different topics.

        Returns
        -------
        str
        """
        first, second = self.words
        if self.separated:
            return f"{first} and {second}: in topics {self.topics[0]} and {self.topics[1]}"
        return f"{first} and {second}: both in topic {self.topics[0]}; the documents do not tell them apart"


def validate_pairs(pairs: Any, vocabulary: Sequence[str] | None) -> list[tuple[int, int]]:
    """Return the columns of two words each; without a vocabulary, check the form only."""
    place = {} if vocabulary is None else {word: i for i, word in enumerate(vocabulary)}
    found = []
    for pair in pairs:
        words = [] if isinstance(pair, str) else [*pair]
        if len(words) != 2 or not all(isinstance(word, str) for word in words) or words[0] == words[1]:
            problem = "each entry must be two different words"
            raise InputError(problem, parameter="separate_words", value=pair, remedy='give [("apple", "bank")]')
        if vocabulary is not None:
            first, second = (find_word(word, None, place) for word in words)
            found.append((first, second))
    return found


def validate_seeds(seed_words: Any, vocabulary: Sequence[str] | None) -> list[list[int]]:
    """Return the columns of the words of each seed; without a vocabulary, check the form only."""
    if seed_words is None:
        return []
    if not isinstance(seed_words, Mapping):
        problem, kind = "it must be a dict of names and lists of words", type(seed_words).__name__
        raise InputError(problem, parameter="seed_words", value=f"a {kind}", remedy="give one list of words per name")
    place = {} if vocabulary is None else {word: i for i, word in enumerate(vocabulary)}
    found = []
    for name, words in seed_words.items():
        clean_name(name)
        if (
            isinstance(words, str)
            or not isinstance(words, Iterable)
            or not all(isinstance(word, str) for word in words)
            or not [*words]
        ):
            problem, remedy = f"the words of {name!r} must be a list of words", "give at least one word"
            raise InputError(problem, parameter="seed_words", value=words, remedy=remedy)
        columns = [] if vocabulary is None else [find_word(word, str(name), place) for word in words]
        found.append([*dict.fromkeys(columns)])
    return found


def find_word(word: str, name: str | None, place: Mapping[str, int]) -> int:
    """Return the column of a word of a seed, or of a pair (`name` None), as it is or in lower case."""
    for form in (word, word.lower()):
        if form in place:
            return place[form]
    near = get_close_matches(word.lower(), place, n=3)
    parameter = "separate_words" if name is None else "seed_words"
    which = "this word" if name is None else f"this word of {name!r}"
    problem = f"{which} is not among the {len(place):,} words of the vocabulary"
    hint = f"; near it are {', '.join(near)}" if near else ""
    remedy = "give words that are counted, or lower {min_df}"
    raise InputError(problem + hint, parameter=parameter, value=word, remedy=remedy)


def describe_seeds(
    seed_words: Mapping[str, Sequence[str]],
    columns: Sequence[Sequence[int]],
    matches: Sequence[SeedMatch],
    topics: TokenTopics,
    counts: Documents,
    vocabulary: Sequence[str],
    n_threads: int,
) -> list[Seed]:
    """Return what became of each seed; topics and matches are in the order that is shown."""
    starts = build_starts(counts, columns, n_threads)
    seeds = []
    for (name, words), start, match in zip(seed_words.items(), starts, matches, strict=True):
        moved = 1.0 if match.topic is None else float(abs(topics.topic_word[match.topic] - start).sum() / 2)
        accepted = [vocabulary[w] for w in match.accepted]
        rejected = {vocabulary[w]: int(topic) for w, topic in match.rejected.items()}
        about = (clean_name(name), [*words], match.topic, match.is_supported, match.support)
        seeds.append(Seed(*about, accepted, rejected, moved, match.restarted, explain_match(match, vocabulary)))
    return seeds


def explain_match(match: SeedMatch, vocabulary: Sequence[str]) -> str:
    """Say why a seed is not supported; nothing if it is, or if there is no topic for it."""
    if match.is_supported or match.topic is None:
        return ""
    weak, unconfirmed = (
        ", ".join(vocabulary[w] for w in some)
        for some in (match.weak, [w for w in match.unconfirmed if w not in match.weak])
    )
    parts = [f"no leading words of it: {weak}"] if weak else []
    parts += [f"not more frequent where its other words are: {unconfirmed}"] if unconfirmed else []
    return "; ".join(parts)


def place_seeded_first(order: Any, matches: Sequence[SeedMatch]) -> Any:
    """Return an order of topics with those of the seeds first, in the order of the seeds."""
    first = [match.topic for match in matches if match.topic is not None]
    return np.array([*first, *(k for k in order if k not in first)], dtype=np.intp)


def describe_pairs(
    pairs: Sequence[tuple[int, int]], homes: Sequence[tuple[int, int]], order: Any, vocabulary: Sequence[str]
) -> list[SeparatedWords]:
    """Return what became of each pair of words, with the topics' numbers after they were put into another order."""
    place = {int(k): i for i, k in enumerate(order)}
    found = []
    for (a, b), (first, second) in zip(pairs, homes, strict=True):
        found.append(SeparatedWords((vocabulary[a], vocabulary[b]), (place[first], place[second]), first != second))
    return found


def renumber(matches: Sequence[SeedMatch], order: Any) -> list[SeedMatch]:
    """Return the matches with the topics' numbers after they were put into another order."""
    place = {int(k): i for i, k in enumerate(order)}
    return [
        match._replace(
            topic=None if match.topic is None else place[match.topic],
            rejected={word: place[topic] for word, topic in match.rejected.items()},
        )
        for match in matches
    ]


def name_seeded_topics(facts: TopicFacts, seeds: Sequence[Seed]) -> TopicFacts:
    """Return the facts with the names of supported seeds as labels."""
    labels = [*facts.labels]
    for seed in seeds:
        if seed.topic is not None and seed.supported:
            labels[seed.topic] = seed.name
    return facts._replace(labels=labels)
