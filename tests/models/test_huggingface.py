"""LED, PRIMERA, T5, T5 1.1 and LongT5 against the library's own classes: the same folder, logits and summaries.

What they owe as summarizers is in `test_summarizers.py`.
"""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.huggingface import LibrarySummarizer
from models.huggingface_folder import check_huggingface, has_own_outputs, load_huggingface
from models.layers.paragraphs import SourceBatch
from models.presets import PRESETS
from models.registry import build_summarizer, configuration
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from tests.models.systems import batch, target, tiny

transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")

pytestmark = pytest.mark.integration

VOCABULARY = 60
BEGIN, PAD, END, UNKNOWN, SEPARATOR = 0, 1, 2, 3, 59
_TINY: dict[str, Any] = {
    **{"vocabulary_size": VOCABULARY, "pad": PAD, "model_size": 16, "feed_forward_size": 32, "heads": 4},
    **{"encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0},
}
_LED: dict[str, Any] = {
    **{"max_positions": 40, "max_source_positions": 64, "source_tokens": 64, "window": 4},
    **{"begin": END, "end": END, "source_begin": BEGIN},
}
_T5: dict[str, Any] = {"head_size": 4, "begin": PAD, "end": END}
FIELDS: dict[str, dict[str, Any]] = {
    "led": {**_TINY, **_LED},
    "primera": {**_TINY, **_LED, "separator": SEPARATOR},
    "t5-base": {**_TINY, **_T5},
    "t5-1.1-base": {**_TINY, **_T5},
    "longt5-base": {**_TINY, **_T5, "radius": 2, "global_block": 3},
    "longt5-base, own outputs": {**_TINY, **_T5, "radius": 2, "global_block": 3, "own_outputs": True},
}
T5_KINDS = ("t5-base", "t5-1.1-base", "longt5-base", "longt5-base, own outputs")
KINDS = pytest.mark.parametrize("preset", FIELDS)
Peer = Any


def made(kind: str) -> LibrarySummarizer:
    model = build_summarizer(preset_of(kind), **FIELDS[kind])
    assert isinstance(model, LibrarySummarizer)
    return model


def preset_of(kind: str) -> str:
    return kind.partition(",")[0]


def peer(preset: str, folder: Path, seed: int = 0) -> Peer:
    """The library's model, saved to the folder; its words are spread out, so that choices differ from step to step."""
    torch.manual_seed(seed)
    kind = {"t5": transformers.T5ForConditionalGeneration, "longt5": transformers.LongT5ForConditionalGeneration}.get(
        preset.partition("-")[0], transformers.LEDForConditionalGeneration
    )
    ours = made(preset)
    model = kind._from_config(ours.library.config, attn_implementation="eager").eval()
    if ours.has_own_outputs:
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("bias", "norm.weight")):
                parameter.add_(0.3 * torch.randn_like(parameter))  # those it starts with would hide mistakes
        if preset == "t5-base":
            model.get_input_embeddings().weight.mul_(4)  # its logits are divided by 4, the square root of its size
        if preset not in T5_KINDS:
            model.get_input_embeddings().weight.mul_(2)
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, [BEGIN, PAD, UNKNOWN, SEPARATOR]] = -1e4  # our search never writes them
            model.final_logits_bias[0, END] += seed % 4  # so that summaries end at different lengths
    model.save_pretrained(folder)
    return model


def loaded(preset: str, folder: Path) -> LibrarySummarizer:
    with torch.device("meta"):
        model = made(preset)
    load_huggingface(model, folder)
    return model.eval()


def source(preset: str, seed: int = 0) -> SourceBatch:
    """Ragged articles of up to four documents with the marks of their architecture."""
    tokens = torch.randint(4, SEPARATOR, (3, 4, 6), generator=torch.Generator().manual_seed(seed))
    tokens[0, 2:], tokens[1, 1, 3:] = PAD, PAD
    if preset not in T5_KINDS:
        tokens[:, 0, 0] = BEGIN
    if preset == "primera":
        tokens[:, 1:, 0] = SEPARATOR
        tokens[0, 2:] = PAD
    tokens[0, 1, 5] = tokens[1, 3, 5] = tokens[2, 3, 5] = END
    ranks = torch.arange(4).expand(3, -1).contiguous()
    return SourceBatch(tokens, ranks, torch.full((3, 1), PAD), PAD)


