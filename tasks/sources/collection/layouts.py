"""Where the published corpora of Shen et al. 2023 keep documents and summaries (their app. A names the downloads).

* multi-news (Fabbri et al. 2019, github.com/Alex-Fabbri/Multi-News): a line of `train.src` holds the documents of the
  same line of `train.tgt`. `|||||` ends a document, in the preprocessed release `story_separator_special_tag`;
  `NEWLINE_CHAR` stands for a line break.
* wcep-10 (Gholipour Ghalandari et al. 2020, github.com/complementizer/wcep-mds-dataset): an object per line with
  `id`, `summary` and `articles`, objects of `title`, `text` and `url`; the first ten are read (Xiao et al. 2022).
* multi-xscience (Lu et al. 2020, github.com/yaolu/Multi-XScience): an array of objects with `related_work`, the
  target, `abstract` and `ref_abstract`, an object of cite_N -> {`mid`, `abstract`}. Several rows share an `aid`. The
  paper's own abstract is the first document: without it there would be 4.4 of them, not 5.1.
* rotten-tomatoes (Wang & Ling 2016): an array of objects with `_movie_name`, `_movie_id`, `_critics`, an object of
  number -> sentence, and `_critic_consensus`. It has no splits.
* hed (github.com/DAMO-NLP-SG/HierEncDec, github.com/Shen-Chenhui/MReD): columns `text` and `summary`; `<REVBREAK>`
  separates documents, `<sep>` paragraphs. MReD, MReD+ and the four domains of Wikipedia are published like this.
* wikisum (`wikisum export`): `data/train-*.parquet` and so on, with `id`, `title`, `licence`, `group`,
  `summary` and `documents`, objects of `url`, `title` and `text`, whose lines are paragraphs; null = left out."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.sources.collection.settings import CollectionSettings, LayoutName


@dataclass(frozen=True)
class CollectionLayout:
    """The columns of a row."""

    documents: tuple[str, ...]  # columns of documents, in order: a string, a list, or an object of documents by name
    summary: str  # column of the target
    text: str = "text"  # field of a document that is an object
    title: str = ""  # column of the title; "" = none
    id: str = ""  # column of a unique name; "" = none
    split: str = "split"  # column of the split, which rows may lack: then it is that of the file's name
    # What stands between the documents of one string; none = the string is one document
    separators: tuple[str, ...] = ()
    line_break: str = ""  # what stands for a line break; "" = nothing does
    most: int | None = None  # documents read of a row; None = all
    licence: str = ""  # column of the licence of the summary; "" = none
    group: str = ""  # column of what a row belongs to, for the splits; "" = none
    lines: bool = False  # whether the lines of a document are its paragraphs as they stand, and those of a summary stay

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that every row has."""
        return (*self.documents, self.summary, *filter(None, (self.title, self.id, self.licence, self.group)))


SOURCE, TARGET = "src", "tgt"  # columns of parallel files, as their names call them

_PUBLISHED: Mapping[LayoutName, CollectionLayout] = {
    "multi-news": CollectionLayout(
        (SOURCE,), TARGET, separators=("|||||", "story_separator_special_tag"), line_break="NEWLINE_CHAR"
    ),
    "wcep-10": CollectionLayout(("articles",), "summary", id="id", most=10),
    "multi-xscience": CollectionLayout(("abstract", "ref_abstract"), "related_work", text="abstract"),
    "rotten-tomatoes": CollectionLayout(("_critics",), "_critic_consensus", title="_movie_name", id="_movie_id"),
    "hed": CollectionLayout(("text",), "summary", separators=("<REVBREAK>",), line_break="<sep>"),
    "wikisum": CollectionLayout(
        ("documents",), "summary", title="title", id="id", licence="licence", group="group", lines=True
    ),
}


def layout_of(settings: CollectionSettings) -> CollectionLayout:
    """Return the chosen layout: a published one, or the columns of the settings."""
    if settings.layout != "columns":
        return _PUBLISHED[settings.layout]
    separators = (settings.separator,) if settings.separator else ()
    return CollectionLayout(
        (settings.documents,), settings.summary, title=settings.title, id=settings.id, separators=separators
    )
