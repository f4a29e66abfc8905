import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.extraction.markup import _TWICE, decode, decode_counting

GERMAN = "Die Brücke über den Fluß wurde 1894 eröffnet; sie heißt seither Königsbrücke. "
RUSSIAN = "Мост через реку был построен в 1894 году и с тех пор служит городу без перерыва. "
JAPANESE = "この橋は一八九四年に架けられ、今も町の人々に使われている。"
CHINESE = "这座桥建于一八九四年，至今仍为全城居民所用。"


def page(text: str, meta: str | None = None) -> str:
    head = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{head}</head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "codec", "declared", "meta"),
    [
        (GERMAN, "utf-8", None, None),
        (GERMAN, "utf-8", "iso-8859-1", None),  # the usual mislabel: UTF-8 called Latin-1
        (GERMAN, "utf-8", "windows-1251", "koi8-r"),
        (GERMAN, "latin-1", "utf-8", None),  # and the other way round, label and page both wrong
        (GERMAN, "latin-1", None, "iso-8859-1"),
        (GERMAN, "latin-1", "x-unknown-charset", None),
        (GERMAN, "cp1252", "'ISO-8859-1'", None),
        ("“Curly” — quotes", "cp1252", "iso-8859-1", None),  # browsers read Latin-1 as Windows-1252
        (RUSSIAN * 3, "cp1251", "windows-1251", None),
        (RUSSIAN * 3, "cp1251", "iso-8859-1", None),  # would decode as accents without end
        (RUSSIAN * 3, "koi8-r", None, "koi8-r"),
        (JAPANESE, "shift_jis", None, "Shift_JIS"),
        (JAPANESE, "euc_jp", "utf-8", "euc-jp"),
        (JAPANESE, "iso2022_jp", None, "iso-2022-jp"),  # valid ASCII, and so valid UTF-8
        (CHINESE, "gb18030", "gb2312", None),
        (GERMAN, "utf-16-le", None, None),
        (GERMAN, "utf-16-be", None, None),
    ],
)
def test_text_comes_out_whatever_the_label_says(text, codec, declared, meta):
    assert decode(page(text, meta).encode(codec), declared) == page(text, meta)


def test_label_in_a_comment_says_nothing():
    text = f'<!-- <meta charset="koi8-r"> --><meta charset="windows-1251">{RUSSIAN * 3}'
    assert decode(text.encode("cp1251"), None) == text


def test_big5_is_read_with_the_signs_of_hong_kong_as_browsers_do():
    text = page(CHINESE.translate(str.maketrans("这桥于，", "這橋於㗎")) * 3, "big5")
    assert decode(text.encode("big5hkscs", "ignore"), None) == text.encode("big5hkscs", "ignore").decode("big5hkscs")
    assert "㗎" in decode(text.encode("big5hkscs", "ignore"), None)


@pytest.mark.parametrize(
    ("bom", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_byte_order_mark_outdoes_every_label(bom, codec):
    assert decode(bom + GERMAN.encode(codec), "koi8-r") == GERMAN


def test_stray_byte_leaves_the_rest_readable():
    assert decode(GERMAN.encode() + b"\xff end", "utf-8") == GERMAN + "\ufffd end"


def test_character_cut_off_at_the_end_of_a_capped_body():
    assert decode((GERMAN * 3 + "ü").encode()[:-1], "iso-8859-1") == GERMAN * 3 + "\ufffd"


@pytest.mark.parametrize("label", ["base64", "rot13", "utf-7", "", "\0", "hex", "idna" * 50])
def test_label_that_names_no_text_encoding_is_ignored(label):
    assert decode("+ADw-script+AD4- Größe".encode(), label) == "+ADw-script+AD4- Größe"


@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "ascii", "gbk", "utf-16", "nonsense", "cp037"]))
def test_no_bytes_fail(body, declared):
    assert isinstance(decode(body, declared), str)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=100))
def test_utf_8_comes_out_as_it_was(text):
    assume(not _TWICE.search(text))
    assert decode(text.encode(), "iso-8859-1") == text


ENGLISH = "The miller of Ardal paid £300 for the café and said “it’s mine” – and that was the end of it in the valley."


@pytest.mark.parametrize("declared", [None, "iso-8859-2", "windows-1250", "iso-8859-1", "utf-8", "koi8-r"])
def test_english_with_a_few_signs_of_windows_is_read_as_such(declared):
    assert decode(page(ENGLISH).encode("cp1252"), declared) == page(ENGLISH)


POLISH = "Wieża została zbudowana w roku 1894 i służy miastu do dziś; kosztowała trzy tysiące złotych. " * 3


@pytest.mark.parametrize("codec", ["iso-8859-2", "cp1250"])
def test_other_alphabets_keep_their_label(codec):
    assert decode(page(POLISH).encode(codec), codec) == page(POLISH)


def test_text_that_was_encoded_twice_is_read_once_more():
    assert decode(page(ENGLISH).encode().decode("latin-1").encode(), None) == page(ENGLISH)
    assert decode("Â£300, 5Â°C and JosÃ©".encode(), None) == "£300, 5°C and José"
    assert decode("SÃO PAULO, ÂNGELO and à la carte".encode(), None) == "SÃO PAULO, ÂNGELO and à la carte"


@pytest.mark.parametrize(
    ("text", "mended"),
    [("Â£300, 5Â°C and JosÃ©", 3), ("SÃO PAULO and à la carte", 0), ("The mill cost £300.", 0), ("The mill.", 0)],
)
def test_pieces_that_were_encoded_twice_are_counted(text: str, mended: int):
    assert decode_counting(text.encode(), None)[1] == mended
