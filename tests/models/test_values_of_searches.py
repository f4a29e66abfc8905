"""Whatever a search for the values of a source can finish has none that the source lacks, by a check of its own.

The check shares no code with the search: it compares the words of texts, and reads numbers as people write them.
"""

import random
import re
from functools import cache
from itertools import pairwise

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from models.layers.paragraphs import SourceBatch
from models.search.source_values import Pieces, SourceValues, value_pieces
from models.search.step import Hypotheses
from models.sentences import split_sentences
from models.value_slots import NO_SLOTS, ValueSlots, fill
from models.values import OPENERS
from models.vocabulary import Vocabulary
from tasks.summarization.settings import VocabularySettings
from tasks.summarization.vocabulary import _estimate, _Lines, _Sample, estimate_byte_level

SOURCES = (
    "Marta Homansson, Olga Lund's sister, built the Tavil Bridge (Noc Quarter) in 1674. It cost $12 and -7 crowns.",
    'The mid-1990s film by al-Hasan at the Musée d\'Orsay shows an iPhone and mRNA. "It ran." The mill stood at 1:30.',
    "In 1998 some 526 million people and 1.5 million others met; "
    "two hundred and six of thirteen towns paid 12,5 or 10 000.",
    "Theodora Anderson wrote on 4 May 1874 and in June 1902. Rivers meet the river Nilir near St. Ola; "
    "rivers rise there.",
    "From 7.6 to 83 percent of Ludwig van Beethoven and Anna de la Cruz went. One of seven was 25 % of the U.S. total.",
)
MORE = (
    "Alfred Ingrid Tavilen Homanson Noces Thobilund Bath Theath 52 16 167 1,833 thirteen fourteen thousand hundred six",
    "It was founded by a person, and is known for ten tenants. The two towns, though near, are of the valley.",
    "A company of Norvenia and Treliski has 395 plants; 47 percent of them since 1902. He was born in Lund.",
)
_WORD = re.compile(r"[^\W_]+(?:[’'.&-][^\W_]+|(?<=\d)[:,](?=\d)[^\W_]+)*")
_SCALES = ("hundred", "thousand", "million")
_NUMBERS = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "hundred",
    "thousand",
    "million",
]


