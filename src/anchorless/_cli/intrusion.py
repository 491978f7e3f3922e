"""`anchorless intrusion`: tasks for human raters, and their scores."""

from __future__ import annotations

import argparse

from anchorless._cli import options as shared
from anchorless._cli.printing import print_json, print_table, sanitize
from anchorless._cli.progress import ConsoleProgress
from anchorless._topic_model.model import TopicModel


def run(options: argparse.Namespace) -> None:
    """Write a form, or print the scores of one."""
    model = TopicModel.load(shared.resolve_model_path(options.model))
    if options.score:
        print_scores(model, options)
        return
    model.write_intrusion_form(options.output, random_state=options.seed, force=options.force)
    n_tasks = len(model.intrusion_tasks(random_state=options.seed))
    if options.json:
        print_json({"form": options.output, "tasks": n_tasks, "seed": options.seed})
    hint = f"score it with: anchorless intrusion {options.model} --score {options.output}"
    ConsoleProgress(quiet=options.quiet).log(f"wrote {n_tasks} tasks to {options.output}; {hint}")


def print_scores(model: TopicModel, options: argparse.Namespace) -> None:
    """Print the scores of a form that raters have filled."""
    scores = model.score_intrusion(options.score)
    if options.json:
        print_json([score._asdict() for score in scores])
        return
    rows = []
    for score in scores:
        name = "all" if score.topic is None else f"{score.topic} {sanitize(model.topic_labels_[score.topic])}"
        share = f"{score.n_correct / score.n_answers:.0%}"
        interval = f"{score.low:.0%} to {score.high:.0%}"
        cells = str(score.n_correct), str(score.n_answers), share, interval, f"{score.chance:.0%}", f"{score.p:.2g}"
        rows.append([score.kind, name, *cells])
    print_table(["tasks", "topic", "found", "of", "share", "90% interval", "chance", "p"], rows)
