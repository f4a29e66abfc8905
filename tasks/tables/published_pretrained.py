"""The figures of Shen et al. 2023 and Akiyama et al. 2021, whose systems begin from pre-trained weights.

Our copy of Shen et al. 2023 has lost the row of LongT5 in Table 2; what its Table 6 says of Multi-News is given.
"""

from collections.abc import Sequence

from tasks.tables.published_table import F1, Figures, PublishedTable, Row

_CORPORA = (
    "Multi-News", "WCEP", "M-XSc", "RT", "MReD", "MReD+", "MeanOT", "Town", "Software", "Film"
)  # fmt: skip
_FROM_NOTHING = "Here every system is trained from nothing on one corpus; the paper's began from published weights."
_ONE_SIZE = "At small sizes BART(base)+HED is BART+HED."
_RATIOS: Sequence[tuple[int, Figures]] = (
    (16, (44.72, 21.73, 41.43)),
    (15, (44.95, 21.92, 41.68)),
    (14, (45.01, 21.92, 41.75)),
    (13, (44.91, 21.87, 41.64)),
    (12, (44.74, 21.66, 41.49)),
    (11, (44.88, 21.81, 41.62)),
    (10, (44.78, 21.75, 41.51)),
    (9, (44.70, 21.71, 41.46)),
    (8, (44.79, 21.77, 41.58)),
)

TABLES_OF_PRETRAINED: Sequence[PublishedTable] = (
    PublishedTable("003-2", "Summaries by HED", "Shen et al. 2023, Table 2", "rouge", ("R-1", "R-L"), (
        Row("LongT5, 250M", "longt5", (46.4, 24.5, *[None] * 18)),
        Row("BART(base)+HED, 139M", "hed-base", (
            47.1, 25.0, 44.8, 36.8, 31.9, 17.7, 26.8, 20.8, 32.2, 20.6,
            32.7, 20.8, 40.6, 33.7, 61.4, 57.7, 37.2, 28.6, 42.8, 35.9)),
        Row("LED, 435M", "led", (
            50.1, 25.0, 46.5, 37.6, 31.2, 16.6, 27.3, 20.7, 33.0, 19.1,
            34.3, 20.3, 45.4, 35.1, 62.3, 58.3, 42.1, 28.8, 44.8, 35.7)),
        Row("PRIMERA, 447M, by Xiao et al. 2022", "primera", (49.9, 25.9, 46.1, 37.9, 31.9, 18.0, *[None] * 14)),
        Row("PRIMERA, 447M", "primera", (
            49.0, 25.6, 46.2, 37.4, 31.9, 18.0, 27.4, 21.1, 29.6, 17.0,
            29.2, 16.5, 44.1, 35.6, 62.1, 58.3, 39.0, 28.4, 44.4, 36.9)),
        Row("BART, 406M", "bart", (
            47.4, 24.0, 42.8, 34.5, 31.5, 16.9, 26.1, 20.3, 32.9, 19.9,
            32.9, 20.1, 43.0, 34.9, 59.9, 56.3, 39.5, 28.7, 42.1, 34.4)),
        Row("BART+HED, 406M", "hed", (
            50.0, 25.8, 46.4, 37.8, 32.1, 17.6, 27.3, 21.1, 33.9, 20.9,
            34.0, 20.7, 43.5, 35.2, 61.9, 57.7, 40.5, 29.7, 43.8, 36.3)),
        Row("BART-cnn+HED, 406M", "hed-cnn", (
            51.1, 25.9, 47.0, 37.6, 34.7, 18.6, 27.6, 20.5, 34.1, 20.5,
            34.5, 20.6, 46.1, 35.4, 62.8, 58.3, 42.9, 29.7, 45.9, 36.6)),
    ), f"{_FROM_NOTHING} {_ONE_SIZE}", _CORPORA, digits=1),
    PublishedTable("003-5", "Parts of HED", "Shen et al. 2023, Table 5", "rouge", F1, (
        Row("BART", "bart", (None, None, None)),
        Row("+ <s>", "hed-1", (0.6, 0.7, 0.8), relative=True),
        Row("+ <s> + HAE", "hed-2", (0.9, 0.8, 0.8), relative=True),
        Row("+ <s> + HAE + PR", "hed-3", (1.0, 0.8, 0.7), relative=True),
        Row("+ <s> + HAE + HAD", "hed-4", (0.9, 1.0, 0.9), relative=True),
        Row("+ <s> + HAE + HAD + PR", "hed", (1.5, 1.3, 1.3), relative=True),
    ), f"Rows below the first are differences to it, published as means of ten corpora. {_FROM_NOTHING}",
        base="bart", digits=1),
    PublishedTable("003-11", "Summaries by HED, ROUGE-2", "Shen et al. 2023, Table 11", "rouge", ("R-2",), (
        Row("LongT5, 250M", "longt5", (18.6, 22.5, 6.5, 9.4, 8.6, 9.3, 23.1, 45.7, 18.5, 24.8)),
        Row("BART(base)+HED, 139M", "hed-base", (19.4, 23.9, 6.8, 9.6, 9.5, 9.4, 23.1, 47.1, 18.8, 25.2)),
        Row("LED, 435M", "led", (20.5, 24.7, 7.3, 9.9, 8.5, 9.4, 24.7, 47.9, 19.2, 25.0)),
        Row("PRIMERA, 447M, by Xiao et al. 2022", "primera", (21.1, 25.3, 7.4, *[None] * 7)),
        Row("PRIMERA, 447M", "primera", (20.5, 24.8, 7.4, 10.3, 7.3, 7.3, 25.4, 47.9, 19.2, 26.5)),
        Row("BART, 406M", "bart", (18.3, 21.6, 7.1, 9.4, 8.8, 9.1, 24.4, 45.6, 18.8, 23.2)),
        Row("BART+HED, 406M", "hed", (21.0, 24.7, 6.7, 9.7, 9.7, 9.7, 24.7, 47.7, 20.0, 25.7)),
        Row("BART-cnn+HED, 406M", "hed-cnn", (21.5, 24.8, 7.8, 9.4, 9.5, 9.7, 24.8, 47.8, 19.9, 25.8)),
    ), f"{_FROM_NOTHING} {_ONE_SIZE}", _CORPORA, digits=1),
    PublishedTable("004-1", "Summaries by Hie-BART", "Akiyama et al. 2021, Table 1", "rouge", F1, (
        Row("LEAD-3", "lead", (40.42, 17.62, 36.67)),
        Row("PTGEN", "ptgen", (36.44, 15.66, 33.42)),
        Row("PTGEN+COV", "ptgen-cov", (39.53, 17.28, 36.38)),
        Row("BERTSUMEXTABS", "bertsumextabs", (42.13, 19.60, 39.18)),
        Row("T5", "t5", (43.52, 21.55, 40.69)),
        Row("BART, by Lewis et al. 2020", "bart-cnn", (44.16, 21.28, 40.90)),
        Row("BART", "bart", (44.06, 21.22, 40.82)),
        Row("Hie-BART", "hie-bart", (44.35, 21.37, 41.05)),
    ), f"Published on CNN/Daily Mail; here Lead takes paragraphs. {_FROM_NOTHING}"),
    PublishedTable("004-2", "Heads for words and for sentences", "Akiyama et al. 2021, Table 2", "rouge", F1, tuple(
        Row(f"{words}:{16 - words}", f"hie-bart-{words}-{16 - words}", figures) for words, figures in _RATIOS
    ), f"Published on the validation articles of CNN/Daily Mail, here on test articles. {_FROM_NOTHING}"),
)  # fmt: skip
