"""Frames by a dependency parse: each clause with the words that govern it. It needs a pipeline of spaCy for English.

`frames.py` reads words from left to right, and needs nothing. A parse shows what a word governs: "the engineer who
claimed that the dam was unsafe was dismissed" says that he was dismissed, and does not say that the dam was unsafe. A
clause below another one is asserted only where its governor asserts it ("he realised that ..."); `clauses.toml` names
these, and what denies or doubts. Every other governor reports."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from tasks.engine.data_files import read_data
from tasks.verification.canonical import canonical
from tasks.verification.frames import Frame
from tasks.verification.parser import PIPELINES, english
from tasks.verification.words import related, stem

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DATA = {
    part: {name: frozenset(words.split()) for name, words in lists.items()}
    for part, lists in read_data("tasks.verification", "clauses.toml").items()
}
_ASSERTED = _DATA["asserted"]
_BY_FRAME = {Frame(part): lists for part, lists in _DATA.items() if part != "asserted"}
_LISTS = {"VERB": "verbs", "AUX": "verbs", "NOUN": "nouns", "PROPN": "nouns", "ADJ": "adjectives"}
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM"})
_COMPLEMENTS = frozenset({"ccomp", "xcomp", "acl", "oprd"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
_OBJECTS = frozenset({"dobj", "nsubjpass"})
_OWN_CLAUSE = frozenset({"relcl", "advcl", "appos"})  # clauses outside the frame of the clause around them
_OF_NOBODY = frozenset({"no", "neither", "nor", "nobody", "none", "nothing"})
_INVERTED = frozenset({"had", "should", "were"})  # begin a condition without "if": "Had the dam failed, ..."
_PRESENT, _PAST = frozenset({"VBZ", "VBP"}), frozenset({"VBD", "VBN"})
_SPEECH = frozenset(read_data("tasks.verification", "frames.toml")["verbs"]["reported"].split())
_BELOW = frozenset({"relcl", "advcl", "appos", "acl", "ccomp"})
_CARRIED = 0.4  # share of a predicate with its arguments from which a clause is about the same event
_MOSTLY = 0.6  # share of a claim's words from which a clause holds the claim
_REMEMBERED = 4096
Frames = frozenset[Frame]
_NO_FRAME: Frames = frozenset()


@lru_cache(maxsize=_REMEMBERED)
def _parsed(sentence: str) -> "Doc":
    pipeline = english()
    if pipeline is None:
        raise LookupError(f"no pipeline for English is installed, such as {PIPELINES[0]}")
    return pipeline(canonical(sentence))


def dropped_frame(claim: str, evidence: Iterable[str], kept: Frames) -> Frame | None:
    """Return a frame that the evidence has around a clause of a claim, and the claim has not; None without one. `kept`:
    frames that the claim has somewhere. Raises LookupError: no pipeline is installed."""
    own = _parsed(claim)
    frames = clause_frames(own)
    sources = [_parsed(sentence) for sentence in evidence]
    for predicate in _predicates(own):
        dropped = [held - frames[predicate.i] - kept for held in _holding(predicate, sources)]
        if dropped and all(dropped):
            return next(frame for frame in reversed(Frame) if frame in dropped[0])
    return None


def _predicates(doc: "Doc") -> Iterator["Token"]:
    """Yield the predicates of a sentence: the main verb, verbs joined to it and those of clauses that complete it; for
    "be" the word after it."""
    for token in doc:
        if token.dep_ in {"ROOT", "ccomp"} or (token.dep_ == "conj" and token.head.dep_ == "ROOT"):
            said = [child for child in token.children if child.dep_ in {"attr", "acomp"}]
            yield said[0] if token.lemma_ == "be" and said else token


def _holding(predicate: "Token", sources: Iterable["Doc"]) -> list[Frames]:
    """Return the frames of the clauses that carry a predicate with most of its words. If none does, take clauses with
    most of its words."""
    words = list(_arguments(predicate))
    best = 0
    results: list[Frames] = []
    for source in sources:
        frames = clause_frames(source)
        for token in source:
            if _same(predicate, token):
                there = _with_subject(token)
                shared = 1 + sum(any(_same(word, other) for other in there) for word in words)
                if shared < _CARRIED * (1 + len(words)):
                    continue  # the predicate of another event
                best, results = (shared, []) if shared > best else (best, results)
                planned = _is_planned(token) and not _is_planned(predicate) and predicate.tag_ in _PAST
                held = frames[token.i] | ({Frame.UNCERTAIN} if planned else _NO_FRAME)
                results += [held] if shared == best else []
    if results or predicate.dep_ == "ccomp":
        return results
    words = [token for token in _clause(predicate).subtree if token.pos_ in _CONTENT and token.i != predicate.i]
    return [around for source in sources if (around := _around(words, source)) is not None]


def _arguments(predicate: "Token") -> Iterator["Token"]:
    """Yield the content words of a predicate's clause, without those of clauses below it: a claim about an event may
    add what other sentences say of its people."""
    waiting = [_clause(predicate)]
    for token in waiting:
        waiting += [child for child in token.children if not _begins_clause(child)]
        if token.pos_ in _CONTENT and token.i != predicate.i:
            yield token


def _begins_clause(token: "Token") -> bool:
    return token.dep_ in _BELOW or (token.dep_ == "conj" and token.pos_ in {"VERB", "AUX"})


def _with_subject(token: "Token") -> list["Token"]:
    """Return the words of the clause of a predicate; of one without a subject, also those of its governor's subject."""
    clause = _clause(token)
    words = list(clause.subtree)
    if clause.dep_ in _COMPLEMENTS | {"pcomp"} and not any(child.dep_ in _SUBJECTS for child in clause.children):
        governor = clause.head.head if clause.dep_ == "pcomp" else clause.head
        words += [word for child in governor.children if child.dep_ in _SUBJECTS for word in child.subtree]
    return words


