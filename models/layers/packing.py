"""The tokens of padded rows, one after another without the padding, and back.

Everything in a layer but its attention treats each token by itself, so it is computed on the tokens that exist; only
attention needs rows. A quarter to a third of the cells of a batch are padding.

Shapes: R rows of T cells, M tokens that exist, C any shape of one token.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Packing:
    """Which cells of padded rows hold tokens."""

    mask: Tensor  # [R, T] bool, True where there is a token
    cell: Tensor  # [M] int64, the number of each token's cell among the R*T, ascending

    @classmethod
    def of(cls, mask_RT: Tensor, cell_M: Tensor | None = None) -> "Packing":
        """Make the packing of rows with tokens where mask_RT is True; without `cell`, the host waits for the device."""
        return cls(mask_RT, mask_RT.flatten().nonzero().squeeze(1) if cell_M is None else cell_M)

    def pack(self, x_RTC: Tensor) -> Tensor:
        """Take the tokens [M, C] out of rows [R, T, C]."""
        return x_RTC.flatten(0, 1).index_select(0, self.cell)

    def pad(self, x_MC: Tensor) -> Tensor:
        """Lay tokens [M, C] into rows [R, T, C], zeros where there is no token."""
        # Copying whole rows takes half the time of `index_put`, which goes element by element.
        cells = x_MC.new_zeros(self.mask.numel(), *x_MC.shape[1:])
        return cells.index_copy_(0, self.cell, x_MC).view(*self.mask.shape, *x_MC.shape[1:])
