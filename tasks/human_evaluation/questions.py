"""Questions on a lead, drafted from its values, for people to edit before the forms are made.

The papers' questions were written by hand, two to four on each gold summary (Liu & Lapata 2019, sec. 5). A draft is a
sentence of the lead with a gap instead of a name, number or date. Values that another question of the article asks for
are hidden too, so that no question answers another."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values
from tasks.human_evaluation.sampling import SampledArticle

LEAST, MOST = 2, 4  # questions drafted on an article (Liu & Lapata 2019, sec. 5)
_GAP, _HIDDEN = "____", "[…]"
_COLUMNS = ("article", "title", "question", "answer")
_LONGEST = 8  # words of a value
_TOKEN = re.compile(r"\S+")
_EDGES = ".,;:!?()[]\"'“”‘’"


@dataclass(frozen=True)
class Question:
    """A question on an article, with the answer that its lead gives."""

    question: str
    answer: str


def draft_questions(title: str, lead: str) -> list[Question]:
    """Return up to MOST questions on the lead's values but those in the title, from as many sentences as possible."""
    context, subject = ValueIndex([lead]), ValueIndex([title])
    asked: dict[Value, str] = {}  # with the words that stand for it
    where: list[tuple[int, Value]] = []
    sentences = split_sentences(lead)
    queues = [[value for value in find_values(text, context) if value not in subject] for text in sentences]
    while any(queues) and len(asked) < MOST:
        for number, queue in enumerate(queues):
            while queue and len(asked) < MOST:
                value = queue.pop(0)
                words = None if value in asked else _surface(sentences[number], value, context)
                # A value within another one could not be hidden alone.
                if words and not any(words in other or other in words for other in asked.values()):
                    asked[value] = words
                    where.append((number, value))
                    break
    return [
        Question(f"Fill the gap: {_with_gap(sentences[number], asked[value], asked.values())}", asked[value])
        for number, value in sorted(where, key=lambda entry: entry[0])
    ]


def _surface(sentence: str, value: Value, context: ValueIndex) -> str | None:
    """Return the shortest run of words of a sentence that has the value, None if there is none."""
    tokens = list(_TOKEN.finditer(sentence))
    for length in range(1, _LONGEST + 1):
        for first, last in zip(tokens, tokens[length - 1 :], strict=False):
            run = sentence[first.start() : last.end()].strip(_EDGES)
            run = re.sub(r"['’]s$", "", run)
            if value in find_values(run, context):
                return run
    return None


def _with_gap(sentence: str, words: str, hidden: Iterable[str]) -> str:
    for other in hidden:
        sentence = re.sub(rf"(?<!\w){re.escape(other)}(?!\w)", _GAP if other == words else _HIDDEN, sentence)
    return sentence


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a head of column names as CSV that spreadsheets open."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def numbered_rows(text: str, name: str, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and row of a table, with a byte order mark or without. Raises ValueError: a column lacks."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    if not set(columns) <= set(rows.fieldnames or ()):
        raise ValueError(f"{name} has the columns {', '.join(rows.fieldnames or ())}: expected {', '.join(columns)}")
    yield from enumerate(rows, start=2)


def to_csv(articles: Sequence[SampledArticle], questions: Mapping[str, Sequence[Question]]) -> str:
    """Return the questions as a table that spreadsheets open."""
    rows = (
        (article.id, article.title, asked.question, asked.answer)
        for article in articles
        for asked in questions[article.id]
    )
    return csv_text(_COLUMNS, rows)


def from_csv(text: str, articles: Sequence[SampledArticle], name: str) -> dict[str, list[Question]]:
    """Read edited questions: article -> its questions. `name` is the file's, for errors. Raises ValueError: columns are
    missing, a line is of another article or lacks question or answer, or an article has no question."""
    questions: dict[str, list[Question]] = {article.id: [] for article in articles}
    for number, row in numbered_rows(text, name, _COLUMNS):
        if row["article"] not in questions:
            raise ValueError(f"{name}, line {number}: article {row['article']!r} is not one that was drawn")
        question, answer = (" ".join((row[column] or "").split()) for column in ("question", "answer"))
        if not (question and answer):
            raise ValueError(f"{name}, line {number}: expected a question and its answer, got {question!r}, {answer!r}")
        questions[row["article"]].append(Question(question, answer))
    for article in articles:
        if not questions[article.id]:
            raise ValueError(f"{name} has no question on {article.title!r} ({article.id}): expected at least one")
    return questions
