"""What a small language model learns from a corpus: to write one true sentence about one passage.

    python -m benchmarks.teach_writer DATA FOLDER [--model local] [--epochs 3] [--pairs 1000] [--words 220] [--count 60]

It teaches pairs of a passage and a sentence that the passage supports. Some are claims of WiCE that people marked as
supported, with their evidence. Others are sentences of articles and of summaries of papers, with the passage that the
verifier finds for them. Half of the pairs at most are copies. `--pairs` limits the number of pairs, and `--words` the
length of a passage. LoRA adapters (Hu et al. 2021) learn them under the request that the product sends for one passage.
FOLDER then has the model with the adapters in its weights, so that `wikisum summarize --writer.folder FOLDER` writes
with it.

It prints what the model writes about `--count` passages of articles that taught nothing, before and after. It says of
each sentence whether the check keeps it, and whether it is in the model's own words: the passage lacks 30 % of its runs
of four words or more. A reader must say whether it is true."""

import gzip
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import OptionError, command
from benchmarks.verifiers.corpora import passages
from benchmarks.verifiers.model_text import OWN, new_runs
from benchmarks.verifiers.wice import read_claims
from models.sentences import split_sentences
from tasks.engine.hashing import Dice
from tasks.ranking.folders import load_model
from tasks.verification.verifier import shipped
from tasks.writing.checking import Checker
from tasks.writing.local_model import LocalModel, model_file
from tasks.writing.messages import one_messages
from tasks.writing.one_by_one import ANSWER
from tasks.writing.reading import Draft, read_whole_sentences

WORDS = range(8, 41)  # of a sentence that teaches
RANK, RATE, BATCH = 16, 5e-4, 4


@dataclass(frozen=True)
class Pair:
    """A passage about a title, and a sentence that it supports."""

    title: str
    passage: str
    sentence: str

    @property
    def own(self) -> bool:
        """Whether the sentence is in other words than the passage."""
        return new_runs(self.sentence, self.passage) >= OWN


def main(
    data: str, folder: str, model: str = "local", epochs: int = 3, pairs: int = 1000, words: int = 220, count: int = 60
) -> int:
    """Teach, and print what is written; status 1 if no sentence is kept."""
    if Path(folder).exists():
        raise OptionError(f"expected a folder that does not exist yet, got {folder}")
    every = [*_of_wice(Path(data)), *_of_articles(Path(data)), *_of_papers(Path(data))]
    taught = _mixed([pair for pair in every if len(pair.passage.split()) <= words])[:pairs]
    print(f"{len(taught)} pairs, {sum(pair.own for pair in taught)} in other words", flush=True)
    unseen = Dice("teach writer").sample([text for text in passages(Path(data)) if not text.teaches], count)
    asked = [("" if text.corpus == "scisummnet" else text.article.replace("_", " "), text.text) for text in unseen]
    before = _write(model, asked)
    _teach(model, taught, epochs, Path(folder))
    after = _write(folder, asked)
    return int(before + after == 0)


def _of_wice(data: Path) -> Iterator[Pair]:
    for claim in read_claims(data / "wice" / "claim-dev.jsonl.gz"):
        if claim["label"] == "supported":
            lines = sorted(min(claim["supporting_sentences"], key=len))
            evidence = " ".join(claim["evidence"][line].split(": ", 1)[-1].lstrip("# ") for line in lines)
            yield Pair(claim["meta"]["claim_title"], evidence, claim["claim"])


def _of_articles(data: Path) -> Iterator[Pair]:
    sources = defaultdict(list)
    for passage in passages(data):
        if passage.corpus == "wikigraph" and passage.teaches:
            sources[passage.article].append(passage.text)
    with (data / "wikigraph" / "articles.jsonl").open(encoding="utf-8") as lines:
        for topic in filter(lambda topic: topic["group"] in sources, map(json.loads, lines)):
            yield from _supported(topic["title"], topic["lead"], sources[topic["group"]])


def _of_papers(data: Path) -> Iterator[Pair]:
    taught = {passage.text for passage in passages(data) if passage.corpus == "scisummnet" and passage.teaches}
    with gzip.open(data / "scisummnet_mds.jsonl.gz", "rt", encoding="utf-8") as lines:
        for paper in map(json.loads, lines):
            abstract = " ".join(paper["abstract"].split())
            if abstract in taught:
                yield from _supported(paper["title"], paper["summary"], [abstract])


