"""Phrases by which a paragraph says that it is about the page, not about the page's subject.

One pattern a line, grouped by what it catches. Each asks for enough words around it that prose about cookies,
newsletters or privacy policies does not match. Before a pattern stand the words, parted by |, of which a text that
matches has at least one: to look for them costs a small part of the search, and most prose has none.
"""

import re
from collections import defaultdict

_SITE = r"(?:we|this\ (?:site|website|page)|our\ (?:web)?sites?|our\ partners|these\ (?:web)?sites)"
_NETWORK_NAMES = (
    "twitter", "facebook", "instagram", "x", "threads", "bluesky", "youtube", "tiktok", "linkedin", "discord", "reddit",
    "whatsapp", "pinterest",
)  # fmt: skip
_NETWORK = rf"(?:{'|'.join(_NETWORK_NAMES)})"
_ON_NETWORK = "|".join(f" on {name}" for name in _NETWORK_NAMES)
_TERMS = r"(?:terms\ (?:of|and|&)\ (?:use|service|conditions)|privacy\ (?:policy|notice|statement)|user\ agreement)"
_TERMS_WORDS = "terms |privacy |user agreement"
_MAIL = r"(?:newsletters?|e-?mails?|inbox|alerts)"

PHRASES = (
    # consent
    ("cookie", rf"\b{_SITE}\b.{{0,60}}\buses?\b.{{0,30}}\bcookies\b"),
    ("cookie", r"\b(?:these|strictly\ necessary|targeting|performance|functional|advertising)\ cookies\b"),
    ("cookie", r"\b(?:accept|reject|manage|allow|disable|block)\b.{0,20}\bcookies\b"),
    ("cookie", r"\bcookie\ (?:policy|settings|preferences|notice)\b"),
    ("cookie", r"\bmostly\ in\ the\ form\ of\ cookies\b|\bcommonly\ called\ .?cookies\b"),
    ("cookie", r"\bcategor(?:y|ies)\ of\ cookies\b"),
    ("personal|sale|sharing|advertis", r"\b(?:opt[\s-]out|do\ not\ sell)\b.{0,60}\b(?:personal|sale|sharing|advertis)"),
    # rights and terms
    ("all rights reserved", r"\ball\ rights\ reserved\b"),
    ("©|(c)|copyright ", r"^\W*(?:copyright\b\W*)?(?:©|\(c\))\s*(?:copyright\s*)?\d{4}|^\W*copyright\ \d{4}"),
    (_TERMS_WORDS, r"\b(?:agree|accept|acceptance|acknowledge|constitutes|subject\ to|see|read|refer|visit|our)\b"
     rf".{{0,60}}{_TERMS}\b"),
    (_TERMS_WORDS, rf"^.{{0,60}}\b{_TERMS}\b.{{0,20}}$"),
    ("reproduced, ", r"\breproduced,\ (?:distributed|stored|copied)\b"),
    ("may not be ", r"\bmay\ not\ be\ (?:published|reproduced|reprinted|republished|copied)\b"),
    ("registered in england|recaptcha", r"\bregistered\ in\ england\b|\bprotected\ by\ recaptcha\b"),
    ("not responsible for", r"\bnot\ responsible\ for\ the\ content\ of\ external\b"),
    ("affiliate|earn a commission",
     r"\baffiliate\ (?:links?|commissions?)\b|\bearn\ (?:a|an\ affiliate)\ commission\b"),
    # the machine
    ("javascript", r"\b(?:enable|turn\ on|activate|requires?)\ javascript\b"),
    ("javascript", r"\bjavascript\ (?:is\ (?:disabled|required|not)|must\ be|has\ been|turned\ off)"),
    ("your browser", r"\byour\ browser\ (?:does\ not|doesn.t|is\ not|isn.t|settings?)\b"),
    ("skip to ", r"\bskip\ to\ (?:main\ |the\ )?content\b"),
    ("this page ", r"\bthis\ page\ (?:was\ )?(?:last\ )?(?:edited|updated|modified)\b"),
    ("the wayback machine", r"^\W*the\ wayback\ machine\ -\ http"),
    ("powered by ", r"\bpowered\ by\ (?:wordpress|disqus|taboola|outbrain|blogger)\b"),
    # accounts, newsletters, money
    ("sign", rf"\bsign(?:ing)?[\s-]up\b.{{0,60}}\b(?:{_MAIL}|updates|account)\b"),
    ("subscrib", rf"\bsubscrib(?:e|ing)\b.{{0,60}}"
     rf"\b(?:{_MAIL}|now|today|feed|rss|access|channel|podcast|unlimited|magazine)\b"),
    ("subscribe|sign up|sign in|log in|login|register|join us|join now|join today",
     r"^\W*(?:subscribe|sign\ (?:up|in)|log\ ?in|register|join\ (?:us|now|today))\b.{0,80}$"),
    ("already a |account",
     r"\balready\ (?:a\ (?:member|subscriber)|have\ an\ account)\b|\bcreate\ (?:an|your)\ (?:free\ )?account\b"),
    ("password|mail address", r"\bforgot(?:ten)?\ (?:your\ )?password\b|\b(?:your|a\ valid)\ e-?mail\ address\b"),
    ("to your ", rf"\b(?:delivered|straight|sent|right)\b.{{0,20}}\bto\ your\ {_MAIL}\b"),
    ("donation|contribution",
     r"\b(?:make\ a|your)\ (?:tax-deductible\ )?(?:donation|contribution)\b.{0,80}\b(?:today|support|help|keep)"),
    # sharing and comments
    ("share |tweet |post |pin |email ", r"^.{0,60}\b(?:share|tweet|post|pin|email)\ (?:this|on|via|to)\b"
     rf".{{0,20}}\b(?:article|story|page|{_NETWORK})\b"),
    (_ON_NETWORK, rf"\b(?:follow|like|find|join)\ (?:us|me|him|her|them|\w+(?:\ \w+)?)\ on\ {_NETWORK}\b"),
    ("click here", r"\bclick\ here\b"),
    ("click to |tap to ", r"\b(?:click|tap)\ to\ (?:share|enlarge|view|expand|play|copy)\b"),
    ("leave a ", r"\bleave\ a\ (?:comment|reply)\b"),
    ("log in to |sign in to ", r"\b(?:log|sign)\ in\ to\ (?:comment|reply|vote|post)\b"),
    ("comment", r"\bcomments?\ (?:are|is)\ closed\b"),
    ("be the first to ", r"\bbe\ the\ first\ to\ (?:comment|add|review)\b"),
    # captions, labels, entries of a bibliography
    ("credit|source|courtesy",
     r"^\W*(?:image|photo|picture)?\s*(?:credits?|source|courtesy)\b\s*(?::|by\b|of\b).{0,160}$"),
    ("getty images", r"\bgetty\ images\W*$"),
    (":", r"^\W*(?:read|see|related|recommended|more|read\ more|see\ also|next\ up|up\ next|watch|listen|filed\ under)"
     r"\s*:"),
    (":", r"^\W*(?:published|updated|posted|by|tags?|categor(?:y|ies)|topics?)\s*:.{0,80}$"),
    ("continues below", r"\b(?:story|article)\ continues\ below\b"),
    ("scholar", r"\bgoogle\ ?scholar\b"),
    ("crossref|cross ref", r"\bcross\ ?ref\s*(?:pub\ ?med|google|scopus|$)"),
)  # fmt: skip


def _by_word() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return for each word the patterns that may match a text that has it, as one."""
    patterns: defaultdict[str, list[str]] = defaultdict(list)
    for words, pattern in PHRASES:
        for word in words.split("|"):
            patterns[word].append(pattern.replace("\\ ", " "))
    return tuple((word, re.compile("|".join(found), re.IGNORECASE)) for word, found in patterns.items())


_BY_WORD = _by_word()


def is_boilerplate(text: str) -> bool:
    """Tell whether a paragraph has one of the phrases, in whatever case."""
    folded = fold(text)
    for word, pattern in _BY_WORD:  # noqa: SIM110 - a generator costs as much as the words
        if word in folded and pattern.search(text):
            return True
    return False


def fold(text: str) -> str:
    """Return text in lower case, the letters that `re.IGNORECASE` takes for i, s and k turned into these."""
    if not text.isascii():
        text = text.replace("İ", "i").replace("ı", "i").replace("ſ", "s")  # K, the sign of kelvin, has k below it
    return text.lower()
