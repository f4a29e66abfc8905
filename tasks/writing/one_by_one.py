"""Summaries by small models. Each passage gets its own request, so that its sentences need no citation and no form.
Sentences that it does not say are left out, and the others are joined here."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

from tasks.chat.completions import ChatAnswer, Message, NoAnswerError
from tasks.evaluation.entailment import Entailment
from tasks.text.content_words import FUNCTION_WORDS, names_subject, words_of
from tasks.verification.words import stem
from tasks.writing.checking import Checker, Written
from tasks.writing.messages import one_messages
from tasks.writing.reading import Draft, read_whole_sentences

ANSWER = 120  # tokens of an answer, at most: two sentences, and some more
_WORDS_A_PASSAGE = 12  # words that are kept of an answer, on average: it decides the number of requests
_MORE = 2  # times as many at most, because whole answers may be left out
NO_SENTENCE = "no_sentence"  # the reason if an answer has nothing that is supported
Ask = Callable[[Sequence[Message], int], ChatAnswer]


def most_passages(words: int, passages: int) -> int:
    """Return how many passages a summary of so many words asks about, at most."""
    return min(passages, max(1, _MORE * words // _WORDS_A_PASSAGE))


def write_one_by_one(
    title: str,
    passages: Sequence[str],
    words: int,
    language: str | None,
    *,
    ask: Ask,
    entailment: Entailment | None,
    said: Callable[[str], None],
) -> Written:
    """Return a summary: the definition first, then by the rank of the passage. `passages`: best first; `ask`: sends
    messages with a limit of tokens; `said`: called with what is being done; the others as of `Writer`. Raises
    NoAnswerError: no passage gave a sentence that it says; ChatError: the model cannot be asked any more."""
    kept, models, left_out, length = list[Draft](), Counter[str](), 0, 0
    fault = NoAnswerError(NO_SENTENCE)
    sent = most_passages(words, len(passages))
    for rank, passage in enumerate(passages[:sent]):
        said(f"passage {rank + 1}")
        try:
            answer = ask(one_messages(title, passage, language), ANSWER)
        except NoAnswerError as error:  # what other passages say stays
            fault = error
            continue
        models[answer.model] += 1
        texts = read_whole_sentences(answer.text, cut=answer.cut)
        good = list(_said(title, passage, texts, entailment))
        left_out += len(texts) - len(good)
        kept = without_repeats([*kept, *(Draft(text, (rank,)) for text in good)])
        length = sum(len(item.text.split()) for item in kept)
        if length >= words:
            break
    # The reader's mark is of all passages together: a sentence that fails there would be shown with a doubt.
    checked = Checker(title, passages, sent, entailment).check(kept)
    left_out += sum(not item.supported for item in checked)
    drafts = [item.draft for item in checked if item.supported]
    if not drafts:
        raise fault
    return Written([("", in_order(title, drafts))], sent, 0, left_out, models)


def _said(title: str, passage: str, texts: Sequence[str], entailment: Entailment | None) -> Iterator[str]:
    """Yield the sentences that a passage says: the verifier finds them there, and they add no word to it."""
    known = _stems(f"{title} {passage}")
    for item in Checker(title, [passage], 1, entailment).check([Draft(text, (0,)) for text in texts]):
        # Small models add wrong words ("a historic landmark") that no check of names and numbers finds.
        if item.supported and _stems(item.draft.text) <= known:
            yield item.draft.text


def without_repeats(drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts without those of which another one has all words; of equals the first stays."""
    every = [_stems(draft.text) for draft in drafts]

    def repeats(place: int) -> bool:
        mine = every[place]
        return any(mine < other or (mine == other and at < place) for at, other in enumerate(every) if at != place)

    return [item for place, item in enumerate(drafts) if not repeats(place)]


def in_order(title: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts with the first one that says what the subject is at the head, the others as they are."""
    first = next((draft for draft in drafts if _defines(draft.text, title)), None)
    return list(drafts) if first is None else [first, *(draft for draft in drafts if draft is not first)]


def _defines(sentence: str, title: str) -> bool:
    head, verb, _ = sentence.partition(" is ")
    return bool(verb) and names_subject(head, title)


def _stems(text: str) -> Set[str]:
    return {stem(word) for word in words_of(text) if word not in FUNCTION_WORDS}
