"""Whether a model suits sources: by how its vocabulary spells them, and by what it writes of them. A model that was
trained on other texts writes nonsense. Its vocabulary may show it beforehand, as words that it does not know are spelt
in many pieces; what it then writes does, as next to nothing of it is in the sources."""

from collections.abc import Sequence

from models.exported import vocabulary_in
from models.vocabulary import Vocabulary
from tasks.cited_summary.cited import SummarySentence
from tasks.cited_summary.systems import SummarySystem

# Pieces a word, from which a model does not suit. Chosen on pages of four groups of wikigraph, which the vocabulary of
# a mini web spells in 2.21 to 2.43 pieces a word. On the other four groups that one takes 2.43 to 2.62, and
# vocabularies of 4,000 and 8,000 pieces, trained on the pages of all groups but the one that they spell, 1.69 to 2.09.
MOST_PIECES = 2.2
# Share of what a model wrote that the sources must bear out; a sentence that only several passages together support
# counts half. Chosen on 30 topics of the demo's own world and 24 piles outside it (FreshWiki's articles cut into their
# sections, and ours). Of as many that chose nothing, 30 in the world pass and no pile outside does. Nothing outside was
# borne out at all; but one passage alone says few sentences of the world's own summaries, so more cannot be asked.
LEAST_BORNE_OUT = 0.25
# Share of the words that were asked for, or that the sources have if these are fewer. Chosen on 104 topics of a demo's
# own world, of which 5 % are below it; of 97 of another world 2 % are.
LEAST_WORDS = 0.2
_SAMPLE = 200  # paragraphs


def fitting(system: SummarySystem, texts: Sequence[str]) -> SummarySystem:
    """Return the system, or the extractive one ranked by similarity if the model's vocabulary does not suit the texts.
    `system`: a system; `texts`: the usable paragraphs of the sources."""
    folder = system.summarizer or system.ranker
    if folder is None or not texts:
        return system
    rate = pieces_per_word(vocabulary_in(folder), texts[:_SAMPLE])
    if rate <= MOST_PIECES:
        return system
    why = (
        f"The model was trained on other texts (its vocabulary spells a word of these sources in {rate:.2f} pieces, "
        f"where at most {MOST_PIECES} suit), so whole sentences of the sources are chosen."
    )
    return system.without_models(why)


def doubts(name: str, sentences: Sequence[SummarySentence], words: int) -> str | None:
    """Return why what a model wrote is not to be shown in place of the sources' own sentences; None if it is. `name`:
    of the model; `sentences`: what it wrote, judged; `words`: how many could have been written."""
    wrote = sum(len(sentence.text.split()) for sentence in sentences)
    if not sentences or wrote < LEAST_WORDS * words:
        wrote_so = f"only {wrote} of {words} words" if sentences else "nothing"
        return f"{name} wrote {wrote_so}, so whole sentences of the sources are chosen."
    supported = sum(sentence.supported for sentence in sentences)
    said = sum(sentence.verdict == "said" for sentence in sentences)
    if supported + said >= 2 * LEAST_BORNE_OUT * len(sentences):
        return None
    return (
        f"Of the {len(sentences)} sentences that {name} wrote, the sources support {supported}, and {said} are said by "
        "one passage alone, so whole sentences of the sources are chosen."
    )


def pieces_per_word(vocabulary: Vocabulary, texts: Sequence[str]) -> float:
    """Return the mean number of pieces of a word, words being separated by white space; 0 without words."""
    words = sum(len(text.split()) for text in texts)
    return sum(map(len, vocabulary.encode_batch(list(texts)))) / words if words else 0.0