def inputs(preset: str, articles: SourceBatch) -> dict[str, Tensor]:
    """The same articles as the library reads them, global attention on marks included."""
    rows = [[token for token in article.flatten().tolist() if token != PAD] for article in articles.tokens]
    length = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (length - len(row)) for row in rows])
    read = {"input_ids": ids, "attention_mask": (ids != PAD).long()}
    if preset in T5_KINDS:
        return read
    return {**read, "global_attention_mask": ((ids == BEGIN) | (ids == SEPARATOR)).long()}


@KINDS
@torch.no_grad()
def test_fresh_weights_lose_about_as_much_as_a_guess(preset: str) -> None:
    torch.manual_seed(0)
    model = build_summarizer(preset_of(preset), **{**FIELDS[preset], "model_size": 64}).eval()
    words = torch.randint(4, VOCABULARY, (3, 10))
    decoded = model.decode(words[:, :-1], model.encode(source(preset)))
    loss = -model.log_probs(decoded).gather(2, words[:, 1:, None]).mean()
    assert float(loss) < 2 * math.log(VOCABULARY)


@KINDS
@torch.no_grad()
def test_logits_and_attention_are_those_of_the_library(tmp_path: Path, preset: str) -> None:
    theirs, articles = peer(preset, tmp_path), source(preset)
    ours = loaded(preset, tmp_path)
    words = torch.randint(4, VOCABULARY, (3, 9), generator=torch.Generator().manual_seed(1))
    decoded = ours.decode(words, ours.encode(articles))
    expected = theirs(**inputs(preset, articles), decoder_input_ids=words, output_attentions=True)
    torch.testing.assert_close(ours.logits(decoded.hidden), expected.logits, atol=2e-5, rtol=1e-5)
    weights = torch.stack(expected.cross_attentions).mean(dim=(0, 2))
    full = weights[2].reshape(9, 4, 6).sum(dim=-1)  # the third article has no padding
    assert decoded.paragraph_attention is not None
    torch.testing.assert_close(decoded.paragraph_attention[2], full, atol=1e-5, rtol=1e-5)


@KINDS
@pytest.mark.parametrize("seed", range(3))
@torch.no_grad()
def test_the_search_writes_what_generate_writes(tmp_path: Path, preset: str, seed: int) -> None:
    theirs, articles = peer(preset, tmp_path, seed), source(preset, seed)
    t5 = preset in T5_KINDS
    begin = (PAD,) if t5 else (END,)
    rules = {"min_length": 4 + 1, "max_length": 20 + 2, "length_penalty": 1.0, "no_repeat_ngram_size": 3}
    # Our search never writes these.
    banned = {"suppress_tokens": [BEGIN, PAD, UNKNOWN, SEPARATOR] if not t5 else [PAD, UNKNOWN]}
    expected = theirs.generate(
        **inputs(preset, articles), num_beams=4, early_stopping=False, forced_eos_token_id=END, **rules, **banned
    )
    settings = SearchSettings(
        beam=4, normalisation="average", min_length=4, max_length=20, block_ngrams=3, as_transformers=True
    )
    found = beam_search(loaded(preset, tmp_path), articles, settings, begin=begin[0], end=END, unknown=UNKNOWN)
    texts = [[token for token in row if token not in (PAD, END)] for row in expected.tolist()]
    assert [one.tokens for one in found] == texts
    assert len({tuple(text) for text in texts}) > 1


@KINDS
def test_a_loaded_model_has_one_matrix_of_words(tmp_path: Path, preset: str) -> None:
    theirs, ours = peer(preset, tmp_path), loaded(preset, tmp_path)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())
    assert not any(value.is_meta for value in ours.state_dict().values())
    with torch.no_grad():
        weight = ours.library.shared.weight
        weight.zero_()
    assert (ours.projection()[0] is weight) == (not ours.has_own_outputs)
    assert ours.library.encoder.embed_tokens.weight is weight
    assert ours.library.decoder.embed_tokens.weight is weight


