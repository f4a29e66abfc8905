"""What the badge of a sentence says, and the sentences of its passages that people see beside it."""

from dataclasses import dataclass

from tasks.evaluation.citations import CitedSentence, Citer, Verdict, written

_TESTED: dict[Verdict, str] = {
    "said": "one passage says it, so far as can be checked",
    "combined": "no passage says all of it: two passages say a part each",
    "not judged": "sentences in this script are not checked",
}


@dataclass(frozen=True)
class SentenceSupport:
    """How well a sentence is supported."""

    verdict: Verdict  # as in `tasks.evaluation.citations.CitedSentence`
    quotes: tuple[str, ...]  # of each passage, the sentence that is closest to it
    missing: tuple[str, ...]  # names, numbers and dates that the quotes do not contain, as written in the sentence
    tested: str  # what was found, in a few words for people


def judge(citer: Citer, cited: CitedSentence) -> SentenceSupport:
    """Return what is shown of a cited sentence."""
    quotes = tuple(citer.verifier.quote(cited.claim, text) for text in citer.texts(cited.ranks))
    if cited.verdict in _TESTED:
        return SentenceSupport(cited.verdict, quotes, (), _TESTED[cited.verdict])
    lacking = citer.support.missing(quotes, citer.support.values(cited.claim))
    missing = tuple(written(value, cited.claim) for value in lacking)
    if not quotes:
        tested = "no passage has its names, numbers or half of its words"
    elif missing:
        tested = f"not found: {', '.join(missing)}"
    else:
        tested = "its names and numbers are there, but no passage says this"
    return SentenceSupport(cited.verdict, quotes, missing, tested)
