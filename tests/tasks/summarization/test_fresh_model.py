"""Where a training starts: fresh weights, or a folder that is checked before work starts."""

import json
import shutil
from pathlib import Path

import pytest
import tokenizers
import torch

from models.bart import Bart
from models.huggingface import T5, Led, LongT5Config
from models.pretrained import save_pretrained
from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from tasks.summarization.examples import layout_of
from tasks.summarization.fresh_model import check_start, fresh_model, start_digest
from tasks.summarization.settings import SummarizerSettings
from tests.models.byte_level import write_folder
from tests.tasks.summarization.summarizer_examples import vocabulary as pieces

TINY = {
    "model_size": 16,
    "feed_forward_size": 32,
    "heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "max_positions": 64,
    "source_tokens": 64,
}


def settings(folder: Path | str | None = None, preset: str = "bart-small", **overrides: object) -> SummarizerSettings:
    return SummarizerSettings(
        preset=preset, pretrained=None if folder is None else str(folder), overrides={**TINY, **overrides}
    )


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Vocabulary(read_tokenizer(write_folder(tmp_path_factory.mktemp("tokenizer"))))


@pytest.fixture
def folder(words: Vocabulary, tmp_path: Path) -> Path:
    folder = write_folder(tmp_path / "checkpoint")
    model = fresh_model(settings(), words, seed=5)
    assert isinstance(model, Bart)
    save_pretrained(model, folder)
    return folder


def test_a_bart_is_told_its_marks_and_starts_from_the_seed(words: Vocabulary) -> None:
    first, again, other = (fresh_model(settings(), words, seed=seed) for seed in (1, 1, 2))
    assert isinstance(first, Bart)
    config = first.config
    assert (config.pad, config.begin, config.end, config.source_begin) == (1, 2, 2, 0)
    assert (config.vocabulary_size, config.dropout) == (words.size, 0.1)
    weights = [model.state_dict()["model.shared.weight"] for model in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_sentencepiece_vocabulary_serves_a_bart_too() -> None:
    model = fresh_model(settings(), pieces(), seed=1)
    assert isinstance(model, Bart)
    assert (model.config.begin, model.config.end, model.config.source_begin) == (2, 3, 2)


def test_a_folder_gives_all_weights_but_those_of_copying(words: Vocabulary, folder: Path) -> None:
    saved = fresh_model(settings(), words, seed=5).state_dict()
    copying = settings(folder).model_copy(update={"copying": True})
    model = fresh_model(copying, words, seed=9, dropout=0.25)
    own = model.state_dict()
    assert all(torch.equal(own[name], tensor) for name, tensor in saved.items())
    assert {name.partition(".")[0] for name in own.keys() - saved.keys()} == {"copying"}
    assert not any(tensor.is_meta for tensor in own.values())
    assert isinstance(model, Bart)
    assert model.config.dropout == 0.25


def test_a_folder_is_known_by_its_content(words: Vocabulary, folder: Path, tmp_path: Path) -> None:
    assert check_start(settings(), words) is None
    digest = check_start(settings(folder), words)
    shutil.copytree(folder, tmp_path / "copy")
    assert check_start(settings(tmp_path / "copy"), words) == digest
    assert settings(folder).recipe() == settings().recipe()
    weights = tmp_path / "copy" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert start_digest(tmp_path / "copy") != digest


def test_a_hub_id_is_refused_with_the_way_to_fetch_it(words: Vocabulary) -> None:
    with pytest.raises(FileNotFoundError, match=r"hf download facebook/bart-base --local-dir FOLDER"):
        check_start(settings("facebook/bart-base"), words)


def test_another_architecture_or_size_is_refused_before_work_starts(words: Vocabulary, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a summarizer.preset of architecture 'bart' .* got 'ht-small'"):
        check_start(SummarizerSettings(preset="ht-small", pretrained=str(folder)), words)
    with pytest.raises(ValueError, match=r"preset 'bart-small': expected model_size 16, .* got 32"):
        check_start(settings(folder, model_size=32), words)
    with pytest.raises(ValueError, match=r"expected encoder_layers 1, .* got 2"):
        check_start(settings(folder, encoder_layers=2), words)


def test_another_vocabulary_than_the_folders_is_refused(words: Vocabulary, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"its tokenizer \(byte-level BPE, \d+ pieces\) is not the build's vocabulary"):
        check_start(settings(folder), pieces())


def test_files_that_cannot_be_read_are_refused(words: Vocabulary, folder: Path) -> None:
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"summarizer.pretrained is .* expected a whole safetensors file"):
        check_start(settings(folder), words)
    weights.write_bytes(whole)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
    with pytest.raises(ValueError, match=r"expected model_type 'bart' .* got 't5'"):
        check_start(settings(folder), words)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"expected a tokenizer\.json in it"):
        check_start(settings(folder), words)


def test_a_folder_without_the_mark_of_sentences_gets_its_row(words: Vocabulary, folder: Path) -> None:
    hie = settings(folder, "hie-bart-small")
    check_start(hie, words)
    plain = fresh_model(settings(folder), words, seed=5).state_dict()["model.shared.weight"]
    model = fresh_model(hie, words.in_form("sentences"), seed=9)
    assert isinstance(model, Bart)
    assert (model.config.sentence_begin, model.config.vocabulary_size) == (words.size, words.size + 1)
    rows = model.state_dict()["model.shared.weight"]
    assert torch.equal(rows[:-1], plain)
    assert torch.equal(rows[-1], plain.mean(dim=0))
    # A folder that has the piece and its row is loaded as it is.
    document = json.loads(words.in_form("sentences").model)
    (folder / "tokenizer.json").write_text(json.dumps(document["tokenizer"]))
    save_pretrained(model, folder)
    own = Vocabulary(read_tokenizer(folder))
    check_start(hie, own)
    again = fresh_model(hie, own.in_form("sentences"), seed=1)
    assert torch.equal(again.state_dict()["model.shared.weight"], rows)


