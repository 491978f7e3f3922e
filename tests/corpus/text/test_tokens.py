"""Words by the rule of `tokens`, compared with a slow reference that reads character by character."""

import itertools
import random
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorless._corpus.text.tokens import (
    INVISIBLE,
    LOOSE_MARKS,
    MAX_WORD_LENGTH,
    OPTIONAL_MARKS,
    PRINTED_FORMS,
    TokenRule,
    find_word_characters,
    find_word_runs,
    tokenize,
)
from tests.helpers.properties import run_examples

KEEP_ALL = TokenRule(min_length=1)
# One letter, digit or mark of many kinds, and what lies between words.
NASTY = [
    *"aAbZ_09-'’.,!? \n\t\x00\x7f",
    *"éÉßçøŁñİıI",
    "e\u0301",  # é in two characters
    "\u0301",  # a mark that may stand alone
    "\u0338",  # the stroke that turns = into ≠
    *"=≠<¨΅",
    *"\u00ad\u0640\u200c\u200d\u2060\ufeff",  # invisible
    *"\u200b\u00a0\u2028",  # separators that look like nothing
    *"你好日本語ひらカタ漢",
    *"कीहि्न्दीक़",
    *"العربيةَّ",
    *"ΣσςΟΔΌ",
    *"Жйё",
    *"한국\u1112\u1161\u11ab",  # Hangul, also taken apart
    *"😀👩‍💻🇩🇪❤️1️⃣",
    *"²½Ⅷ٣५",
    "𝐀𐐀",  # letters outside the first plane
    "ǅ",
    "J\u030c",
    "\u212a",  # the Kelvin sign, whose lower case is an ordinary k
    "Å",
]


def slow_words(text: str, rule: TokenRule) -> list[str]:
    """Apply the rule of the module character by character, after composing the text."""
    plain = [unicodedata.normalize("NFKC", c) if PRINTED_FORMS.match(c) else c for c in text]
    text = "".join(letters for letters in plain if len(letters) == 1 or " " not in letters)
    text = unicodedata.normalize("NFC", "".join(c for c in text if ord(c) not in {**INVISIBLE, **OPTIONAL_MARKS}))
    text = "".join(c for c in text if ord(c) not in LOOSE_MARKS).replace("ٱ", "ا")
    words = []
    for inside, run in itertools.groupby(text, lambda c: c == "_" or unicodedata.category(c)[0] in "LMN"):
        word = "".join(run)
        if not inside:
            continue
        if rule.lowercase:
            word = unicodedata.normalize("NFC", word.lower()).replace("i\u0307", "i")
        if rule.strip_accents:
            apart = unicodedata.normalize("NFD", word)
            word = unicodedata.normalize("NFC", "".join(c for c in apart if not "\u0300" <= c <= "\u036f"))
        while word and (word[0] == "_" or unicodedata.category(word[0]).startswith("M")):
            word = word[1:]
        word = word.rstrip("_")
        letters = any(unicodedata.category(c).startswith("L") for c in word)
        stop = rule.stop_words is not None and word.lower() in rule.stop_words.to_pylist()
        length = 2 if len(word) == 1 and "CJK" in unicodedata.name(word, "") else len(word)
        if letters and rule.min_length <= length <= MAX_WORD_LENGTH and not stop:
            words.append(word)
    return words


def words(texts, rule=KEEP_ALL, kind=None):
    kind = pa.large_string() if kind is None else kind
    found = tokenize(pa.array(texts, type=kind), rule)
    in_order = found.words.take(pa.array(found.codes)).to_pylist()
    return [in_order[start:stop] for start, stop in itertools.pairwise(found.offsets)]


def nasty_texts(seed: int, n_texts: int = 150) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(NASTY, k=rng.choice([0, 1, 2, 5, 30]))) for _ in range(n_texts)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "rule",
    [
        KEEP_ALL,
        TokenRule(),
        TokenRule(lowercase=False, min_length=1),
        TokenRule(strip_accents=True, min_length=1),
        TokenRule(lowercase=False, strip_accents=True),
        TokenRule(stop_words=pa.array(["é", "ab", "a", "ñ"]), min_length=1),
        TokenRule(stop_words=pa.array(["é", "ab", "a", "ñ"]), min_length=1, lowercase=False),
    ],
)
def test_nasty_texts_have_the_words_of_the_slow_reference(seed, rule):
    texts = nasty_texts(seed)
    assert words(texts, rule) == [slow_words(text, rule) for text in texts]


@pytest.mark.parametrize("first", [0, 0x10000, 0x20000, 0xE0000])
def test_every_kind_of_character_between_and_after_letters(first):
    step = 1 if first == 0 else 13
    characters = [chr(p) for p in range(first, first + 0x10000, step) if not 0xD800 <= p < 0xE000]
    texts = [f"a{c}b {c}" for c in characters]
    assert words(texts) == [slow_words(text, KEEP_ALL) for text in texts]


