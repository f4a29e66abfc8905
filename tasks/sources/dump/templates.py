"""The text that replaces a template in prose. Templates that `templates.toml` does not name are removed.

Words in another language are shown without the language's name, and a measure as given, not converted. Dates, eras,
ordinals, amounts and ships are written out. Pronunciation, notes, coordinates, navigation and all unknown templates are
removed."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mwparserfromhell.nodes import Template
from mwparserfromhell.wikicode import Wikicode

from tasks.engine.data_files import read_data

_DATA: dict[str, Any] = read_data("tasks.sources.dump", "templates.toml")

RAISED = "\ue004"  # marks a number that was written as an exponent or a mass number
GONE = "\ue000"  # marks a removed template until the punctuation around it has been repaired
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:[/⁄]\d+)?(?:\+\d+[/⁄]\d+)?|\d+[/⁄]\d+")
_PAIRS = {tuple(pair) for pair in _DATA["convert"]["pairs"]}
_BETWEEN: Mapping[str, str] = _DATA["convert"]["between"]
_DAY = re.compile(r"\d{1,2}(?:er)?")
_POWER = re.compile(r"e(3|6|9|12)(?=[^\W\d])")  # before a unit: e6acre
_POWERS = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
_UNITS: Mapping[str, str] = _DATA["convert"]["units"]


class Arguments:
    """A template's arguments, converted to plain text on request."""

    def __init__(self, template: Template, text: Callable[[Wikicode], str]) -> None:
        self._named = {str(param.name).strip(): param for param in template.params}
        self._text = text

    def __getitem__(self, key: int | str) -> str:
        """Return an argument by its number, counted from 1, or its name; empty if it is missing."""
        param = self._named.get(str(key))
        return "" if param is None else " ".join(self._text(param.value).replace(GONE, "").split())

    def positional(self) -> list[str]:
        """Return the arguments without names, in order."""
        return [self[name] for name, param in self._named.items() if not param.showkey]


def called(name: str) -> str:
    """Return the name of a template as `templates.toml` has it."""
    return " ".join(name.replace("_", " ").split()).lower().removeprefix("template:").removeprefix("subst:").strip()


def expand(name: str, arguments: Arguments) -> str:
    """Return the text of a template by its name as `called` returns it: prose, white space, or `GONE`."""
    function, colon, value = name.partition(":")
    if colon:
        return _parser_function(function.strip(), value, arguments)
    if name in _FIXED:
        return _FIXED[name]
    if name not in _EXPANSIONS:
        return (arguments[1] if re.fullmatch(r"lang-[a-z-]+", name) else "") or GONE
    expansion, values = _EXPANSIONS[name]
    return expansion(arguments, *values) or GONE


def raised(text: str) -> str:
    """Return superscript with a mark if it is a number, which is written once the text before it is known."""
    return f"{RAISED}{text}" if re.fullmatch(r"[-−+]?\d+", text) else text


def _parser_function(function: str, value: str, arguments: Arguments) -> str:
    """Return the result of {{formatnum:…}} and similar functions; the template's name contains the first argument."""
    if function == "formatnum":
        digits = value.strip().replace(",", "")
        return f"{int(digits):,}" if digits.isdigit() else value.strip() or GONE
    if function in ("lc", "uc", "lcfirst", "ucfirst"):
        return value.strip() or GONE
    return GONE


def _currency(arguments: Arguments) -> str:
    """{{currency|5|HKD}}: HK$5."""
    code = (arguments[2] or "USD").lower()
    return f"{_SIGNS.get(code, f'{code.upper()} ')}{arguments[1]}" if arguments[1] else ""