def _clause(token: "Token") -> "Token":
    """Return the verb of the clause whose predicate a word is."""
    return token.head if token.dep_ in {"attr", "acomp"} else token


def _around(words: list["Token"], source: "Doc") -> Frames | None:
    """Return the frames that all of some words have in a source; None if it has too few of them."""
    places = [next((token.i for token in source if _same(word, token)), None) for word in words]
    held = [clause_frames(source)[place] for place in places if place is not None]
    if len(held) < max(2, _MOSTLY * len(words)):
        return None
    return frozenset.intersection(*held)


def _same(word: "Token", other: "Token") -> bool:
    """Tell whether two words are one: by their lemma, or as `words.related` says of stems."""
    if word.lemma_ == other.lemma_:
        return True
    return other.pos_ in _CONTENT and word.pos_ in _CONTENT and related(stem(word.lower_), stem(other.lower_))


def clause_frames(doc: "Doc") -> tuple[Frames, ...]:
    """Return for each word of a parsed sentence the frames of the clause that it is in."""
    if "frames" not in doc.user_data:
        governed: dict[int, Frames] = {}
        doc.user_data["frames"] = tuple(_governed(token, governed) | _own(token) for token in doc)
    frames: tuple[Frames, ...] = doc.user_data["frames"]
    return frames


def _governed(token: "Token", found: dict[int, Frames]) -> Frames:
    """Return the frames that the words above a word give it. `found`: frames of words that are known already."""
    if token.i not in found:
        head = token.head
        if head.i == token.i:
            found[token.i] = _NO_FRAME
        elif token.dep_ in _OWN_CLAUSE:
            found[token.i] = (_governed(head, found) | _own(head)) & {Frame.FICTIONAL} | _given(token)
        else:
            found[token.i] = _governed(head, found) | _inherited(token) | _given(token)
    return found[token.i]


def _inherited(token: "Token") -> Frames:
    """Return the frames of a governor that also hold for a word below it: "did not manage to win", not "did not
    know"."""
    head = token.head
    if token.dep_ == "conj":
        has_subject = any(child.dep_ in _SUBJECTS for child in token.children)
        contrasted = any(child.dep_ == "cc" and child.lower_ == "but" for child in head.children)
        return _NO_FRAME if has_subject or contrasted else _own(head)
    return _own(head) - {Frame.DENIED} if head.lemma_ in _ASSERTED["factives"] else _own(head)


def _own(token: "Token") -> Frames:
    """Return the frames that a word gives its own clause: by a modal verb, "not", "allegedly", "according to"."""
    return frozenset(frame for child in token.children if (frame := _of_child(child)) is not None)


def _of_child(child: "Token") -> Frame | None:
    head = child.head
    word = child.lower_
    if child.dep_ == "neg":
        return None if child.i + 1 < len(child.doc) and child.nbor().lower_ == "only" else Frame.DENIED
    if child.dep_ in _SUBJECTS:
        if word in _OF_NOBODY or any(token.lower_ in _OF_NOBODY for token in child.children):
            return Frame.DENIED
        return Frame.FICTIONAL if child.lemma_ in _DATA["fictional"]["nouns"] and _is_present(head) else None
    if child.dep_ in {"aux", "advmod", "parataxis"} and head.pos_ in {"VERB", "AUX"}:
        if child.dep_ == "parataxis":
            return Frame.REPORTED if child.lemma_ in _SPEECH else None
        part = "auxiliaries" if child.dep_ == "aux" else "adverbs"
        return next((frame for frame, lists in _BY_FRAME.items() if word in lists.get(part, ())), None)
    if child.dep_ == "advcl" and _is_condition(child):
        return Frame.UNCERTAIN
    if child.dep_ == "prep" and word == "according":
        return Frame.REPORTED
    if child.dep_ == "prep" and word == "in" and any(t.lemma_ in _DATA["fictional"]["nouns"] for t in child.children):
        fronted = any(token.dep_ in _SUBJECTS and token.i > child.i for token in head.children)
        return Frame.FICTIONAL if fronted or _is_present(head) else None
    return None


