"""Intrusion tasks: can people tell what does not belong to a topic? (Chang et al. 2009)

A task of words has leading words of a topic and one of another topic, which this one hardly has; a task of documents
has documents that stand for a topic and one that has little of it. Raters name the intruder. Where they find it no more
often than by guessing, the topic means nothing to them. The same seed gives the same tasks, so that the solution need
not be in the form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, binom

from anchorless._corpus.documents import Array
from anchorless._files import is_number
from anchorless._text_safety import neutralize_value
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.plans import check_fingerprint
from anchorless._topic_model.summary import find_leading_words
from anchorless._topic_model.view import get_kept_mixtures
from anchorless.errors import InputError

#: Words and documents of a task that belong to the topic.
N_WORDS, N_DOCUMENTS = 5, 3
#: An intruder is among the first words of another topic, and in this part of the words that the topic has least.
INTRUDER_RANK, LEAST_PART = 10, 0.5
#: A document is an intruder if the topic has at most this share in it.
MAX_INTRUDER_SHARE = 0.05
CHOICES = N_WORDS + 1
COLUMNS = ("task", "kind", *(f"choice_{i}" for i in range(1, CHOICES + 1)), "answer", "rater", "seed", "model")


class IntrusionTask(NamedTuple):
    """A task for raters.

    Attributes
    ----------
    kind : {"words", "documents"}
        What the choices are.
    topic : int
        The topic that all choices but one belong to.
    choices : list of str
        The choices, in random order.
    intruder : int
        The number of the choice that does not belong, from 1.
    """

    kind: str
    topic: int
    choices: list[str]
    intruder: int


class IntrusionScore(NamedTuple):
    """How often raters found the intruders.

    Attributes
    ----------
    kind : {"words", "documents"}
        The kind of the tasks.
    topic : int or None
        The topic; None for all.
    n_answers, n_correct : int
        Numbers of answers, and of right ones.
    chance : float
        Share of right answers by guessing.
    low, high : float
        Interval of the share of right answers, 90% (Clopper and Pearson).
    p : float
        Probability of so many right answers by guessing.
    """

    kind: str
    topic: int | None
    n_answers: int
    n_correct: int
    chance: float
    low: float
    high: float
    p: float


def build_tasks(view: ModelRecord, seed: int) -> list[IntrusionTask]:
    """Return the tasks of all topics in random order; topics with too few words or documents have none."""
    rng = np.random.default_rng([seed, 0])
    found = [build_word_task(view, f, rng) for f in range(len(view.relevance))]
    mixtures = get_kept_mixtures(view.kept, len(view.relevance))
    found += [build_document_task(view, mixtures, f, rng) for f in range(len(view.relevance))]
    tasks = [task for task in found if task is not None]
    return [tasks[i] for i in rng.permutation(len(tasks))]


def build_word_task(view: ModelRecord, topic: int, rng: np.random.Generator) -> IntrusionTask | None:
    """Return leading words of a topic and one of another topic."""
    own, relevance = find_leading_words(view.relevance[topic], N_WORDS).tolist(), view.relevance[topic]
    others = [f for f in range(len(view.relevance)) if f != topic]
    leading = sorted({int(v) for f in others for v in find_leading_words(view.relevance[f], INTRUDER_RANK)})
    limit = np.quantile(relevance, LEAST_PART)
    possible = [v for v in leading if relevance[v] <= limit and v not in own]
    if len(own) < N_WORDS or not possible:
        return None
    intruder = possible[int(rng.integers(len(possible)))]
    return mix_choices("words", topic, [view.vocabulary[v] for v in [*own, intruder]], rng)


def build_document_task(
    view: ModelRecord, mixtures: Array, topic: int, rng: np.random.Generator
) -> IntrusionTask | None:
    """Return documents that stand for a topic and one that has little of it."""
    own = view.kept.representatives[topic][:N_DOCUMENTS]
    possible = [i for i in np.flatnonzero(mixtures[:, topic] <= MAX_INTRUDER_SHARE).tolist() if i not in own]
    if len(own) < N_DOCUMENTS or not possible:
        return None
    intruder = possible[int(rng.integers(len(possible)))]
    texts = [" ".join(view.kept.documents[i].snippet.split()) for i in [*own, intruder]]
    return mix_choices("documents", topic, texts, rng)


def mix_choices(kind: str, topic: int, choices: list[str], rng: np.random.Generator) -> IntrusionTask:
    """Return a task with the choices, the last of which is the intruder, in random order."""
    order = rng.permutation(len(choices)).tolist()
    return IntrusionTask(kind, topic, [choices[i] for i in order], order.index(len(choices) - 1) + 1)


def write_form(tasks: Sequence[IntrusionTask], seed: int, fingerprint: str) -> str:
    """Return a form for raters as CSV; they write the number of the intruder into the column `answer`."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, task in enumerate(tasks, 1):
        choices = [*task.choices, *[""] * (CHOICES - len(task.choices))]
        writer.writerow(map(neutralize_value, [number, task.kind, *choices, "", "", seed, fingerprint]))
    return file.getvalue()


