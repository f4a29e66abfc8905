"""Seconds of a beam search with BART, against `generate` of the transformers library with the same weights.

    python -m benchmarks.bart_search [--preset NAME] [--articles N] [--tokens N] [--length N] [--rounds N] [--threads N]

Both search with beam 4 and write the same tokens; the run fails if they do not. They take turns, so that other work on
the machine slows both, and the median of the rounds is printed. Weights are random, words spread out so that choices
differ from step to step. Needs the extra `judges`.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable

import torch
from transformers import BartForConditionalGeneration

from models.bart import Bart
from models.contract import SourceBatch
from models.pretrained import save_pretrained
from models.registry import build_summarizer
from models.search.beam import beam_search
from models.search.settings import SearchSettings

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
BEAM = 4


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="beam search of BART against transformers")
    parser.add_argument("--preset", default="bart-base")
    parser.add_argument("--articles", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--length", type=int, default=60)
    parser.add_argument("--vocabulary", type=int, default=50_265)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    ours = build_summarizer(options.preset, vocabulary_size=options.vocabulary, pad=PAD).eval()
    assert isinstance(ours, Bart)
    ours.final_logits_bias.normal_()
    ours.final_logits_bias[0, [BEGIN, PAD, UNKNOWN]] = -1e4  # our search never writes them
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(ours, folder)
        theirs = BartForConditionalGeneration.from_pretrained(folder, local_files_only=True).eval()
        ids = torch.randint(4, options.vocabulary, (options.articles, options.tokens))
        ids[:, 0], ids[:, -1] = BEGIN, END
        rank = torch.zeros(options.articles, 1, dtype=torch.int64)
        source = SourceBatch(ids.unsqueeze(1), rank, torch.full_like(rank, PAD), PAD)
        shortest = options.length // 2
        settings = SearchSettings(
            beam=BEAM, normalisation="average", min_length=shortest, max_length=options.length, as_transformers=True
        )

        def search() -> list[list[int]]:
            found = beam_search(ours, source, settings, begin=END, end=END, unknown=UNKNOWN, first=BEGIN)
            return [one.tokens for one in found]

        def generate() -> list[list[int]]:
            with torch.inference_mode():
                rows = theirs.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    num_beams=BEAM,
                    # Their lengths count `</s>`, `<s>` and the final `</s>`.
                    min_length=shortest + 2,
                    max_length=options.length + 3,
                    length_penalty=1.0,
                    forced_bos_token_id=BEGIN,
                    forced_eos_token_id=END,
                )
            return [[token for token in row if token not in (BEGIN, PAD, END)] for row in rows.tolist()]

        if search() != generate():  # also warms both up
            raise SystemExit("the two searches write different tokens")
        pairs = [(_seconds(search), _seconds(generate)) for _ in range(options.rounds)]
    own, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"{options.preset}: {options.articles} articles of {options.tokens} tokens, up to {options.length} written, "
        f"beam {BEAM}, {options.threads} threads, the same tokens"
    )
    print(f"ours {own:.2f} s, transformers {peer:.2f} s: {peer / own:.2f} x")


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