@cache
def vocabulary(kind: str) -> Vocabulary:
    lines = [line for line in (*SOURCES, *MORE) for _ in range(4)]
    if kind == "byte-bpe":
        return Vocabulary(estimate_byte_level(lines, 500))
    if kind == "slots":
        return vocabulary("bpe").in_form("slots")
    sample = _Sample(1_000_000)
    for number, line in enumerate(lines):
        sample.add(number, str(number), line)
    return Vocabulary(_estimate(_Lines([sample]), VocabularySettings(pieces=420, model_type="bpe", threads=1)))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text with all that belongs to them, as they are written."""
    spelled = "|".join(_NUMBERS)
    start = r"(?<![\w.:])(?:(?<![\w)%])-)?\$?\d(?:[\d.,:]*\d)?(?!\w)"
    scales = "|".join(_SCALES)
    of_digits = rf"(?:{start})(?: \d{{3}}\b)*(?:[ -](?:{scales})\b)?(?: ?%| percent\b)?"
    of_words = rf"\b(?:{spelled})(?:(?: and)?[ -](?:{spelled}))*\b"
    matches = re.finditer(rf"{of_digits}|{of_words}", text, re.I)
    found = (re.sub(r" (?=%|\d)", "", match[0].lower().replace(" percent", "%")) for match in matches)
    return {number for number in found if re.split("[ -]", number)[0] not in _SCALES and ":" not in number}


def words_of(text: str) -> list[str]:
    return [word.lower().removesuffix("'s") for word in _WORD.findall(text)]


def lacking(text: str, source: str) -> list[str]:
    """Return what a text states and its source does not: numbers, words with capitals, and neighbours of these."""
    held = numbers(source)
    held |= {number.lstrip("$").rstrip("%") for number in held if number[0] != "-"}
    found = [number for number in numbers(text) if number not in held]
    known = words_of(source)
    neighbours = set(pairwise(known))
    for sentence in split_sentences(text):
        undated = re.sub(r"\b(?:May|June) \d{4}\b", ";", sentence)  # a month is no part of the name before it
        names = re.findall(rf"{_WORD.pattern}(?: {_WORD.pattern})*", undated)
        first = words_of(sentence)[:1]
        for run in names:
            words = run.split(" ")
            for index, word in enumerate(words):
                (plain,) = words_of(word)
                if not any(c.isupper() for c in word) or word == "I" or ([plain] == first and plain in OPENERS):
                    continue
                if plain not in known:
                    found.append(word)
                before = words[index - 1] if index else ""
                beside = before[:1].isupper() and not before.endswith("'s") and words_of(before) != first
                if beside and (words_of(before)[0], plain) not in neighbours:
                    found.append(f"{before} {word}")
    return found


@cache
def slots_of(words: Vocabulary, source: str) -> ValueSlots:
    return ValueSlots("", [source], words.has_word) if words.slots else NO_SLOTS


def encoded(words: Vocabulary, source: str, text: str) -> list[int]:
    """Return the tokens of a text with the slots of its source."""
    return words.encode(slots_of(words, source).cut(text))


def decoded(words: Vocabulary, source: str, tokens: list[int]) -> str:
    return fill(words.decode(tokens), slots_of(words, source).values)


def searched(words: Vocabulary, *sources: str, cut: int | None = None) -> SourceValues:
    """Return the values of sources, of each of which a search reads so many tokens."""
    rows = [torch.tensor(encoded(words, source, source)[:cut]) for source in sources]
    tokens = pad_sequence(rows, batch_first=True, padding_value=words.pad).unsqueeze(1)
    nothing = torch.full((len(rows), 1), words.pad)
    batch = SourceBatch(tokens, torch.zeros(len(rows), 1, dtype=torch.int64), nothing, words.pad)
    slots = [slots_of(words, source).values for source in sources]
    return SourceValues(value_pieces(words), batch, lambda tokens, _: tokens == cut, slots)


def written(tokens: list[int]) -> Hypotheses:
    """Return a beam of one hypothesis."""
    ids = torch.tensor([[tokens]], dtype=torch.int64)
    return Hypotheses(torch.tensor([0]), ids, torch.zeros(1, 1), torch.zeros(1, 1, len(tokens), 1))


def walk(words: Vocabulary, source: str, draw: random.Random, cut: int | None, length: int) -> str:
    """Return what a search may finish that prefers pieces of the source and values to others."""
    pieces: Pieces = value_pieces(words)
    ids = encoded(words, source, source)[:cut]
    values = searched(words, source, cut=cut)
    never = words.specials.marks | {words.unk}
    liked = set(ids) | {i for i in range(words.size) if pieces.is_value[i] or pieces.text[i] in _NUMBERS}
    tokens: list[int] = []
    for _ in range(length):
        forbidden = values.forbidden(written(tokens))[0, 0].tolist()
        free = [i for i in range(words.size) if not forbidden[i] and i not in never]
        if not free:
            break
        preferred = [i for i in free if i in liked]
        tokens.append(draw.choice(preferred if preferred and draw.random() < 0.8 else free))
    return decoded(words, source, tokens[: values.finished(0, tokens)])


@pytest.mark.parametrize("kind", ["bpe", "byte-bpe", "slots"])
@pytest.mark.parametrize("source", SOURCES)
def test_what_can_be_finished_has_the_values_of_its_source_alone(kind: str, source: str) -> None:
    draw = random.Random(source)
    for _ in range(30):
        cut = draw.choice([None, None, 12, 20, 31])
        text = walk(vocabulary(kind), source, draw, cut, draw.randint(4, 40))
        assert not lacking(text, source), text


def test_the_check_itself_sees_what_is_lacking() -> None:
    source = SOURCES[0] + " It sold 526 million."
    for text in ("By Martan.", "In 167 it stood.", "It cost 526.", "Theath stood.", "some 1.5 thousand", "at thirteen"):
        assert lacking(text, source), text
    assert not lacking("Built by Marta Homansson in 1674, the Tavil Bridge cost $12, or 12, and 526 million.", source)


def may_write(text: str, source: str, cut: int | None = None, kind: str = "bpe") -> bool:
    """Whether a search may write a text, and end after it."""
    words = vocabulary(kind)
    values, tokens = searched(words, source, cut=cut), encoded(words, source, text)
    for length in range(len(tokens)):
        if values.forbidden(written(tokens[:length]))[0, 0, tokens[length]]:
            return False
    return values.finished(0, tokens) == len(tokens)


@pytest.mark.parametrize("kind", ["bpe", "byte-bpe"])
@pytest.mark.parametrize(
    ("text", "number", "may"),
    [
        ("The Tavil Bridge stood.", 0, True),
        ("Theath Bridge stood.", 0, False),
        ("Ingrid was born in Lund.", 0, False),
        ("Theodora wrote. Anderson wrote.", 3, True),
        ("Rivers rise there. Theodora rises.", 3, True),  # the source has "rivers"
        ("the mid-1990s film by al-Hasan", 1, True),
        ("It is at the Musée d'Orsay, an iPhone and mRNA.", 1, True),
        ('By al-Hasan. "It ran." The mill stood.', 1, True),
        ("some 526 million people and 1.5 million others", 2, True),
        ("some 526 people", 2, False),
        ("some 1.5 thousand people", 2, False),
        ("two hundred and six of thirteen towns", 2, True),
        ("two hundred towns", 2, False),
        ("of thirteen towns", 0, False),
        ("paid 12,5 or 10 000.", 2, True),
        ("paid 12 or 10.", 2, False),
        ("cost $12 and -7 crowns", 0, True),
        ("cost 7 crowns", 0, False),
        ("stood at 1:30.", 1, True),
        ("stood at 1", 1, False),
        ("met Anna de la Cruz", 4, True),
        ("met Anna de Beethoven", 4, False),
    ],
)
def test_what_may_be_written(text: str, number: int, may: bool, kind: str) -> None:
    assert may_write(text, SOURCES[number], kind=kind) is may


@pytest.mark.parametrize(
    ("text", "source", "may"),
    [
        ("lasts 130 minutes", "The film lasts 130 minutes.", True),
        ("lasts 130 million crowns", "The film lasts 130 minutes.", False),
        ("lasts 130 million", "The film lasts 130 minutes. One million saw 130.", False),
        ("cost 130 million crowns", "It lasts 130 minutes and cost 130 million crowns.", True),
        ("cost 130 crowns", "It cost 130 million crowns.", False),
        ("130-million", "It lasts 130 minutes.", False),
        ("130 percent", "It lasts 130 minutes.", False),
        ("130 per cent of it", "It lasts 130 minutes.", False),
        ("130 % of it", "It lasts 130 minutes.", False),
        ("130 percent, or 130", "It is 130 % of it.", True),
        ("cost $ 130", "It lasts 130 minutes.", False),
        ("cost $130, or 130", "It cost $130.", True),
        ("two hundred towns", "It has two hundred towns and 130 mills.", True),
        ("two hundred thousand towns", "It has two hundred towns and 130 mills.", False),
        ("two 130", "It has two towns and 130 mills.", True),
        ("on 12 May, 1930", "It was 12 May. In 1930 it fell.", True),  # apart, these are no date
        ("on May 12, 1930", "It was on May 12. In 1930 it fell.", False),
        ("on May 12, 1930", "It was on May 12, 1930.", True),
        ("130 million", "130", False),
        ("130", "130", True),
    ],
)
def test_what_belongs_to_a_number_is_seen_where_it_is_a_slot(text: str, source: str, may: bool) -> None:
    assert may_write(text, source, kind="slots") is may


def test_each_hypothesis_of_a_batch_is_held_to_its_own_slots() -> None:
    words, sources = vocabulary("slots"), ("The film lasts 130 minutes.", "It cost 526 million crowns.", "130")
    texts = ("lasts 130 million", "cost 526 million", "is of 130 mi", "is of 526")
    hypotheses = [[encoded(words, source, text)[:4] for text in texts] for source in sources]
    together = Hypotheses(torch.arange(3), torch.tensor(hypotheses), torch.zeros(3, 4), torch.zeros(3, 4, 4, 1))
    forbidden = searched(words, *sources).forbidden(together)
    for article, source in enumerate(sources):
        alone = searched(words, source)
        for row, tokens in enumerate(hypotheses[article]):
            assert forbidden[article, row].equal(alone.forbidden(written(tokens))[0, 0]), (source, texts[row])


@pytest.mark.parametrize("kind", ["bpe", "slots"])
def test_a_number_that_the_cut_went_through_is_not_written(kind: str) -> None:
    words, source = vocabulary(kind), "some of 526 million people and towns in 1674 or so"
    tokens = encoded(words, source, source)
    text = [words.decode(tokens[:length]) for length in range(len(tokens) + 1)]
    for cut in range(2, len(tokens)):
        assert not may_write("some of 526", source, cut, kind), text[cut]
        assert not may_write("towns in 16", source, cut, kind), text[cut]
        assert not may_write("towns in 167", source, cut, kind), text[cut]
    whole = len(encoded(words, source, "some of 526 million people and towns in 1674 or"))
    assert may_write("towns in 1674", source, whole, kind)


def test_a_summary_that_is_over_within_a_value_ends_before_it() -> None:
    words = vocabulary("bpe")
    values = searched(words, SOURCES[0])
    for text, kept in (("built by Marta Homans", "built by Marta"), ("built in 16", "built in"), ("of 526", "of")):
        tokens = words.encode(text)
        assert words.decode(tokens[: values.finished(0, tokens)]) == kept
