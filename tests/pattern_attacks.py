"""Texts that make a pattern slow, read off the pattern itself, and how its time grows with them.

A search is quadratic where many places of a text can begin a match that runs on and then fails: so what is repeated is
each sign that the pattern knows, each pair of these, and each beginning of each of its parts.
"""

import re
from collections.abc import Callable, Iterator
from itertools import combinations, islice, product
from re import _constants as signs  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

_MOST_SIGNS = 8  # whose pairs are repeated
_MANY = 8  # times that a repeat may repeat, from which it can run on
_MOST_FRAGMENTS = 24
_SAMPLES = "a1_ -.,\n\"'(<=/:é"
_CATEGORIES = {
    signs.CATEGORY_WORD: "a1_",
    signs.CATEGORY_DIGIT: "1",
    signs.CATEGORY_SPACE: " \n",
    signs.CATEGORY_NOT_WORD: "-. ",
    signs.CATEGORY_NOT_SPACE: "a-",
    signs.CATEGORY_NOT_DIGIT: "a ",
}
_REPEATS = (signs.MAX_REPEAT, signs.MIN_REPEAT, signs.POSSESSIVE_REPEAT)
_STOPS = ("\x00", "z\x00")  # what no pattern of ours ends with: a run that goes on to it fails

GROWTH = 2.5  # of the time where the input doubles, at most
_SCREENED = 5.5  # of the time where it grows fourfold: what grows less is not measured again
# By small steps at first, since an exponential one would never end.
_SIZES = (16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128, 256, 512, 2048, 8192)
_LARGE = 2048  # from here on one run is measured well enough to tell growth from
_ENOUGH = 5e-4  # seconds that a screening takes at most, but for what is slow at once
_LEAP = 6.0  # times the time of the size before, twice running: exponential, not only many ways in a bounded part
_CONFIRMED = 4  # doublings that must all grow faster
_REPETITIONS = 5
_LONG = 0.02  # seconds from which one more repetition would not say more


def texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yield the beginning and the repeated part of each text that may be slow: none where no part of the pattern can
    run on, since what it looks at from one place is then bounded."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    if not _runs_on(tree):
        return
    # What a repeat repeats comes first: it is what can run on.
    signs_of = list(dict.fromkeys([*_signs(tree, repeated=True), *_signs(tree), "a", " ", "-", "."]))
    fragments = dict.fromkeys(fragment for fragment in _fragments(tree) if fragment)
    yield from (("", sign) for sign in signs_of)
    yield from (("", fragment) for fragment in islice(fragments, _MOST_FRAGMENTS) if len(fragment) > 1)
    # The two orders of a pair, again and again, are one text but for its ends.
    yield from (("", "".join(pair)) for pair in combinations(signs_of[:_MOST_SIGNS], 2))
    yield from ((fragment, sign) for fragment, sign in product(islice(fragments, 8), signs_of[:5]))


