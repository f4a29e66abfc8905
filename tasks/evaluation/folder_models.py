"""Judges that are models in local folders: of entailment, in batches, and an encoder for BERTScore (Zhang et al. 2020)
by torchmetrics. Implementations of the latter differ in the third decimal, so the one that counts, and its version,
stand in the metric's name."""

from collections.abc import Callable, Collection, Sequence
from threading import Lock

import numpy as np
import torch

from models.training.distributed import find_device
from tasks.engine.torch_threads import torch_threads
from tasks.evaluation.entailment import Pair, label_ids
from tasks.evaluation.metrics import ArticleTexts, Floats, Score, Summary, SummaryScorer
from tasks.evaluation.settings import BertScoreSettings
from tasks.ranking.folders import load_model, longest_input

_THREADS = 1  # of torch: shards are scored side by side, one a core
_BATCH = 32  # pairs; no setting, because the last bits of sums depend on it


class EntailmentModel:
    """The model of a folder, usable from many threads. Of a pair that is too long the longer text is cut at its end."""

    def __init__(self, folder: str, setting: str, device: str = "auto") -> None:
        """Load the model. `folder`: where it is; `setting`: that names it, for messages; `device`: where it runs: auto
        | cpu | cuda | cuda:N. Raises FileNotFoundError: there is no such folder, or no model in it; ValueError: it is
        another kind of model, or the device is not there."""
        self._labels = label_ids(folder, setting)
        model, self._tokenizer = load_model("AutoModelForSequenceClassification", folder)
        self._model = model.to(find_device(device))
        self._lock = Lock()  # tokenizer and torch's number of threads are shared
        self._limit = longest_input(model, self._tokenizer)

    @torch_threads(_THREADS)
    @torch.inference_mode()
    def __call__(self, pairs: Sequence[Pair]) -> Floats:
        """Return [N, 2], P(entailment) and P(contradiction) of each of N pairs, 0-1."""
        found = np.zeros((len(pairs), len(self._labels)), dtype=np.float32)
        # Pairs of like length stand in a batch, the longest first, for memory runs out there.
        order = sorted(range(len(pairs)), key=lambda place: -sum(map(len, pairs[place])))
        with self._lock:
            for start in range(0, len(order), _BATCH):
                places = order[start : start + _BATCH]
                tokens = self._tokenizer(
                    [pairs[place][0] for place in places],
                    [pairs[place][1] for place in places],
                    padding=True,
                    truncation="longest_first",
                    max_length=self._limit,
                    return_tensors="pt",
                )
                logits = self._model(**tokens.to(self._model.device)).logits
                found[places] = logits.softmax(dim=-1)[:, self._labels].cpu().numpy()
        return found


class BertScoreModel:
    """The encoder of a folder. Texts that are too long for it are cut at their end."""

    def __init__(self, settings: BertScoreSettings, device: str = "auto") -> None:
        """Load the encoder. `settings`: where it is, and which of its layers counts; `device`: where it runs: auto |
        cpu | cuda | cuda:N. Raises OSError: there is no such folder, or no model in it; ValueError: it is another kind
        of model, or the device is not there."""
        model, self._tokenizer = load_model("AutoModel", settings.folder)
        self._model = model.to(find_device(device))
        self._layer = settings.layer
        self._limit = longest_input(model, self._tokenizer)

    @torch_threads(_THREADS)
    def __call__(self, summary: str, lead: str) -> Score:
        """Return F1, precision and recall; neither text is empty."""
        from torchmetrics.functional.text.bert import bert_score  # here, because it is of an extra

        found = bert_score(
            [summary],
            [lead],
            model=self._model,
            user_tokenizer=self._tokenizer,
            num_layers=self._layer,
            max_length=self._limit,
            truncation=True,
            device=self._model.device,
        )
        f1, precision, recall = (float(torch.as_tensor(found[name])) for name in ("f1", "precision", "recall"))
        return Score(f1, precision, recall)


def prepare(
    article: ArticleTexts, wanted: Collection[str], *, similarity: Callable[[str, str], Score]
) -> SummaryScorer:
    """Return what compares summaries with the lead; without one there is nothing to compare. `similarity`: such as a
    `BertScoreModel`."""

    def score(summary: Summary) -> dict[str, Score]:
        if not article.lead.strip():
            return {}
        if not summary.text.strip():
            return {"bertscore": Score(0.0, 0.0, 0.0)}
        return {"bertscore": similarity(summary.text, article.lead)}

    return score
