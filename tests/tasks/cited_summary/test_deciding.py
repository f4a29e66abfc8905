"""Who writes a summary, as a table: of what is asked for and what there is, and of what was written."""

from pathlib import Path

import pytest

from tasks.cited_summary.cited import SummarySentence
from tasks.cited_summary.deciding import Attempt, Request, decide, pieces_per_word
from tasks.cited_summary.settings import Choice
from tasks.cited_summary.systems import EXTRACTIVE, SummarySystem, find_system
from tasks.ranking.settings import RankingSettings
from tasks.writing.settings import WriterSettings
from tests.tasks.cited_summary.test_systems import root_with
from tests.tasks.summarization.summarizer_examples import vocabulary

KNOWN = ["Aral is a river in the north of Tavia.", "Boreth is a city on the southern coast."]
STRANGE = ["Xylophonists zigzagged quizzically past Ouagadougou's flamboyant weathervanes."]
WRITER = WriterSettings(url="http://localhost:8000/v1", model="writer")
MODEL = "ht-small+similarity"
UNSUITED = f"The trained model {MODEL} does not suit these sources: sentences of theirs are shown."


@pytest.fixture(autouse=True)
def _tiny_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny one spells KNOWN in 2.7 pieces a word."""
    monkeypatch.setattr("tasks.cited_summary.deciding.MOST_PIECES", 3.0)


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SummarySystem]:
    """What a root may have."""
    both = find_system(root_with(tmp_path_factory.mktemp("both"), "summarizer", "ranker"))
    ranker = find_system(root_with(tmp_path_factory.mktemp("ranker"), "ranker"))
    return {"nothing": find_system(None), "ranker": ranker, "model": both}


@pytest.mark.parametrize(
    # What there is, what is asked for, of which sources -> who writes, on which ranking, with which note.
    ("there", "choice", "writer", "question", "texts", "expected"),
    [
        ("nothing", "suitable", None, False, KNOWN, (EXTRACTIVE, "similarity", "")),
        ("nothing", "suitable", WRITER, False, STRANGE, ("writer", "similarity", "")),
        ("nothing", "suitable", WRITER, True, KNOWN, ("writer", "similarity", "")),
        ("nothing", "extractive", WRITER, False, KNOWN, (EXTRACTIVE, "similarity", "")),
        ("ranker", "suitable", None, False, KNOWN, (EXTRACTIVE, "ranking", "")),
        ("ranker", "suitable", None, False, STRANGE, (EXTRACTIVE, "similarity", "")),
        ("model", "suitable", None, False, KNOWN, (MODEL, "ranking", "")),
        ("model", "suitable", None, False, STRANGE, (EXTRACTIVE, "similarity", UNSUITED)),
        ("model", "suitable", None, False, [], (MODEL, "ranking", "")),
        ("model", "suitable", None, True, STRANGE, (EXTRACTIVE, "ranking", "")),
        ("model", "suitable", WRITER, False, KNOWN, ("writer", "similarity", "")),
        ("model", "suitable", WRITER, True, KNOWN, ("writer", "similarity", "")),
        ("model", "model", None, False, STRANGE, (MODEL, "ranking", "")),
        ("model", "model", WRITER, False, KNOWN, (MODEL, "ranking", "")),
        ("model", "model", None, True, KNOWN, (EXTRACTIVE, "ranking", "")),
        ("model", "extractive", None, False, KNOWN, (EXTRACTIVE, "ranking", "")),
        ("model", "extractive", WRITER, True, KNOWN, (EXTRACTIVE, "ranking", "")),
    ],
)
def test_who_writes(
    systems: dict[str, SummarySystem],
    there: str,
    choice: Choice,
    writer: WriterSettings | None,
    question: bool,
    texts: list[str],
    expected: tuple[str, str, str],
) -> None:
    system = decide(Request(systems[there], choice, writer, question), texts)
    assert (system.name, system.ranking.method, system.note) == expected
    assert (system.ranker is not None) == (expected[1] == "ranking")
    assert (system.summarizer is not None, system.writer is not None) == (expected[0] == MODEL, expected[0] == "writer")
    assert system.ranking.keep == (200 if there == "nothing" else 3)


def test_why_is_said(systems: dict[str, SummarySystem]) -> None:
    asked = decide(Request(systems["model"], "extractive"), KNOWN)
    assert asked.why == "The extractive system was asked for."
    assert decide(Request(systems["model"], question=True), KNOWN).why == (
        "Sentences of the sources answer the question."
    )
    assert "was trained on other texts" in decide(Request(systems["model"]), STRANGE).why
    nothing = systems["nothing"]
    assert decide(Request(nothing, "extractive"), KNOWN) is nothing


SAID = SummarySentence("The tower was built in 1847.", "said", (1,))  # six words
JOINED = SummarySentence("The tower was built in 1847 and painted in 1902.", "combined", (1, 2))
LOOSE = SummarySentence("It was financed by granite in 1990.", "partly", (1,))
THIRTY = ["word " * 30]
HT = SummarySystem("ht", "", Path("ht"), Path("ranker"), ranking=RankingSettings(keep=7))
LANGUAGE_MODEL = HT.written_by(WRITER)


@pytest.mark.parametrize(
    ("sentences", "shown"),
    [
        ([SAID], True),
        ([JOINED], True),
        ([LOOSE], False),
        ([SAID, *[LOOSE] * 3], True),
        ([SAID, *[LOOSE] * 4], False),
        ([JOINED, LOOSE], True),
        ([JOINED, LOOSE, LOOSE], False),
        ([], False),
    ],
)
def test_a_quarter_of_what_a_model_writes_must_be_borne_out(sentences: list[SummarySentence], shown: bool) -> None:
    """What several passages support together counts half."""
    written = decide(Request(HT), THIRTY, Attempt(HT, sentences))
    assert (written is HT) == shown
    if not shown:
        assert (written.name, written.ranker, written.ranking.keep) == (EXTRACTIVE, None, 7)
        assert written.note == "The trained model ht does not suit these sources: sentences of theirs are shown."


@pytest.mark.parametrize(
    ("request_", "system", "texts", "sentences"),
    [
        (Request(HT, "model"), HT, THIRTY, [LOOSE]),  # whatever it writes
        (Request(HT), HT, [], []),  # it is not blamed for sources without text
        (Request(HT, writer=WRITER), LANGUAGE_MODEL, THIRTY, []),  # its sentences were checked
        (Request(HT, "extractive"), HT.extractive(""), THIRTY, []),
    ],
)
def test_other_attempts_are_shown(
    request_: Request, system: SummarySystem, texts: list[str], sentences: list[SummarySentence]
) -> None:
    assert decide(request_, texts, Attempt(system, sentences)) is system


@pytest.mark.parametrize("choice", ["suitable", "model"])
def test_a_system_that_fails_is_replaced_whatever_was_asked_for(choice: Choice) -> None:
    why = "writer gave no summary (timeout), so whole sentences of the sources are chosen."
    written = decide(Request(HT, choice, WRITER), THIRTY, Attempt(LANGUAGE_MODEL, fault="timeout"))
    assert (written.name, written.writer, written.why, written.note) == (EXTRACTIVE, None, why, why)


@pytest.mark.parametrize(
    ("sentences", "words", "why"),
    [
        (
            [JOINED, LOOSE, LOOSE],
            100,
            "ht wrote 3 sentences: the sources support 1 of them, and one passage alone says 0, so whole sentences of "
            "the sources are chosen.",
        ),
        ([], 100, "ht wrote nothing, so whole sentences of the sources are chosen."),
        ([SAID], 31, "ht wrote only 6 of 31 words, so whole sentences of the sources are chosen."),
    ],
)
def test_why_a_model_is_replaced_counts_its_sentences(sentences: list[SummarySentence], words: int, why: str) -> None:
    for request, texts in ((Request(HT, words=words), ["word " * 200]), (Request(HT, words=200), ["word " * words])):
        assert decide(request, texts, Attempt(HT, sentences)).why == why


def test_pieces_are_counted_per_word() -> None:
    assert pieces_per_word(vocabulary(), KNOWN) < pieces_per_word(vocabulary(), STRANGE)
    assert pieces_per_word(vocabulary(), [""]) == 0
