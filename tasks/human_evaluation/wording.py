"""What raters are asked, in words that need no training."""

from collections.abc import Mapping

from tasks.human_evaluation.settings import Criterion, Task

# The three criteria of the overall choice are those of Liu & Lapata 2019, sec. 5.
INSTRUCTIONS: Mapping[Task, str] = {
    "qa": "Read the text, then answer each question from the text alone, even if you know better. If the text does not "
    "give the answer, do not guess: each question has a way to say so.",
    "best-worst": "Choose the best and the worst of the texts. A good text gives the important facts about the subject "
    "(informative), reads well and has no errors of grammar (fluent), and does not repeat itself (succinct).",
    "ratings": "Rate each text on every scale, from 1 (very poor) to 5 (very good).",
}
COMPARED = "The reference was written by people: judge the texts against it."
# The first four after Ma & Zong 2020, the others after Shen et al. 2023, sec. 6.2 and app. E.
CRITERIA: Mapping[Criterion, tuple[str, str]] = {
    "informativeness": ("Informativeness", "Does it give the important facts about the subject?"),
    "fluency": ("Fluency", "Does it read well, without errors of grammar?"),
    "conciseness": ("Conciseness", "Is it free of repetition and needless words?"),
    "consistency": ("Factual consistency", "Is it free of wrong dates, places and other errors of fact?"),
    "relevance": ("Relevance", "Does it choose the important content of the sources?"),
    "abstractiveness": ("Abstractiveness", "Does it say things in its own words, rather than copy the sources?"),
    "salience": ("Salience", "Does it say what many of the sources say?"),
    "coverage": ("Coverage", "Does it draw on many of the sources, not on one or two?"),
}
ON_SOURCES: frozenset[Criterion] = frozenset({"relevance", "abstractiveness", "salience", "coverage"})
LEVELS = {1: "very poor", 2: "poor", 3: "fair", 4: "good", 5: "very good"}
