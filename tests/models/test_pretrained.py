"""Folders in Hugging Face's layout: what is loaded, what is refused, and that a refusal leaves the model as it was.

The folders here are our own or made with `torch.save`; `test_transformers.py` has those of the transformers library.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.bart import Bart, BartConfig
from models.pretrained import check_pretrained, load_pretrained, read_folder, save_pretrained

SIZES: dict[str, Any] = {
    **{"vocabulary_size": 20, "pad": 1, "model_size": 8, "feed_forward_size": 12, "heads": 2},
    **{"encoder_layers": 1, "decoder_layers": 2, "max_positions": 6, "source_tokens": 6},
}


def bart(seed: int = 0, **fields: Any) -> Bart:
    torch.manual_seed(seed)
    return Bart(BartConfig(**{**SIZES, **fields})).eval()


def weights(model: Bart) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_pretrained(bart(), tmp_path / "bart")
    return tmp_path / "bart"


def edit(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def edit_weights(folder: Path, change: dict[str, Tensor], without: tuple[str, ...] = ()) -> None:
    kept = {name: value for name, value in load_file(folder / "model.safetensors").items() if name not in without}
    save_file({**kept, **change}, folder / "model.safetensors")


def test_a_saved_model_is_loaded_as_it_was(folder: Path) -> None:
    model = bart(seed=1)
    assert load_pretrained(model, folder) == ()
    for name, value in weights(bart()).items():
        assert torch.equal(model.state_dict()[name], value), name
    assert read_folder(folder) == bart().config
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors"]


def test_a_model_on_the_meta_device_receives_the_tensors(folder: Path) -> None:
    with torch.device("meta"):
        model = bart(copying=True)
    fresh = load_pretrained(model, folder)
    assert fresh == tuple(name for name in model.state_dict() if name.startswith("copying."))
    assert not any(value.is_meta for value in model.state_dict().values())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert torch.equal(model.model.shared.weight, bart().model.shared.weight)
    assert model.copying.query.weight.std() > 0.1


def test_copying_is_saved_and_loaded_too(tmp_path: Path) -> None:
    save_pretrained(bart(copying=True), tmp_path)
    model = bart(seed=1, copying=True)
    assert load_pretrained(model, tmp_path) == ()
    assert torch.equal(model.copying.query.weight, bart(copying=True).copying.query.weight)
    with pytest.raises(ValueError, match=r"5 weights left over in .*: copying"):
        load_pretrained(bart(), tmp_path)


def test_positions_are_repeated(folder: Path) -> None:
    model = bart(max_positions=15, source_tokens=15)
    load_pretrained(model, folder)
    old = bart().model.decoder.embed_positions.weight
    new = model.model.decoder.embed_positions.weight
    assert len(new) == 17
    assert torch.equal(new[:8], old)
    assert torch.equal(new[8:14], old[2:])
    assert torch.equal(new[14:], old[2:5])


def test_rows_of_added_tokens_are_the_mean_of_all(folder: Path) -> None:
    model = bart(vocabulary_size=21, sentence_heads=1)
    load_pretrained(model, folder, added=1)
    old = bart().model.shared.weight
    torch.testing.assert_close(model.model.shared.weight, torch.cat((old, old.mean(dim=0, keepdim=True))))
    assert model.final_logits_bias.shape == (1, 21)


@pytest.mark.parametrize("old_format", [False, True])
def test_a_pickled_file_of_the_model_without_its_output_layer(tmp_path: Path, old_format: bool) -> None:
    """As the published bart-base and bart-large are: no "model.", no bias, three names of the embeddings."""
    tensors = {name.removeprefix("model."): value for name, value in weights(bart()).items()}
    del tensors["final_logits_bias"]
    tensors |= {f"{stack}.embed_tokens.weight": tensors["shared.weight"] for stack in ("encoder", "decoder")}
    save_pretrained(bart(), tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(tensors, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=not old_format)
    model = bart(seed=1)
    load_pretrained(model, tmp_path)
    for name, value in weights(bart()).items():
        assert torch.equal(model.state_dict()[name], value), name


def test_embeddings_may_have_the_name_of_the_output_layer_alone(folder: Path) -> None:
    edit_weights(folder, {"lm_head.weight": bart().model.shared.weight.detach()}, without=("model.shared.weight",))
    model = bart(seed=1)
    load_pretrained(model, folder)
    assert torch.equal(model.model.shared.weight, bart().model.shared.weight)


def test_half_precision_is_widened(folder: Path) -> None:
    edit_weights(folder, {name: value.half() for name, value in weights(bart()).items()})
    model = bart(seed=1)
    load_pretrained(model, folder)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    torch.testing.assert_close(model.model.shared.weight, bart().model.shared.weight, atol=1e-3, rtol=0)


CONFIGS = {
    "another model": ({"model_type": "led"}, r"expected model_type 'bart' in .*config\.json, got 'led'"),
    "no model": ({"model_type": None}, "expected model_type 'bart' in .*, got None"),
    "another activation": ({"activation_function": "relu"}, "expected activation_function 'gelu' in .*, got 'relu'"),
    "scaled": ({"scale_embedding": True}, "expected scale_embedding False in .*, got True"),
    "untied": ({"tie_word_embeddings": False}, "expected tie_word_embeddings True in .*, got False"),
    "no size": ({"d_model": None}, "expected d_model in .* to be a whole number from 1, got None"),
    "two sizes": (
        {"decoder_ffn_dim": 9},
        "expected one value of encoder_ffn_dim and decoder_ffn_dim in .*, got 12 and 9",
    ),
    "heads": ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "heads must divide model_size 8, got 3"),
    "a token": ({"pad_token_id": 20}, "expected pad_token_id below vocab_size 20 in .*, got 20"),
    "no dropout": ({"dropout": "x"}, "expected dropout in .* to be a number from 0 to below 1, got 'x'"),
    "a dropout below 0": ({"attention_dropout": -1}, "expected attention_dropout in .* below 1, got -1"),
    "a dropout of all": ({"activation_dropout": 1}, "expected activation_dropout in .* below 1, got 1"),
    "a dropout of yes": ({"dropout": True}, "expected dropout in .* below 1, got True"),
    "a text": ({"eos_token_id": "2"}, "expected eos_token_id in .* to be a whole number from 0, got '2'"),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_configuration_that_is_not_barts_is_refused(folder: Path, case: str) -> None:
    values, message = CONFIGS[case]
    edit(folder, **values)
    with pytest.raises(ValueError, match=message):
        read_folder(folder)


def test_what_is_no_folder_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a local folder with config\.json, .* got 'facebook/bart-base'"):
        read_folder("facebook/bart-base")
    (folder / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config\.json: expected JSON, but"):
        read_folder(folder)
    (folder / "config.json").write_text("[]")
    with pytest.raises(ValueError, match=r"config\.json: expected a JSON object, got"):
        read_folder(folder)


SHARED = "model.shared.weight"
FITS: dict[str, tuple[dict[str, Any], str]] = {
    "size": ({"model_size": 16}, "expected model_size 8, as .* has, got 16"),
    "layers": ({"encoder_layers": 2}, "expected encoder_layers 1, as .* has, got 2"),
    "words": ({"vocabulary_size": 21}, r"expected a vocabulary of 20 tokens \(20 rows in .* and 0 added\), got 21"),
    "positions": ({"max_positions": 4, "source_tokens": 4}, "expected max_positions of at least 6, .* got 4"),
    "padding": ({"pad": 3}, "expected pad 1, as .* has, got 3"),
}


@pytest.mark.parametrize("case", FITS)
def test_a_model_of_other_sizes_is_refused(folder: Path, case: str) -> None:
    fields, message = FITS[case]
    model = bart(**fields)
    with pytest.raises(ValueError, match=message):
        load_pretrained(model, folder)
    with pytest.raises(ValueError, match=message):
        check_pretrained(folder, model.config)


def divide(folder: Path, **places: str) -> Path:
    """Put each weight into one of two files, with an index that names them and, over these, `places`."""
    whole = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    of = {name: f"model-0000{1 + number % 2}-of-00002.safetensors" for number, name in enumerate(whole)}
    for file in set(of.values()):
        save_file({name: value for name, value in whole.items() if of[name] == file}, folder / file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {**of, **places}}))
    return index


def test_weights_in_several_files_are_loaded_by_their_index(folder: Path) -> None:
    divide(folder)
    model = bart(seed=1)
    check_pretrained(folder, model.config)
    load_pretrained(model, folder)
    for name, value in weights(bart()).items():
        assert torch.equal(model.state_dict()[name], value), name


@pytest.mark.parametrize("file", ["../elsewhere.safetensors", "gone.safetensors", ""])
def test_an_index_names_files_beside_it(folder: Path, file: str) -> None:
    save_pretrained(bart(), folder.parent)
    (folder.parent / "model.safetensors").rename(folder.parent / "elsewhere.safetensors")
    index = divide(folder, **{"model.shared.weight": file})
    with pytest.raises(ValueError, match=rf"expected the file '{file}', which {index} names, in the same folder"):
        check_pretrained(folder, bart().config)


def test_an_index_that_says_what_is_not_so_is_refused(folder: Path) -> None:
    index = divide(folder, **{"model.pooler": "model-00001-of-00002.safetensors"})
    with pytest.raises(
        ValueError, match=r"expected model.pooler in .*model-00001-of-00002.safetensors, as .*json says"
    ):
        check_pretrained(folder, bart().config)
    index.write_text('{"weight_map": []}')
    with pytest.raises(ValueError, match=r"expected a weight_map of tensors to files in .*, got '\[\]'"):
        check_pretrained(folder, bart().config)


FIRST = "model.encoder.layers.0.fc1.weight"
FILES: dict[str, tuple[dict[str, Tensor], tuple[str, ...], str]] = {
    "missing": ({}, (FIRST,), rf"1 weights missing in .*: {FIRST}$"),
    "left over": ({"model.pooler": torch.ones(1)}, (), "1 weights left over in .*: model.pooler$"),
    "shape": ({FIRST: torch.ones(3, 8)}, (), rf"expected {FIRST} of shape \(12, 8\) in .*, got \(3, 8\)"),
    "rows": ({SHARED: torch.ones(19, 8)}, (), rf"expected {SHARED} of shape \(20, 8\) in .*config.* got \(19, 8\)"),
    "untied": ({"lm_head.weight": torch.ones(20, 8)}, (), f"expected lm_head.weight and {SHARED} in .* to be equal"),
    "not a number": (
        {FIRST: torch.tensor([[1.0, float("nan"), float("inf"), 1.0] * 2] * 12)},
        (),
        rf"expected finite numbers in {FIRST} of .*, got 48 of 96 that are not",
    ),
    "quantised": ({FIRST: torch.ones(12, 8, dtype=torch.int8)}, (), f"expected {FIRST} in .* to hold one of .* got I8"),
}


@pytest.mark.parametrize("case", FILES)
def test_weights_that_do_not_fit_are_named_and_nothing_is_loaded(folder: Path, case: str) -> None:
    change, without, message = FILES[case]
    edit_weights(folder, change, without)
    model = bart(seed=1)
    before = weights(model)
    with pytest.raises(ValueError, match=message):
        load_pretrained(model, folder)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())


def test_files_that_cannot_be_read_are_named(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"expected a whole safetensors file, .*model\.safetensors"):
        load_pretrained(bart(), folder)
    file.unlink()
    with pytest.raises(ValueError, match=r"expected model\.safetensors or pytorch_model\.bin, .* neither"):
        check_pretrained(folder, bart().config)
    pickled = folder / "pytorch_model.bin"
    torch.save({"shared.weight": Path("x")}, pickled)  # a class of its own: loading it would call code
    with pytest.raises(ValueError, match=r"expected a file of tensors only, .*pytorch_model\.bin, which may run code"):
        load_pretrained(bart(), folder)
    torch.save([torch.ones(1)], pickled)
    with pytest.raises(ValueError, match=r"expected tensors by name in .*, got list"):
        load_pretrained(bart(), folder)
    torch.save(weights(bart()), pickled)
    pickled.write_bytes(pickled.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"expected a whole file of torch\.save, .*pytorch_model\.bin"):
        load_pretrained(bart(), folder)
    pickled.write_bytes(b"")
    with pytest.raises(ValueError, match=r"expected a whole file of torch\.save, .*pytorch_model\.bin"):
        load_pretrained(bart(), folder)


def test_a_model_is_replaced_whole_and_other_files_stay(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    before = (folder / "model.safetensors").read_bytes()
    save_pretrained(bart(seed=1), folder)
    assert (folder / "model.safetensors").read_bytes() != before
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_what_cannot_be_written_leaves_the_old_model_whole(folder: Path) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    (folder / ".writing-config.json.tmp").mkdir()
    with pytest.raises(OSError, match="writing-config"):
        save_pretrained(bart(seed=1), folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before
