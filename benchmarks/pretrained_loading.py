"""Peak memory and seconds of loading a BART of bart-large's size, against the size of its file.

    python -m benchmarks.pretrained_loading [--preset NAME] [--keep DIRECTORY]

A folder of random weights is written first; --keep keeps it, and a later call takes the one that is there. Each way of
loading runs in a separate process: into a model on the meta device, into one that has weights already, and the
transformers library's `from_pretrained`. Peaks are of resident memory, without what was in use before, and once every
weight was read. The exit status is 1 if the first way takes more than 1.3 times the file's size."""

import tempfile
import time
from pathlib import Path

import psutil
import torch

from benchmarks.frame import apart, command, peak_bytes
from models.bart import Bart
from models.pretrained import load_pretrained, save_pretrained
from models.registry import build_summarizer
from models.weights_file import SAFETENSORS

BAR = 1.3
WAYS = {"meta": "ours, into a model without weights", "own": "ours, into a model with weights", "peer": "transformers"}


def model_of(preset: str, device: str) -> Bart:
    """Make a model with its published number of words."""
    with torch.device(device):
        model = build_summarizer(preset, vocabulary_size=50_265, pad=1)
    assert isinstance(model, Bart)
    return model


def write(preset: str, folder: str) -> None:
    """Write a folder of random weights."""
    save_pretrained(model_of(preset, "cpu"), folder)


def measure(way: str, preset: str, folder: str) -> dict[str, float]:
    """Load once; return seconds and the growth of the peak in bytes."""
    if way == "peer":
        from transformers import BartForConditionalGeneration
    before = psutil.Process().memory_info().rss
    begin = time.perf_counter()
    if way == "peer":
        loaded = BartForConditionalGeneration.from_pretrained(folder, local_files_only=True)
    else:
        loaded = model_of(preset, "meta" if way == "meta" else "cpu")
        load_pretrained(loaded, folder)
    for parameter in loaded.parameters():  # a mapped file takes time and memory only once it is read
        parameter.detach().sum()
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "bytes": peak_bytes() - before}


def main(preset: str = "bart-large", keep: Path | None = None) -> int:
    """Run from the command line."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        if not (folder / SAFETENSORS).exists():
            apart(write, preset, str(folder))
        size = (folder / SAFETENSORS).stat().st_size
        print(f"{preset}: {size / 1e6:,.0f} MB")
        within = True
        for way, name in WAYS.items():
            found = apart(measure, way, preset, str(folder))
            ratio = found["bytes"] / size
            within = within and (way != "meta" or ratio <= BAR)
            print(f"{name:<36} {found['bytes'] / 1e6:>6,.0f} MB  {ratio:.2f} x  {found['seconds']:.1f} s")
    return 0 if within else 1


if __name__ == "__main__":
    command(main, __doc__)
