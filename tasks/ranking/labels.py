"""Labels of the ranker: how much of the lead a paragraph contains."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.text.ngrams import TargetNgrams


def rouge2_recalls(lead: Sequence[str], paragraphs: Iterable[Sequence[str]]) -> NDArray[np.float64]:
    """Return the ROUGE-2 recall of each paragraph against the lead, [P] in 0-1 (Liu & Lapata 2019, sec. 3.1, y_i).

    Args:
        lead: words of the lead (`tasks.text.ngrams.split_words`); with fewer than two, every recall is 0.
        paragraphs: words of each paragraph, by the same rule. With the rule `rouge` a recall equals rouge-score's
            unstemmed `rouge2` recall to the last bit.
    """
    return np.array(TargetNgrams(lead, 2).recalls(paragraphs), dtype=np.float64)