def slow(pattern: re.Pattern[Any], method: str) -> str | None:
    """Return the text on which the time of a pattern grows faster than its input, and how fast; None if on none."""
    run = _runner(pattern, method)
    for (start, repeated), stop in product(texts(pattern), _STOPS):

        def seconds(
            size: int, repetitions: int, start: str = start, repeated: str = repeated, stop: str = stop
        ) -> float:
            made = start + repeated * (size // len(repeated)) + stop
            return _seconds(run, made if isinstance(pattern.pattern, str) else made.encode(), repetitions)

        name = f"{start!r}, then {repeated!r} again and again"
        spent: dict[int, float] = {}
        leaps = 0
        for last, size in zip((1, *_SIZES), _SIZES, strict=False):
            spent[size] = seconds(size, 1 if size >= _LARGE else 0)
            leaped = spent[size] > _LEAP * spent.get(last, 1) + _ENOUGH and seconds(size, 2) > _LEAP * seconds(last, 2)
            leaps = leaps + 1 if leaped else 0
            if leaps == 2:
                return f"{name}: exponential, at {size} characters"
            if spent[size] > _ENOUGH and size >= 128:
                break
        if spent[size] < _SCREENED * (spent[size // 4] if size // 4 >= _LARGE else seconds(size // 4, 1)):
            continue
        growths: list[float] = []
        shorter = seconds(size, _REPETITIONS)
        while len(growths) < _CONFIRMED:
            size *= 2
            longer = seconds(size, _REPETITIONS)
            growths.append(longer / shorter)
            if growths[-1] <= GROWTH:
                break
            shorter = longer
        else:
            return f"{name}: {', '.join(f'{growth:.1f}' for growth in growths)} times as long for twice as much"
    return None


def _runner(pattern: re.Pattern[Any], method: str) -> Callable[[Any], object]:
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    used: Callable[[Any], object] = getattr(pattern, method)
    return used


def _seconds(run: Callable[[Any], object], text: Any, repetitions: int) -> float:
    """Return the least processor time of some repetitions, each of as many runs as can be measured; 0 = of one run."""
    times: list[float] = []
    while len(times) < max(repetitions, 1) and sum(times) < _LONG:
        runs, start, spent = 0, process_time(), 0.0
        while not runs or (spent < 2e-5 and repetitions):
            run(text)
            runs += 1
            spent = process_time() - start
        times.append(spent / runs)
    return min(times)


def _runs_on(part: Any, times: int = 1) -> bool:
    """Whether something in a part of a pattern may repeat many times, where the part itself may `times`."""
    if not isinstance(part, parser.SubPattern):
        return isinstance(part, list | tuple) and any(_runs_on(each, times) for each in part)
    return any(
        times * argument[1] >= _MANY or _runs_on(argument[2], times * argument[1])
        if op in _REPEATS
        else _runs_on(argument, times)
        for op, argument in part
    )


def _signs(tree: Any, repeated: bool = False) -> Iterator[str]:
    """Yield a character for each that a pattern names, or only for those within its repeats."""
    for op, argument in tree:
        if op is signs.LITERAL:
            yield from [] if repeated else [chr(argument)]
        elif op in (signs.IN, signs.NOT_LITERAL, signs.ANY):
            yield from "" if repeated else _of_set(op, argument)
        elif op in _REPEATS:
            yield from _signs(argument[2], repeated and argument[1] < _MANY)
        elif op is signs.SUBPATTERN:
            yield from _signs(argument[-1], repeated)
        elif op is signs.BRANCH:
            for branch in argument[1]:
                yield from _signs(branch, repeated)
        elif op in (signs.ASSERT, signs.ASSERT_NOT):
            yield from _signs(argument[1], repeated)
        elif op is signs.ATOMIC_GROUP:
            yield from _signs(argument, repeated)


def _of_set(op: Any, argument: Any) -> str:
    """Return characters that a set of them matches, one for each of its members."""
    if op is signs.ANY:
        return "a "
    if op is signs.NOT_LITERAL:
        return "".join(sign for sign in _SAMPLES if ord(sign) != argument)[:3]
    if argument[0][0] is signs.NEGATE:
        within = set("".join(_of_members(argument[1:])))
        return "".join(sign for sign in _SAMPLES if sign not in within)[:3]
    return "".join(_of_members(argument))


def _of_members(members: Any) -> Iterator[str]:
    for op, argument in members:
        if op is signs.LITERAL:
            yield chr(argument)
        elif op is signs.RANGE:
            yield chr(argument[0])
        elif op is signs.CATEGORY:
            yield _CATEGORIES[argument]


def _shortest(tree: Any) -> str:
    """Return a short text that a part of a pattern matches, each repeat once if it may."""
    made = ""
    for op, argument in tree:
        if op is signs.LITERAL:
            made += chr(argument)
        elif op in (signs.IN, signs.NOT_LITERAL, signs.ANY):
            made += _of_set(op, argument)[:1]
        elif op in _REPEATS:
            made += _shortest(argument[2]) * max(argument[0], 1)
        elif op is signs.SUBPATTERN:
            made += _shortest(argument[-1])
        elif op is signs.BRANCH:
            made += _shortest(argument[1][0])
        elif op is signs.ATOMIC_GROUP:
            made += _shortest(argument)
    return made


def _fragments(tree: Any) -> Iterator[str]:
    """Yield what each beginning of each part of a pattern matches."""
    parts = list(tree)
    for end in range(1, len(parts) + 1):
        yield _shortest(parts[:end])
    for op, argument in parts:
        if op in _REPEATS:
            yield from _fragments(argument[2])
        elif op is signs.SUBPATTERN:
            yield from _fragments(argument[-1])
        elif op is signs.BRANCH:
            for branch in argument[1]:
                yield from _fragments(branch)
        elif op is signs.ATOMIC_GROUP:
            yield from _fragments(argument)