@KINDS
def test_weights_are_loaded_into_a_model_that_exists(tmp_path: Path, preset: str) -> None:
    peer(preset, tmp_path)
    model = made(preset).eval()
    load_huggingface(model, tmp_path)
    assert torch.equal(model.projection()[0], loaded(preset, tmp_path).projection()[0])


@pytest.mark.parametrize("preset", T5_KINDS)
@torch.no_grad()
def test_words_that_only_fill_the_matrix_are_left_out(tmp_path: Path, preset: str) -> None:
    """The published T5 has 32,128 rows and 32,100 pieces; here 60 pieces are filled up to 128 rows."""
    theirs = peer(preset, tmp_path)
    theirs.resize_token_embeddings(128, mean_resizing=False)
    if made(preset).has_own_outputs:
        theirs.lm_head.weight = torch.nn.Parameter(torch.randn(128, 16))
    theirs.save_pretrained(tmp_path)
    check_huggingface(tmp_path, made(preset).config)
    ours, articles, words = loaded(preset, tmp_path), source(preset), torch.tensor([[PAD, 7, 9]] * 3)
    expected = theirs(**inputs(preset, articles), decoder_input_ids=words).logits
    found = ours.logits(ours.decode(words, ours.encode(articles)).hidden)
    torch.testing.assert_close(found, expected[..., :VOCABULARY], atol=2e-5, rtol=1e-5)


@KINDS
def test_a_folder_says_whether_its_outputs_have_a_matrix_of_their_own(tmp_path: Path, preset: str) -> None:
    peer(preset, tmp_path)
    assert has_own_outputs(tmp_path) == made(preset).has_own_outputs


def test_outputs_that_the_published_configuration_does_not_tie_are_their_own(tmp_path: Path) -> None:
    """Older releases of the library write `tie_word_embeddings` false, and no `scale_decoder_outputs`."""
    peer("t5-1.1-base", tmp_path)
    file = tmp_path / "config.json"
    stated = {name: value for name, value in json.loads(file.read_text()).items() if name != "scale_decoder_outputs"}
    file.write_text(json.dumps({**stated, "tie_word_embeddings": False}))
    assert has_own_outputs(tmp_path)
    check_huggingface(tmp_path, made("t5-1.1-base").config)


@pytest.mark.parametrize("preset", ["led", "t5-1.1-base", "longt5-base"])
def test_weights_in_several_files_are_those_of_one(tmp_path: Path, preset: str) -> None:
    theirs = peer(preset, tmp_path / "one")
    theirs.save_pretrained(tmp_path / "many", max_shard_size="8KB")
    assert len(list((tmp_path / "many").glob("model-*.safetensors"))) > 2
    one, many = loaded(preset, tmp_path / "one").state_dict(), loaded(preset, tmp_path / "many").state_dict()
    assert one.keys() == many.keys()
    assert all(torch.equal(one[name], many[name]) for name in one)


