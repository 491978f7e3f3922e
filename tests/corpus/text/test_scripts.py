"""Runs divided where the script changes, and parts that stand for words."""

import re

import pytest

from anchorless._corpus.text.scripts import HAS_UNSPACED, Span, divide_run, split_into_ngrams


@pytest.mark.parametrize(
    ("run", "spans"),
    [
        ("python3用户", ["python3", "用户"]),
        ("2024年", ["2024", "年"]),
        ("ภาษาthaiไทย", ["ภาษา", "thai", "ไทย"]),
        ("ＡＢＣ社", ["ABC", "社"]),
        ("ﾃﾚﾋﾞ", ["テレビ"]),
        ("plain", ["plain"]),
    ],
)
def test_a_run_is_divided_where_its_script_changes(run, spans):
    assert [span.text for span in divide_run(run)] == spans


def test_spans_of_scripts_with_spaces_have_no_family():
    assert [span.family for span in divide_run("a漢ไท")] == [None, "Chinese or Japanese", "Thai"]


@pytest.mark.parametrize(
    ("family", "text", "parts"),
    [
        ("Chinese or Japanese", "中央银行", ["中央", "央银", "银行"]),
        ("Chinese or Japanese", "公園へ行きロケットを見た", ["公園", "ロケット"]),  # the endings and stems say little
        ("Chinese or Japanese", "银行的利率", ["银行", "利率"]),
        ("Thai", "สวัสดี", ["สวัส", "วัสดี"]),
        ("Thai", "ไป", ["ไป"]),
        ("Khmer", "ខ្មែរ", ["ខ្មែរ"]),
        ("Lao", "ສະບາຍດີ", ["ສະບາຍ", "ບາຍດີ"]),
    ],
)
def test_parts_stand_for_words(family, text, parts):
    assert split_into_ngrams(Span(text, family)) == parts


def test_parts_are_short_and_leave_no_letter_of_chinese_out():
    text = "经济增长放缓中央银行宣布降低利率以刺激投资"
    parts = split_into_ngrams(Span(text, "Chinese or Japanese"))
    assert {len(part) for part in parts} == {2}
    assert parts[0] + "".join(part[1] for part in parts[1:]) == text


@pytest.mark.parametrize("text", ["한국어", "हिन्दी", "العربية", "Ελληνικά", "plain", "Việt"])
def test_scripts_with_spaces_are_left_alone(text):
    assert not re.search(HAS_UNSPACED, text)
