"""The peer of `benchmarks.training` learns the same function as our HT: equal weights, equal losses and gradients."""

import math

import torch
from torch import nn

from benchmarks.peers.released_ht import ReleasedHT
from models.hierarchical import GlobalLayer, HierarchicalConfig, HierarchicalTransformer
from models.layers.attention import CrossAttention, SelfAttention
from models.layers.decoder import DecoderLayer
from models.layers.transformer import EncoderLayer
from models.training.token_objective import TokenObjective
from tests.models.systems import PAD, VOCABULARY, batch, target

SMOOTHING = 0.1


def copy(mine: nn.Module, theirs: nn.Module) -> None:
    theirs.load_state_dict(mine.state_dict())


def copy_attention(mine: SelfAttention | CrossAttention, theirs: nn.Module) -> None:
    joined = [mine.query_key_value] if isinstance(mine, SelfAttention) else [mine.query, mine.key_value]
    weight, bias = (torch.cat([getattr(layer, name) for layer in joined]).chunk(3) for name in ("weight", "bias"))
    with torch.no_grad():
        for number, layer in enumerate((theirs.query, theirs.key, theirs.value)):
            layer.weight.copy_(weight[number])
            layer.bias.copy_(bias[number])
    copy(mine.output, theirs.output)


def copy_feed_forward(mine: nn.Module, norm: nn.Module, theirs: nn.Module) -> None:
    copy(mine.inner, theirs.inner)
    copy(mine.outer, theirs.outer)
    copy(norm, theirs.norm)


def peer_of(model: HierarchicalTransformer) -> ReleasedHT:
    peer = ReleasedHT(model.config)
    with torch.no_grad():
        peer.embedding.weight.copy_(model.embedding.weight)
        peer.bias.copy_(model.embedding.bias)
    copy(model.final_norm, peer.encoder_norm)
    copy(model.decoder.final_norm, peer.decoder_norm)
    for mine, theirs in zip(model.local_layers, peer.local_layers, strict=True):
        assert isinstance(mine, EncoderLayer)
        copy_attention(mine.attention, theirs.attention)
        copy(mine.attention_residual.norm, theirs.norm)
        copy_feed_forward(mine.feed_forward, mine.feed_forward_residual.norm, theirs.feed_forward)
    for mine, theirs in zip(model.global_layers, peer.global_layers, strict=True):
        assert isinstance(mine, GlobalLayer)
        copy(mine.pooling_norm, theirs.norm)
        copy(mine.pooling.norm, theirs.head_norm)
        copy(mine.pooling.score, theirs.score)
        copy(mine.pooling.value, theirs.value)
        copy(mine.attention.project, theirs.query_key_value)
        copy(mine.output, theirs.output)
        copy_feed_forward(mine.feed_forward, mine.residual.norm, theirs.feed_forward)
    for mine, theirs in zip(model.decoder.layers, peer.decoder_layers, strict=True):
        assert isinstance(mine, DecoderLayer)
        copy_attention(mine.self_attention, theirs.self_attention)
        copy_attention(mine.cross_attention, theirs.cross_attention)
        copy(mine.self_residual.norm, theirs.self_norm)
        copy(mine.cross_residual.norm, theirs.cross_norm)
        copy_feed_forward(mine.feed_forward, mine.feed_forward_residual.norm, theirs.feed_forward)
    return peer


def test_the_peer_has_our_loss_and_gradients() -> None:
    torch.manual_seed(0)
    config = HierarchicalConfig(
        VOCABULARY, PAD, model_size=16, feed_forward_size=24, heads=2, local_layers=2, global_layers=2, dropout=0.0
    )
    model = HierarchicalTransformer(config)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=0.5, std=0.5)  # biases of zero would hide mistakes
    peer, source, tokens = peer_of(model), batch(), target()
    tokens[0, 5:] = PAD
    loss, *_ = TokenObjective(model, batch_tokens=100, label_smoothing=SMOOTHING).loss(source, tokens)
    peer_loss = peer(source, tokens, SMOOTHING)
    # A divergence is the cross entropy without the entropy of the smoothed target, which has no gradient.
    rest = SMOOTHING / VOCABULARY
    entropy = -(VOCABULARY - 1) * rest * math.log(rest) - (1 - SMOOTHING + rest) * math.log(1 - SMOOTHING + rest)
    torch.testing.assert_close(peer_loss + entropy * (tokens[:, 1:] != PAD).sum(), loss, atol=1e-5, rtol=1e-5)
    loss.backward()
    peer_loss.backward()
    torch.testing.assert_close(peer.embedding.weight.grad, model.embedding.weight.grad, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(peer.bias.grad, model.embedding.bias.grad, atol=1e-5, rtol=1e-5)
