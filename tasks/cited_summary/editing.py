"""A summary that a reader changed: sentences were removed, moved or rewritten, and each is checked again."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from models.words import written_words
from tasks.cited_summary.cited import EMPTY, CitedSummary, PassageNumbers, SummarySentence, support_note
from tasks.evaluation.metrics import Summary

EDITED = "A reader changed this summary; its sentences were checked again."


def edited(summary: CitedSummary, sentences: Sequence[str], pinned: Collection[str] = ()) -> CitedSummary:
    """Return a summary with other sentences, cited and marked as those of a system are. The differences between sources
    stay. `pinned`: those of the sentences that stay when the summary is written again. Raises ValueError: no sentence
    is given."""
    lines = [line for sentence in sentences if (line := " ".join(sentence.split()))]
    if not lines:
        raise ValueError("there is no sentence: expected at least one, or delete the summary")
    used = [
        (source.number, position, paragraph.text)
        for source in summary.sources
        for position, paragraph in enumerate(source.paragraphs)
        if paragraph.refused is None
    ]
    pages = {(passage.source, passage.position): passage.page for passage in summary.passages}
    places = [(number, position) for number, position, _ in used]
    citations = PassageNumbers([text for *_, text in used], places, [pages.get(place) for place in places])
    headings = {sentence.text: sentence.heading for sentence in summary.told}
    told = citations.of(summary.about or summary.title, Summary("\n".join(lines), by_model=summary.by_model))
    kept = {" ".join(sentence.split()) for sentence in pinned}
    told = [
        replace(sentence, heading=headings.get(sentence.text, ""), pinned=sentence.text in kept) for sentence in told
    ]
    differing = [_renumbered(sentence, summary, citations, places) for sentence in summary.differing]
    notes = [note for note in summary.notes if note not in (EDITED, EMPTY, support_note(summary.sentences))]
    checked = [*told, *differing]
    notes += [EDITED, *filter(None, [support_note(checked)])]
    return replace(summary, sentences=checked, passages=citations.passages, notes=notes)


def pinned_sentences(summary: CitedSummary | None) -> list[str]:
    """Return the sentences that a reader pinned, in order."""
    return [sentence.text for sentence in summary.told if sentence.pinned] if summary else []


def with_pinned(summary: CitedSummary, pinned: Sequence[str], words: int) -> CitedSummary:
    """Return a summary that begins with the pinned sentences, then has its own, as many as fit into `words`. All are
    checked against its sources, also if nothing else could be written."""
    if not pinned:
        return summary
    sentences, left = list(pinned), words - sum(len(written_words(sentence)) for sentence in pinned)
    for sentence in summary.told:
        left -= len(written_words(sentence.text)) if sentence.text not in pinned else 0
        if left >= 0 and sentence.text not in pinned:
            sentences.append(sentence.text)
    return edited(summary, sentences, pinned)


def _renumbered(
    sentence: SummarySentence, summary: CitedSummary, citations: PassageNumbers, places: Sequence[tuple[int, int]]
) -> SummarySentence:
    """Return a sentence with the new numbers of its passages."""
    cited = {passage.number: (passage.source, passage.position) for passage in summary.passages}
    numbers = [
        citations.number(places.index(cited[number]), quote)
        for number, quote in zip(sentence.passages, sentence.quotes, strict=True)
    ]
    return replace(sentence, passages=tuple(numbers))