def test_the_table_agrees_with_the_classes_of_re2():
    characters = [chr(p) for p in range(sys.maxunicode + 1) if not 0xD800 <= p < 0xE000]
    # RE2 and this Python may know different versions of Unicode: what either calls unassigned is left out.
    array = pa.array(characters)
    re2 = pc.match_substring_regex(array, r"[\p{L}\p{M}\p{N}_\x{AD}\x{200C}\x{200D}\x{2060}\x{FEFF}]")
    ours = find_word_characters()[[ord(c) for c in characters]]
    differ = np.flatnonzero(re2.to_numpy(zero_copy_only=False) != ours)
    assigned = [characters[i] for i in differ if unicodedata.category(characters[i]) != "Cn"]
    assert assigned == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't panic, l'eau!", ["don", "t", "panic", "l", "eau"]),
        ("don’t", ["don", "t"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("n_words _emphasis_ __ ___x___", ["n_words", "emphasis", "x"]),
        ("1993 3.14 10_000 mp3 486dx ² ½ Ⅷ", ["mp3", "486dx"]),
        ("café cafe\u0301 CAFÉ CAFE\u0301", ["café"] * 4),
        ("İstanbul istanbul ISTANBUL I\u0307stanbul", ["istanbul"] * 4),
        ("ısı", ["ısı"]),
        ("ΟΔΟΣ οδος", ["οδος", "οδος"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("العربية، العـــربية", ["العربية", "العربية"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("Wörter\u00adbuch", ["wörterbuch"]),
        ("你好，世界。", ["你好", "世界"]),
        ("I ❤️ 👩‍💻 🇩🇪 1️⃣ x😀y", ["i", "x", "y"]),
        ("a\x00b", ["a", "b"]),
        ("=\u0338x ≠y", ["x", "y"]),
        ("", []),
        ("...", []),
    ],
)
def test_the_rule_by_example(text, expected):
    assert words([text]) == [expected]


def test_accents_come_off_and_vowel_signs_stay():
    rule = TokenRule(strip_accents=True)
    assert words(["Élève ñandú Straße हिन्दी й"], rule) == [["eleve", "nandu", "straße", "हिन्दी"]]


def test_length_is_in_characters():
    assert words(["é ab abc ひ"], TokenRule(min_length=2)) == [["ab", "abc"]]
    assert words(["é 犬 ひ"], TokenRule(min_length=2)) == [["犬"]]  # one Chinese character is often a word
    assert words(["x" * MAX_WORD_LENGTH, "x" * (MAX_WORD_LENGTH + 1)]) == [["x" * MAX_WORD_LENGTH], []]


def test_stop_words_go_whatever_their_capitals():
    stop = pa.array(["the", "él"])
    for lowercase in (True, False):
        rule = TokenRule(lowercase=lowercase, stop_words=stop)
        assert [[w.lower() for w in text] for text in words(["The THE the cat Él"], rule)] == [["cat"]]


def test_a_word_does_not_grow_into_the_next_text():
    assert words(["ab", "cd", "", "", "ef", ""]) == [["ab"], ["cd"], [], [], ["ef"], []]
    assert words(["é", "é", "😀", "é"]) == [["é"], ["é"], [], ["é"]]


def test_slices_short_strings_nulls_and_nothing():
    texts = ["skipped é", "one two", "", "thrée", None, "last"]
    for kind in (pa.string(), pa.large_string()):
        array = pa.array(texts, type=kind)[1:5]
        found = tokenize(array, KEEP_ALL)
        assert found.words.to_pylist() == ["one", "thrée", "two"]
        assert found.offsets.tolist() == [0, 2, 2, 3, 3]
        for nothing in ([], [""], [None], ["", ""]):
            empty = tokenize(pa.array(nothing, type=kind), KEEP_ALL)
            assert len(empty.words) == len(empty.codes) == 0
            assert empty.offsets.tolist() == [0] * (len(nothing) + 1)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_slice_holds_its_own_texts_only(kind):
    texts = nasty_texts(7, 30)
    found = tokenize(pa.array(texts, type=kind)[11:19], KEEP_ALL)
    expected = tokenize(pa.array(texts[11:19], type=kind), KEEP_ALL)
    assert found.words.equals(expected.words)
    np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_words_are_sorted_by_code_point_and_distinct():
    found = tokenize(pa.array(nasty_texts(99)), KEEP_ALL).words.to_pylist()
    assert found == sorted(set(found))


def test_the_text_itself_is_not_changed():
    array = pa.array(["The CAT — sat"])
    find_word_runs(array, TokenRule(lowercase=True))
    assert array.to_pylist() == ["The CAT — sat"]


def test_runs_are_counted_before_any_is_left_out():
    assert tokenize(pa.array(["the cat 1993 a"]), TokenRule(stop_words=pa.array(["the"]))).n_runs == 4


ASSIGNED = st.characters(exclude_categories=("Cs", "Cn"))


@run_examples(60)
@given(
    texts=st.lists(st.text(st.sampled_from("".join(NASTY)) | ASSIGNED, max_size=30), max_size=5),
    lowercase=st.booleans(),
    strip_accents=st.booleans(),
    min_length=st.integers(1, 3),
)
def test_any_texts_have_the_words_of_the_slow_reference(texts, lowercase, strip_accents, min_length):
    rule = TokenRule(lowercase, strip_accents, min_length, pa.array(["a", "é", "σ"], pa.large_string()))
    assert words(texts, rule) == [slow_words(text, rule) for text in texts]
