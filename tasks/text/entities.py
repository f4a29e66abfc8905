"""Named entities of paragraphs with spaCy (Liu & Lapata 2019, app. A.2): by any installed pipeline, or by capitals
alone.

The default, `rules`, is a spaCy pipeline of a blank English tokenizer and the component below; it needs no download,
and finds names but not their types. A trained one, such as `en_core_web_sm`, is loaded by name if it is installed."""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from tasks.text.names import VERSION, find_names

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RULES = "rules"
# The nine types of Liu & Lapata 2019, app. A.2.
ENTITY_TYPES = ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART", "LAW")
_UNTYPED = "NAME"
# Components that entity recognition does not need; without them a trained pipeline is about twice as fast.
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "morphologizer", "senter")
# spaCy keeps every word it has seen. A pipeline with more than this many is loaded anew for the next shard. spaCy's
# memory zones, made for this, switch the tokenizer's cache off and make it four times slower.
_STRINGS = 500_000


@lru_cache(maxsize=2)
def load_pipeline(name: str) -> "Language":
    """Return a spaCy pipeline; `rules` is the shipped one. Raises ValueError: it is missing, or finds no entities."""
    import spacy  # here, because it takes seconds, and settings import this module

    if name == RULES:
        nlp = spacy.blank("en")
        spacy.Language.component("wikisum_rules", assigns=["doc.ents"], func=_mark_names)
        nlp.add_pipe("wikisum_rules")
        nlp.meta["name"], nlp.meta["version"] = RULES, VERSION
        return nlp
    try:
        nlp = spacy.load(name, exclude=list(_UNUSED))
    except OSError as error:
        raise ValueError(
            f"spaCy pipeline {name!r} is not installed: run `python -m spacy download {name}`, "
            f"or set spacy_pipeline to {RULES!r}, which needs no download"
        ) from error
    if not any("doc.ents" in nlp.get_pipe_meta(pipe).assigns for pipe in nlp.pipe_names):
        raise ValueError(f"spaCy pipeline {name!r} finds no entities: expected one with `ner`, it has {nlp.pipe_names}")
    return nlp


def _mark_names(doc: "Doc") -> "Doc":
    """Set `doc.ents` to the names of `tasks/text/names.py`."""
    doc.ents = [(_UNTYPED, name.start, name.stop) for name in find_names([token.text for token in doc])]
    return doc


def pipeline_name(name: str) -> str:
    """Return name and version of a pipeline and of spaCy, for records and the report."""
    if name == RULES:
        full, made = RULES, VERSION
    else:
        meta = load_pipeline(name).meta
        full, made = f"{meta['lang']}_{meta['name']}", meta["version"]
    return f"{full} {made} (spaCy {version('spacy')})"


def pipeline_label(pipeline: str, types: Collection[str]) -> str:
    """Return a pipeline as `pipeline_name` does, after `check_types`, whose errors it raises."""
    check_types(pipeline, types)
    return pipeline_name(pipeline)


def check_types(pipeline: str, types: Collection[str]) -> None:
    """Check that a pipeline finds all given types. Raises ValueError: it does not, or cannot be used."""
    if pipeline == RULES:  # spaCy itself is not needed to say so, and takes seconds to import
        found = set(ENTITY_TYPES)
    else:
        found = {label for labels in load_pipeline(pipeline).pipe_labels.values() for label in labels}
    for name in types:
        if name not in found:
            raise ValueError(
                f"graphs.entity_types contains {name!r}: expected types that the pipeline {pipeline!r} finds, "
                f"{', '.join(sorted(found))}"
            )
    if pipeline == RULES and set(types) != found:
        raise ValueError(
            f"graphs.entity_types is {', '.join(types)}: the pipeline {RULES!r} finds no types, so expected all of "
            f"{', '.join(ENTITY_TYPES)}, or a trained pipeline"
        )


def entity_sets(
    texts: Iterable[str], pipeline: str = RULES, types: Collection[str] = ENTITY_TYPES, batch_size: int = 256
) -> Iterator[frozenset[str]]:
    """Yield the set E_i of each paragraph: the different names in it, as they are written (Liu & Lapata 2019, app.
    A.2). White space is normalised first, so that names match across line ends; a name without a type always counts.
    Raises ValueError: the pipeline cannot be used."""
    nlp = load_pipeline(pipeline)
    evened = (" ".join(text.split())[: nlp.max_length] for text in texts)
    for doc in nlp.pipe(evened, batch_size=batch_size):
        yield frozenset(entity.text for entity in doc.ents if entity.label_ in {_UNTYPED, *types})
    if len(nlp.vocab.strings) > _STRINGS:
        load_pipeline.cache_clear()