def _is_planned(verb: "Token") -> bool:
    return any(child.dep_ == "aux" and child.lower_ in _DATA["uncertain"]["plans"] for child in verb.children)


def _is_present(verb: "Token") -> bool:
    return verb.tag_ in _PRESENT or any(
        child.dep_ in {"aux", "auxpass"} and child.tag_ in _PRESENT for child in verb.children
    )


def _is_condition(clause: "Token") -> bool:
    """Tell whether an adverbial clause is a condition: "if it rains", "had the dam failed"."""
    marks = [child for child in clause.children if child.dep_ == "mark"]
    if any(
        mark.lower_ in _DATA["uncertain"]["marks"] and mark.nbor(-1 if mark.i else 0).lower_ != "even" for mark in marks
    ):
        return True
    first = next(clause.subtree)
    return (
        not marks and first.lower_ in _INVERTED and any(t.dep_ in _SUBJECTS and t.i > first.i for t in clause.children)
    )


def _given(token: "Token") -> Frames:
    """Return the frame that the governor of a word gives to the clause of that word."""
    head = token.head
    if token.dep_ == "advcl" and _is_condition(token):
        return frozenset({Frame.UNCERTAIN})
    if token.dep_ in _OBJECTS and head.pos_ == "VERB":
        lists = (Frame.DENIED, Frame.FICTIONAL)
        return frozenset(frame for frame in lists if head.lemma_ in _DATA[frame]["objects"])
    if token.dep_ == "pcomp":
        return _of_gerund(head, head.head)
    marks = {child.lower_ for child in token.children if child.dep_ in {"mark", "aux"}}
    if token.dep_ in _COMPLEMENTS or (token.dep_ == "advcl" and {"for", "to"} <= marks):
        return _of_complement(token, marks)
    return _NO_FRAME


def _of_gerund(preposition: "Token", governor: "Token") -> Frames:
    """Return the frame of a gerund after a preposition: "accused of stealing", "close to signing"."""
    word = preposition.lower_
    if governor.lemma_ in _DATA["reported"]["accusations"]:
        return frozenset({Frame.REPORTED})
    if word in _DATA["denied"]["prepositions"]:
        return _NO_FRAME if governor.lemma_ in _DATA["denied"]["sources"] else frozenset({Frame.DENIED})
    if (listed := _listed(governor)) is not None:
        return listed
    return frozenset({Frame.UNCERTAIN}) if word in _DATA["uncertain"]["prepositions"] else _NO_FRAME


def _of_complement(token: "Token", marks: set[str]) -> Frames:
    """Return the frame of a clause that completes a verb, noun or adjective. `marks`: of its words, those before it."""
    infinitive, gerund = "to" in marks, token.tag_ == "VBG"
    if token.dep_ == "acl" and not infinitive and not marks & {"that", "whether", "if"}:
        return _NO_FRAME  # a participle: "the lamp lit in 1820"
    if token.dep_ in {"xcomp", "oprd"} and not infinitive and not gerund:
        return _NO_FRAME  # "painted white"
    if marks & _DATA["uncertain"]["marks"]:
        return frozenset({Frame.UNCERTAIN})
    governor = _governor(token)
    if governor.lemma_ == "be":
        return frozenset({Frame.UNCERTAIN}) if infinitive else _NO_FRAME  # "was to have sailed"
    if (listed := _listed(governor)) is not None:
        return listed
    if governor.pos_ == "ADJ" or not (infinitive or gerund or "that" in marks or governor.lemma_ in _SPEECH):
        return _NO_FRAME  # "easy to build"
    passive = any(child.dep_ == "auxpass" for child in governor.children)
    return frozenset({Frame.UNCERTAIN if (infinitive or gerund) and not passive else Frame.REPORTED})


def _governor(token: "Token") -> "Token":
    """Return the word that a clause completes, such as the adjective in "it is untrue that ..."."""
    head = token.head
    said = [child for child in head.children if child.dep_ in {"acomp", "attr"} and child.i != token.i]
    return said[0] if head.lemma_ == "be" and said else head


def _listed(governor: "Token") -> Frames | None:
    """Return the frame that a word gives to its clause, none if it asserts it; None for a word that no list has."""
    part = _LISTS.get(governor.pos_, "")
    names = {governor.lemma_.lower(), *(child.lower_ for child in governor.children if child.dep_ == "amod")}
    if names & _ASSERTED.get(part, _NO_FRAME):
        return _NO_FRAME
    return next(
        (frozenset({frame}) for frame, lists in _BY_FRAME.items() if governor.lemma_ in lists.get(part, ())), None
    )
