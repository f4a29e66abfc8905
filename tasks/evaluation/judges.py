"""The judges that the settings ask for: checked before work starts, opened while a shard is scored."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from tasks.chat.settings import read_key
from tasks.engine.job import Scratch
from tasks.evaluation import entailment
from tasks.evaluation.metrics import Judge, Prepare
from tasks.evaluation.settings import ScoringSettings
from tasks.ranking.folders import check_installed, folder_digest

_NLI = "scoring.nli.folder"


def check_judges(settings: ScoringSettings) -> None:
    """Check that this machine can run the judges. Raises FileNotFoundError: a model is not there; ValueError: it
    is of another kind, or a package or a key is not there; it names the setting."""
    if settings.nli is not None:
        entailment.label_ids(settings.nli.folder, _NLI)
        check_installed({"transformers": ""}, _NLI)
    if settings.judge is not None:
        read_key(settings.judge, "scoring.judge")


def judge_notes(settings: ScoringSettings) -> dict[str, str]:
    """Return the digests of the judges' models, which decide scores too: settings only name their folders. Raises
    FileNotFoundError: the folder or a model in it is missing; ValueError: it is a model of another kind."""
    if settings.nli is None:
        return {}
    entailment.label_ids(settings.nli.folder, _NLI)
    return {"nli_sha256": folder_digest(settings.nli.folder)}


@contextmanager
def open_judges(
    settings: ScoringSettings, needed: Collection[Judge], device: str, scratch: Scratch | None
) -> Iterator[Mapping[Judge, Prepare]]:
    """Open the judges that are needed, for the time of the block. `needed`: names of their sections in the settings.
    `device`: where their models run: auto | cpu | cuda | cuda:N. `scratch`: where a language model's answers are kept
    while the shard is made; it must be given for that judge."""
    opened: dict[Judge, Prepare] = {}
    if "nli" in needed:
        assert settings.nli is not None
        from tasks.evaluation.folder_models import EntailmentModel  # here, because few need torch to score

        model = EntailmentModel(settings.nli.folder, _NLI, device)
        opened["nli"] = partial(entailment.prepare, entailment=model)
    with ExitStack() as stack:
        if "judge" in needed:
            assert settings.judge is not None and scratch is not None
            from tasks.evaluation import chat_judge

            chat = stack.enter_context(chat_judge.ChatJudge(settings.judge, scratch))
            opened["judge"] = partial(chat_judge.prepare, judge=chat)
        yield opened
