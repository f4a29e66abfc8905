"""One request to a language model, and its answer as it was parsed."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.chat.budget import Budget
from tasks.chat.client import ChatError
from tasks.chat.completions import ChatAnswer, NoAnswerError
from tasks.engine.data_files import read_data
from tasks.writing.checking import Checked, Checker
from tasks.writing.reading import read_sentences
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import CONTEXT, open_writer


@dataclass(frozen=True)
class Trial:
    """How a language model answered."""

    answer: ChatAnswer  # as it came
    context: int  # tokens that the model is taken to read and write together
    seconds: float  # until the whole answer was there
    checked: Sequence[Checked]  # the sentences that were read, each with its check

    @property
    def kept(self) -> int:
        """How many sentences a passage says."""
        return sum(item.supported for item in self.checked)

    @classmethod
    def run(cls, settings: WriterSettings, words: int, language: str | None, budget: Budget | None = None) -> "Trial":
        """Ask once for a summary of four passages of ours; arguments as of `open_writer`. Raises as that does, and
        ChatError, with the server's own words, if it does not answer."""
        data = read_data("tasks.writing", "trial.toml")
        title, passages = data["title"], data["passages"]
        settings = settings.model_copy(update={"entailment": None})  # which is not asked here
        with open_writer(settings, words=words, language=language, budget=budget) as writer:
            begun = time.monotonic()
            try:
                answer = writer.first(title, passages)
            except NoAnswerError as fault:
                raise ChatError(f"{settings.model} {settings.address} gave no answer: {fault}") from fault
            seconds = time.monotonic() - begun
            context = settings.context or writer.served or CONTEXT
            if writer.one_by_one:
                passages = passages[:1]
        drafts = read_sentences(answer.text, len(passages), cut=answer.cut)
        return cls(answer, context, seconds, Checker(title, passages, len(passages)).check(drafts))

    def line(self) -> str:
        """Return its description for a log."""
        return (
            f"{self.answer.model or 'a model without a name'} answered a trial request in {self.seconds:.1f} s: "
            f"{self.kept} sentences kept, {len(self.checked) - self.kept} refused"
        )

    def lines(self) -> Iterator[str]:
        """Yield the lines of its description."""
        answer = self.answer
        cut = ", cut before its end" if answer.cut else ""
        yield f"model: {answer.model or 'without a name'}, context: {self.context:,} tokens"
        yield f"tokens: {answer.read:,} read, {answer.written:,} written{cut}; {self.seconds:.1f} s"
        yield f"sentences: {len(self.checked)} read, {self.kept} kept"
        for item in self.checked:
            numbers = ", ".join(str(rank + 1) for rank in item.draft.ranks)
            yield (
                f"kept [{numbers}]: {item.draft.text}"
                if item.supported
                else f"refused ({item.reason}): {item.draft.text}"
            )
        if not self.checked:
            yield f"the answer, of which nothing could be read: {answer.text[:500]!r}"