def _supported(title: str, text: str, texts: Sequence[str]) -> Iterator[Pair]:
    for sentence in split_sentences(text):
        if len(sentence.split()) in WORDS:
            finding = shipped().finding(sentence, texts, title)
            if len(finding.passages) == 1:
                yield Pair(title, texts[finding.passages[0]], sentence)


def _mixed(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs in random order, with as many copies as sentences in other words at most."""
    own = [pair for pair in pairs if pair.own]
    copies = [pair for pair in pairs if not pair.own]
    dice = random.Random(0)
    mixed = [*own, *dice.sample(copies, min(len(copies), len(own)))]
    dice.shuffle(mixed)
    return mixed


def _teach(model: str, pairs: Sequence[Pair], epochs: int, folder: Path) -> None:
    """Learn the pairs, and write the model with what it learned to a folder."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    path = model_file(model)
    base, tokenizer = load_model(
        "AutoModelForCausalLM", *((str(path), None) if path.is_dir() else (str(path.parent), path.name))
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # The model's own weights do not learn: as bfloat16, with plain attention, a step takes two thirds of the time here.
    base = base.to(device, torch.bfloat16)
    base.set_attn_implementation("eager")
    adapted = get_peft_model(base, LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear"))
    for weights in adapted.parameters():
        weights.data = weights.data.float() if weights.requires_grad else weights.data
    adapted.train()
    optimizer = torch.optim.AdamW((p for p in adapted.parameters() if p.requires_grad), lr=RATE)
    steps = epochs * len(pairs) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    every = [_tokens(tokenizer, pair) for pair in pairs]
    started, losses = time.monotonic(), []
    for step in range(steps):
        total = 0.0
        for row in range(step * BATCH, (step + 1) * BATCH):
            ids, asked = every[row % len(every)]
            labels = torch.tensor([[-100] * asked + ids[asked:]], device=device)
            with torch.autocast(device, torch.bfloat16):
                loss = adapted(input_ids=torch.tensor([ids], device=device), labels=labels).loss / BATCH
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(adapted.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(total)
        if (step + 1) % 20 == 0 or step + 1 == steps:
            mean = sum(losses[-20:]) / len(losses[-20:])
            print(f"step {step + 1} of {steps}: loss {mean:.3f}, {time.monotonic() - started:.0f} s", flush=True)
    adapted.merge_and_unload().float().to("cpu").save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokens(tokenizer: Any, pair: Pair) -> tuple[list[int], int]:
    """Return the token ids of a request with its answer, and how many are the request's."""
    messages = one_messages(pair.title, pair.passage, None)
    request = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    asked = tokenizer(request, add_special_tokens=False).input_ids
    answer = tokenizer(pair.sentence + tokenizer.eos_token, add_special_tokens=False).input_ids
    return [*asked, *answer], len(asked)


def _write(model: str, asked: Sequence[tuple[str, str]]) -> int:
    """Print each sentence that a model writes, and a line of counts; return how many sentences the check keeps."""
    writer, counts, started = LocalModel(model, model), defaultdict[str, int](int), time.monotonic()
    for title, passage in asked:
        answer, _ = writer.chat(
            {"messages": one_messages(title, passage, None), "max_tokens": ANSWER}, lambda _tokens: None
        )
        drafts = [Draft(text, (0,)) for text in read_whole_sentences(answer.text, cut=answer.cut)]
        for item in Checker(title, [passage], 1).check(drafts):
            own = Pair(title, passage, item.draft.text).own
            kept = "kept" if item.supported else "left out"
            counts["sentences"] += 1
            counts["in its own words"] += own
            counts["kept"] += item.supported
            counts["kept, in its own words"] += item.supported and own
            print(json.dumps([model, title, passage, item.draft.text, kept, "own words" if own else "copy"]))
    print(f"{model}: {dict(counts)}, {time.monotonic() - started:.0f} s", flush=True)
    return counts["kept"]


if __name__ == "__main__":
    command(main, __doc__)
