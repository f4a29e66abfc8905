"""Citations: which sentence looked at which page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tests.tasks.reporting_tables as made
from tasks.reporting.attention import spelled
from tasks.reporting.samples import SHOWN_CHARACTERS, Citation, Source, cite, read_samples, shorten, sources
from tasks.sentences import split_sentences
from tests.tasks.reporting_tables import prediction

URLS = ["https://a.example/", "https://b.example/", "https://a.example/"]


def test_each_sentence_cites_the_paragraph_its_own_tokens_looked_at() -> None:
    summary = "Old bridge. It fell."
    tokens = ["\u2581Old", "\u2581bri", "dge", ".", "\u2581It", "\u2581fell", "."]
    attention = np.array([[1, 0, 0]] * 4 + [[0, 0.25, 0.75]] * 2 + [[0, 1, 0]], np.float32)

    assert cite(summary, tokens, attention, URLS) == [
        Citation("Old bridge.", 0, "https://a.example/", 1.0),
        # means over its three tokens: [0, .5, .5]: of equals the better rank
        Citation("It fell.", 1, "https://b.example/", 0.5),
    ]


def test_a_lone_space_mark_marks_unknown_words_and_bytes_do_not_shift_the_sentences() -> None:
    summary = "Caf\u00e9 \u2047 bar. Two."
    tokens = ["<T>", "\u2581", "Caf", "<0xC3>", "<0xA9>", "<unk>", "\u2581bar.", "<Q>", "\u2581Two", "."]
    attention = np.zeros((len(tokens), 2), np.float32)
    attention[:8, 0], attention[8:, 1] = 1, 1

    assert [(c.sentence, c.rank, c.share) for c in cite(summary, tokens, attention, URLS)] == [
        ("Caf\u00e9 \u2047 bar.", 0, 1.0),
        ("Two.", 1, 1.0),
    ]


def test_a_sentence_without_tokens_and_a_paragraph_without_page_are_not_cited() -> None:
    attention = np.array([[0.0, 1.0]], np.float32)

    assert cite("One. Two.", ["\u2581One."], attention, ["https://a.example/"]) == [
        Citation("One.", 1, None, 1.0),
        Citation("Two."),
    ]


def test_a_system_without_attention_has_plain_sentences() -> None:
    assert cite("One. Two.", [], np.zeros((0, 0), np.float32), URLS) == [Citation("One."), Citation("Two.")]
    assert cite("", [], np.zeros((0, 0), np.float32), URLS) == []


@given(st.lists(st.lists(st.sampled_from(["Aa", "bb", "cc", "Ddd"]), min_size=1, max_size=5), min_size=1, max_size=6))
def test_pieces_that_spell_the_summary_fall_to_the_sentence_they_spell(sentences: list[list[str]]) -> None:
    texts = [" ".join([words[0].capitalize(), *words[1:]]) + "." for words in sentences]
    tokens, owners = [], []
    for number, text in enumerate(texts):
        for word in text.split():
            for place, letter in enumerate(word):
                tokens.append(letter if place else f"\u2581{letter}")
                owners.append(number)
    summary = " ".join(texts)
    attention = np.eye(len(texts), dtype=np.float32)[owners]

    found = cite(summary, tokens, attention, [f"https://{n}.example/" for n in range(len(texts))])

    assert [citation.sentence for citation in found] == split_sentences(summary) == texts
    assert [citation.rank for citation in found] == list(range(len(texts)))
    assert {citation.share for citation in found} == {1.0}


def test_a_piece_stands_for_its_characters() -> None:
    assert [spelled(t) for t in ("\u2581the", "\u2581", "a\u0301", "<unk>", "<Q>", "<0xE2>", "<0x82>", "<b>")] == [
        3, 0, 2, 1, 0, 1, 0, 3,
    ]  # fmt: skip


def test_pages_add_up_over_their_paragraphs() -> None:
    attention = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], np.float32)

    assert sources(attention, URLS) == [Source("https://a.example/", 0.625), Source("https://b.example/", 0.375)]


def test_long_texts_are_cut_between_words() -> None:
    text = "word " * 2000

    shown, left_out = shorten(text)

    assert shown.endswith("word")
    assert len(shown) <= SHOWN_CHARACTERS
    assert len(shown) + left_out == len(text)
    assert shorten("short") == ("short", 0)
    assert shorten("x" * 5000) == ("x" * SHOWN_CHARACTERS, 1000)


def shard(name: str, *, written: bool = True):  # type: ignore[no-untyped-def]
    rows = [prediction(name, "ht", "New words.", [[1.0], [1.0]])] if written else []
    baselines = [prediction(name, "lead", "Old words here.")] if written else []
    return (
        made.articles(**{name: f"The lead of {name}."}),
        made.ranked(**{name: [f"https://{name}.example/"]}),
        made.predictions(*baselines),
        made.predictions(*rows),
        made.graphs(name, 1, []),
    )


def test_samples_are_the_first_articles_with_summaries_and_no_shard_beyond_is_read() -> None:
    def shards():  # type: ignore[no-untyped-def]
        yield shard("a", written=False)
        yield shard("b")
        yield shard("c")
        raise AssertionError("a shard beyond was read")

    found = read_samples(shards(), count=2, length_shards=2)

    assert [(sample.title, sample.lead) for sample in found.articles] == [
        ("B", "The lead of b."),
        ("C", "The lead of c."),
    ]
    assert [written.system for written in found.articles[0].written] == ["ht", "lead"]
    assert found.articles[0].written[0].sentences == [Citation("New words.", 0, "https://b.example/", 1.0)]
    assert found.articles[0].graph is not None
    assert {system: words.tolist() for system, words in found.summary_words.items()} == {"ht": [2], "lead": [3]}


def test_samples_may_be_none() -> None:
    assert read_samples([], count=5, length_shards=4).articles == []
    assert read_samples([shard("a")], count=0, length_shards=4).articles == []
    without_graphs = [shard("a")[:4]]
    assert read_samples(without_graphs, count=1, length_shards=1).articles[0].graph is None
