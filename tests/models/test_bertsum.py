"""BERTSUM against the library's BERT from the same folder, and what its folder, segments and learning rates owe.

What it owes as a summarizer is in `test_summarizers.py`.
"""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from models.bertsum import BertSum, BertSumConfig, SentenceExtractor, best_sentences, check_bert, load_bert
from models.layers.paragraphs import SourceBatch
from models.registry import build_summarizer, configuration
from models.tokenization.huggingface_tokenizer import read_tokenizer, tokenizer_files
from models.training.distributed import Ranks
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater
from models.vocabulary import Vocabulary
from tests.models.systems import tiny
from tests.models.training.test_update import training_batch
from tests.models.word_pieces import CLS, MASK, PAD, SEP, TINY, UNK, write_bert, write_tokenizer

transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")

pytestmark = pytest.mark.integration


def fields(words: Vocabulary, **changed: object) -> dict[str, object]:
    return {"vocabulary_size": words.size, "pad": PAD, "sentence_begin": CLS, **TINY, **changed}


def source(words: Vocabulary) -> SourceBatch:
    """Two articles: three sentences in two paragraphs, and one sentence alone."""
    read = words.in_form("sentences")
    first, second = read.encode_paragraphs([["the river rises", "a film of hills"], ["in 1999"]])
    rows = [[[CLS, *words.encode("river aral"), *first], [*second, SEP]], [[CLS, *words.encode("hills"), SEP]]]
    length = max(len(row) for rows_ in rows for row in rows_)
    tokens = torch.full((2, 2, length), PAD)
    for article, paragraphs in enumerate(rows):
        for place, row in enumerate(paragraphs):
            tokens[article, place, : len(row)] = torch.tensor(row)
    return SourceBatch(tokens, torch.arange(2).expand(2, -1), torch.full((2, 1), PAD), PAD)


def test_a_wordpiece_folder_marks_sentences_as_bert_does(tmp_path: Path) -> None:
    words = Vocabulary(read_tokenizer(write_tokenizer(tmp_path)))
    assert words.kind == "WordPiece"
    assert (words.pad, words.unk, words.begin, words.end, words.specials.mask) == (PAD, UNK, CLS, SEP, MASK)
    assert words.target_start == (CLS,)
    assert words.sentence_begin is None
    ids = words.encode("The River rises [SEP]")
    assert SEP not in ids
    assert words.decode([CLS, *words.encode("the river rises."), SEP]) == "the river rises."
    pieces = words.pieces([CLS, *words.encode("1999 riverhills")])
    assert pieces[0] == "[CLS]"
    assert "".join(pieces[1:]).replace("\u2581", " ") == " 1999 riverhills"
    marked = words.in_form("sentences")
    assert marked.size == words.size
    river, hills = words.encode("river"), words.encode("hills")
    assert marked.encode_paragraphs([["river", " ", "hills"]]) == [[SEP, CLS, *river, SEP, CLS, *hills]]
    for name, content in tokenizer_files(words.model).items():
        (tmp_path / name).write_bytes(content)
    assert Vocabulary(read_tokenizer(tmp_path)) == words


@pytest.mark.parametrize("kind", ["BertForMaskedLM", "BertModel", "BertForSequenceClassification"])
def test_the_encoder_equals_the_librarys_bert_from_the_same_folder(kind: str, tmp_path: Path) -> None:
    peer = write_bert(tmp_path, kind=kind)
    words = Vocabulary(read_tokenizer(tmp_path))
    model = build_summarizer("bertsumextabs", **fields(words)).eval()
    assert isinstance(model, BertSum)
    load_bert(model.encoder, tmp_path)
    model.start_words()
    bert = peer if kind == "BertModel" else peer.bert
    assert torch.equal(model.embedding.weight, bert.embeddings.word_embeddings.weight)
    with torch.no_grad():
        flat, begins = model.encoder(source(words))
        for article, paragraphs in enumerate(source(words).tokens):
            ids = paragraphs[paragraphs != PAD].unsqueeze(0)
            # Segments change with each sentence: the title is in A, the first sentence in B, and so on.
            segments = ((ids == CLS).cumsum(dim=1) + 1) % 2
            expected = bert(input_ids=ids, token_type_ids=segments).last_hidden_state[0]
            torch.testing.assert_close(flat.values[article, : ids.shape[1]], expected, atol=2e-5, rtol=1e-4)
            assert begins[article].nonzero().flatten().tolist() == (ids[0] == CLS).nonzero().flatten().tolist()
            assert not torch.allclose(expected, bert(input_ids=ids).last_hidden_state[0], atol=1e-2) or article


