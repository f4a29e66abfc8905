"""How much the tokens of a source look at each of its documents while it is encoded (Shen et al. 2023, sec. 6.3).

Shapes: as in `models.layers.patterns`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from models.layers.paragraphs import FlatTokens
from models.layers.patterns import Contexts, WatchedPattern


class Watch:
    """A pattern that adds up, over the layers that use it, how much documents look at documents."""

    def __init__(self, pattern: WatchedPattern, tokens: FlatTokens, paragraphs: int) -> None:
        """Watch a pattern on articles of at most P documents, given their flat tokens."""
        self._pattern = pattern
        member_BSP = F.one_hot(tokens.paragraph, paragraphs) * tokens.mask.unsqueeze(-1)
        self._member_BSP = member_BSP.to(torch.get_default_dtype())
        self._total_BPP = self._member_BSP.new_zeros(len(member_BSP), paragraphs, paragraphs)

    def __call__(self, q_RHTE: Tensor, k_RHTE: Tensor, v_RHTE: Tensor, *, dropout: float) -> Contexts:
        """Return the contexts of the pattern."""
        self._total_BPP += self._pattern.looks(q_RHTE, k_RHTE, self._member_BSP)
        return self._pattern(q_RHTE, k_RHTE, v_RHTE, dropout=dropout)

    def shares(self) -> Tensor:
        """Return [B, P, P] (float32), all numbers of an article together 1: the attention of the tokens of the first
        document to those of the second, the mean over tokens, heads and layers.
        """
        total_B11 = self._total_BPP.sum(dim=(1, 2), keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
        return (self._total_BPP / total_B11).float()
