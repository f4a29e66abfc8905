"""The vocabulary stage: one model, estimated on a sample of the training split (Liu & Lapata 2019, sec. 4), or the
tokenizer of a pre-trained summarizer. Text of the valid and test splits is never read. The sample depends only on the
seed and on the ids of articles and paragraphs, so neither the number of shards nor their order changes the model."""

import heapq
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sentencepiece
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.tokenization.contract import Specials
from models.tokenization.huggingface_tokenizer import document_of, read_tokenizer
from models.tokenization.sentencepiece_model import (
    BEGIN,
    END,
    PAD,
    PARAGRAPH_MARK,
    SENTENCE_MARK,
    TITLE_MARK,
    UNK,
    keep_values,
)
from models.vocabulary import Vocabulary
from storage.schemas import VOCABULARY
from tasks.engine.hashing import stable_hash
from tasks.ranking.candidates import candidates
from tasks.summarization.settings import VocabularySettings

_LINE_BYTES = 4192  # longest line given to SentencePiece, its own default; longer texts are cut at spaces
# In the sample, leads with their titles; SentencePiece takes some 20 bytes of memory for each character: 1 GB together.
LEAD_CHARACTERS, PARAGRAPH_CHARACTERS = 20_000_000, 30_000_000
_NO_TEXT = "no text to estimate a vocabulary on: the training split has no kept articles"


class _Sample:
    """Keeps the texts with the lowest draws, as few as have `characters` together, in whatever order they arrive."""

    def __init__(self, characters: int) -> None:
        self._wanted = characters
        self._held = 0
        self._heap: list[tuple[int, str, str]] = []  # highest draw on top, hence negated

    @property
    def bound(self) -> int:
        """A text is kept only if its draw is below this."""
        if not self._wanted:
            return 0
        return -self._heap[0][0] if self._held >= self._wanted else 2**64

    def add(self, drawn: int, name: str, text: str) -> None:
        """Keep a text whose draw is below `bound`, and remove those that are no longer needed."""
        heapq.heappush(self._heap, (-drawn, name, text))
        self._held += len(text)
        while self._held - len(self._heap[0][2]) >= self._wanted:
            self._held -= len(heapq.heappop(self._heap)[2])

    def drain(self) -> Iterator[str]:
        """Yield the texts in order of their draws, removing each."""
        self._heap.sort()
        while self._heap:
            yield self._heap.pop()[2]


def train_vocabulary(
    shards: Iterable[tuple[pa.Table, pa.Table]],
    settings: VocabularySettings,
    *,
    seed: int,
    lead_characters: int = LEAD_CHARACTERS,
    paragraph_characters: int = PARAGRAPH_CHARACTERS,
) -> pa.Table:
    """Estimate the vocabulary and return it as a VOCABULARY table of one row; the same input gives the same bytes.
    Shards are pairs of an ARTICLES and a PARAGRAPHS table, of which the kept rows of the training split are used. They
    are read once: one shard and the sample are in memory, later the sample and SentencePiece's data. The seed decides
    which texts are sampled. Raises ValueError: the training text is empty, or has more distinct characters than
    `pieces` allows."""
    leads, paragraphs = _Sample(lead_characters), _Sample(paragraph_characters)
    for articles_table, paragraphs_table in shards:
        _sample_leads(leads, articles_table, seed)
        _sample_paragraphs(paragraphs, articles_table, paragraphs_table, seed)
        articles_table = paragraphs_table = None  # frees their memory for the next shard and for SentencePiece
    pa.default_memory_pool().release_unused()
    lines = _Lines([leads, paragraphs])
    return _table(_estimate(lines, settings), lines.count)


def adopt_vocabulary(folder: str) -> pa.Table:
    """Return a local folder's tokenizer as a VOCABULARY row. Raises ValueError: it has none that can be read."""
    return _table(read_tokenizer(Path(folder)), None)


def _table(model: bytes, sentences: int | None) -> pa.Table:
    row = {"model": [model], "pieces": [Vocabulary(model).size], "sentences": [sentences]}
    return pa.table(row, schema=VOCABULARY.schema)