def _ordinal(arguments: Arguments) -> str:
    """{{ordinal|22}}: 22nd."""
    number = arguments[1].replace(",", "")
    if not number.isdecimal():
        return arguments[1]
    ending = "th" if number[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return f"{arguments[1]}{ending}"


def _percentage(arguments: Arguments) -> str:
    """{{percentage|1|8|1}}: 12.5%, rounded to some decimal places."""
    part, whole, places = (arguments[key].replace(",", "") for key in (1, 2, 3))
    try:
        return f"{100 * float(part) / float(whole):.{int(places or 0)}f}%"
    except (ValueError, ZeroDivisionError):
        return ""


def _gauge(arguments: Arguments) -> str:
    """{{track gauge|1435mm}}: 1435 mm, without the conversion."""
    match = re.fullmatch(r"([\d.,]+)\s?(mm|cm|m|in|ft)", arguments[1])
    return f"{match[1]} {match[2]}" if match else ""


def _height(arguments: Arguments) -> str:
    """{{height|ft=6|in=2}}: 6 ft 2 in."""
    units = ("m", "cm", "ft", "in")
    return " ".join(f"{arguments[unit]} {unit}" for unit in units if arguments[unit]) or _measure(arguments)


def _note(arguments: Arguments) -> str:
    """{{music|flat}}: ♭."""
    return {"flat": "♭", "b": "♭", "sharp": "♯", "#": "♯", "natural": "♮"}.get(arguments[1]) or " ".join(
        arguments.positional()
    )


def _measure(arguments: Arguments) -> str:
    """{{convert|5|to|6|km|mi}}: numbers and unit as given, without the conversion. A number after a unit belongs to a
    measure in two of them (6 ft 2 in), or is the rounding."""
    words = arguments.positional()
    text, unit = "", ""
    for index, word in enumerate(words):
        if _NUMBER.fullmatch(word) and (not unit or (unit, *words[index + 1 : index + 2]) in _PAIRS):
            number = f"{int(word):,}" if word.isdigit() else word
            text += f" {unit} {number}" if unit else number
            unit = ""
        elif word in _BETWEEN and not unit:
            text += _BETWEEN[word]
        elif not unit and text:
            power = _POWER.match(word)
            text += f" {_POWERS[power[1]]}" if power else ""
            word = word[power.end() :] if power else word
            unit = _UNITS.get(word, word)
        else:
            break
    return f"{text} {unit}".strip()


def _date(arguments: Arguments) -> str:
    """{{start date|1950|5|1}}: 1 May 1950, or with mf=y May 1, 1950; text other than numbers is unchanged.
    {{date|1er|mai|1950}}, as in French, is in its order: 1er mai 1950."""
    year, month, day = (arguments[key] for key in (1, 2, 3))
    if month.isalpha() and _DAY.fullmatch(year):
        return f"{year} {month} {day}".strip()
    if not (month.isdigit() and 1 <= int(month) <= 12):
        return year
    named = _DATA["months"][int(month) - 1]
    if not day.isdigit():
        return f"{named} {year}"
    if arguments["mf"].startswith("y"):
        return f"{named} {int(day)}, {year}"
    return f"{int(day)} {named} {year}"


def _as_of(arguments: Arguments) -> str:
    """{{as of|2012|5}}: As of May 2012, or what alt= says."""
    if arguments["alt"]:
        return arguments["alt"]
    date = _date(arguments)
    start = "since" if arguments["since"] else "as of"
    return f"{start if arguments['lc'] else start.capitalize()} {date}" if date else ""


def _old_style_date(arguments: Arguments) -> str:
    """{{OldStyleDate|February 2|1905|January 20}}: February 2, 1905, in the new style alone."""
    day, year = arguments[1], arguments[2]
    comma = "," if year and day[-1:].isdigit() else ""
    return f"{day}{comma} {year}".strip()


def _fraction(arguments: Arguments) -> str:
    parts = arguments.positional()
    if len(parts) == 3:
        return f"{parts[0]} {parts[1]}/{parts[2]}"
    return "/".join(parts) if len(parts) == 2 else "".join(f"1/{part}" for part in parts)


def _value(arguments: Arguments) -> str:
    """{{val|6.241|e=18|u=C}}: 6.241×10^18 C; {{val|30000}}: 30,000; {{val|5|0.2}}: 5±0.2."""
    number = f"{int(arguments[1]):,}" if arguments[1].isdecimal() else arguments[1]
    number += f"±{arguments[2]}" if arguments[2] and not arguments[3] else ""
    power = f"{'×' if number else ''}10^{arguments['e']}" if arguments["e"] else ""
    return " ".join(text for text in (f"{number}{power}", arguments["u"] or arguments["ul"]) if text)


def _ship(arguments: Arguments, prefix: str = "") -> str:
    """{{ship|HMS|Victory|1765}}: HMS Victory (1765); {{USS|Enterprise|CV-6}}, of a `prefix`: USS Enterprise (CV-6)."""
    if prefix:
        name, hull, form = f"{prefix} {arguments[1]}" if arguments[1] else "", arguments[2], arguments[3]
    else:
        name, hull, form = " ".join(filter(None, arguments.positional()[:2])), arguments[3], arguments[4]
    return f"{name} ({hull})" if name and hull and form not in ("2", "3", "6") else name


_FIXED, _SIGNS = (
    {str(name): str(meaning) for meaning, names in _DATA[kind].items() for name in names}
    for kind in ("fixed", "currencies")
)
# What makes the text of a template, of its arguments and the values that `templates.toml` has under "with".
_CALLS: Mapping[str, Callable[..., str]] = {
    # {{zh|c=北京|p=Běijīng}}: the first non-empty one of some arguments
    "argument": lambda arguments, *keys: next((text for key in keys if (text := arguments[key])), ""),
    "around": lambda arguments, before, after="": f"{before}{arguments[1]}{after}" if arguments[1] else "",
    "as_of": _as_of,
    "currency": _currency,
    "date": _date,
    # {{BCE|500}}: 500 BCE; {{AD|79}}: AD 79
    "era": lambda arguments, era: f"AD {arguments[1]}".strip() if era == "AD" else f"{arguments[1]} {era}".strip(),
    "fraction": _fraction,
    "gauge": _gauge,
    "height": _height,
    "joined": lambda arguments, separator: separator.join(arguments.positional()),
    "last": lambda arguments: next(iter(reversed(arguments.positional())), ""),
    "measure": _measure,
    "money": lambda arguments, sign: f"{sign}{arguments[1]}".strip(),  # {{HK$|5 million}}: HK$5 million; {{HK$}}: HK$
    "note": _note,
    "old_style_date": _old_style_date,
    "orbiter": lambda arguments: f"Space Shuttle {name}" if (name := _DATA["orbiters"].get(arguments[1])) else "",
    "ordinal": _ordinal,
    # {{circa|1900|1910}}: c. 1900 – c. 1910; {{nuclide|einsteinium|254}}: einsteinium-254
    "pair": lambda arguments, separator, before="": separator.join(
        f"{before}{text}" for text in arguments.positional()[:2] if text
    ),
    "percentage": _percentage,
    "power": lambda arguments: f"10^{arguments[1]}" if arguments[1] else "10",  # {{10^|5}}: 10^5
    "raised": lambda arguments: raised(arguments[1]),
    # {{INRConvert|5|c}}: ₹5 crore, without the conversion
    "rupees": lambda arguments: (
        f"₹{arguments[1]} {_DATA['indian_scales'].get(arguments[2], '')}".strip() if arguments[1] else ""
    ),
    "ship": _ship,
    # {{sclass|Iowa|battleship}}: Iowa-class battleship
    "ship_class": lambda arguments: f"{arguments[1]}-class {arguments[2]}".strip() if arguments[1] else "",
    # {{reign|1000|1010}}: r. 1000–1010
    "span": lambda arguments, label: f"{label} {'–'.join(years[:2])}" if (years := arguments.positional()) else "",
    "value": _value,
}
_EXPANSIONS: Mapping[str, tuple[Callable[..., str], Sequence[Any]]] = {
    **{name: (_CALLS["money"], (sign,)) for name, sign in _SIGNS.items()},
    **{name: (_CALLS[item["call"]], item.get("with", ())) for item in _DATA["expansion"] for name in item["names"]},
    **{prefix.lower(): (_ship, (prefix,)) for prefix in _DATA["ships"]["prefixes"]},
}
