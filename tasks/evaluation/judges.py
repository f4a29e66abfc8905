"""The judges that the settings ask for: looked at before work starts, opened while a shard is scored."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from tasks.chat.settings import read_key
from tasks.engine.shard import Scratch
from tasks.evaluation import bertscore_metrics, entailment_metrics, judge_metrics
from tasks.evaluation.bertscore_metrics import IMPLEMENTATION, VERSION, check_bertscore
from tasks.evaluation.entailment import check_entailment, entailment_digest
from tasks.evaluation.judge_settings import Judge, JudgesSettings
from tasks.evaluation.metrics import Prepare
from tasks.ranking.folders import check_installed, folder_digest

_NLI = "scoring.nli.folder"


def check_judges(settings: JudgesSettings) -> None:
    """See that this machine has what the judges run on. Raises FileNotFoundError: a model is not there; ValueError: it
    is of another kind, or a package or a key is not there; it names the setting."""
    if settings.nli is not None:
        check_entailment(settings.nli.folder, _NLI)
    if settings.bertscore is not None:
        check_bertscore(settings.bertscore)
        check_installed({"transformers": "", IMPLEMENTATION: VERSION}, "scoring.bertscore.folder")
    if settings.judge is not None:
        read_key(settings.judge, "scoring.judge")


def judge_notes(settings: JudgesSettings) -> dict[str, str]:
    """Return what decides scores beside the settings, which name folders: the digests of their models. Raises
    FileNotFoundError: there is no such folder, or no model in it; ValueError: it is a model of another kind."""
    notes = {}
    if settings.nli is not None:
        notes["nli_sha256"] = entailment_digest(settings.nli.folder, _NLI)
    if settings.bertscore is not None:
        check_bertscore(settings.bertscore)
        notes["bertscore_sha256"] = folder_digest(settings.bertscore.folder)
    return notes


@contextmanager
def open_judges(
    settings: JudgesSettings, needed: Collection[Judge], device: str, scratch: Scratch | None
) -> Iterator[Mapping[Judge, Prepare]]:
    """Open the judges that are needed, for the time of the block.

    Args:
        settings: those of all that are needed.
        needed: names of their sections.
        device: where their models run: auto | cpu | cuda | cuda:N.
        scratch: where a language model's answers are kept while the shard is made; it must be given for that judge."""
    opened: dict[Judge, Prepare] = {}
    if "nli" in needed:
        assert settings.nli is not None
        from tasks.evaluation.entailment_model import EntailmentModel  # here, because few need torch to score

        model = EntailmentModel(settings.nli.folder, _NLI, device)
        opened["nli"] = partial(entailment_metrics.prepare, entailment=model)
    if "bertscore" in needed:
        assert settings.bertscore is not None
        from tasks.evaluation.bertscore_model import BertScoreModel

        similarity = BertScoreModel(settings.bertscore, device)
        opened["bertscore"] = partial(bertscore_metrics.prepare, similarity=similarity)
    with ExitStack() as stack:
        if "judge" in needed:
            assert settings.judge is not None and scratch is not None
            from tasks.evaluation.chat_judge import ChatJudge

            chat = stack.enter_context(ChatJudge(settings.judge, scratch))
            opened["judge"] = partial(judge_metrics.prepare, judge=chat)
        yield opened