def read_answers(
    rows: Sequence[dict[str, str]], name: str, tasks: Mapping[int, Sequence[IntrusionTask]], fingerprint: str
) -> list[tuple[IntrusionTask, int]]:
    """Return pairs of a task and an answer, without tasks that were not answered; `tasks` has those of each seed."""
    missing = [column for column in ("task", "answer", "model") if rows and column not in rows[0]]
    if missing or not rows:
        problem = f"{name} has no column {missing[0]!r}" if missing else f"{name} has no rows"
        raise InputError(problem, remedy="give a form that `anchorless intrusion` wrote, with answers")
    found = []
    for line, row in enumerate(rows, 2):
        task, answer = (row["task"] or "").strip(), (row["answer"] or "").strip()
        if not answer or is_heading(row):
            continue
        check_fingerprint(row["model"] or None, fingerprint, f"the tasks in {name}")
        some = tasks[int(row["seed"])]
        if not is_number(task) or not 1 <= int(task) <= len(some):
            raise InputError(f"{name}, line {line}: there is no task {task!r}; tasks are 1 to {len(some)}")
        n_choices = len(some[int(task) - 1].choices)
        if not is_number(answer) or not 1 <= int(answer) <= n_choices:
            problem = f"the answer is {answer!r}, but it must be the number of a choice, 1 to {n_choices}"
            raise InputError(f"{name}, line {line}: {problem}")
        found.append((some[int(task) - 1], int(answer)))
    if not found:
        raise InputError(f"{name} has no answers", remedy="write numbers of choices into the column answer")
    return found


def is_heading(row: dict[str, str]) -> bool:
    """Tell whether a row is the heading of a further form, put below another one."""
    return (row.get("task") or "").strip() == "task" and (row.get("answer") or "").strip() == "answer"


def score_answers(answers: Sequence[tuple[IntrusionTask, int]]) -> list[IntrusionScore]:
    """Return the scores of each kind of task, of all topics and of each topic."""
    scores = []
    for kind in ("words", "documents"):
        given = [(task, answer) for task, answer in answers if task.kind == kind]
        topics = sorted({task.topic for task, _ in given})
        for topic in [None, *topics] if given else []:
            some = [task.intruder == answer for task, answer in given if topic is None or task.topic == topic]
            scores.append(compute_score(kind, topic, len(some), sum(some), len(given[0][0].choices)))
    return scores


def compute_score(kind: str, topic: int | None, n: int, k: int, n_choices: int) -> IntrusionScore:
    """Return the score of k right answers of n."""
    low = 0.0 if k == 0 else float(beta.ppf(0.05, k, n - k + 1))
    high = 1.0 if k == n else float(beta.ppf(0.95, k + 1, n - k))
    return IntrusionScore(kind, topic, n, k, 1 / n_choices, low, high, float(binom.sf(k - 1, n, 1 / n_choices)))


def list_seeds(rows: Sequence[dict[str, str]], name: str) -> list[int]:
    """Return the seeds with which the tasks of forms were made: raters may have different ones."""
    answered = (row for row in rows if (row.get("answer") or "").strip() and not is_heading(row))
    seeds = {(row.get("seed") or "").strip() for row in answered}
    if not all(map(is_number, seeds)):
        problem = f"{name} has no column seed, which says how its tasks were made"
        raise InputError(problem, remedy="give a form that `anchorless intrusion` wrote, with all its columns")
    return sorted(map(int, seeds))
