"""A causal language model in a local folder in Hugging Face's layout: its request as token ids, and its weights. The
weights are read by name here and not by the library, so that nothing is ever looked for on a network."""

import importlib
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from models.json_file import LIBRARY_NAMES, MORE
from models.presets import check_library
from models.tokenization.huggingface_tokenizer import is_causal
from models.vocabulary import Vocabulary
from models.weights_file import (
    CONFIG,
    WeightsFile,
    check_complete,
    check_finite,
    check_tied,
    open_weights,
    put_weights,
    read_config,
)

_MORE, _REQUEST = MORE["causal"]["also"], MORE["causal"]["request"]
FAMILIES: dict[str, str] = MORE["causal"]["families"]  # model_type -> its preset
LORA_RANK = 16  # of the adapters of a folder's weights, unless overridden
_NUMBERED = 100  # paragraphs that have a number
_TITLE = 64  # tokens of a title, for which room is left
_TOPIC, _PASSAGE, _ANSWER = "\ue000", "\ue001", "\ue002"  # of private use: no text has them
_WORDS, _OUTPUTS = "model.embed_tokens.weight", "lm_head.weight"


def folder_fields(folder: str | Path, vocabulary: Vocabulary, *, paragraph: int, summary: int) -> dict[str, Any]:
    """Return the fields of a `CausalConfig` that a folder decides, with adapters of its weights. Room is left for a
    summary of so many tokens; what is left of the context after the request's own words is for paragraphs, and must
    suffice for one of `paragraph` tokens. Raises ValueError: its model is not causal, its family is not known, it has
    no chat template, or too short a context."""
    folder = Path(folder)
    check_library("causal")
    stated, file = check_family(folder), folder / CONFIG
    family = stated["model_type"]
    transformers = importlib.import_module("transformers")
    try:
        library = transformers.AutoConfig.for_model(**stated)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error
    if "sliding_attention" in (getattr(library, "layer_types", None) or ()) or (
        family == "mistral" and library.sliding_window
    ):
        raise ValueError(f"expected a model whose tokens see all earlier ones, {file} states a sliding window")
    if library.vocab_size < vocabulary.size:
        raise ValueError(
            f"expected vocab_size of at least {vocabulary.size} in {file}, as the tokenizer has, got "
            f"{library.vocab_size}"
        )
    words = request_tokens(folder, vocabulary)
    fields = {name: field for name, field in LIBRARY_NAMES["causal"].items() if name != "vocabulary_size"}
    sizes = {ours: getattr(library, name) for ours, (name,) in fields.items()}
    around = sum(map(len, (words["before_title"], words["before_paragraphs"], words["after"], *words["marks"][:24])))
    left = sizes["positions"] - around - _TITLE - summary
    if left < paragraph:
        raise ValueError(
            f"the context of {file} is {sizes['positions']} tokens: without {around} for the words of the request, "
            f"{_TITLE} for a title and {summary} for the summary it is {max(left, 0)}, expected at least {paragraph}, "
            "for one paragraph"
        )
    more = {name: value for name in _MORE if (value := library.to_dict().get(name)) is not None}
    adapted = {"lora_rank": LORA_RANK, "folder": str(folder.resolve())}
    return {"family": family, **sizes, **words, "source_tokens": left, "more": more, **adapted}


def check_family(folder: Path) -> dict[str, Any]:
    """Return what a folder's configuration states. Raises ValueError: the model is not causal, or of an
    unknown family."""
    stated = read_config(folder)
    family = stated.get("model_type")
    if not is_causal(stated) or family not in FAMILIES:
        raise ValueError(
            f"expected a causal language model (an architecture that ends in ForCausalLM) of model_type "
            f"{' or '.join(map(repr, FAMILIES))} in {folder / CONFIG}, got {family!r} {stated.get('architectures')}"
        )
    return stated


