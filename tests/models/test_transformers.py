"""BART against `BartForConditionalGeneration` of the transformers library: the same folder, logits and summaries."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from models.bart import Bart, BartConfig
from models.layers.paragraphs import SourceBatch
from models.pretrained import load_pretrained, read_folder, save_pretrained
from models.registry import build_summarizer
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from models.weights_file import open_safetensors

transformers = pytest.importorskip("transformers", reason="needs the extra `judges`")

pytestmark = pytest.mark.integration

BEGIN, PAD, END, UNKNOWN, VOCABULARY = 0, 1, 2, 3, 60
Peer = Any


def configuration(**fields: Any) -> Any:
    """A tiny configuration; its words are spread out, so that a search's choices differ from step to step."""
    sizes = {
        **{"vocab_size": VOCABULARY, "d_model": 16, "max_position_embeddings": 40, "init_std": 0.5},
        **{"encoder_layers": 2, "encoder_ffn_dim": 32, "encoder_attention_heads": 4},
        **{"decoder_layers": 2, "decoder_ffn_dim": 32, "decoder_attention_heads": 4},
    }
    return transformers.BartConfig(**{**sizes, **fields})


def peer(seed: int = 0) -> Peer:
    torch.manual_seed(seed)
    model = transformers.BartForConditionalGeneration(configuration()).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("bias", "norm.weight")):
                parameter.add_(0.3 * torch.randn_like(parameter))  # those it starts with would hide mistakes
        model.final_logits_bias.normal_()
        model.final_logits_bias[0, END] += seed % 4  # so that summaries end at different lengths
    return model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    peer().save_pretrained(tmp_path / "peer")
    return tmp_path / "peer"


def loaded(folder: Path, **fields: Any) -> Bart:
    with torch.device("meta"):
        model = Bart(BartConfig(**{**vars(read_folder(folder)), **fields}))
    assert load_pretrained(model, folder) == ()
    return model.eval()


def source(seed: int = 0) -> SourceBatch:
    """Ragged articles of up to four rows, one `<s>` at the start of each and one `</s>` at its end."""
    tokens = torch.randint(4, VOCABULARY, (3, 4, 6), generator=torch.Generator().manual_seed(seed))
    tokens[0, 2:], tokens[1, 1, 3:] = PAD, PAD
    tokens[:, 0, 0] = BEGIN
    tokens[0, 1, 5] = tokens[1, 3, 5] = tokens[2, 3, 5] = END
    ranks = torch.arange(4).expand(3, -1).contiguous()
    return SourceBatch(tokens, ranks, torch.full((3, 1), PAD), PAD)


def inputs(batch: SourceBatch) -> dict[str, Tensor]:
    """The same articles as transformers reads them."""
    articles = [[token for token in article.flatten().tolist() if token != PAD] for article in batch.tokens]
    length = max(map(len, articles))
    ids = torch.tensor([article + [PAD] * (length - len(article)) for article in articles])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long()}


