"""Whether the passages support a text: first those that a sentence cites, then all. A model of entailment has to agree
if one is set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.sentences import SPACE_MARK
from models.values import ValueIndex, measurable, missing
from tasks.evaluation.citations import CitedSentence, Citer
from tasks.evaluation.entailment import ENTAILED, Entailment, Pair, premise
from tasks.evaluation.metrics import Summary
from tasks.writing.reading import Draft


@dataclass(frozen=True)
class Checked:
    """A sentence after its check."""

    draft: Draft  # the sentence with the passages that support it, or that are closest to it
    supported: bool  # whether they do
    marked: bool = False  # whether the reader sees that they do not
    reason: str = ""  # why not, for the model; "" if they do


@dataclass(frozen=True)
class Written:
    """A summary, and how it came about."""

    sections: Sequence[tuple[str, Sequence[Draft]]]  # sentences under a heading; one "" = a summary without headings
    read: int  # how many passages the model was sent
    mended: int  # sentences that failed and were written again so that a passage says them
    left_out: int  # sentences that failed for good
    models: Mapping[str, int]  # who answered, as the server says -> answers

    def summary(self) -> Summary:
        """Return all sentences, without headings."""
        return as_summary([sentence for _, sentences in self.sections for sentence in sentences], self.read)


class Checker:
    """Checks the sentences of one article by the test that also decides what a reader is shown (`Citer`)."""

    def __init__(self, title: str, passages: Sequence[str], read: int, entailment: Entailment | None = None) -> None:
        """Take all passages of the article, best first, of which the model was sent the first `read`."""
        self._title, self._entailment = title, entailment
        self._citer = Citer(title, passages)
        self._sent = passages[:read]
        self._evidence = ValueIndex([title, *self._sent])
        self._judged = measurable(" ".join(self._sent))

    def check(self, drafts: Sequence[Draft]) -> list[Checked]:
        """Return the sentences with their support; right citations stay, wrong ones are replaced."""
        drafts = [Draft(self._citer.untitled(draft.text), draft.ranks) for draft in drafts]
        checked = self._verified(drafts)
        return checked if self._entailment is None else [self._entailed(item, self._entailment) for item in checked]

    def lacking(self, text: str) -> list[str]:
        """Return the names, numbers and dates of a text that neither the title nor a passage has."""
        return self._citer.support.lacking(text, self._sent)

    def _verified(self, drafts: Sequence[Draft]) -> list[Checked]:
        cited = self._citer.cite(as_summary(drafts, len(self._sent)))
        return list(map(self._checked, drafts, cited))

    def _entailed(self, one: Checked, entailment: Entailment) -> Checked:
        """Return a sentence with the passages that it cites if they entail it, else with one that does, if one does.
        Copies are not asked about: a model may refuse them."""
        text, cited = one.draft.text, self._citer.texts(one.draft.ranks)
        verifier = self._citer.verifier
        if not one.supported or verifier.probabilities([(text, passage) for passage in cited]).max(initial=0) == 1:
            return one

        def pair(texts: Sequence[str]) -> Pair:
            return premise(self._title, [verifier.premise(text, texts, self._title)]), text

        others = [rank for rank in verifier.likeliest(text, self._sent) if (rank,) != one.draft.ranks]
        if entailment([pair(cited)])[0, 0] > ENTAILED:
            return one
        result = entailment([pair([self._sent[rank]]) for rank in others])[:, 0]
        for place in (place for place in np.argsort(-result, kind="stable") if result[place] > ENTAILED):
            (again,) = self._verified([Draft(text, (others[place],))])
            if again.supported and again.draft.ranks == (others[place],):
                return again
        return Checked(one.draft, False, reason="no passage entails this")

    def _checked(self, draft: Draft, cited: CitedSentence) -> Checked:
        result = Draft(draft.text, cited.ranks)
        if cited.verdict == "not judged" and not self._judged:
            return Checked(result, True)  # the passages are of that script, too, and people see a note
        said = cited.verdict in {"said", "combined"}
        # The verifier compares word by word, so it may accept another order of a known name's words.
        if said and not missing(draft.text, self._evidence):
            return Checked(result, True)
        return Checked(result, False, not said, self._reason(draft))

    def _reason(self, draft: Draft) -> str:
        if nowhere := self.lacking(draft.text):
            return f"{', '.join(nowhere)}: in no passage"
        here = self._citer.support.lacking(draft.text, self._citer.texts(draft.ranks))
        if here and draft.ranks:
            return f"{', '.join(here)}: not in passage {', '.join(str(rank + 1) for rank in draft.ranks)}"
        return "no passage says this"


def as_summary(drafts: Sequence[Draft], read: int) -> Summary:
    """Return sentences as a summary whose attention is its citations: one piece a sentence, equal shares. `drafts`: the
    sentences; `read`: how many passages the model was sent."""
    attention = np.zeros((len(drafts), read), np.float32)
    for row, draft in enumerate(drafts):
        attention[row, list(draft.ranks) or slice(None)] = 1.0 / (len(draft.ranks) or read)
    tokens = [SPACE_MARK + draft.text.replace(" ", SPACE_MARK) for draft in drafts]
    text = "\n".join(draft.text for draft in drafts)
    return Summary(text, read, tokens, attention if drafts else None, by_model=True)
