"""A writer of the tests: passages of our own about a lighthouse, and a client whose answers are written down."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tasks.writing.settings import WriterSettings
from tasks.writing.writer import Writer, open_writer
from tests.tasks.chat.chat_server import Chat, Reply, chat_server

TITLE = "Skerry Point Lighthouse"
PASSAGES = [
    "Skerry Point Lighthouse is a lighthouse in the parish of Lund. It was built in 1847 by Thomas Ridley.",
    "The lamp of Skerry Point burned whale oil until 1871, when the keeper changed it to paraffin.",
    "Skerry Point Lighthouse was automated in 1986, and its last keeper, Ann Molloy, left in March of that year.",
    "The tower is 31 metres high, stands on granite, and has about 12,000 visitors a year.",
]
IS = "Skerry Point Lighthouse is a lighthouse in the parish of Lund."
BUILT = "It was built in 1847 by Thomas Ridley."
LAMP = "The lamp of Skerry Point burned whale oil until 1871."
TOWER = "The tower is 31 metres high."
Answers = Callable[[int, dict[str, Any]], tuple[int, str] | Reply]


@contextmanager
def writing(answers: Answers, words: int = 150, **settings: Any) -> Iterator[tuple[Writer, Chat]]:
    """Open a writer at a server that answers so."""
    with chat_server(answers) as chat:
        given = {"url": chat.url, "model": "m", "context": 50_000, **settings}
        with open_writer(WriterSettings.model_validate(given), words=words, language="en", at_once=8) as writer:
            yield writer, chat


def in_turn(texts: Sequence[str]) -> Answers:
    """Answer with one text after another, and with the last one from then on."""
    return lambda number, _: (200, texts[min(number, len(texts)) - 1])
