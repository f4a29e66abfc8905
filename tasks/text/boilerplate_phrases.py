"""Phrases that show that a paragraph is about the page, not about the page's subject.

One pattern per line, grouped by topic. Prose about cookies, newsletters or privacy policies has the same words, so each
pattern requires what only a page says about itself: it addresses its reader ("you", an imperative at the start of a
sentence), mentions itself ("this site"), or is a label and ends like one. Before each pattern are signs, separated by
|, of which every matching text has at least one: looking for them is much cheaper than the search, and most prose has
none of them. A sign is a sequence of characters in the words of the text (`split_words`) with a space before, between
and after them, so that " opt out " also stands for "Opt-out"; one without letters is a sequence of the text itself.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from tasks.text.ngrams import split_words

_SITE = r"(?:we|this\ (?:site|website|page)|our\ (?:web\ ?)?(?:sites?|pages)|our\ partners|these\ (?:web)?sites)"
_NETWORK_NAMES = (
    "twitter",
    "facebook",
    "instagram",
    "x",
    "threads",
    "bluesky",
    "youtube",
    "tiktok",
    "linkedin",
    "discord",
    "reddit",
    "whatsapp",
    "pinterest",
)
_NETWORK = rf"(?:{'|'.join(_NETWORK_NAMES)})"
_ON_NETWORK = "|".join(f" on {name} " for name in _NETWORK_NAMES)
_TERMS = r"(?:terms\ (?:of|and|&)\ (?:use|service|conditions)|privacy\ (?:policy|notice|statement)|user\ agreement)"
_TERMS_SIGNS = "|".join(
    [f"terms {of}{what}" for of in ("of ", "and ", "") for what in ("use", "service", "conditions")]
    + ["privacy policy", "privacy notice", "privacy statement", "user agreement"]
)
_MAIL = r"(?:newsletters?|e-?mails?|inbox|alerts)"
# Where an imperative to the reader occurs: at the start of a sentence, or after words that address the reader.
_ORDER = (
    r"(?:^\W*|[.!?|]\W{1,4}|\bplease\ (?:also\ )?|\bdon.t\ forget\ to\ "
    r"|\byou\ (?:can|may|must|should|need\ to|have\ to)\ (?:also\ )?)"
)
_KINDS = (  # of cookies
    r"(?:strictly\ necessary|necessary|essential|targeting|performance|functional|functionality|advertising|analytics"
    r"|analytical|marketing|tracking|session|browser|third[\s-]party|first[\s-]party)"
)
_TOOLS = (
    r"(?:technolog(?:y|ies)|tools|files|our|own|other|some|small|text|such|similar|like|as|and|or|including|called)"
)
_PUBLISHED = r"(?:published|reproduced|reprinted|republished|copied)"
_NOT_PUBLISHED = "|".join(f"may not be {done}" for done in _PUBLISHED[3:-1].split("|"))
_SOLD = r"(?:personal|sale|sharing|advertis)"
# A name: capitalised words and the small words between them. A sentence also has other words.
_NAME = r"(?-i:(?:(?:[A-Z0-9@©(]\S*|of|the|and|by|for|via|/|&)(?:\s+|$)){1,12}$)"

PHRASES = (
    # consent
    ("cookie", rf"\b{_SITE}\b(?:\s[\w’']+){{0,8}}?\ uses?\ (?:(?:{_KINDS}|{_TOOLS})\W+){{0,8}}cookies\b"),
    (
        "cookie",
        r"\buses?\ cookies\ (?:and|or|to\ (?:improve|personali[sz]e|provide|enhance|ensure|give|offer"
        r"|deliver))\b",
    ),
    (
        "cookie",
        r"\bthese\ cookies\b.{0,160}\b(?:website|site|page|browser|browsing|visits|traffic|personal"
        r"|advertis\w+|ads"
        r"|services?|preferences|device)\b",
    ),
    ("cookie", rf"^\W*{_KINDS}\ cookies\b(?:\W*$|\W+(?:are|help|enable|allow|collect|may|always)\b)"),
    (
        "cookie",
        rf"{_ORDER}(?:accept|reject|manage|allow|disable|block)\ "
        rf"(?:(?:all|your|our|optional|use|of|the|{_KINDS}|non[\s-]essential|and|or|manage|reject|accept)"
        rf"\ ){{0,3}}cookies\b",
    ),
    ("cookie", r"\bus(?:e|es|ing)\ of\ cookies\b.{0,80}\b(?:this|our|your|you)\b"),
    ("cookie", r"\b(?:this|our|your|you)\b.{0,80}\buse\ of\ cookies\b"),
    (
        "cookie",
        r"\b(?:our|your|the\ site.s|see|read|view|manage)\ (?:privacy\ and\ )?"
        r"cookies?\ (?:policy|settings|preferences|notice)\b",
    ),
    ("cookie", r"^[^.!?]{0,40}\bcookies?\ (?:policy|settings|preferences|notice)\b[^.!?]{0,20}$"),
    ("cookie", r"\bmostly\ in\ the\ form\ of\ cookies\b"),
    ("cookie", r"\bcommonly\ called\ .?cookies\b"),
    ("cookie", r"\b(?:category|categories|types)\ of\ cookies\b.{0,100}\b(?:you|your|site|services|consent)\b"),
    (" opt out ", rf"\b(?:you|your|we)\b.{{0,80}}\bopt[\s-]out\b.{{0,60}}\b{_SOLD}"),
    (" opt out | not sell ", rf"(?:^|[.!?]\W{{1,4}})(?:opt[\s-]out\ of|do\ not\ sell)\b.{{0,40}}\b{_SOLD}"),
    (" not sell ", r"\bdo\ not\ sell(?:\ or\ share)?\ my\ personal\b"),
    # rights and terms
    ("all rights reserved", r"\ball\ rights\ reserved(?:\W*$|\s*[.,;:|©(])"),
    ("all rights reserved", r"(?:^\W*|(?:©|\bcopyright\b).{0,120}\b)all\ rights\ reserved\b"),
    ("©|copyright ", r"^\W*(?:copyright\b\W*)?©\s*(?:copyright\s*)?\d{4}"),
    ("copyright ", r"^\W*copyright\ (?:\(c\)\s*)?\d{4}"),
    (
        _TERMS_SIGNS,
        r"\b(?:you|your|by\ \w+ing)\b.{0,160}"
        rf"\b(?:agree\w*|accept\w*|acknowledge|constitutes|consent|bound|subject\ to)\b.{{0,60}}{_TERMS}\b",
    ),
    (_TERMS_SIGNS, rf"\b(?:subject\ to|acceptance\ of|review|agree\ to|consult|under|in)\ our\b.{{0,20}}{_TERMS}\b"),
    (_TERMS_SIGNS, rf"{_ORDER}(?:see|read|review|view|refer\ to|visit|check)\b.{{0,30}}{_TERMS}\b"),
    (_TERMS_SIGNS, rf"\bsee\ our\ {_TERMS}\b"),
    (_TERMS_SIGNS, rf"\b{_TERMS}\ apply\b"),
    (_TERMS_SIGNS, rf"^[^.!?]{{0,60}}\b{_TERMS}\b[^.!?]{{0,20}}$"),
    (_TERMS_SIGNS, rf"[|•*]\W{{0,4}}{_TERMS}\W{{0,4}}(?:$|[|•*])"),
    ("reproduced distributed|reproduced stored|reproduced copied", r"\breproduced,\ (?:distributed|stored|copied)\b"),
    (
        _NOT_PUBLISHED,
        r"\b(?:materials?|contents?|articles?|story|part\ of\ (?:it|this))\b.{0,60}"
        rf"\bmay\ not\ be\ {_PUBLISHED}\b",
    ),
    (_NOT_PUBLISHED, rf"\bmay\ not\ be\ {_PUBLISHED}(?:,|\b.{{0,80}}\bwithout\b.{{0,40}}\b(?:permission|consent)\b)"),
    ("registered in england", r"\bregistered\ in\ england\b.{0,40}(?:\bn(?:o|umber)\b|\d{5})"),
    ("recaptcha", r"\bprotected\ by\ recaptcha\b"),
    ("not responsible for", r"\bnot\ responsible\ for\ the\ content\ of\ external\b"),
    (
        "affiliate ",
        r"\b(?:we|us|our|this\ (?:post|page|article|story|site|video)|disclosure|ftc)\b.{0,120}"
        r"\baffiliate\ (?:links?|commissions?)\b",
    ),
    ("affiliate ", r"\bmay\ (?:contain|include|be)\ affiliate\ links?\b"),
    (
        " commission",
        r"\b(?:we|may)\ earn\ (?:a|an\ affiliate)\ (?:small\ )?commission\b.{0,60}"
        r"\b(?:links?|buy|purchases?|page|site)\b",
    ),
    # the machine
    ("javascript", rf"(?:{_ORDER}|\bneed\ to\ )(?:enable|turn\ on|activate)\ javascript\b"),
    ("javascript", r"\b(?:site|page|website|slideshow|video|form|app|feature|content)\ requires\ javascript\b"),
    (
        "javascript",
        r"\bjavascript\ is\ (?:currently\ )?(?:disabled|required|not\ (?:enabled|supported|available"
        r"|active))",
    ),
    ("javascript", r"\bjavascript\ (?:must\ be\ enabled|has\ been\ disabled|(?:is\ )?turned\ off)"),
    (
        "your browser",
        r"\byour\ browser\ (?:does\ not|doesn.t|is\ not|isn.t)\ (?:currently\ )?"
        r"(?:support|allow|accept|have|able|enabled|recogni|up\ to\ date|compatible)",
    ),
    ("your browser", r"\byour\ browser(?:[’']s)?\ settings?\b"),
    ("skip to ", r"^[^.!?]{0,60}\bskip\ to\ (?:main\ |the\ )?content\b(?!\ (?:that|which|they|about)\b)"),
    ("this page ", r"\bthis\ page\ (?:was\ (?:last\ )?|last\ )(?:edited|updated|modified)\b"),
    ("the wayback machine", r"^\W*the\ wayback\ machine\ -\ http"),
    ("powered by ", r"(?:^|[|•.!?]|\bproudly\b)\W{0,4}powered\ by\ (?:wordpress|disqus|taboola|outbrain|blogger)\b"),
    # accounts, newsletters, money
    (
        " sign up | signing up ",
        rf"(?:{_ORDER}(?:sign[\s-]up|signing\ up)|\bby\ signing\ up)\b.{{0,60}}\b(?:{_MAIL}|updates|account)\b",
    ),
    (
        "subscrib",
        rf"(?:{_ORDER}subscrib(?:e|ing)|\bby\ subscribing)\b.{{0,60}}"
        rf"\b(?:{_MAIL}|now|today|feed|rss|access|channel|podcast|unlimited|magazine|updates)\b",
    ),
    (
        "sign up|sign in|log in|login|join us|join now|join today|subscribe",
        r"^\W*(?:subscribe|sign\ (?:up|in)|log\ ?in|join\ (?:us|now|today))"
        r"(?:\W*$|\ (?:now|today|here|free|for|to|with|or|and|on|below|via|using|by)\b.{0,80}$)",
    ),
    ("register", r"^\W*register(?:\W*$|\ (?:now|today|here|free|or\ (?:log|sign))\b.{0,80}$)"),
    (
        "register ",
        r"^\W*register\ (?:for|to)\ (?:a\ |an\ |your\ )?"
        r"(?:free|account|our|comment|continue|access|receive)\b.{0,80}$",
    ),
    (
        "already a member|already a subscriber|already have an account",
        r"\balready\ (?:a\ (?:member|subscriber)|have\ an\ account)(?:\W*\?|\W*$|\W+(?:log|sign)\ ?in\b)",
    ),
    (
        "|".join(f" create {a} {free}account " for a in ("an", "your", "a") for free in ("", "free ")),
        rf"(?:{_ORDER}|\blog\ ?in\ or\ )create\ (?:an|your|a)\ (?:free\ )?account\b",
    ),
    ("password", r"(?:^\W*|[.!?-]\W{1,4})forgot(?:ten)?\ (?:your\ )?password\b|\bforgot(?:ten)?\ your\ password\?"),
    ("mail address", r"\byour\ e-?mail\ address\ (?:will\ not|won.t|is\ never|is\ required)\b"),
    ("mail address", r"\b(?:enter|provide|type|confirm|submit)\b.{0,20}\b(?:your|a\ valid)\ e-?mail\ address\b"),
    ("mail address", r"^[^.!?]{0,20}\byour\ e-?mail\ address\W*$"),
    (
        "to your newsletter|to your e|to your inbox|to your alerts",
        rf"\b(?:delivered|straight|sent|right)\b.{{0,20}}\bto\ your\ {_MAIL}\b",
    ),
    (
        "donation|contribution",
        rf"{_ORDER}(?:consider\ )?mak(?:e|ing)\ a\ (?:tax-deductible\ )?(?:donation"
        rf"|contribution)\b"
        r".{0,80}\b(?:today|support|help|keep)",
    ),
    (
        "donation|contribution",
        r"\byour\ (?:tax-deductible\ )?(?:donation|contribution)\ (?:will\ )?(?:support|help"
        r"|keep)s?\b",
    ),
    # sharing and comments
    (
        "share |tweet |post |pin |mail ",
        r"^\W*(?:share|tweet|post|pin|e-?mail)\ "
        rf"(?:this\ (?:article|story|page|post)|(?:this\ )?(?:on|via|to)\ {_NETWORK})"
        rf"(?:\W+(?:on|via|to|by|with|and|or|{_NETWORK}|e-?mail|friends?|your|a|this|print|share|tweet|pin|google"
        rf"|tumblr|opens"
        r"|in|new|window))*\W*$",
    ),
    ("share this ", rf"{_ORDER}share\ this\ (?:article|story|page|post)\ (?:with|on)\b"),
    ("share this|tweet this", r"^\W*(?:share|tweet)\ this\W*$"),
    (
        _ON_NETWORK,
        rf"{_ORDER}(?:follow|find|join|like)\ (?:us|me|him|her|them|our\ \w+|the\ conversation)"
        rf"\ on\ {_NETWORK}\b",
    ),
    (_ON_NETWORK, rf"{_ORDER}follow(?:\ [\w@.’'-]+){{1,6}}\ on\ {_NETWORK}\b"),
    ("click here", r"\bclick\ here\b(?:\W*$|\ (?:to|for|and|if)\b)"),
    ("click to |tap to ", rf"(?:{_ORDER}|\bicon\ |\()(?:click|tap)\ to\ (?:share|enlarge|view|expand|play|copy)\b"),
    ("leave a comment|leave a reply", rf"{_ORDER}leave\ a\ (?:comment|reply)\b"),
    (
        " in to comment| in to reply| in to vote| in to post",
        rf"{_ORDER}(?:be\ )?(?:log|sign|logged|signed)\ in\ to\ (?:comment|reply|vote|post)\b",
    ),
    (
        " comment is | comment are | comments is | comments are ",
        r"(?:^\W*|[.!?]\W{1,4})comments?\ (?:are|is)\ (?:now\ )?closed\b",
    ),
    ("first to comment|first to add|first to review", rf"{_ORDER}be\ the\ first\ to\ (?:comment|add|review)\b"),
    # credits, captions, labels, entries of a bibliography
    (
        "credit|source|courtesy",
        r"^\W*(?:image|photo|picture|video)s?\ (?:credits?|source|courtesy)\b\s*(?::|by\b|of\b).{0,160}$",
    ),
    ("credit|source|courtesy", rf"^\W*(?:credits?|sources?|courtesy(?:\ of)?)\s*:\s*{_NAME}"),
    ("getty images", r"(?:^|[/|(–—-]\s?|\b(?:via|by|credit|photos?|picture)\W)\W{0,4}getty\ images\W*$"),
    ("getty images", r"[.!?][”\"’]?\s(?:\w+\W+){0,4}getty\ images\W*$"),
    ("editing by", r"^\W*(?:additional\ )?(?:reporting|writing)\ by\b.{2,200}[;,.)]\W*editing\ by\b"),
    (
        ":",
        r"^\W*(?:related|recommended|read\ more|see\ also|next\ up|up\ next|filed\ under|also\ read|read\ also"
        r"|read\ next"
        r"|learn\ more|more\ on\ this|don.t\ miss)\s*:.{0,200}$",
    ),
    (":", r"^\W*(?:read|see|more|watch|listen)\s*:[^.!?]{0,160}[!?]?$"),
    (":", r"^\W*(?:published|updated|posted)\s*:.{0,40}\d.{0,80}$"),
    (":", r"^\W*(?:by|tags?|category|categories|topics?)\s*:[^.!?]{0,80}$"),
    (
        "advertisement|read more|most read|trending|continue reading|miss|recommended|loading",
        r"^\W*(?:advertisement|read\ more|most\ read|trending(?:\ now)?|continue\ reading|don.t\ miss|recommended"
        r"|loading)\W*$",
    ),
    ("related ", r"^\W*related\ (?:articles?|story|stories|posts?|topics?|coverage)\W*$"),
    (
        "continues below",
        r"\b(?:story|article)\ continues\ below\W*(?:(?:this|the)\W+)?(?:advert\w*|video"
        r"|gallery)?\W*$",
    ),
    ("scholar", r"(?:[\])]\W{0,4}|\bcross\ ?ref\W+)google\ ?scholar\b|\bgoogle\ ?scholar\W*$"),
    ("crossref|cross ref", r"\bcross\ ?ref\W*(?:pub\ ?med|google|scopus|$)"),
)


def _by_sign() -> dict[str, tuple[re.Pattern[str] | None, re.Pattern[str] | None]]:
    """Return for each word or sign the patterns listed under it: those of a text's start, and the others, each joined.

    A pattern that begins with ^ is tried at the start alone, where a search would try it at every character.
    """
    patterns: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for signs, pattern in PHRASES:
        for sign in signs.split("|"):
            patterns[sign][not pattern.startswith("^")].append(pattern.replace("\\ ", " "))
    return {sign: (_joined(starts), _joined(others)) for sign, (starts, others) in patterns.items()}


def _joined(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


_BY_SIGN = _by_sign()
_FREQUENT = frozenset("a all and be by for in is not of on or out the this to up us".split())  # noqa: SIM905
_WORDLESS = tuple(sign for sign in _BY_SIGN if not split_words(sign))
# The longest word in every other sign: a text with the sign has a word that contains it.
_CORES = {
    sign: max(split_words(sign), key=lambda word: (word not in _FREQUENT, len(word)))
    for sign in _BY_SIGN
    if sign not in _WORDLESS
}
_OTHER_LETTERS = re.compile("[İıſ]")  # equal to i and s for `re.IGNORECASE`, and not for `split_words`
_REMEMBERED = 100_000  # words; a text's words are mostly among those of the texts before it


class _SignsOfWords(dict[str, tuple[str, ...]]):
    """The signs that a word may belong to, found once for each word."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        signs = tuple(sign for sign, core in _CORES.items() if (word == core if f" {core} " in sign else core in word))
        if len(self) < _REMEMBERED:
            self[word] = signs
        return signs


_signs_of = _SignsOfWords().__getitem__


def is_boilerplate(text: str, words: Sequence[str] | None = None) -> bool:
    """Tell whether a paragraph contains one of the phrases, ignoring case.

    Args:
        text: the paragraph, one line.
        words: `split_words(text)`, from callers that have it.
    """
    if words is None or not (text.isascii() or _OTHER_LETTERS.search(text) is None):
        words = split_words(fold(text))
    signs = {sign for sign in _WORDLESS if sign in text}
    candidates = list(filter(None, map(_signs_of, words)))
    if candidates:
        spaced = f" {' '.join(words)} "
        signs |= {sign for signs_of_word in candidates for sign in signs_of_word if sign in spaced}
    for sign in signs:
        starts, others = _BY_SIGN[sign]
        if (starts is not None and starts.match(text)) or (others is not None and others.search(text)):
            return True
    return False


def fold(text: str) -> str:
    """Return text in lower case, with the letters that `re.IGNORECASE` equates with i, s and k replaced by these."""
    if not text.isascii():
        text = text.replace("İ", "i").replace("ı", "i").replace("ſ", "s")  # K, the sign of kelvin, has k below it
    return text.lower()
