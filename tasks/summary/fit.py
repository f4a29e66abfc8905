"""Whether a model suits sources: by how its vocabulary spells them.

A model that was trained on other texts writes nonsense, of which the test by values notices only a part. Its vocabulary
tells before it writes: words that it does not know are spelt in many pieces.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.exported import VOCABULARY
from models.vocabulary import Vocabulary
from tasks.ranking.settings import RankingSettings
from tasks.summary.systems import EXTRACTIVE, System

# Pieces a word, from which a model does not suit. Chosen on pages of four groups of wikigraph, which the vocabulary of
# a mini web spells in 2.21 to 2.43 pieces a word. On the other four groups that one takes 2.43 to 2.62, and
# vocabularies of 4,000 and 8,000 pieces, trained on the pages of all groups but the one that they spell, 1.69 to 2.09.
MOST_PIECES = 2.2
_SAMPLE = 200  # paragraphs


def fitting(system: System, texts: Sequence[str]) -> System:
    """Return the system, or the extractive one ranked by similarity if the model's vocabulary does not suit the texts.

    Args:
        system: a system.
        texts: the usable paragraphs of the sources.
    """
    folder = system.summarizer or system.ranker
    if folder is None or not texts:
        return system
    rate = pieces_per_word(Vocabulary.from_file(folder / VOCABULARY), texts[:_SAMPLE])
    if rate <= MOST_PIECES:
        return system
    why = (
        f"The model was trained on other texts (its vocabulary spells a word of these sources in {rate:.2f} pieces, "
        f"where at most {MOST_PIECES} suit), so whole sentences of the sources are chosen."
    )
    ranking = RankingSettings(method="similarity", keep=system.ranking.keep)
    return replace(system, name=EXTRACTIVE, why=why, summarizer=None, predictor=None, ranker=None, ranking=ranking)


def pieces_per_word(vocabulary: Vocabulary, texts: Sequence[str]) -> float:
    """Return the mean number of pieces of a word, words being separated by white space; 0 without words."""
    words = sum(len(text.split()) for text in texts)
    return sum(map(len, vocabulary.encode_batch(list(texts)))) / words if words else 0.0
