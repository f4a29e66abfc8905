"""The text that replaces a template in prose. Templates that are not listed here are removed.

Words in another language are shown without the language's name; a measure is shown as given, not converted; dates,
eras, ordinals, amounts and ships are written out; pronunciation, notes, coordinates, navigation and all unknown
templates are removed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from tasks.sources.dump.currencies import INDIAN_SCALES, SIGNS

RAISED = "\ue004"  # marks a number that was written as an exponent or a mass number
GONE = "\ue000"  # marks a removed template until the punctuation around it has been repaired
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:[/⁄]\d+)?(?:\+\d+[/⁄]\d+)?|\d+[/⁄]\d+")
_BETWEEN = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "to(-)": " to ",
    "and": " and ",
    "and(-)": " and ",
    "or": " or ",
    "x": " × ",
    "by": " by ",
    "×": " × ",
    "+/-": " ± ",
    "±": " ± ",
    "*": " × ",
}
_PAIRS = {("ft", "in"), ("lb", "oz"), ("st", "lb"), ("mi", "yd"), ("mi", "ft")}
_UNITS = {
    "sqmi": "sq mi",
    "sqft": "sq ft",
    "km2": "km²",
    "m2": "m²",
    "ha": "ha",
    "C": "°C",
    "F": "°F",
    "K": "K",
    "cuft": "cu ft",
    "m3": "m³",
    "km3": "km³",
    "kph": "km/h",
    "km/h": "km/h",
    "mph": "mph",
    "lb": "lb",
    "PD/sqmi": "per sq mi",
    "PD/km2": "per km²",
    "/km2": "per km²",
    "/sqmi": "per sq mi",
    "acre": "acres",
    "foot": "feet",
    "inch": "inches",
    "mi": "mi",
    "cumi": "cu mi",
    "cm3": "cm³",
    "USgal": "US gal",
    "impgal": "imp gal",
    "ftin": "ft",
    "ozt": "ozt",
    "LT": "long tons",
    "ST": "short tons",
}


class Arguments(Protocol):
    """A template's arguments as plain text."""

    def __getitem__(self, key: int | str) -> str:
        """Return an argument by its number, counted from 1, or its name; empty if it is missing."""
        ...

    def positional(self) -> list[str]:
        """Return the arguments without names, in order."""
        ...


Expansion = Callable[[Arguments], str]
Meaning = TypeVar("Meaning", str, Expansion)


def expand(name: str, arguments: Arguments) -> str:
    """Return the text of a template: prose, white space, or `GONE`."""
    name = " ".join(name.replace("_", " ").split()).lower().removeprefix("template:").removeprefix("subst:").strip()
    function, colon, value = name.partition(":")
    if colon:
        return _parser_function(function.strip(), value, arguments)
    if name in _FIXED:
        return _FIXED[name]
    expansion = _EXPANSIONS.get(name)
    if expansion is None and re.fullmatch(r"lang-[a-z-]+", name):
        expansion = _argument(1)
    if expansion is None:
        return GONE
    return expansion(arguments) or GONE


def raised(text: str) -> str:
    """Return superscript as plain text: km², 10^18 if it would merge with a number, else unchanged (1st, 14C)."""
    if text in ("2", "3"):
        return "²" if text == "2" else "³"
    return f"{RAISED}{text}" if re.fullmatch(r"[-−+]?\d+", text) else text


def _parser_function(function: str, value: str, arguments: Arguments) -> str:
    """Return the result of {{formatnum:…}} and similar functions; the template's name contains the first argument."""
    if function == "formatnum":
        digits = value.strip().replace(",", "")
        return f"{int(digits):,}" if digits.isdigit() else value.strip() or GONE
    if function in ("lc", "uc", "lcfirst", "ucfirst"):
        return value.strip() or GONE
    return GONE


def _argument(*keys: int | str) -> Expansion:
    """Return an expansion to the first non-empty one of some arguments."""
    return lambda arguments: next((text for key in keys if (text := arguments[key])), "")


def _last(arguments: Arguments) -> str:
    return next(iter(reversed(arguments.positional())), "")


def _around(before: str, after: str = "") -> Expansion:
    """Return an expansion to the first argument between two texts."""
    return lambda arguments: f"{before}{arguments[1]}{after}" if arguments[1] else ""


