"""Seconds of a beam search with BART, against `generate` of the transformers library and against CTranslate2, which
is made for decoding, with the same weights.

    python -m benchmarks.bart_search [--preset NAME] [--articles N] [--tokens N] [--length N] [--rounds N] [--threads N]

All search with beam 4 and write the same tokens; the run fails if they do not. They take turns, so that other work on
the machine slows all, and the medians of the rounds are printed: seconds, and seconds of processor
time, which other work changes less. Weights are random, words spread out so that choices
differ from step to step. Against transformers, summaries end where they like, from half the greatest length on; then
all three write the greatest length, because CTranslate2 ends a search by a rule of its own. Needs the extra `dev`."""

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import ctranslate2
import tokenizers
import torch
from ctranslate2.converters import TransformersConverter
from torch import Tensor
from transformers import BartForConditionalGeneration

from benchmarks.frame import command
from models.bart import Bart
from models.layers.paragraphs import SourceBatch
from models.pretrained import save_pretrained
from models.registry import build_summarizer
from models.search.beam import beam_search
from models.search.settings import SearchSettings

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
BEAM = 4
OURS, LIBRARY, ENGINE = "ours", "transformers", "CTranslate2"

Search = Callable[[int, int], list[list[int]]]  # of the least and the greatest length


def our_search(model: Bart, ids: Tensor) -> Search:
    """Return our search for sources [B, S]."""
    rank = torch.zeros(len(ids), 1, dtype=torch.int64)
    source = SourceBatch(ids.unsqueeze(1), rank, torch.full_like(rank, PAD), PAD)

    def search(shortest: int, longest: int) -> list[list[int]]:
        settings = SearchSettings(
            beam=BEAM, normalisation="average", min_length=shortest, max_length=longest, as_transformers=True
        )
        found = beam_search(model, source, settings, begin=END, end=END, unknown=UNKNOWN, first=BEGIN)
        return [one.tokens for one in found]

    return search


def library_search(folder: str, ids: Tensor) -> Search:
    """Return the search of transformers."""
    model = BartForConditionalGeneration.from_pretrained(folder, local_files_only=True).eval()

    def search(shortest: int, longest: int) -> list[list[int]]:
        with torch.inference_mode():
            rows = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=BEAM,
                # Their lengths count `</s>`, `<s>` and the final `</s>`.
                min_length=shortest + 2,
                max_length=longest + 3,
                length_penalty=1.0,
                forced_bos_token_id=BEGIN,
                forced_eos_token_id=END,
            )
        return [[token for token in row if token not in (BEGIN, PAD, END)] for row in rows.tolist()]

    return search


def engine_search(folder: str, ids: Tensor, size: int, threads: int) -> Search:
    """Return the search of CTranslate2, whose weights are converted from the folder."""
    # It names tokens and does not number them, so that its conversion wants a tokenizer: one name an id.
    names = [*MARKS, *map(str, range(len(MARKS), size))]
    words = tokenizers.models.WordLevel({name: id_ for id_, name in enumerate(names)}, unk_token=MARKS[UNKNOWN])
    tokenizers.Tokenizer(words).save(f"{folder}/tokenizer.json")
    described = {"bos_token": MARKS[BEGIN], "eos_token": MARKS[END], "unk_token": MARKS[UNKNOWN]}
    described |= {"pad_token": MARKS[PAD], "tokenizer_class": "PreTrainedTokenizerFast"}
    Path(folder, "tokenizer_config.json").write_text(json.dumps(described))
    converted = f"{folder}/converted"
    TransformersConverter(folder).convert(converted)
    engine = ctranslate2.Translator(converted, inter_threads=1, intra_threads=threads)
    sources = [[names[id_] for id_ in row] for row in ids.tolist()]

    def search(shortest: int, longest: int) -> list[list[int]]:
        found = engine.translate_batch(
            sources,
            target_prefix=[[MARKS[BEGIN]]] * len(sources),
            beam_size=BEAM,
            length_penalty=1.0,
            # Their lengths count `<s>`.
            min_decoding_length=shortest + 1,
            max_decoding_length=longest + 1,
            disable_unk=True,
            max_input_length=0,
        )
        return [[int(name) for name in one.hypotheses[0] if name not in MARKS] for one in found]

    return search


def compare(searches: Mapping[str, Search], shortest: int, longest: int, rounds: int) -> None:
    """Print the seconds of each search, and of each peer's relative to ours.

    Raises SystemExit: they write different tokens."""
    written = {name: search(shortest, longest) for name, search in searches.items()}  # also warms them up
    for name in written:
        if written[name] != written[OURS]:
            raise SystemExit(f"ours and {name} write different tokens")
    found = [{name: _seconds(one, shortest, longest) for name, one in searches.items()} for _ in range(rounds)]
    wall, processor = (
        {name: statistics.median(seconds[name][clock] for seconds in found) for name in searches} for clock in (0, 1)
    )
    print(f"{shortest} to {longest} tokens a summary, {sum(map(len, written[OURS]))} in all, the same from each:")
    for name in searches:
        print(
            f"  {name:<13} {wall[name]:.2f} s, {wall[name] / wall[OURS]:.2f} x ours; of processor time "
            f"{processor[name]:.2f} s, {processor[name] / processor[OURS]:.2f} x"
        )


def main(
    preset: str = "bart-base",
    articles: int = 4,
    tokens: int = 512,
    length: int = 60,
    vocabulary: int = 50_265,
    rounds: int = 3,
    threads: int = 2,
) -> None:
    """Run from the command line."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = build_summarizer(preset, vocabulary_size=vocabulary, pad=PAD).eval()
    assert isinstance(model, Bart)
    model.final_logits_bias.normal_()
    model.final_logits_bias[0, [BEGIN, PAD, UNKNOWN]] = -1e4  # our search never writes them
    ids = torch.randint(4, vocabulary, (articles, tokens))
    ids[:, 0], ids[:, -1] = BEGIN, END
    print(f"{preset}: {articles} articles of {tokens} tokens, beam {BEAM}, {threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, folder)
        searches = {OURS: our_search(model, ids), LIBRARY: library_search(folder, ids)}
        compare(searches, length // 2, length, rounds)
        searches[ENGINE] = engine_search(folder, ids, vocabulary, threads)
        compare(searches, length, length, rounds)


def _seconds(search: Search, shortest: int, longest: int) -> tuple[float, float]:
    """Return the seconds of a search, and those of processor time."""
    begin = time.perf_counter(), time.process_time()
    search(shortest, longest)
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


if __name__ == "__main__":
    command(main, __doc__)