def _sample_leads(sample: _Sample, articles: pa.Table, seed: int) -> None:
    wanted = pc.and_(pc.equal(articles["split"], "train"), pc.is_null(articles["drop_reason"]))
    columns = (articles[name].filter(wanted).to_pylist() for name in ("article_id", "title", "lead"))
    for article_id, title, lead in zip(*columns, strict=True):
        drawn = stable_hash(seed, "vocabulary", "lead", article_id)
        if drawn < sample.bound:
            sample.add(drawn, article_id, f"{title}\n{lead}")


def _sample_paragraphs(sample: _Sample, articles: pa.Table, paragraphs: pa.Table, seed: int) -> None:
    """Draw for every kept paragraph; texts become Python strings only if they enter the sample."""
    chosen = candidates(articles, paragraphs, "train")
    drawn = chosen.draw(seed, "vocabulary", "paragraph")
    for index in np.argsort(drawn, kind="stable"):
        if int(drawn[index]) >= sample.bound:
            break
        name = f"{chosen.ids[chosen.article[index]]}/{chosen.number[index]}"
        sample.add(int(drawn[index]), name, paragraphs["text"][int(chosen.row[index])].as_py())


class _Lines:
    """The lines of samples, cut to the length that SentencePiece reads; `count` is the number of lines read."""

    def __init__(self, samples: list[_Sample]) -> None:
        self._samples = samples
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for sample in self._samples:
            for text in sample.drain():
                for line in text.splitlines():
                    for piece in _cut(keep_values(line).strip().replace("\0", " "), _LINE_BYTES):
                        self.count += 1
                        yield piece


def _cut(line: str, size: int) -> Iterator[str]:
    """Cut a line at spaces into pieces of at most `size` UTF-8 bytes; a longer word is cut anywhere."""
    rest = line.encode()
    while len(rest) > size:
        end = rest.rfind(b" ", 0, size + 1)
        head = rest[: end if end > 0 else size].decode(errors="ignore")
        yield head
        rest = rest[len(head.encode()) :].lstrip(b" ")
    if rest:
        yield rest.decode()


def _estimate(lines: _Lines, settings: VocabularySettings) -> bytes:
    if settings.model_type == "byte-bpe":
        model = estimate_byte_level(lines, settings.pieces)
        if not lines.count:
            raise ValueError(_NO_TEXT)
        return model
    writer = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=writer,
            model_type=settings.model_type,
            vocab_size=settings.pieces,
            hard_vocab_limit=False,  # a small corpus gets fewer pieces instead of an error
            normalization_rule_name="nmt_nfkc",  # NFKC and single spaces
            character_coverage=settings.character_coverage,
            byte_fallback=True,  # rare names are spelt out, so that they can be copied and nothing is <unk>
            split_digits=False,  # years and the like are one piece, as in the papers
            max_sentence_length=_LINE_BYTES,
            num_threads=settings.threads,
            pad_id=0,
            pad_piece=PAD,
            unk_id=1,
            unk_piece=UNK,
            bos_id=2,
            bos_piece=BEGIN,
            eos_id=3,
            eos_piece=END,
            control_symbols=[TITLE_MARK, PARAGRAPH_MARK, SENTENCE_MARK],
            minloglevel=2,
        )
    except RuntimeError as error:
        if not lines.count:
            raise ValueError(_NO_TEXT) from error
        raise ValueError(
            f"SentencePiece found no vocabulary of {settings.pieces} pieces for {lines.count} lines: {error}"
        ) from error
    return writer.getvalue()


_FIRST, _MASK = ("<s>", "<pad>", "</s>", "<unk>"), "<mask>"  # ids 0 to 3, and the last one, as in BART


def estimate_byte_level(lines: Iterable[str], pieces: int) -> bytes:
    """Return the document of a tokenizer (`models.tokenization.huggingface_tokenizer`); the same lines give the same.
    It has so many pieces, special ones and the 256 bytes included; fewer where the texts have fewer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces - 1,
        special_tokens=list(_FIRST),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # With a space before each text, as the vocabulary encodes it.
    tokenizer.train_from_iterator((f" {line}" for line in lines), trainer)
    tokenizer.add_special_tokens([_MASK])
    begin, pad, end, unk = range(len(_FIRST))
    specials = Specials(
        pad=pad,
        begin=end,
        end=end,
        unk=unk,
        source_begin=begin,
        source_end=end,
        target_begin=begin,
        mask=tokenizer.token_to_id(_MASK),
    )
    return document_of(json.loads(tokenizer.to_str()), specials)