def _money(sign: str) -> Expansion:
    """{{HK$|5 million}}: HK$5 million; without an amount the sign alone."""
    return lambda arguments: f"{sign}{arguments[1]}".strip()


def _currency(arguments: Arguments) -> str:
    """{{currency|5|HKD}}: HK$5."""
    code = (arguments[2] or "USD").lower()
    return f"{SIGNS.get(code, f'{code.upper()} ')}{arguments[1]}" if arguments[1] else ""


def _rupees(arguments: Arguments) -> str:
    """{{INRConvert|5|c}}: ₹5 crore, without the conversion."""
    return f"₹{arguments[1]} {INDIAN_SCALES.get(arguments[2], '')}".strip() if arguments[1] else ""


def _era(name: str) -> Expansion:
    """{{BCE|500}}: 500 BCE; {{AD|79}}: AD 79."""
    return lambda arguments: " ".join(filter(None, (name, arguments[1]) if name == "AD" else (arguments[1], name)))


def _ordinal(arguments: Arguments) -> str:
    """{{ordinal|22}}: 22nd."""
    number = arguments[1].replace(",", "")
    if not number.isdecimal():
        return arguments[1]
    ending = "th" if number[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return f"{arguments[1]}{ending}"


def _power(arguments: Arguments) -> str:
    """{{10^|5}}: 10^5."""
    return f"10^{arguments[1]}" if arguments[1] else "10"


def _circa(arguments: Arguments) -> str:
    """{{circa|1900|1910}}: c. 1900 – c. 1910."""
    return " – ".join(f"c. {year}" for year in arguments.positional()[:2] if year)


def _percentage(arguments: Arguments) -> str:
    """{{percentage|1|8|1}}: 12.5%, rounded to some decimal places."""
    part, whole, places = (arguments[key].replace(",", "") for key in (1, 2, 3))
    try:
        return f"{100 * float(part) / float(whole):.{int(places or 0)}f}%"
    except (ValueError, ZeroDivisionError):
        return ""


def _gauge(arguments: Arguments) -> str:
    """{{track gauge|1435mm}}: 1435 mm, without the conversion."""
    found = re.fullmatch(r"([\d.,]+)\s?(mm|cm|m|in|ft)", arguments[1])
    return f"{found[1]} {found[2]}" if found else ""


def _nuclide(arguments: Arguments) -> str:
    """{{nuclide|einsteinium|254}}: einsteinium-254."""
    return "-".join(filter(None, arguments.positional()[:2]))


def _height(arguments: Arguments) -> str:
    """{{height|ft=6|in=2}}: 6 ft 2 in."""
    units = ("m", "cm", "ft", "in")
    return " ".join(f"{arguments[unit]} {unit}" for unit in units if arguments[unit]) or _measure(arguments)


def _chinese(arguments: Arguments) -> str:
    """{{zh|c=北京|p=Běijīng}}: the word in its own script, else transcribed."""
    return next((arguments[key] for key in ("c", "t", "s", "p", "w", "hp") if arguments[key]), "")


def _note(arguments: Arguments) -> str:
    """{{music|flat}}: ♭."""
    return {"flat": "♭", "b": "♭", "sharp": "♯", "#": "♯", "natural": "♮"}.get(arguments[1]) or " ".join(
        arguments.positional()
    )


def _joined(separator: str) -> Expansion:
    return lambda arguments: separator.join(arguments.positional())


def _measure(arguments: Arguments) -> str:
    """{{convert|5|to|6|km|mi}}: numbers and unit as given, without the conversion."""
    words = arguments.positional()
    text, unit = "", ""
    for index, word in enumerate(words):
        if _NUMBER.fullmatch(word) and (not unit or _continues(unit, words[index : index + 2])):
            number = f"{int(word):,}" if word.isdigit() else word
            text += f" {unit} {number}" if unit else number
            unit = ""
        elif word in _BETWEEN and not unit:
            text += _BETWEEN[word]
        elif not unit and text:
            unit = _UNITS.get(word, word)
        else:
            break
    return f"{text} {unit}".strip()


def _continues(unit: str, following: list[str]) -> bool:
    """Tell whether a number belongs to a measure in two units (6 ft 2 in), and is not the rounding."""
    return len(following) == 2 and (unit, following[1]) in _PAIRS


def _date(arguments: Arguments) -> str:
    """{{start date|1950|5|1}}: 1 May 1950, or with mf=y May 1, 1950; text other than numbers is unchanged."""
    year, month, day = (arguments[key] for key in (1, 2, 3))
    if not (month.isdigit() and 1 <= int(month) <= 12):
        return year
    named = _MONTHS[int(month) - 1]
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


def _span(label: str) -> Expansion:
    """{{reign|1000|1010}}: r. 1000–1010."""
    return lambda arguments: f"{label} {'–'.join(arguments.positional()[:2])}" if arguments.positional() else ""


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


def _ship(arguments: Arguments) -> str:
    """{{ship|HMS|Victory|1765}}: HMS Victory (1765)."""
    return _named_ship(" ".join(text for text in arguments.positional()[:2] if text), arguments[3], arguments[4])


def _ship_of(prefix: str) -> Expansion:
    """{{USS|Enterprise|CV-6}}: USS Enterprise (CV-6)."""
    return lambda arguments: _named_ship(f"{prefix} {arguments[1]}" if arguments[1] else "", arguments[2], arguments[3])


def _named_ship(name: str, hull: str, form: str) -> str:
    return f"{name} ({hull})" if name and hull and form not in ("2", "3", "6") else name


def _ship_class(arguments: Arguments) -> str:
    """{{sclass|Iowa|battleship}}: Iowa-class battleship."""
    return f"{arguments[1]}-class {arguments[2]}".strip() if arguments[1] else ""


def _orbiter(arguments: Arguments) -> str:
    """{{OV|099}}: Space Shuttle Challenger."""
    name = _ORBITERS.get(arguments[1])
    return f"Space Shuttle {name}" if name else ""


def _all(meaning: Meaning, names: str) -> dict[str, Meaning]:
    """Return an expansion, or a fixed text, under each of some names, separated by bars."""
    return dict.fromkeys((name.strip() for name in names.split("|")), meaning)


_FIXED: Mapping[str, str] = {
    **_all(" ", "nbsp | space | spaces | thinsp | thin space | hair space | nnbsp"),
    **_all(" – ", "snd | snds | spnd | spaced ndash | spaced en dash | spndash | dash"),
    **_all("–", "ndash | en dash"),
    **_all("—", "mdash | em dash | emdash | mdashb"),
    **_all(" — ", "spaced mdash | spaced em dash"),
    **_all("ʻ", "okina | `"),
    **_all(" · ", "· | dot | middot"),
    **_all(" • ", "• | bull"),
    **_all("…", "ldots | ..."),
    **_all("", "- | shy | wbr | zwj | zwnj | zwsp | nowrap begin | nowrap end | lrm | rlm"),
    **{"'": "'", "'s": "'s", "-'": "'", "' \"": "'\"", "\" '": "\"'", "!": "|", "=": "=", "colon": ":", "\\": " / "},
    **{"hamza": "ʼ", "pi": "π", "sharp": "♯", "flat": "♭", "number sign": "#", "ampersand": "&", "th": "th"},
    **{"solar mass": "M☉", "solar radius": "R☉", "solar luminosity": "L☉", "st": "st", "nd": "nd", "rd": "rd"},
    **{"hydrogen": "H", "carbon": "C", "nitrogen": "N", "oxygen": "O", "fluorine": "F", "sodium": "Na"},
    **{"magnesium": "Mg", "phosphorus": "P", "sulfur": "S", "chlorine": "Cl", "potassium": "K", "calcium": "Ca"},
    **{"iron": "Fe", "copper": "Cu", "zinc": "Zn", "bromine": "Br", "silver": "Ag", "iodine": "I"},
}
_ORBITERS = {
    "101": "Enterprise",
    "102": "Columbia",
    "099": "Challenger",
    "103": "Discovery",
    "104": "Atlantis",
    "105": "Endeavour",
}

_FIRST = """
nowrap | nobr | no wrap | nobreak | small | smaller | big | bigger | large | larger | huge | normal | nobold |
em | strong | bold | italic | noitalic | smallcaps | sc | smallcaps2 | underline | center | abbr | abbrv |
tooltip | math | mvar | chem2 | ce | sub | var | overline | code | mono | samp | kbd | tt | unicode | script |
hebrew | nastaliq | polytonic | lang-latn | nihongo | nihongo krt | nihongo foot | quote | blockquote | cquote
| bquote | quotation | poemquote | nq | linktext | delink | visible anchor | vanchor | flag | flagcountry |
flagu | flaglink | sic | not a typo | notatypo | as written | proper name | spell out | char | small caps |
baseball year | by | mlby | nfly | nfl year
"""
_SHIPS = """
USS | HMS | HMAS | HMCS | HMNZS | HMIS | HMT | HMY | USNS | USCGC | USAT | SMS | SS | RMS | MV | MS | TSS | INS | HSwMS
| HNLMS | HNoMS | HDMS | RV | PNS | ROKS | BAP | ARA | ORP | JDS | JS | CSS | USRC | HMHS | FV | MY | SV | SY | PS
| TS | MT | GTS | KRI | FGS | NRP | TCG | USAV
"""

_EXPANSIONS: Mapping[str, Expansion] = {
    **_all(_argument(1, "text", "quote"), _FIRST),
    **_all(lambda arguments: raised(arguments[1]), "sup"),
    **_all(_argument(2), "lang | langx | script/arabic | fontcolor | font | nihongo4"),
    **_all(_argument(3, 1), "nihongo3"),
    **_all(_last, "transl | transliteration | translit | tlit | wikt-lang | rtl-lang | color | colour | font color"),
    **_all(_last, "resize | wikt | wt | sort"),
    **_all(_argument("lt", 1), "ill | illm | interlanguage link | interlanguage link multi | link-interwiki"),
    **_all(_measure, "convert | cvt | conv"),
    **_all(_height, "height"),
    **_all(_date, "start date | end date | birth date | death date | birth-date | death-date | film date | dts | date"),
    **_all(_date, "birth date and age | death date and age | start date and age | birth year and age | bda | dda"),
    **_all(_date, "birth-date and age | death-date and age | start-date | end-date"),
    **_all(_old_style_date, "oldstyledate | oldstyledatedy | oldstyledateny"),
    **_all(_as_of, "as of | asof"),
    **_all(_circa, "circa | c. | ca. | ca"),
    **_all(_around("b. "), "b. | born-in"),
    **_all(_around("d. "), "d. | died-in"),
    **{era.lower(): _era(era) for era in ("BCE", "CE", "BC", "AD")},
    **_all(_ordinal, "ordinal | ord"),
    **_all(_power, "10^"),
    **_all(_around("×10^"), "e"),
    **_all(_around("√"), "sqrt | radic"),
    **_all(_around("⟨", "⟩"), "angbr | angbr ipa | angle bracket"),
    **_all(_around("lit. '", "'"), "lit | literally | literal translation | lit."),
    **_all(_around("'", "'"), "gloss | single quote"),
    **_all(_around("transl. "), "trans | translation"),
    **_all(_around("Vol. "), "vol."),
    **_all(_around("U.S. patent "), "us patent"),
    **_all(_around("RFC "), "ietf rfc"),
    **_all(_percentage, "percentage | percent | pct"),
    **_all(_gauge, "track gauge | railgauge | rail gauge"),
    **_all(_nuclide, "nuclide | nuclide2"),
    **_all(_chinese, "zh | chinese"),
    **_all(_note, "music"),
    **_all(_joined("+"), "keypress | key press | key"),
    **_all(_joined(", "), "cslist | csv | comma separated entries"),
    **_all(_span("fl."), "floruit | fl. | fl"),
    **_all(_span("r."), "reign | r."),
    **_all(_around("née "), "nee | née"),
    **_all(_around("No. "), "numero | no."),
    **_all(_fraction, "frac | fraction | sfrac"),
    **_all(_value, "val | gaps"),
    **_all(_joined(""), "chem | su | mpl | mp"),
    **_all(_joined(" "), "bibleverse | bibleref | bibleref2 | jct | sortname"),
    **{name: _money(sign) for name, sign in SIGNS.items()},
    **_all(_currency, "currency"),
    **_all(_rupees, "inrconvert"),
    **_all(_ship, "ship"),
    **_all(_around("German submarine "), "gs"),
    **_all(_around("SM "), "smu"),
    **_all(_orbiter, "ov"),
    **_all(_ship_class, "sclass | sclass2 | sclass-"),
    **{prefix.strip().lower(): _ship_of(prefix.strip()) for prefix in _SHIPS.split("|")},
}