def test_further_positions_start_fresh_and_old_names_are_known(tmp_path: Path) -> None:
    write_bert(tmp_path)
    file = tmp_path / "model.safetensors"
    old = {
        n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for n, tensor in load_file(file).items()
    }
    save_file(old, file)
    words = Vocabulary(read_tokenizer(tmp_path))
    model = build_summarizer("bertsumextabs", **fields(words, source_positions=96, source_tokens=96))
    assert isinstance(model, BertSum)
    positions = model.encoder.bert.get_parameter("embeddings.position_embeddings.weight")
    drawn = positions[64:].clone()
    load_bert(model.encoder, tmp_path)
    positions = model.encoder.bert.get_parameter("embeddings.position_embeddings.weight")
    assert torch.equal(positions[:64], old["bert.embeddings.position_embeddings.weight"])
    assert torch.equal(positions[64:], drawn)
    assert drawn.std() > 0


@pytest.mark.parametrize(
    ("changed", "stated", "message"),
    [
        ({}, {"num_hidden_layers": 1}, r"expected num_hidden_layers 2 in .*config\.json, as the preset has, got 1"),
        ({}, {"hidden_act": "relu"}, r"expected hidden_act 'gelu' in .*, got 'relu'"),
        (
            {"source_positions": 32, "source_tokens": 32},
            {},
            r"position_embeddings\.weight of shape \(32, 16\).* got \(64, 16\)",
        ),
    ],
)
def test_a_folder_of_other_sizes_is_refused(
    changed: dict[str, object], stated: dict[str, object], message: str, tmp_path: Path
) -> None:
    write_bert(tmp_path, **stated)
    config = configuration("bertsumextabs", **fields(Vocabulary(read_tokenizer(tmp_path)), **changed))
    with pytest.raises(ValueError, match=message):
        check_bert(tmp_path, config)


def test_damaged_weights_change_nothing(tmp_path: Path) -> None:
    write_bert(tmp_path)
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    weights["bert.encoder.layer.1.output.dense.bias"][3] = float("nan")
    save_file(weights, file)
    model = build_summarizer("bertsumextabs", **fields(Vocabulary(read_tokenizer(tmp_path))))
    assert isinstance(model, BertSum)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"finite"):
        load_bert(model.encoder, tmp_path)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    del weights["bert.encoder.layer.1.output.dense.bias"]
    save_file(weights, file)
    with pytest.raises(ValueError, match=r"1 weights missing in .*: encoder\.layer\.1\.output\.dense\.bias"):
        load_bert(model.encoder, tmp_path)


def test_encoder_and_decoder_learn_at_rates_of_their_own() -> None:
    """A rate of 0 leaves its part alone, and the moments of both parts are kept."""
    for rates in ([0.0, 1e-2], [1e-2, 0.0]):
        model = tiny("bertsumextabs").train()
        assert isinstance(model, BertSum)
        updater = Updater(TokenObjective(model, batch_tokens=100), TrainerSettings(steps=1), Ranks(torch.device("cpu")))
        before = {name: weight.clone() for name, weight in model.named_parameters()}
        updater.update(1, rates, [training_batch()], 10.0)
        moved = {name for name, weight in model.named_parameters() if not torch.equal(weight, before[name])}
        of_encoder = {name for name in before if name.startswith("encoder.")}
        assert moved
        assert moved <= (of_encoder if rates[1] else before.keys() - of_encoder)
        assert [group["lr"] for group in updater.optimizer.param_groups] == rates


def test_the_extractor_scores_every_sentence_and_no_padding(tmp_path: Path) -> None:
    words = Vocabulary(read_tokenizer(write_tokenizer(tmp_path)))
    torch.manual_seed(0)
    model = SentenceExtractor(BertSumConfig(**fields(words))).eval()
    with torch.no_grad():
        scores, mask = model(source(words))
        assert mask.tolist() == [[True] * 4, [True, False, False, False]]
        assert len(set(scores[0].tolist())) == 4
        alone = source(words)
        cut = SourceBatch(alone.tokens[1:], alone.ranks[1:], alone.title[1:], PAD)
        torch.testing.assert_close(model(cut)[0][0, 0], scores[1, 0])


def test_sentences_are_taken_by_score_without_repeating_three_words() -> None:
    texts = ["It lies in the north of Aral.", "Aral is a town.", "The town lies in the south.", "It has a mill.", " "]
    assert best_sentences([0.9, 0.2, 0.8, 0.7, 1.0], texts, 9) == [0, 3]
    assert best_sentences([0.1, 0.9, 0.2, 0.3, 0.0], texts, 1) == [1]
    assert best_sentences([], [], 5) == []