@torch.no_grad()
def test_logits_are_those_of_transformers(folder: Path) -> None:
    batch, ours = source(), loaded(folder)
    target = torch.randint(4, VOCABULARY, (3, 9), generator=torch.Generator().manual_seed(1))
    target[:, :2] = torch.tensor([END, BEGIN])
    decoded = ours.decode(target, ours.encode(batch))
    theirs = transformers.BartForConditionalGeneration.from_pretrained(folder, local_files_only=True).eval()
    expected = theirs(**inputs(batch), decoder_input_ids=target, output_attentions=True)
    torch.testing.assert_close(ours.logits(decoded.hidden), expected.logits, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_positions_are_repeated_as_led_repeats_them(folder: Path) -> None:
    longer = loaded(folder, max_positions=120, source_tokens=120)
    ids = torch.randint(4, VOCABULARY, (1, 1, 90), generator=torch.Generator().manual_seed(1))
    batch = SourceBatch(ids, torch.zeros(1, 1, dtype=torch.int64), torch.full((1, 1), PAD), PAD)
    theirs = transformers.BartForConditionalGeneration.from_pretrained(folder, local_files_only=True).eval()
    for stack in (theirs.model.encoder, theirs.model.decoder):
        old = stack.embed_positions.weight.data
        stack.embed_positions.weight.data = torch.cat((old, old[2:], old[2:]))
    target = torch.tensor([[END, BEGIN, 7, 8]])
    expected = theirs(input_ids=ids[0], decoder_input_ids=target).logits
    found = longer.logits(longer.decode(target, longer.encode(batch)).hidden)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


# With the last, a search that stops as ours does by default would miss a summary.
@pytest.mark.parametrize("seed", [*range(6), 67])
@pytest.mark.parametrize(("normalisation", "penalty"), [("none", 0.0), ("average", 1.0), ("average", 2.0)])
def test_the_search_writes_what_generate_writes(tmp_path: Path, seed: int, normalisation: Any, penalty: float) -> None:
    theirs, batch = peer(seed), source(seed)
    theirs.final_logits_bias[0, [BEGIN, PAD, UNKNOWN]] = -1e4  # our search never writes them
    theirs.save_pretrained(tmp_path)
    # Their lengths count `</s>`, `<s>` and the final `</s>`.
    rules = {"min_length": 4 + 2, "max_length": 20 + 3, "length_penalty": penalty, "no_repeat_ngram_size": 3}
    forced = {"forced_bos_token_id": BEGIN, "forced_eos_token_id": END}
    expected = theirs.generate(**inputs(batch), num_beams=4, early_stopping=False, **rules, **forced)
    settings = SearchSettings(
        beam=4,
        normalisation=normalisation,
        length_exponent=penalty,
        min_length=4,
        max_length=20,
        block_ngrams=3,
        as_transformers=True,
    )
    found = beam_search(loaded(tmp_path), batch, settings, begin=END, end=END, unknown=UNKNOWN, first=BEGIN)
    texts = [[token for token in row if token not in (BEGIN, PAD, END)] for row in expected.tolist()]
    assert [one.tokens for one in found] == texts


def test_transformers_loads_what_we_save(tmp_path: Path) -> None:
    torch.manual_seed(0)
    ours = build_summarizer(
        "bart-base",
        vocabulary_size=VOCABULARY,
        pad=PAD,
        model_size=24,
        feed_forward_size=32,
        max_positions=40,
        source_tokens=40,
    ).eval()
    save_pretrained(ours, tmp_path)
    theirs, report = transformers.BartForConditionalGeneration.from_pretrained(
        tmp_path, local_files_only=True, output_loading_info=True
    )
    assert not any(report.values()), report
    batch, target = source(), torch.tensor([[END, BEGIN, 7, 8]] * 3)
    with torch.no_grad():
        expected = theirs.eval()(**inputs(batch), decoder_input_ids=target).logits
        found = ours.logits(ours.decode(target, ours.encode(batch)).hidden)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    config = theirs.generation_config
    assert (config.forced_bos_token_id, config.forced_eos_token_id, config.decoder_start_token_id) == (0, 2, 2)


def test_saving_again_gives_the_same_weights(folder: Path, tmp_path: Path) -> None:
    save_pretrained(loaded(folder), tmp_path / "again")
    first, second = (open_safetensors(at / "model.safetensors") for at in (folder, tmp_path / "again"))
    assert first.shapes == second.shapes
    assert all(torch.equal(first.tensor(name), second.tensor(name)) for name in first.shapes)
    stated = json.loads((folder / "config.json").read_text())
    again = json.loads((tmp_path / "again" / "config.json").read_text())
    assert {name: again[name] for name in again if name in stated} == {
        name: stated[name] for name in again if name in stated
    }


@pytest.mark.parametrize(("preset", "rows"), [("bart-base", 50_265), ("bart-large", 50_264), ("bart-large", 50_265)])
def test_the_published_sizes_have_their_names_and_shapes(preset: str, rows: int) -> None:
    with torch.device("meta"):
        ours = build_summarizer(preset, vocabulary_size=rows, pad=PAD)
        size = ours.config
        theirs = transformers.BartForConditionalGeneration(
            transformers.BartConfig(
                vocab_size=rows,
                d_model=size.model_size,
                max_position_embeddings=1024,
                encoder_layers=size.encoder_layers,
                decoder_layers=size.decoder_layers,
                encoder_ffn_dim=size.feed_forward_size,
                decoder_ffn_dim=size.feed_forward_size,
                encoder_attention_heads=size.heads,
                decoder_attention_heads=size.heads,
            )
        )
    tied = {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}
    expected = {name: value.shape for name, value in theirs.state_dict().items() if name not in tied}
    assert {name: value.shape for name, value in ours.state_dict().items()} == expected
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())
