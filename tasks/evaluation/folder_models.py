"""A model of entailment in a local folder, asked in batches."""

from collections.abc import Sequence
from threading import Lock

import numpy as np
import torch

from models.training.distributed import find_device
from tasks.engine.torch_threads import torch_threads
from tasks.evaluation.entailment import Pair, label_ids
from tasks.evaluation.metrics import Floats
from tasks.ranking.folders import load_model, longest_input

_THREADS = 1  # of torch: shards are scored side by side, one a core
_BATCH = 32  # pairs; no setting, because the last bits of sums depend on it


class EntailmentModel:
    """The model of a folder, usable from many threads. If a pair is too long, its longer text is cut at the end."""

    def __init__(self, folder: str, setting: str, device: str = "auto") -> None:
        """Load the model. `folder`: where it is; `setting`: that names it, for messages; `device`: where it runs: auto
        | cpu | cuda | cuda:N. Raises FileNotFoundError: the folder or a model in it is missing; ValueError: it is
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
        result = np.zeros((len(pairs), len(self._labels)), dtype=np.float32)
        # Pairs of similar length are in a batch, the longest first, because they need most memory.
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
                result[places] = logits.softmax(dim=-1)[:, self._labels].cpu().numpy()
        return result
