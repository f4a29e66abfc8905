"""The engine's result of each stage as a type of its own, so that mypy refuses a stage where another belongs."""

from typing import NewType

from tasks.engine.recipe import DirectoryResult, StageResult

# Articles, and the documents that their source contains.
Articles = NewType("Articles", StageResult)
GivenDocuments = NewType("GivenDocuments", StageResult)
# Pages: what searches find, the URLs of all articles, where archives have them, and what was fetched.
SearchResults = NewType("SearchResults", StageResult)
Frontier = NewType("Frontier", StageResult)
Captures = NewType("Captures", StageResult)
IndexedCaptures = NewType("IndexedCaptures", StageResult)
FetchedPages = NewType("FetchedPages", StageResult)
# Texts: those of the pages, their paragraphs, what articles share, and the paragraphs after it was refused.
Documents = NewType("Documents", StageResult)
Paragraphs = NewType("Paragraphs", StageResult)
Overlaps = NewType("Overlaps", StageResult)
Compared = NewType("Compared", StageResult)
Features = NewType("Features", StageResult)
VocabularyTable = NewType("VocabularyTable", StageResult)
# The order of the paragraphs, and what a summarizer reads.
RankerModel = NewType("RankerModel", DirectoryResult)
Ranked = NewType("Ranked", StageResult)
RankingScores = NewType("RankingScores", StageResult)
Graphs = NewType("Graphs", StageResult)
Examples = NewType("Examples", StageResult)
# A summarizer, what its encoder was first trained in, the predictor of its attention, and a checkpoint to start from
# with the passages it was trained on.
SummarizerModel = NewType("SummarizerModel", DirectoryResult)
ExtractorModel = NewType("ExtractorModel", DirectoryResult)
PredictorModel = NewType("PredictorModel", DirectoryResult)
Passages = NewType("Passages", StageResult)
PretrainedModel = NewType("PretrainedModel", DirectoryResult)
# Summaries of the test articles, by systems without training, by models, by a language model; their scores; the report.
Baselines = NewType("Baselines", StageResult)
BaselineScores = NewType("BaselineScores", StageResult)
Predictions = NewType("Predictions", StageResult)
WriterSummaries = NewType("WriterSummaries", StageResult)
Scores = NewType("Scores", StageResult)
WriterScores = NewType("WriterScores", StageResult)
Report = NewType("Report", DirectoryResult)
