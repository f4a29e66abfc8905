"""The objective of summarizers: predict the tokens of the target. A decoder-only summarizer
(`Summarizer.source_states`) also predicts the tokens of its source. Reports of an update show only the target's loss,
as in validation, so that the figures of all systems can be compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from models.contract import Decoded, SourceBatch, Summarizer
from models.layers.precision import widened
from models.training.batches import Batch, BatchStream, Position
from models.training.distributed import Ranks
from models.training.loss import CHUNK, TokenLoss, positions_of, token_loss
from models.training.objective import Objective, Validation


def copy_loss(
    model: Summarizer, decoded: Decoded, target: Tensor, *, pad: int, smoothing: float, positions: Tensor | None = None
) -> TokenLoss:
    """Return the loss of predicting `target` with a summarizer that copies, summed over tokens (See et al. 2017, eq. 9
    and 12). The probability of a token under the mixture needs only its own vocabulary probability and its positions in
    the source, so the [B, T, V] mixture is never made.

    Args:
        model: turns hidden states into logits.
        decoded: of [B, T] positions, `copied` included.
        target: [B, T] int64 tokens to predict, padded with `pad`.
        pad: id of the padding token; such positions are ignored.
        smoothing: share of the probability spread evenly over the pieces of the vocabulary; copy probabilities are not
            smoothed.
        positions: `positions_of(target, pad)`, where it is known."""
    assert decoded.copied is not None
    positions = positions_of(target, pad) if positions is None else positions
    hidden_MD, target_M = (one.flatten(0, 1).index_select(0, positions) for one in (decoded.hidden, target))
    log_prob_M, evenly = _of_vocabulary(model, hidden_MD, target_M, spread=smoothing > 0)
    generated = log_prob_M.new_zeros(target.numel()).index_copy(0, positions, log_prob_M).view(target.shape)
    nll = -decoded.copied.log_prob(generated, target).flatten().index_select(0, positions).sum()
    return TokenLoss((1 - smoothing) * nll - smoothing * evenly, nll.detach())


def _of_vocabulary(
    model: Summarizer, hidden_MD: Tensor, target_M: Tensor, *, spread: bool
) -> tuple[Tensor, Tensor | float]:
    """Return the log-probability [M] of each target in the vocabulary and, with `spread`, the sum over targets of the
    mean over all pieces, else 0; in chunks."""

    def of_chunk(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor | float]:
        log_probs = widened(model.logits(hidden)).log_softmax(dim=-1)
        return log_probs.gather(1, target.unsqueeze(1)).squeeze(1), log_probs.mean(dim=-1).sum() if spread else 0.0

    if len(hidden_MD) <= CHUNK:  # these logits are all there are; computing them again would save no memory
        return of_chunk(hidden_MD, target_M)
    parts = zip(torch.split(hidden_MD, CHUNK), torch.split(target_M, CHUNK), strict=True)
    found = [checkpoint(of_chunk, *part, use_reentrant=False, preserve_rng_state=False) for part in parts]
    return torch.cat([log_prob for log_prob, _ in found]), sum(evenly for _, evenly in found)


class TokenObjective(Objective[Batch]):
    """The label-smoothed loss per target token; weights are judged by the negative log likelihood."""

    measures = ("loss", "nll")
    unit = "nats/token"

    def __init__(
        self,
        model: Summarizer,  # weights to train
        *,
        batch_tokens: int,  # token budget of a batch, for messages
        label_smoothing: float = 0.1,  # see `token_loss`
        loss: str = "auto",  # see `token_loss`
        stream: BatchStream | None = None,  # training batches of this process
        ranks: Ranks | None = None,  # this process among those that train together
        # returns this process's share of the validation batches, anew at each call
        validation: Callable[[], Iterator[Batch]] | None = None,
        # computes further scores of the model (decoded ROUGE); called by rank 0 after a validation
        evaluate: Callable[[Summarizer], Mapping[str, float]] | None = None,
    ) -> None:
        """Make the objective; single updates need only the first four arguments."""
        self.model: Summarizer = model
        self.batch_tokens, self.label_smoothing, self.loss_method = batch_tokens, label_smoothing, loss
        self.stream, self.ranks, self.validation, self.evaluate = stream, ranks, validation, evaluate

    def parts(self) -> Sequence[Iterable[nn.Parameter]]:
        """Return the weights that learn at the common rate, and those with a pace of their own."""
        if (pace := self.model.pace) is None:
            return super().parts()
        own = set(pace.parameters)
        return [[weight for weight in self.model.parameters() if weight not in own], pace.parameters]

    def batches(self, start: Position) -> Iterator[Batch]:
        """Yield the stream's batches, without end."""
        assert self.stream is not None
        return self.stream.batches(start)

    def units(self, batch: Batch) -> int:
        """Return the number of predicted tokens of a batch: the target without begin and padding."""
        return len(batch.predicted)

    def inputs(self, batch: Batch, device: torch.device) -> tuple[SourceBatch, Tensor, Tensor]:
        """Return source, target and the positions to predict on the device."""
        target, predicted = (one.to(device, non_blocking=True) for one in (batch.target, batch.predicted))
        return batch.source.to(device), target, predicted

    def loss(self, source: SourceBatch, target: Tensor, predicted: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return scalars summed over a batch, given the target tokens [B, T] int64 and `Batch.predicted`, if known.
        They are the objective: the label-smoothed loss of the target, the model's extra loss (`Decoded.extra_loss`)
        and, in training, the loss of the source where the model predicts it; the smoothed loss and the negative log
        likelihood of the target alone; and the number of source tokens in the objective."""
        if predicted is None:
            predicted = positions_of(target[:, 1:], source.pad)
        memory = self.model.encode(source)
        decoded = self.model.decode(target[:, :-1], memory, attention=False)
        if decoded.copied is None:
            loss = self._of(decoded.hidden, target[:, 1:], source.pad, predicted)
        else:
            loss = copy_loss(
                self.model, decoded, target[:, 1:], pad=source.pad, smoothing=self.label_smoothing, positions=predicted
            )
        objective = loss.smoothed
        if decoded.extra_loss is not None:
            objective = objective + decoded.extra_loss.flatten().index_select(0, predicted).sum()
        states = self.model.source_states(memory) if self.model.training else None
        if states is None:
            return objective, loss.smoothed.detach(), loss.nll, loss.nll.new_zeros(())
        of_source = self._of(*states, source.pad)
        count = loss.nll.new_full((), len(states[1]))
        return objective + of_source.smoothed, loss.smoothed.detach(), loss.nll, count

    def validate(self, losses: Callable[[Batch], tuple[float, ...]]) -> Validation | None:
        """Return the validation nll per target token with the scores of `evaluate`."""
        if self.validation is None:
            return None
        assert self.ranks is not None
        sums = [0.0, 0.0, 0.0]
        for batch in self.validation():
            parts = (*losses(batch), self.units(batch))
            sums = [total + part for total, part in zip(sums, parts, strict=True)]
        smoothed, nll, tokens = self.ranks.sum(sums)
        if not tokens:
            return None
        scores = {} if self.evaluate is None or self.ranks.rank else self.evaluate(self.model)
        return Validation(nll / tokens, {"loss": smoothed / tokens, "nll": nll / tokens, **scores})

    def remedy(self, batch: Batch) -> str:
        """Return the shape of the batch and advise a smaller token budget."""
        shape, target = tuple(batch.source.tokens.shape), tuple(batch.target.shape)
        return (
            f"sources {shape} and targets {target}: lower batch_tokens (now {self.batch_tokens}) and raise "
            "accumulation by as much"
        )

    def _of(self, hidden: Tensor, tokens: Tensor, pad: int, positions: Tensor | None = None) -> TokenLoss:
        method, smoothing = self.loss_method, self.label_smoothing
        return token_loss(self.model, hidden, tokens, pad=pad, smoothing=smoothing, method=method, positions=positions)