def request_tokens(folder: Path, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the token ids around title and paragraphs in a request, as the folder's chat template has it. Raises
    ValueError: the chat template is missing, leaves a part of the request out, or ends answers otherwise."""
    transformers = importlib.import_module("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    if not tokenizer.chat_template:
        raise ValueError(
            f"expected a chat template in {folder} (chat_template.jinja, or chat_template in tokenizer_config.json), "
            "found none: a model without one was not trained to answer"
        )
    passages = "\n".join(f"[{number}] {_PASSAGE}" for number in range(1, _NUMBERED + 1))
    asked = [{"role": "user", "content": _REQUEST.format(topic=_TOPIC, passages=passages)}]
    answered = [*asked, {"role": "assistant", "content": _ANSWER}]
    try:
        text = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
        whole = tokenizer.apply_chat_template(answered, tokenize=False)
    except Exception as error:
        raise ValueError(f"the chat template in {folder} cannot be filled: {error}") from error
    before, _, rest = text.partition(_TOPIC)
    parts = rest.split(_PASSAGE)
    if len(parts) != _NUMBERED + 1 or _ANSWER not in whole:
        raise ValueError(f"the chat template in {folder} leaves out what a user or the assistant says")

    def ids(part: str) -> tuple[int, ...]:
        # A text of the vocabulary begins with a space of its own.
        return tuple(tokenizer.encode(part.removesuffix(" "), add_special_tokens=False))

    intro, _, mark = parts[0].rpartition("\n")
    words = {
        "before_title": ids(before),
        "before_paragraphs": ids(intro),
        "marks": tuple(map(ids, (f"\n{mark}", *parts[1:-1]))),
        "after": tuple(tokenizer.encode(parts[-1], add_special_tokens=False)),
    }
    behind = tokenizer.encode(whole.partition(_ANSWER)[2], add_special_tokens=False)
    if behind and behind[0] in tokenizer.all_special_ids and behind[0] != vocabulary.end:
        named, end = tokenizer.convert_ids_to_tokens([behind[0], vocabulary.end])
        raise ValueError(f"the chat template in {folder} ends an answer with {named!r}, expected eos_token {end!r}")
    if not words["after"] or vocabulary.pad in (*words["before_title"], *words["before_paragraphs"], *words["after"]):
        raise ValueError(f"the chat template in {folder} has no words before an answer, or has padding among them")
    return words


def check_base(config: Any, folder: str | Path) -> None:
    """Check that a folder has the weights of a model, each finite; one at a time is read. Raises ValueError: it has
    not; or 4 bits are asked for where they cannot be had."""
    if config.four_bit:
        _check_four_bit()
    if config.lora_rank:
        check_peft()
    with torch.device("meta"):
        model = importlib.import_module("models.causal").Causal(replace(config, lora_rank=0, four_bit=False))
    file = open_weights(Path(folder))
    for name in _names(model, file):
        check_finite(name, file.tensor(name), file.path)


def load_base(model: Any, folder: str | Path) -> None:
    """Load the weights of a folder into a model without adapters, those of the stack in 4 bits if it asks for that
    (Dettmers et al. 2023). The model changes only if all of them fit. Raises ValueError: see `check_base`."""
    file, config = open_weights(Path(folder)), model.config
    if _OUTPUTS not in _names(model, file) and _OUTPUTS in file.shapes:
        check_tied(file, _OUTPUTS, _WORDS)
    put_weights(
        model, file.path, lambda name, _: file.tensor(name) if name == _OUTPUTS or not config.four_bit else None
    )
    if not config.four_bit:
        # Its table is not a weight, and on the device "meta" it was left without values.
        model.model.rotary_emb = type(model.model.rotary_emb)(config=model.model.config)
        return
    _check_four_bit()
    transformers = importlib.import_module("transformers")
    bits = transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    # All else is float32, as without 4 bits: words, norms, and what a layer returns.
    stated = {"config": config.library(), "dtype": torch.float32, "quantization_config": bits}
    model.model = transformers.AutoModel.from_pretrained(folder, **stated, local_files_only=True)


def check_peft() -> None:
    """Check that the library of adapters is there. Raises ValueError: it is missing."""
    if importlib.util.find_spec("peft") is None:
        raise ValueError("lora_rank needs the library peft, found none: pip install 'wikisum[backbones]'")


def _check_four_bit() -> None:
    if importlib.util.find_spec("bitsandbytes") is None:
        raise ValueError("four_bit needs the library bitsandbytes, found none: expected false here")


def _names(model: Any, file: WeightsFile) -> list[str]:
    """Return the names of the model's weights, which are those of the file. Raises ValueError: a weight is missing,
    left over or of another shape."""
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    # Old releases keep a table of positions, which is not a weight.
    left = [name for name in file.shapes if name not in (*own, _OUTPUTS) and not name.endswith("rotary_emb.inv_freq")]
    check_complete(file, [name for name in own if name not in file.shapes], left)
    for name, shape in own.items():
        if file.shapes[name] != shape:
            raise ValueError(
                f"expected {name} of shape {shape} in {file.path}, as {CONFIG} says, got {file.shapes[name]}"
            )
    return list(own)
