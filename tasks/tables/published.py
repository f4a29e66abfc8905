"""The figures in the papers' tables, and the system that corresponds to each row.

Our copy of Ma & Zong 2020 lacks its tables, so only figures stated in its text are given. Those of Shen et al. 2023 and
Akiyama et al. 2021 are in `published_pretrained.py`.
"""

from collections.abc import Sequence

from tasks.tables.published_pretrained import TABLES_OF_PRETRAINED
from tasks.tables.published_table import F1, Figures, PublishedTable, Row

_UNKNOWN: Figures = (None, None, None)
_LOST = "Our copy of this paper lacks its tables; a dash is a figure that its text does not state."
_WHITESPACE = (
    "The released scores of Ma & Zong 2020 and 2022 are whitespace ROUGE on decoded tokens: compare how rows relate."
)

PUBLISHED: Sequence[PublishedTable] = (
    PublishedTable(
        "000-1",
        "Ranking paragraphs",
        "Liu & Lapata 2019, Table 1",
        "recall",
        ("5", "10", "20", "40"),
        (
            Row("Similarity", "similarity", (24.86, 32.43, 40.87, 49.49)),
            Row("Ranking", "ranking", (39.38, 46.74, 53.84, 60.42)),
        ),
    ),
    PublishedTable(
        "000-2",
        "Summaries of WikiSum",
        "Liu & Lapata 2019, Table 2",
        "rouge",
        F1,
        (
            Row("Lead", "lead", (38.22, 16.85, 26.89)),
            Row("LexRank", "lexrank", (36.12, 11.67, 22.52)),
            Row("FT (600 tokens, no ranking)", "ft-600-unranked", (35.46, 20.26, 30.65)),
            Row("FT (600 tokens)", "ft-600", (40.46, 25.26, 34.65)),
            Row("FT (800 tokens)", "ft-800", (40.56, 25.35, 34.73)),
            Row("FT (1,200 tokens)", "ft-1200", (39.55, 24.63, 33.99)),
            Row("T-DMCA (3,000 tokens)", "t-dmca", (40.77, 25.60, 34.90)),
            Row("HT (1,600 tokens)", "ht", (40.82, 25.99, 35.08)),
            Row("HT + similarity graph", "ht-similarity", (40.80, 25.95, 35.08)),
            Row("HT + discourse graph", "ht-discourse", (40.81, 25.95, 35.24)),
            Row("HT (trained on 1,600, tested on 3,000 tokens)", "ht-3000", (41.53, 26.52, 35.76)),
        ),
    ),
    PublishedTable(
        "000-3",
        "Parts of HT left out",
        "Liu & Lapata 2019, Table 3",
        "rouge",
        F1,
        (
            Row("HT", "ht", (40.82, 25.99, 35.08)),
            Row("HT without paragraph position", "ht-no-positions", (40.21, 24.54, 34.71)),
            Row("HT without multi-head pooling", "ht-one-head", (39.90, 24.34, 34.61)),
            Row("HT without global layers", "ht-no-global", (39.01, 22.97, 33.76)),
        ),
    ),
    PublishedTable(
        "001-1",
        "Attention to paragraphs",
        "Ma & Zong 2020, Table 1",
        "attention",
        ("cosine",),
        (
            Row("Lead", "lead", (None,)),
            Row("FT", "ft-3", (None,)),
            Row("T-DMCA", "t-dmca-3", (None,)),
            Row("Transformer-XL", "transformer-xl", (None,)),
            Row("HT", "ht-3", (None,)),
            Row("PHT", "pht", (None,)),
            Row("VHT", "vht", (0.9142,)),
        ),
        _LOST,
    ),
    PublishedTable(
        "001-2",
        "Summaries by PHT and VHT",
        "Ma & Zong 2020, Table 2",
        "rouge",
        F1,
        (
            Row("Lead", "lead", _UNKNOWN),
            Row("FT", "ft-3", _UNKNOWN),
            Row("T-DMCA", "t-dmca-3", _UNKNOWN),
            Row("Transformer-XL", "transformer-xl", _UNKNOWN),
            Row("HT", "ht-3", _UNKNOWN),
            Row("1-layer PHT", "pht-1", _UNKNOWN),
            Row("PHT", "pht", _UNKNOWN),
            Row("1-layer VHT", "vht-1", _UNKNOWN),
            Row("VHT", "vht", _UNKNOWN),
        ),
        f"{_LOST} {_WHITESPACE}",
    ),
    PublishedTable(
        "001-4",
        "Efficiency",
        "Ma & Zong 2020, Table 4",
        "efficiency",
        ("largest batch", "parameters, MB", "validation, s"),
        (
            Row("FT", "ft-3", _UNKNOWN),
            Row("T-DMCA", "t-dmca-3", _UNKNOWN),
            Row("Transformer-XL", "transformer-xl", _UNKNOWN),
            Row("HT", "ht-3", _UNKNOWN),
            Row("PHT", "pht", _UNKNOWN),
            Row("VHT", "vht", _UNKNOWN),
        ),
        _LOST,
    ),
    PublishedTable(
        "002-1",
        "Summaries by PHT",
        "Ma & Zong 2022, Table 1",
        "rouge",
        F1,
        (
            Row("Lead", "lead", (36.40, 16.66, 32.95)),
            Row("FT", "ft-3", (40.30, 18.67, 32.84)),
            Row("T-DMCA", "t-dmca-3", (41.09, 19.78, 33.31)),
            Row("Transformer-XL", "transformer-xl", (41.11, 19.81, 33.72)),
            Row("HT", "ht-3", (40.83, 19.41, 33.26)),
            Row("1-layer PHT", "pht-1", (41.02, 19.82, 33.28)),
            Row("PHT", "pht", (41.99, 20.44, 34.50)),
        ),
        _WHITESPACE,
    ),
    PublishedTable(
        "002-2",
        "Ways to decode PHT",
        "Ma & Zong 2022, Table 2",
        "rouge",
        F1,
        (
            Row("PHT, beam search", "pht", (41.99, 20.44, 34.50)),
            Row("PHT + strCov", "pht-strcov", (41.74, 20.25, 33.88)),
            Row("PHT + extProb", "pht-extprob", (42.17, 20.46, 34.79)),
            Row("PHT + attAlign", "pht-attalign", (42.58, 20.84, 35.66)),
        ),
        _WHITESPACE,
    ),
    PublishedTable(
        "002-4",
        "Attention to paragraphs",
        "Ma & Zong 2022, Table 4",
        "attention",
        ("cosine",),
        (
            Row("Lead", "lead", (0.8098,)),
            Row("FT", "ft-3", (0.8143,)),
            Row("T-DMCA", "t-dmca-3", (0.8654,)),
            Row("Transformer-XL", "transformer-xl", (0.8447,)),
            Row("HT", "ht-3", (0.8769,)),
            Row("PHT", "pht", (0.8936,)),
        ),
    ),
    PublishedTable(
        "002-5",
        "Efficiency",
        "Ma & Zong 2022, Table 5",
        "efficiency",
        ("largest batch", "parameters, MB", "validation, s"),
        (
            Row("FT", "ft-3", (11, 165.0, 634)),
            Row("T-DMCA", "t-dmca-3", (10, 131.1, 656)),
            Row("Transformer-XL", "transformer-xl", (8, 130.4, 489)),
            Row("HT", "ht-3", (11, 190.8, 639)),
            Row("PHT", "pht", (17, 182.4, 601)),
        ),
        "Published: batch on 11 GB, seconds for 38,144 validation samples.",
    ),
    PublishedTable(
        "002-6",
        "Compression by predicted attention",
        "Ma & Zong 2022, Table 6",
        "rouge",
        tuple(f"{name} {kind}" for name in F1 for kind in ("F1", "P", "R")),
        (
            Row("s = 5", "pht-attalign-5", (-2.1, -3.3, -1.2, -2.0, -2.5, -1.8, -2.1, -3.8, -1.5), relative=True),
            Row("s = 10", "pht-attalign-10", (-1.2, -3.0, -0.2, -1.2, -2.2, -0.9, -1.3, -3.4, -0.5), relative=True),
            Row("s = 15", "pht-attalign-15", (-0.4, -2.6, 0.7, -0.5, -1.9, 0.0, -0.1, -2.7, 0.5), relative=True),
            Row("s = 20", "pht-attalign-20", (0.0, -1.5, 0.7, -0.1, -1.2, 0.2, 0.2, -1.9, 0.5), relative=True),
            Row("s = 25", "pht-attalign-25", (0.1, -0.9, 0.6, -0.1, -0.8, 0.3, 0.1, -1.0, 0.5), relative=True),
            Row("s = 30, all", "pht-attalign", (42.6, 58.6, 37.8, 20.8, 30.6, 18.5, 35.7, 55.6, 35.9)),
        ),
        f"Rows above the last are differences to it. {_WHITESPACE}",
        base="pht-attalign",
        digits=1,
    ),
    *TABLES_OF_PRETRAINED,
)
