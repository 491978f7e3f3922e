import warnings

import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from anchorless import Corpus, TopicModel
from anchorless._corpus.text.scripts import SAMPLED_TEXTS, ScriptSample, find_unspaced
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

CHINESE = [
    "今天的天气很好我们一起去公园散步吧。孩子们在草地上玩耍",
    "经济增长放缓，中央银行宣布降低利率以刺激投资",
    "火箭成功进入轨道",
]
JAPANESE = [
    "今日は天気がとても良いので公園へ散歩に行きました。",
    "中央銀行は金利を引き下げると発表した。",
    "ロケットは軌道に入った",
]
THAI = ["วันนี้อากาศดีมากเราจึงไปเดินเล่นในสวนสาธารณะ", "ธนาคารกลางประกาศลดอัตราดอกเบี้ยเพื่อกระตุ้นเศรษฐกิจ"]
KOREAN = ["오늘은 날씨가 아주 좋아서 공원에 산책을 갔다", "중앙은행은 금리를 인하한다고 발표했다"]
SEPARATED = {
    "Chinese": "今天 的 天气 很 好 我们 一起 去 公园 散步 吧 中央 银行 宣布 降低 利率 以 刺激 投资",
    "Japanese": "今日 は 天気 が とても 良い ので 公園 へ 散歩 に 行き まし た ロケット は 軌道 に 入っ た",
    "Thai": "วันนี้ อากาศ ดี มาก เรา จึง ไป เดินเล่น ใน สวนสาธารณะ ธนาคาร กลาง ประกาศ ลด อัตรา ดอกเบี้ย",
}


@pytest.mark.parametrize(("texts", "language"), [(CHINESE, "Chinese"), (JAPANESE, "Japanese"), (THAI, "Thai")])
def test_texts_without_spaces_are_noticed(texts, language):
    assert find_unspaced(" ".join(texts)).language == language


@pytest.mark.parametrize("text", [*SEPARATED.values(), " ".join(KOREAN), " ".join(planted_texts(5)[0]), "", "123 !?"])
def test_texts_with_spaces_are_not(text):
    assert find_unspaced(text) is None


def test_a_few_foreign_names_do_not_matter():
    assert (
        find_unspaced("the city of 北京市朝阳区 is large, " * 3 + "and so are many other cities of the world " * 3)
        is None
    )


def test_only_the_first_texts_are_looked_at():
    sample = ScriptSample()
    batches = [pa.array(["plain words"] * SAMPLED_TEXTS), pa.array(CHINESE * 1000)]
    assert list(sample.tee(batches)) == batches
    assert sample.describe() is None


@pytest.mark.parametrize("texts", [CHINESE * 10, JAPANESE * 10, THAI * 10], ids=["Chinese", "Japanese", "Thai"])
def test_a_fit_warns_and_names_the_way_out(texts):
    with warnings.catch_warnings(record=True) as caught:  # others, of so few documents, too
        warnings.simplefilter("always")
        TopicModel(2, n_jobs=1).fit(texts)
    (found,) = (str(one.message) for one in caught if "no spaces between words" in str(one.message))
    assert "pip install" in found
    assert "CountVectorizer" in found


def test_a_file_is_noticed_too(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(CHINESE * 10), encoding="utf-8")
    with Corpus.read(tmp_path / "a.csv") as corpus:
        assert "Chinese" in corpus.notes[-1]


def test_the_reason_is_in_the_error_if_no_word_is_left():
    with pytest.raises(InputError, match=r"no word is left.*Chinese, which has no spaces between words"):
        Corpus.from_texts([f"{chr(0x4E00 + 7 * i)}{CHINESE[0]}" for i in range(2000)])


def test_the_way_out_of_the_message_works():
    pairs = CountVectorizer(analyzer="char", ngram_range=(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicModel(2, n_jobs=1, vectorizer=pairs).fit(CHINESE[:2] * 10)
    assert all(len(word) == 2 for topic in model.topics() for word in topic.words)
