"""Local folders of Hugging Face checkpoints that a build starts from: looked at before work starts."""

from pathlib import Path

from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary


def check_folder(folder: str, setting: str) -> Path:
    """Return a folder's path. Raises FileNotFoundError: there is none; the message says how to fetch one."""
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(
            f"{setting} is {folder!r}: expected a local folder with a checkpoint, and there is none. Nothing is "
            f"downloaded here; fetch one of the Hugging Face hub first, hf download {folder} --local-dir FOLDER"
        )
    return path


def folder_vocabulary(folder: str, setting: str) -> Vocabulary:
    """Return the vocabulary of a folder's tokenizer. Raises FileNotFoundError: there is no such folder; ValueError: it
    has no tokenizer that can be read."""
    path = check_folder(folder, setting)
    try:
        return Vocabulary(read_tokenizer(path))
    except ValueError as error:
        raise ValueError(f"{setting} is {folder!r}: {error}") from error