@pytest.mark.parametrize(("preset", "each"), [("bart-small", False), ("hed-small", True)])
def test_marks_are_before_the_article_or_before_each_document(preset: str, each: bool, words: Vocabulary) -> None:
    layout = layout_of(settings(preset=preset), words)
    assert (layout.source_begin, layout.source_end, layout.begins_each) == (0, 2, each)
    assert layout.max_source_tokens == 64


def test_documents_of_a_primera_are_separated_as_its_vocabulary_has_it(words: Vocabulary, tmp_path: Path) -> None:
    chosen = settings(preset="primera-small")
    assert layout_of(chosen, words).separator is None
    assert layout_of(chosen, words).begins_each
    described = json.loads(words.model)
    mark = {**described["tokenizer"]["added_tokens"][0], "id": words.size, "content": "<doc-sep>"}
    described["tokenizer"]["added_tokens"].append(mark)
    described["specials"]["separator"] = words.size
    separated = Vocabulary(json.dumps(described).encode())
    assert layout_of(chosen, separated).separator == words.size
    assert layout_of(settings(preset="led-small"), separated).separator is None
    assert layout_of(settings(preset="hed-small"), separated).separator is None
    pytest.importorskip("transformers", reason="needs the extra `backbones`")
    model = fresh_model(chosen, separated, seed=1)
    assert isinstance(model, Led)
    assert (model.config.separator, model.config.source_begin, model.config.begin) == (words.size, 0, 2)


def test_a_led_starts_from_a_folder(words: Vocabulary, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra `backbones`")
    saved = fresh_model(settings(preset="led-small"), words, seed=5)
    assert isinstance(saved, Led)
    folder = write_folder(tmp_path / "led")
    saved.led.save_pretrained(folder)
    chosen = settings(folder, preset="led-small")
    assert check_start(chosen, words) is not None
    model = fresh_model(chosen, words, seed=9)
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in saved.state_dict().items())
    with pytest.raises(ValueError, match=r"preset 'led-small': expected encoder_layers 2 in .*, got 1"):
        check_start(settings(folder, preset="led-small", encoder_layers=2), words)
    with pytest.raises(ValueError, match=r"preset 'bart-small': expected model_type 'bart' in .* got 'led'"):
        check_start(settings(folder), words)


def test_a_t5_starts_from_a_folder_as_published(tmp_path: Path) -> None:
    """Unigram pieces without a mark of the begin, and more rows than pieces."""
    transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")
    specials = ["<pad>", "</s>", "<unk>"]
    scores = [
        (piece, -float(rank)) for rank, piece in enumerate([*specials, "\u2581the", "\u2581river", *"\u2581therivs"])
    ]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, unk_id=2))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    tokenizer.add_special_tokens([*specials, "<extra_id_0>"])
    sizes = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_heads": 4, "num_layers": 3, "decoder_start_token_id": 0}
    published = transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=128, **sizes))
    published.save_pretrained(tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(names))
    pieces = Vocabulary(read_tokenizer(tmp_path))
    chosen = SummarizerSettings(preset="t5-small", pretrained=str(tmp_path))
    assert check_start(chosen, pieces) is not None
    model = fresh_model(chosen, pieces, seed=9)
    assert isinstance(model, T5)
    assert (model.config.begin, model.config.end, model.config.pad) == (0, 1, 0)
    assert model.config.vocabulary_size == pieces.size == tokenizer.get_vocab_size()
    assert torch.equal(model.projection()[0], published.get_input_embeddings().weight[: pieces.size])
    layout = layout_of(chosen, pieces)
    assert (layout.source_begin, layout.source_end) == (None, 1)


@pytest.mark.parametrize("own", [True, False])
def test_a_folder_says_whether_outputs_have_a_matrix_of_their_own(words: Vocabulary, tmp_path: Path, own: bool) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")
    folder = write_folder(tmp_path / "checkpoint")
    torch.manual_seed(2)
    sizes = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_heads": 4, "num_layers": 3, "local_radius": 31}
    kind = {"feed_forward_proj": "gated-gelu", "encoder_attention_type": "transient-global"}
    marks = {"pad_token_id": words.pad, "eos_token_id": words.end, "decoder_start_token_id": words.begin}
    config = transformers.LongT5Config(vocab_size=words.size, tie_word_embeddings=False, **sizes, **kind, **marks)
    published = transformers.LongT5ForConditionalGeneration(config)
    if own:
        published.lm_head.weight = torch.nn.Parameter(torch.randn(words.size, 256))
    published.save_pretrained(folder)
    chosen = SummarizerSettings(preset="longt5-small", pretrained=str(folder))
    assert check_start(chosen, words) is not None
    model = fresh_model(chosen, words, seed=9)
    assert isinstance(model.config, LongT5Config)
    assert model.config.own_outputs is own
    assert torch.equal(model.projection()[0], published.lm_head.weight)
    assert torch.equal(model.library.get_parameter("shared.weight"), published.get_input_embeddings().weight)


def test_other_architectures_get_no_marks(words: Vocabulary) -> None:
    layout = layout_of(SummarizerSettings(preset="ht-small", truncation="each"), words)
    assert (layout.source_begin, layout.source_end, layout.begins_each) == (None, None, False)
    assert layout.title_mark == words.title_mark
    assert layout.shared_limit
