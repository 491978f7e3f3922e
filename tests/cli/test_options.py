"""Messages of the library in the words of the command line."""

import pytest

from anchorless._cli.options import PARAMETER_OPTIONS, translate_to_options
from anchorless._cli.search_k import SEARCH_K
from tests.helpers.command_runs import main

SAID = {
    "n_topics=30, but there are only 12 words; lower n_topics or min_df": "--topics 30, but there are "
    "only 12 words; lower --topics or --min-df",
    "stop_words='klingon', but": "--stop-words klingon, but",
    "ngram_range=(2, 1), but": "--ngrams (2, 1), but",
    "(max_df=0.5); raise max_df": "(--max-df 0.5); raise --max-df",
    "a larger min_df or constraint='hard'": "a larger --min-df or --constraint hard",
    "out.csv exists already; pass force=True or --force": "out.csv exists already; pass --force",
    "shorter than min_length=2; change stop_words or min_length": "shorter than 2; change --stop-words",
    "without strict it would be let pass": "without --strict it would be let pass",
}
UNTOUCHED = [
    "cannot read min_df.csv: there is no such file",
    "cannot read data/n_topics: there is no such file",
    "'min_df' is no column; there are \"n_topics\", 'max_df'",
    "min_df-topics exists already",
    "the format of the vocabulary, and its encoding",
    "cannot read n_topics_2: no such file",
]


@pytest.mark.parametrize(("message", "wanted"), SAID.items())
def test_parameters_become_options(message, wanted):
    assert translate_to_options(message) == wanted
    assert translate_to_options(wanted) == wanted


@pytest.mark.parametrize("message", UNTOUCHED)
def test_names_of_files_and_columns_stay(message):
    assert translate_to_options(message) == message


@pytest.mark.parametrize("option", sorted(set(PARAMETER_OPTIONS.values())))
def test_every_option_that_is_named_is_one(option, capsys):
    with pytest.raises(SystemExit):
        main([SEARCH_K.name, "--help"])
    assert option in capsys.readouterr().out
