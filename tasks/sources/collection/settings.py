"""Settings of published summarization corpora."""

from typing import Literal

from pydantic import Field

from tasks.engine.settings import Settings

LayoutName = Literal["columns", "multi-news", "wcep-10", "multi-xscience", "rotten-tomatoes", "hed", "wikisum"]


class CollectionSettings(Settings):
    """Which files, in which layout. Splits are those of a column `split`, else those in the files' names: train; valid,
    validation, val or dev; test. Without any, articles are split by a hash."""

    layout: LayoutName = "columns"
    """columns: any JSONL, JSON, CSV or Parquet with the columns named below; multi-news: train.src and train.tgt;
    wcep-10: train.jsonl.gz; multi-xscience: train.json.gz; rotten-tomatoes: rottentomatoes.json; hed: the files of Shen
    et al. 2023, such as mred/train.csv or Film/train.csv; wikisum: data/*.parquet of `wikisum export`"""
    paths: tuple[str, ...] = ()
    """files, text also gzip (.gz); a path may hold *, ? or [ ]; of parallel files the .src ones"""
    documents: str = "documents"
    """in layout columns, the column of the documents: a list of strings or of objects with `text`, or one string"""
    separator: str = ""
    """in layout columns, what stands between the documents of one string; empty = one document"""
    summary: str = "summary"
    """in layout columns, the column of the summary"""
    title: str = ""
    """in layout columns, the column of the title; empty = the beginning of the first document"""
    id: str = ""
    """in layout columns, the column of a unique name; empty = file and row"""
    paragraph_words: int | None = Field(100, ge=1)
    """words a paragraph has at most: a longer one is cut between sentences; null = a document is one paragraph, as its
    models read it in Shen et al. 2023, sec. 3"""
