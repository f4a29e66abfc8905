"""What the small model of `--writer local` writes about three piles of our own, and how long it takes.

    python -m benchmarks.local_writer [--writer FOLDER]

Prints each answer, which of its sentences are kept, and the summary. Whether a sentence is true is read by people:
benchmarks/studies/local_writer.md has our reading."""

import argparse
import time
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow.fs import LocalFileSystem

from tasks.chat.completions import NoAnswerError
from tasks.crawl.answers import Answers
from tasks.writing.messages import one_messages
from tasks.writing.one_by_one import ANSWER
from tasks.writing.reading import read_whole_sentences
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import open_writer

PILES = Path(__file__).parents[1] / "tests" / "tasks" / "writing" / "piles.toml"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", default="local", help="folder or GGUF file")
    settings = WriterSettings.model_validate({"folder": parser.parse_args().writer, "one_by_one": True})
    begun = time.monotonic()
    with (
        TemporaryDirectory() as folder,
        open_writer(settings, words=150, language="en", answers=Answers(LocalFileSystem(), folder, rows=1)) as writer,
    ):
        print(f"loaded in {time.monotonic() - begun:.0f} s")
        for pile in tomllib.loads(PILES.read_text())["piles"]:
            title, passages = pile["title"], pile["passages"]
            begun = time.monotonic()
            try:
                written = writer.write(title, passages)
                kept = {one.text: one.ranks for one in written.sections[0][1]}
            except NoAnswerError as fault:
                kept = {}
                print(f"no summary: {fault}")
            print(f"\n## {title}: {time.monotonic() - begun:.0f} s, {len(passages)} passages, {len(kept)} kept")
            for passage in passages:
                answer = writer.client.ask(one_messages(title, passage, "en"), **writer.fields(ANSWER))  # it is kept
                for text in read_whole_sentences(answer.text, cut=answer.cut):
                    print(f"{'kept' if text in kept else 'left out'}: {text}", flush=True)
            for text, ranks in kept.items():
                print(f"- {text} [{', '.join(str(rank + 1) for rank in ranks)}]", flush=True)


if __name__ == "__main__":
    main()
