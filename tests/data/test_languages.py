"""Words of many languages: marks, apostrophes, text without blanks, stop words, named analyzers."""

# ruff: noqa: RUF001 - letters of other scripts look like those of this one

from __future__ import annotations

import re
import sys
import types
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cohmm import HTMM, read_documents
from cohmm.data.tokens import SKLEARN_PATTERN, check_trusted, word_finder
from cohmm.data.vocabulary import TextWarning, as_stop_words
from cohmm.report.from_topics import Aligner


def words_of(text: str, **options: Any) -> list[str]:
    """The words of one text."""
    return read_documents([f"{text} filler"], **options).words(0)[:-1]


SENTENCES = {
    "Hindi": (
        "हिन्दी भाषा।",
        ["हिन्दी", "भाषा"],
    ),
    "Tamil": (
        "தமிழ், மொழி",
        ["தமிழ்", "மொழி"],
    ),
    "Arabic": (
        "السَّلامُ عَلى",
        ["السَّلامُ", "عَلى"],
    ),
    "Hebrew": (
        "שָׁלוֹם!",
        ["שָׁלוֹם"],
    ),
    "Persian": (
        "می\u200cخواهم",
        ["می\u200cخواهم"],
    ),
    "decomposed French": ("cafe\u0301, de\u0301ja\u0300", ["cafe\u0301", "de\u0301ja\u0300"]),
    "Russian": (
        "Москва и мир",
        ["москва", "мир"],
    ),
    "Ukrainian": (
        "П\u2019ять об'єктів",
        ["п'ять", "об'єктів"],
    ),
    "French": ("L'homme d'aujourd\u2019hui, qu'il dit.", ["homme", "aujourd'hui", "il", "dit"]),
    "English": (
        "Don't take the sun's 'light' at ten o'clock; I'm O'Brien, rock'n'roll.",
        [
            "don't",
            "take",
            "the",
            "sun",
            "light",
            "at",
            "ten",
            "o'clock",
            "i'm",
            "o'brien",
            "rock'n'roll",
        ],
    ),
    "Italian": ("dell'arte e l'amico", ["dell'arte", "amico"]),
    "emoji": ("❤\ufe0f ok 👍🏽", ["ok"]),
    "quotes": ("'quoted' ''twice'' it's' a''b", ["quoted", "twice", "it"]),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_words_of_a_language(language: str) -> None:
    text, expected = SENTENCES[language]
    assert words_of(text) == expected
    if language != "decomposed French":
        assert words_of(text.upper()) == [word.upper().lower() for word in expected]


def slow_words(text: str) -> list[str]:
    """The definition of a word, a character at a time."""
    text = text.lower().replace("\u2019", "'")

    def is_letter(i: int) -> bool:
        return 0 <= i < len(text) and re.match(r"\w", text[i]) is not None

    def elides(i: int, elided: str) -> bool:
        """Whether the apostrophe at ``i`` cuts off what is elided in front of a word."""
        begin = i - len(elided)
        at_start = begin == 0 or (begin > 0 and text[begin - 1] != "'" and not is_letter(begin - 1))
        return at_start and text[begin:i] == elided and is_letter(i + 1)

    places = [i for i, character in enumerate(text) if character == "'" and elides(i, "qu")]
    for i in places:
        text = f"{text[: i - 2]}   {text[i + 1 :]}"

    def is_inside(i: int) -> bool:
        """Whether the apostrophe at ``i`` is inside a word."""
        possessive = text[i + 1 : i + 2] == "s" and not is_letter(i + 2)
        elided = any(elides(i, letter) for letter in "cdjlmnst")
        return is_letter(i - 1) and is_letter(i + 1) and not possessive and not elided

    def is_mark(character: str) -> bool:
        is_variant = "\ufe00" <= character <= "\ufe0f"
        is_combining = unicodedata.category(character) in ("Mn", "Mc")
        return (is_combining and not is_variant) or character in "\u200c\u200d"

    words, word = [], ""
    for i, character in enumerate(text + " "):
        if character == "\u02bc" or (character == "'" and is_inside(i)):
            word += "'"
        elif re.match(r"\w", character) or is_mark(character):
            word += character
        else:
            words += [word] if len(word) > 1 else []
            word = ""
    return words


LETTERS = "abcdlnqsu\u00e9\u0301\u093f\u0939'\u2019\u02bc -.7_\u200c\u5317"


@given(st.text(LETTERS, max_size=30))
@example("l'd'ab qu'qu'a d's 's a's'b")
def test_the_words_are_those_of_the_definition(text: str) -> None:
    expected = slow_words(text)
    assert words_of(text) == expected
    find = word_finder(None, None)
    assert find is not None
    found = list(find(text.lower()))
    assert [word for word, _ in found] == expected
    assert [len(word) for word, _ in found] == [end - begin for _, (begin, end) in found]
    model = HTMM(vocabulary=["ab"])
    shown, spans = Aligner(model, tuple({*expected, "ab"})).find(text, expected)
    assert (shown is None) == (spans == () and bool(expected)) or not expected


def test_scikit_learns_pattern_still_cuts_as_scikit_learn_does() -> None:
    assert words_of("Don't, d'ici", token_pattern=SKLEARN_PATTERN) == ["don", "ici"]


WITHOUT_BLANKS = {
    "Chinese": "我们今天去北京大学学习数学。",
    "Japanese": "私は毎日学校で日本語を勉強しています。",
    "Thai": "ฉันเรียนภาษาไทยที่มหาวิทยาลัย",
}


def pairs(text: str) -> list[str]:
    """Every two characters: what search engines do without a dictionary."""
    letters = re.sub(r"\W", "", text)
    return [letters[i : i + 2] for i in range(len(letters) - 1)]


@pytest.mark.parametrize("language", WITHOUT_BLANKS)
def test_text_without_blanks_is_recognised(language: str) -> None:
    texts = [WITHOUT_BLANKS[language]] * 3
    with pytest.warns(TextWarning, match=rf"seems to be {language}.*no blanks.*analyzer= takes"):
        read_documents(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut = read_documents(texts, analyzer=pairs)
        assert cut.lengths[0] == len(pairs(texts[0])) > 10
        read_documents([" ".join(pairs(text)) for text in texts])  # cut into words already
        read_documents([*texts, "many more words of another language that has blanks in text"])


NAMED = f"{__name__}:pairs"


def test_a_model_with_a_named_analyzer_comes_back_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [WITHOUT_BLANKS["Chinese"], WITHOUT_BLANKS["Japanese"]] * 20
    path = tmp_path / "topics.cohmm"
    model = HTMM(2, analyzer=NAMED, random_state=0, refine=0).fit(texts)
    model.save(path)
    again = HTMM.load(path)
    assert again.analyzer == NAMED
    assert (again.transform(texts) == model.transform(texts)).all()
    assert HTMM.load(path, analyzer=pairs).analyzer is pairs
    model.set_params(analyzer=pairs)
    with pytest.raises(ValueError, match="give it by name, 'module:function'"):
        model.save(path)
    monkeypatch.delitem(sys.modules, __name__)
    with pytest.raises(ValueError, match=rf"topics.cohmm: texts are cut by '{NAMED}'.*import"):
        HTMM.load(path)
    assert HTMM.load(path, analyzer=NAMED).analyzer == NAMED


@pytest.mark.parametrize("name", ["os:system", "builtins:eval", "os.path:exists", "not_there:cut"])
def test_files_do_not_choose_functions_of_python_itself(name: str) -> None:
    with pytest.raises(ValueError, match="imported only if you say so"):
        check_trusted(name)


@pytest.mark.parametrize(
    ("analyzer", "message"),
    [
        ("no_such_module:cut", "is not the name of a function, 'module:function': No module"),
        (f"{__name__}:nothing", "has no attribute 'nothing'"),
        (f"{__name__}:NAMED", "which is no function"),
        ("char", "is not the name of a function"),
        (7, "must be a function from a text to its words, or its name 'module:function', not 7"),
    ],
)
def test_names_that_are_no_analyzer(analyzer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_documents(["a text"], analyzer=analyzer)


def test_english_stop_words_have_contractions() -> None:
    words = as_stop_words("english")
    assert {"the", "don't", "i'm", "they've", "wouldn't", "can't"} <= words
    assert words_of("They don't know that it's a wheat market", stop_words="english") == [
        "know",
        "wheat",
        "market",
    ]


def test_stop_words_of_a_language_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(ValueError, match=r"'finnish'.*pip install 'cohmm\[languages\]'"):
        as_stop_words("finnish")
    package = types.ModuleType("stop_words")
    package.AVAILABLE_LANGUAGES = ["testish"]  # type: ignore[attr-defined]
    package.get_stop_words = {"testish": ["ka", "l\u2019on"]}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stop_words", package)
    assert as_stop_words("testish") == {"ka", "l'on"}
    with pytest.raises(ValueError, match="not the string 'klingonish'; there are testish"):
        as_stop_words("klingonish")


def test_stop_words_of_the_package() -> None:
    pytest.importorskip("stop_words", reason="the extra languages is missing")
    text = "Der Weizen und die Gerste sind nicht teuer"
    assert words_of(text, stop_words="german") == ["weizen", "gerste", "teuer"]


def test_seed_words_are_cut_as_text_is() -> None:
    texts = ["Wheat and maize prices", "gold and silver coins"] * 20
    seeds = {"grain": ["Wheat", "MAIZE prices"], "metal": ["gold's", "silver"]}
    cut = HTMM(2, seed_words=seeds, random_state=0).fit(texts)
    plain = HTMM(
        2,
        seed_words={"grain": ["wheat", "maize", "prices"], "metal": ["gold", "silver"]},
        random_state=0,
    ).fit(texts)
    assert (cut.components_ == plain.components_).all()
    assert cut.seed_words is seeds
    with pytest.raises(ValueError, match="seed word"):
        HTMM(2, seed_words=[["Barley"]], random_state=0).fit(texts)
