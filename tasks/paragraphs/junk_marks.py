"""Marks of paragraphs that pass for prose but are about something else than the page's subject.

Each pattern finds one formula: how references are listed, how comments are headed, how pictures are credited.
None is a verdict: prose may cite "(Smith, J., 1990)" too. `tasks.paragraphs.quality` weighs them.
"""

import re
from collections.abc import Mapping

from tasks.rights.signals import ENDS

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_TRADE = (
    r"(?:writer|journalist|editor|reporter|author|columnist|critic|correspondent|professor|lecturer|historian|producer"
    r"|freelancer?|contributor|blogger|photographer|staffer|enthusiast|junkie|fan)"
)

# Patterns that ignore case, by name.
_FOLDED: Mapping[str, str] = {
    # references
    "reference_word": r"\b(?:et\ al|eds?|vol|pp?|trans|op\.\ cit|univ|no)\.|\bibid\b|\bdoi\b|\bisbn\b|\bpmid\b"
    r"|\barxiv\b|\bproc\.|\bj\.\ |\brev\.|\bint\.|\buniversity\ press\b|\bjournal\ of\b|\bpublishers?\b"
    r"|\b(?:retrieved|accessed)\b|\bgoogle\ scholar\b|\bcrossref\b",
    "pages": r"\b[pn]?\d+\s?[-–—‑]\s?[pn]?\d+\b",
    "volume": r"\b\d+\s?\(\d+(?:[-–]\d+)?\)|\b\d+\s?:\s?\d+",
    # readers
    "comment_head": rf"^.{{2,60}}?\b(?:says|said|wrote|replied|posted)\b:?.{{0,12}}\b(?:{_MONTH}\s\d|\d{{1,2}}[:/.]\d)"
    rf"|^.{{0,40}}?{_MONTH}\s\d{{1,2}},?\s\d{{4}}\W.{{0,12}}\d{{1,2}}:\d\d\ ?[ap]m\b"
    rf"|^\d{{1,2}}[:.]\d\d\s\d{{1,2}}\s{_MONTH}(?:\s\d{{4}})?\b"
    r"|^\W*(?:last\ )?edit(?:ed)?\b.{0,30}\b(?:times?|by|on)\b|\bcomment\ posted\ by\b",
    "reply": r"\breply\W*$|\blog\ in\ to\ reply\b|\breply\ to\ \w+\W*$|\breport\ abuse\b",
    "chat": r"\b(?:lol|wtf|omg|imho|btw|haha\w*|tbh|dont|cant|wont|im|ive|thats|gonna|wanna|u|ur|pls|thx|bs|dude)\b",
    # writers
    "byline": rf"^.{{0,120}}?\b(?:is|was|has\ been|works\ as|writes\ about)\b.{{0,60}}?\b{_TRADE}\b"
    r"|\b(?:follow|find|reach)\ (?:him|her|them)\b|\bcontributed\ to\ this\ (?:report|article|story|post)\b"
    r"|\bwrit(?:es|ing)\ about\b.{0,60}\bfor\b"
    r"|^.{0,60}\b(?:resident|senior|staff)\ \w+(?:\ \w+)?\ (?:and|writer|editor)\b"
    r"|\b(?:conceptualization|methodology),\ |\bthis\ (?:article|story)\ (?:first|originally)\ appeared\b",
    # pictures and tables
    "caption": r"^\W*(?:supplementary\ |extended\ data\ )?(?:fig(?:ure)?s?|tables?|photo(?:graph)?s?|images?|pictures?"
    r"|maps?|charts?|credits?|sources?|note)\b\.?\s*[\da-z]{0,4}\s?[.:|]"
    r"|\b(?:photo(?:graph)?s?|images?|credits?|courtesy|illustration|picture)\s?(?::|by\b|of\b|via\b|/)"
    r"|\([^()]{0,50}\b(?:photos?|images?|getty|reuters|afp|corbis|ap|epa|alamy|shutterstock)\b[^()]{0,40}\)\W*$"
    r"|\bscale\ bars?\b|\(scale\b|\b(?:are|is)\ (?:shown|indicated)\ (?:here|in\ (?:red|blue|green|black|grey|gray))\b"
    r"|\bshown\ here\b|\ban?\ (?:aerial\ )?view\ of\b|\bfrom\ left\b|\bpictured\b",
    # the site
    "cookie": r"\b(?:sets?|set\ by)\ (?:this|the)\ cookies?\b|\bcookies?\ (?:is|are|store|stores|records?|collects?)\b"
    r"|\bmaximum\ storage\ duration\b|\bhttp\ cookie\b|\bthis\ cookie\b|\bdescription\W.{0,60}\bcookies?\b",
    "site": r"\b(?:click|tap|scroll|log\ ?in|sign\ ?in|sign\ ?up|subscri\w+|newsletters?|password|javascript|browser"
    r"|inbox|embed|search|filter|menu|refresh|restarting|playback|upload|download)\b",
    "legal": r"\b(?:copyright|©|creative\ commons|licen[cs]ed?\ under|all\ rights|terms\ of|privacy|cc[\s-]+by"
    r"|repository|version\ of\ record|disclaimer|permissions?|reproduced)\b",
    "offer": r"\b(?:save|off)\ \d+\s?%|\b\d+%\ off\b|\b(?:special|limited)\ offers?\b|\bsubscription\b|\bfree\ trial\b"
    r"|\bdonat\w+|\bchip\ in\b|\bsupport\ us\b|\bnow\ (?:streaming|available|playing)\b|\bpre-?order\b|\bbuy\ now\b"
    r"|\bsponsored\b|\bour\ (?:newsletter|lowest|best|partners|readers)\b|\byour\ (?:first|home|inbox|account)\b",
    "teaser_end": r"(?<!\W)(?>\W*?\[\s?(?:…|\.\.\.)\s?\])\W*+$|\b(?:read\ (?:more|on)|more|continue)\W*+$",
    "social": r"\bpic\.twitter\.com|\bfacebook\b|\bgoogle\+|\binstagram\b|\bhashtag\b|@\w{3,}",
    "you": r"\b(?:you|your|yours)\b",
    "address": r"https?:|\bwww\.|\w\.(?:com|org|net|gov)\b",
    "clock": r"\b\d{1,2}[:.]\d\d\s?(?:[ap]\.?m\b|et\b|gmt\b)",
    "said_at": r"\bsays:\ |\b\d{1,2}:\d\d\ ?[ap]m\b.{0,40}\breply\b|\breply\ \d+\."
    r"|\b\d+\s?(?:comments?|replies|likes|shares)\b",
    "invites": r"^\W*(?:find\ out|get\ involved|get\ the|click|start\ typing|check\ out|read|follow|watch|learn|please"
    r"|sign|join|subscribe|see|visit|discover|explore|browse|listen|view|go\ to|here(?:['’]s|\ is|\ are)"
    r"|for\ (?:more|biographies)|plus|welcome|don['’]t\ miss|want|looking\ for|ready\ to|help|if\ you|can\ you)\b",
    "dated_end": r"\b(?:on|in)\ (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\ )?"
    rf"{_MONTH}\ \d{{1,2}}(?:,?\ \d{{4}})?\W*$"
    r"|\b(?:left|right|top|bottom|above|below|inset)\)|\bcredit:|\bsource:|\bposes?\ (?:for|with|in)\b",
    "ellipsis_end": r"(?<!\W)(?>\W*?(?:\.\.\.|…))\W*+$",
    "thanks": r"^\W*(?:thanks|thank\ you|great|nice|wow|yeah|yes|no|hi|hello|um+|well)\b",
}
# Patterns whose letters count as they are.
_EXACT: Mapping[str, str] = {
    "initials": r"\b[A-Z]\.(?:\s?-?[A-Z]\.)*|\b[A-Z][a-zà-ÿ]+,?\ [A-Z]{1,2}\b(?=[,.;\s])",
    "year": r"\b(?:1[5-9]|20)\d\d[a-z]?\b",
    "listed": r"^\W*(?:\[?\d{1,3}[\].)]|\(\d{1,3}\)|[-*•|–])\s?",
    "heading_signs": r"##\s|^\*\s|\s\*\s[A-Z]\w+$",
    "glued": r"[a-zà-ÿ][A-Z][a-zà-ÿ]{2}",
    "dialogue": r"^[A-Z][A-Za-z.]+(?:\ [A-Z][\w.]+)?:\s",
    "panel": r"^\([A-Z]\)\s|\s\([B-H]\)\s",
    "bars": r"\||\s[•·*]\s|\s[›»>]\s",
    "capitals": r"\b[A-Z]{3,}\b",
    "small_start": r"^\W*[a-zà-ÿ]",
    "question": r"(?<!\W)(?>\W*?\?)\W*+$",
    "exclaims": r"!",
    "quotes": r"[\"“”]",
    "figures": r"\b\d+(?:[.,]\d+)*\b",
    "ends": ENDS.pattern,
    "ends_open": r"[,:;–—-]\s*$",
    "parenthesis": r"[()]",
    "speaks": r"\b(?:I|I['’](?:m|d|ve|ll)|[Mm]y|[Ww]e|[Oo]ur)\b",
}

MARKS: Mapping[str, re.Pattern[str]] = {
    **{name: re.compile(pattern.replace("\\ ", " "), re.IGNORECASE) for name, pattern in _FOLDED.items()},
    **{name: re.compile(pattern.replace("\\ ", " ")) for name, pattern in _EXACT.items()},
}
