"""The commands: what help says of each, its options, and where it is implemented."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from anchorless._cli import command_options as given


class Command(NamedTuple):
    """A command as the parser needs it."""

    summary: str  # one line of the list of commands
    description: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: str  # module and function, imported when the command runs


COMMANDS = {
    "fit": Command(
        "find the topics of texts or counts; write model, tables and report",
        "Find the topics of a file of texts (or counts) and write a folder with the model, topics.csv, documents.csv,\n"
        "correlation.csv, correlation_pairs.csv, report.html and run.json; with --formula also "
        "effects.csv and figures.\n"
        "The same input and options give the same files.",
        "anchorless fit reviews.csv --text-column body -k 20 -o reviews-topics",
        given.add_fit_options,
        "fit.run",
    ),
    "apply": Command(
        "topics of new documents under a fitted model",
        "Compute the shares of the topics of MODEL in every document of INPUT. Writes a table with "
        "the columns of INPUT.\n"
        "The shares of a document depend on its own text only.",
        "anchorless apply reviews-topics new.csv -o new-topics.csv",
        given.add_apply_options,
        "apply.run",
    ),
    "show": Command(
        "print the topics of a model, or one topic with its documents",
        "Print the topics of a model, or one topic with its words (ranked by relevance, with the "
        "probability of each),\n"
        "the topics that are often or rarely together with it, and its representative documents.",
        "anchorless show reviews-topics 3 --words 20",
        given.add_show_options,
        "show.run",
    ),
    "report": Command(
        "write the HTML report of a model",
        "Write the report of a model: one HTML file that opens without a network. It has the "
        "documents of the report next\n"
        "to the model, if that shows the same topics; a model file by itself keeps only the representative documents.",
        "anchorless report reviews-topics -o reviews.html --title 'What reviews are about'",
        given.add_report_options,
        "show.run_report",
    ),
    "export": Command(
        "write the results for Excel, LaTeX, Gephi, MALLET …",
        "Write the topics of MODEL for another program: an Excel workbook with a sheet per table, a LaTeX or Markdown\n"
        "table, the network of topics (GEXF, GraphML), the files of MALLET, or the page of pyLDAvis.",
        "anchorless export reviews-topics --to xlsx --documents reviews.csv -o reviews.xlsx",
        given.add_export_options,
        "export.run",
    ),
    "effects": Command(
        "how topics depend on party, year, treatment …: estimates with intervals",
        "Estimate how the shares of the topics of MODEL depend on columns of INPUT, with intervals "
        "and p-values. Writes\n"
        "effects.csv, effects.svg, effects.png and report.html, the report of MODEL with a section on effects. INPUT\n"
        "holds the documents that MODEL was fitted on, or others.",
        "anchorless effects speeches-topics speeches.csv --formula '~ party + s(year)' --groups speaker",
        given.add_effects_options,
        "effects.run",
    ),
    "embed": Command(
        "embeddings of texts, by an encoder on this machine",
        "Encode every document of INPUT and write an array with a row for each, for `fit --embeddings` and\n"
        "`apply --embeddings`. Nothing is downloaded. A run that was interrupted continues where it stopped.",
        "anchorless embed reviews.csv -o reviews.npy",
        given.add_embed_options,
        "embed.run",
    ),
    "edit": Command(
        "rename, merge, drop, split and annotate topics",
        "Change the topics of MODEL, or print its edits. The fit stays as it is: edits are a list "
        "in the model file, and\n"
        "--undo takes the last ones back. All numbers are those of the topics before the command.",
        "anchorless edit reviews-topics --rename 3=prices --merge 1,4 --drop 7",
        given.add_edit_options,
        "edit.run",
    ),
    "codebook": Command(
        "write the topics as a codebook, to be named by a person",
        "Write the words and documents of each topic as a table with the columns name and note. "
        "After a person has filled\n"
        "them, `anchorless edit MODEL --codebook FILE` takes them over.",
        "anchorless codebook reviews-topics -o codebook.csv",
        given.add_codebook_options,
        "codebook.run",
    ),
    "intrusion": Command(
        "tasks for human raters: which word or document does not belong",
        "Write a form with a task of words and a task of documents for each topic. Raters write the "
        "number of the choice\n"
        "that does not belong into the column answer. --score compares their answers with the model and with guessing.",
        "anchorless intrusion reviews-topics -o intrusion.csv",
        given.add_intrusion_options,
        "intrusion.run",
    ),
    "search-k": Command(
        "compare several numbers of topics",
        "Fit models with several numbers of topics on nine tenths of the documents, measure each on "
        "the last tenth, and\n"
        "say which number to take, and why.",
        "anchorless search-k reviews.csv -k 5,10,20,40",
        given.add_search_k_options,
        "search_k.run",
    ),
    "evaluate": Command(
        "measure the topics of a model on documents",
        "Measure the topics of MODEL on the documents of INPUT, preferably ones that it was not fitted on: coherence,\n"
        "diversity, exclusivity, and how well half of each document predicts the other half, compared with no topics.",
        "anchorless evaluate reviews-topics held-out.csv",
        given.add_evaluate_options,
        "evaluate.run",
    ),
    "compare": Command(
        "match the topics of two models",
        "Match each topic of one model with a similar one of the other, by the words of both (so "
        "that all pairs together\n"
        "are most similar), and show what they share.",
        "anchorless compare spring-topics autumn-topics",
        given.add_compare_options,
        "compare.run",
    ),
    "convert": Command(
        "texts to counts, or counts to another format",
        "Count the texts of INPUT, or read its counts, and write documents × words with the vocabulary beside them.",
        "anchorless convert reviews.csv reviews.npz",
        given.add_convert_options,
        "convert.run",
    ),
    "demo": Command(
        "find the topics of the docstrings of NumPy, SciPy and scikit-learn",
        "Find the topics of the docstrings of NumPy, SciPy and scikit-learn, which are installed with anchorless, and\n"
        "write the same files as `fit`; those of an earlier demo are replaced.",
        "anchorless demo -k 15",
        given.add_demo_options,
        "demo.run",
    ),
}