def edit(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


MISTAKES: dict[str, tuple[str, dict[str, Any], str]] = {
    "another model": ("led", {"model_type": "bart"}, r"expected model_type 'led' in .*config.json, got 'bart'"),
    "a size": ("led", {"encoder_layers": 3, "attention_window": 4}, r"expected encoder_layers 2 in .*, got 3"),
    "a window": ("led", {"attention_window": [4, 8]}, r"expected attention_window \[4, 4\] in .*, got \[4, 8\]"),
    "positions": ("led", {"max_decoder_position_embeddings": 9}, r"max_decoder_position_embeddings 40 in .*, got 9"),
    "T5 1.1 as T5": (
        "t5-base",
        {"feed_forward_proj": "gated-gelu"},
        r"expected feed_forward_proj relu in .*, got gated-gelu",
    ),
    "a dropout that is a text": (
        "t5-base",
        {"dropout_rate": "x"},
        r"expected dropout_rate in .* a number from 0 to below 1, got 'x'",
    ),
    "a dropout below 0": (
        "led",
        {"attention_dropout": -1},
        r"expected attention_dropout in .* a number from 0 to below 1, got -1",
    ),
    "other words": ("t5-base", {"vocab_size": 64}, r"expected vocab_size 60 or 128 in .*, got 64"),
    "other words of LED": ("led", {"vocab_size": 128}, r"expected vocab_size 60 in .*, got 128"),
    "local attention": (
        "longt5-base",
        {"encoder_attention_type": "local"},
        r"expected encoder_attention_type transient-global in .*, got local",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_folder_of_another_configuration_is_refused(tmp_path: Path, case: str) -> None:
    preset, values, message = MISTAKES[case]
    peer(preset, tmp_path)
    edit(tmp_path, **values)
    with pytest.raises(ValueError, match=message):
        check_huggingface(tmp_path, configuration(preset, **FIELDS[preset]))


def test_weights_that_are_missing_or_left_over_are_named(tmp_path: Path) -> None:
    peer("led", tmp_path)
    config, file = configuration("led", **FIELDS["led"]), tmp_path / "model.safetensors"
    whole = load_file(file)
    name = "led.encoder.layers.0.fc1.weight"
    save_file({key: value for key, value in whole.items() if key != name}, file)
    with pytest.raises(ValueError, match=r"1 weights missing in .*: encoder.layers.0.fc1.weight"):
        check_huggingface(tmp_path, config)
    save_file({**whole, "led.extra": torch.zeros(2)}, file)
    with pytest.raises(ValueError, match=r"1 weights left over in .*: led.extra"):
        check_huggingface(tmp_path, config)
    save_file({**whole, name: torch.zeros(2, 2)}, file)
    with pytest.raises(ValueError, match=r"fc1.weight of shape \(32, 16\) in .*, got \(2, 2\)"):
        check_huggingface(tmp_path, config)
    with pytest.raises(ValueError, match=r"expected a local folder with config.json"):
        check_huggingface(tmp_path / "none", config)


LEDGER = {
    "led": 459_801_600,
    "primera": 447_219_712,
    "longt5-base": 222_913_152,
    "t5-base": 222_903_552,
    "t5": 11_307_321_344,
    "t5-1.1-base": 247_577_856,
}


@pytest.mark.parametrize("preset", LEDGER)
def test_the_published_sizes_are_counted(preset: str) -> None:
    with torch.device("meta"):
        model = build_summarizer(preset, vocabulary_size=PRESETS[preset].words, pad=1)
    assert sum(p.numel() for p in model.parameters()) == LEDGER[preset] == PRESETS[preset].parameters


def test_marks_see_the_whole_source() -> None:
    """In one layer of windows of two tokens on either side, the last token reaches the first one by a mark alone."""
    changed = []
    for mark in (7, 28):
        model = tiny("led", encoder_layers=1, source_begin=mark)
        ids = torch.arange(8, 28).reshape(1, 1, 20)
        ids[0, 0, 0] = 7
        articles = replace(batch(articles=1), tokens=ids, ranks=torch.zeros(1, 1, dtype=torch.int64), graph=None)
        ids_after = ids.clone()
        ids_after[0, 0, -1] = 5
        memories = [model.encode(replace(articles, tokens=tokens)) for tokens in (ids, ids_after)]
        changed.append(not torch.equal(memories[0].pairs[0][0][0, :, 0], memories[1].pairs[0][0][0, :, 0]))
    assert changed == [True, False]


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "an odd window": ("led", {"window": 5}, "window must be even, half of it on either side of a token, got 5"),
    "positions": ("led", {"max_source_positions": 100}, "max_source_positions must be a multiple of 1024, got 100"),
    "more tokens": (
        "led",
        {"source_tokens": 20_000},
        "source_tokens must be at most max_source_positions 16384, got 20000",
    ),
    "no head": ("t5-base", {"head_size": 0}, "head_size must be at least 1, got 0"),
    "no radius": ("longt5-base", {"radius": 0}, "radius must be at least 1, got 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(case: str) -> None:
    preset, fields, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        configuration(preset, vocabulary_size=9, pad=1, **fields)


def test_a_target_longer_than_the_positions_is_refused() -> None:
    model = tiny("led")
    memory = model.encode(batch())
    with pytest.raises(ValueError, match="expected at most max_positions 40 target tokens, got 41"):
        model.start_cache(memory, 2, 41)
    with pytest.raises(ValueError, match="expected at most max_positions 40 target tokens, got 41"):
        model.decode(target(length=41), memory)


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.presets.importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"architecture 'led' needs the library transformers.*'wikisum\[backbones\]'"):
        build_summarizer("led-small", vocabulary_size=40)
