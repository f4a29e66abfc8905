import numpy as np

from tasks.cited_summary.cited import CitedSummary, Passage, PassageNumbers, SummarySentence, SummarySource
from tasks.evaluation.metrics import Summary
from tasks.extractive.differences import find_differences
from tasks.extractive.pile import PilePassage

TEXTS = [
    "Thomas Ridley built the tower in 1847. It stands on granite.",
    "The lamp burned whale oil. The keeper Ann Molloy left in March 1986.",
]
PLACES = [(2, 4), (1, 0)]


def test_passages_are_numbered_as_they_are_cited_and_quote_the_closest_sentence():
    citations = PassageNumbers(TEXTS, PLACES)
    first, second, third = citations.of(
        "Skerry Point", Summary("Ann Molloy left in 1986. Thomas Ridley built it in 1847. Ann Molloy was the keeper.")
    )
    assert (first.passages, second.passages, third.passages) == ((1,), (2,), (1,))
    assert [(p.number, p.source, p.position, p.quotes) for p in citations.passages] == [
        (1, 1, 0, ("The keeper Ann Molloy left in March 1986.",)),
        (2, 2, 4, ("Thomas Ridley built the tower in 1847.",)),
    ]


def test_a_sentence_without_support_stays_and_names_what_is_missing():
    invented, partly = PassageNumbers(TEXTS, PLACES).of(
        "Skerry Point", Summary("The tower was sold to Greta Hallow in 1902. Ann Molloy left in 1990.")
    )
    assert (invented.verdict, invented.passages) == ("not supported", ())
    assert "Greta Hallow" in invented.missing
    assert invented.tested == "no passage has its names, numbers or half of its words"
    assert (partly.verdict, partly.passages, partly.missing) == ("partly", (1,), ("1990",))
    assert partly.tested == "not found: 1990"


def test_a_sentence_is_copied_if_a_paragraph_that_the_system_read_has_it_word_for_word():
    text = "The lamp burned whale oil. The keeper Ann Molloy left in 1986. It stands on granite."
    for read, copied in ((None, [True, False, True]), (1, [False, False, True])):
        sentences = PassageNumbers(TEXTS, PLACES).of("Skerry Point", Summary(text, read=read))
        assert [sentence.copied for sentence in sentences] == copied


def test_attention_decides_between_passages_with_the_same_values():
    texts = ["The tower was built in 1847.", "The tower was built in 1847. It is red."]
    attention = np.array([[0.1, 0.9]] * 7, np.float32)
    tokens = ["▁The", "▁tower", "▁was", "▁built", "▁in", "▁1847", "."]
    (sentence,) = (citations := PassageNumbers(texts, [(1, 0), (2, 0)])).of(
        "Skerry", Summary("The tower was built in 1847.", tokens=tokens, attention=attention)
    )
    assert sentence.verdict == "said"
    assert citations.passages[0].source == 2


def test_a_passage_that_two_sentences_cite_quotes_a_sentence_for_each():
    citations = PassageNumbers(TEXTS, PLACES)
    first, second = citations.of("Skerry", Summary("The lamp burned whale oil. Ann Molloy left in 1986."))
    assert first.passages == second.passages == (1,)
    assert first.quotes == ("The lamp burned whale oil.",)
    assert second.quotes == ("The keeper Ann Molloy left in March 1986.",)
    assert citations.passages[0].quotes == (*first.quotes, *second.quotes)


def test_what_sources_say_differently_is_a_sentence_that_cites_each():
    texts = ["Harrow Mill was built in 1874 by Thomas Pell.", "Harrow Mill stands on the Dene. It was built in 1875."]
    told = find_differences("Harrow Mill", [PilePassage(texts[0], "2", 0), PilePassage(texts[1], "1", 3)])
    citations = PassageNumbers(texts, [(2, 0), (1, 3)])
    written = Summary("Harrow Mill stands on the Dene. Harrow Mill was built in 1874 by Thomas Pell.")
    assert [one.text for one in citations.of("Harrow Mill", written, told=told)] == ["Harrow Mill stands on the Dene."]
    (sentence,) = citations.differing(told)
    assert sentence.text == "Sources differ: Harrow Mill was built in 1874 by Thomas Pell; It was built in 1875."
    assert (sentence.verdict, sentence.passages) == ("combined", (2, 1))
    assert sentence.quotes == (texts[0], "It was built in 1875.")
    assert [passage.source for passage in citations.passages] == [1, 2]


def test_a_difference_is_shown_after_the_first_sentence_that_cites_one_of_its_passages():
    told = [SummarySentence(f"Sentence {n}.", "said", (n,)) for n in (1, 2)]
    near, far = (SummarySentence("Sources differ.", "combined", (n, 9), sides=("a", "b")) for n in (2, 3))
    source = SummarySource(1, "a.txt", date="2024-05-03")
    summary = CitedSummary("T", "concepts", "", [*told, near, far], [Passage(2, 1, 0, "x")], [source])
    assert summary.differing_after == {1: [near], None: [far]}
    assert (summary.named(2), summary.named(9)) == ("a.txt, 2024-05-03", "passage 9")


def test_a_passage_of_a_file_with_pages_names_its_page():
    citations = PassageNumbers(TEXTS, PLACES, [7, None])
    citations.of("Skerry Point", Summary("Thomas Ridley built it in 1847. Ann Molloy left in 1986."))
    assert [passage.place for passage in citations.passages] == ["page 7, paragraph 5", "paragraph 1"]
