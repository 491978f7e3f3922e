"""Words of Chinese, Japanese and Thai, by packages and without them."""

import itertools
from importlib import metadata

import pyarrow as pa
import pytest

from anchorless._corpus.text import segmentation
from anchorless._corpus.text.segmentation import make_segment, open_segmenter, validate_segmenter
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError
from tests.helpers.languages import CHINESE, JAPANESE, THAI


def words(texts, names, **rule):
    tokens = tokenize(pa.array(texts, pa.large_string()), TokenRule(segment=make_segment(names), **rule))
    listed = tokens.words.take(pa.array(tokens.codes)).to_pylist()
    return [listed[start:stop] for start, stop in itertools.pairwise(tokens.offsets.tolist())]


def test_chinese_words():
    pytest.importorskip("rjieba")
    found = words([CHINESE[1], "Python3用户"], "rjieba")
    assert {"经济", "增长", "中央银行", "宣布", "投资"} <= set(found[0])
    assert found[1] == ["python3", "用户"]


def test_japanese_words_have_their_dictionary_form_and_no_particles():
    pytest.importorskip("sudachipy")
    found = words(JAPANESE, "sudachipy")
    assert {"今日", "天気", "公園", "散歩"} <= set(found[0])
    assert {"銀行", "金利", "引き下げる", "発表"} <= set(found[1])
    assert not {"は", "を", "が", "た", "ました"} & {word for text in found for word in text}


def test_japanese_function_words_go_by_their_part_of_speech_and_prefixes_stay_with_their_word():
    pytest.importorskip("sudachipy")
    found = words(["この機器を再起動してください。それはすでに非推奨です", "お名前を2回見る必要がない"], "sudachipy")
    assert found == [["機器", "再起動", "非推奨"], ["名前", "回", "必要"]]


def test_characters_that_one_language_uses_choose_between_the_packages_for_chinese_and_japanese():
    pytest.importorskip("rjieba")
    pytest.importorskip("sudachipy")
    texts = ["您可以选择产品并删除订单", "価格変更発生時"]
    (chinese, _), (_, japanese) = (words(texts, name) for name in ("rjieba", "sudachipy"))
    for names in ("rjieba, sudachipy", "sudachipy, rjieba"):
        assert words(texts, names) == [chinese, japanese]
    assert {"产品", "订单"} <= set(chinese)
    assert "価格" in japanese


def test_thai_words():
    pytest.importorskip("pythainlp")
    assert {"ประกาศ", "กระตุ้น", "เศรษฐกิจ"} <= set(words(THAI, "pythainlp")[1])


@pytest.mark.parametrize("names", ["ngrams", "rjieba", "sudachipy", "pythainlp", "rjieba, sudachipy, pythainlp"])
def test_words_of_a_text_do_not_depend_on_the_others_and_no_clause_is_a_word(names):
    for part in names.replace("ngrams", "").split(","):
        if part.strip():
            pytest.importorskip(part.strip())
    texts = [*CHINESE, *JAPANESE, *THAI, "plain words", ""]
    found = words(texts, names)
    assert found == [words([text], names)[0] for text in texts]
    # Languages without their own segmenter get parts, which are short, too.
    assert max(len(word) for text in found for word in text) <= 15


@pytest.mark.parametrize(("names", "text"), [("sudachipy", "公園"), ("rjieba", "经济"), ("pythainlp", "ประกาศ")])
def test_runs_of_any_length_are_divided_piece_by_piece(monkeypatch, names, text):
    pytest.importorskip(names)
    found = words([text * 20_000], names)[0]  # SudachiPy alone refuses 40,000 letters
    assert found.count(text) > 19_900  # the others are cut in two
    monkeypatch.setattr(segmentation, "MAX_SPAN", 3 * len(text))
    assert words([text * 100], names) == [[text] * 100]


def test_without_a_segmenter_runs_stay_whole():
    assert words(CHINESE[1:2], "none") == [["经济增长放缓", "中央银行宣布降低利率以刺激投资"]]


def test_parts_that_overlap_are_no_neighbors():
    rule = TokenRule(segment=make_segment("ngrams"), with_neighbors=True)
    assert not tokenize(pa.array(["中央银行"], pa.large_string()), rule).follows.any()


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    def find_version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(segmentation.metadata, "version", find_version)
    with pytest.raises(InputError, match=r"rjieba, which is not installed; pip install 'anchorless\[chinese\]'"):
        open_segmenter("rjieba", "0.1")


def test_another_version_is_said():
    pytest.importorskip("rjieba")
    with pytest.warns(UserWarning, match=r"fitted with rjieba 0\.0\.1, and .* is installed"):
        open_segmenter("rjieba", "0.0.1")


@pytest.mark.parametrize("name", ["", "mecab", "rjieba 1 2", 3, ",", None])
def test_unknown_segmenters_are_refused(name):
    with pytest.raises(InputError, match=r"segmenter=.*rjieba"):
        validate_segmenter(name)
