"""Phrases that show that a paragraph is about the page, not about the page's subject.

One pattern per line, grouped by topic. Prose about cookies, newsletters or privacy policies has the same words, so each
pattern requires what only a page says about itself: it addresses its reader ("you", an imperative at the start of a
sentence), mentions itself ("this site"), or is a label and ends like one. Before each pattern are words, separated by
|, of which every matching text has at least one: looking for them is much cheaper than the search, and most prose has
none of them.
"""

import re
from collections import defaultdict

_SITE = r"(?:we|this\ (?:site|website|page)|our\ (?:web\ ?)?(?:sites?|pages)|our\ partners|these\ (?:web)?sites)"
_NETWORK_NAMES = (
    "twitter", "facebook", "instagram", "x", "threads", "bluesky", "youtube", "tiktok", "linkedin", "discord", "reddit",
    "whatsapp", "pinterest",
)  # fmt: skip
_NETWORK = rf"(?:{'|'.join(_NETWORK_NAMES)})"
_ON_NETWORK = "|".join(f" {place} {name}" for name in _NETWORK_NAMES for place in ("on", "via", "to"))
_TERMS = r"(?:terms\ (?:of|and|&)\ (?:use|service|conditions)|privacy\ (?:policy|notice|statement)|user\ agreement)"
_TERMS_WORDS = "terms |privacy |user agreement"
_MAIL = r"(?:newsletters?|e-?mails?|inbox|alerts)"
# Where an imperative to the reader occurs: at the start of a sentence, or after words that address the reader.
_ORDER = (
    r"(?:^\W*|[.!?|]\W+|\bplease\ (?:also\ )?|\bdon.t\ forget\ to\ "
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
_SOLD = r"(?:personal|sale|sharing|advertis)"
# A name: capitalised words and the small words between them. A sentence also has other words.
_NAME = r"(?-i:(?:(?:[A-Z0-9@©(]\S*|of|the|and|by|for|via|/|&)(?:\s+|$)){1,12}$)"

PHRASES = (
    # consent
    ("cookie", rf"\b{_SITE}\b(?:\s[\w’']+){{0,8}}?\ uses?\ (?:(?:{_KINDS}|{_TOOLS})\W+){{0,8}}cookies\b"),
    ("cookie", r"\buses?\ cookies\ (?:and|or|to\ (?:improve|personali[sz]e|provide|enhance|ensure|give|offer"
     r"|deliver))\b"),
    ("cookie", r"\bthese\ cookies\b.{0,160}\b(?:website|site|page|browser|browsing|visits|traffic|personal"
     r"|advertis\w+|ads"
     r"|services?|preferences|device)\b"),
    ("cookie", rf"^\W*{_KINDS}\ cookies\b(?:\W*$|\W+(?:are|help|enable|allow|collect|may|always)\b)"),
    ("cookie", rf"{_ORDER}(?:accept|reject|manage|allow|disable|block)\ "
     rf"(?:(?:all|your|our|optional|use|of|the|{_KINDS}|non[\s-]essential|and|or|manage|reject|accept)"
     rf"\ ){{0,3}}cookies\b"),
    ("cookie", r"\bus(?:e|es|ing)\ of\ cookies\b.{0,80}\b(?:this|our|your|you)\b"),
    ("cookie", r"\b(?:this|our|your|you)\b.{0,80}\buse\ of\ cookies\b"),
    ("cookie", r"\b(?:our|your|the\ site.s|see|read|view|manage)\ (?:privacy\ and\ )?"
     r"cookies?\ (?:policy|settings|preferences|notice)\b"),
    ("cookie", r"^[^.!?]{0,40}\bcookies?\ (?:policy|settings|preferences|notice)\b[^.!?]{0,20}$"),
    ("cookie", r"\bmostly\ in\ the\ form\ of\ cookies\b"),
    ("cookie", r"\bcommonly\ called\ .?cookies\b"),
    ("cookie", r"\b(?:category|categories|types)\ of\ cookies\b.{0,100}\b(?:you|your|site|services|consent)\b"),
    (_SOLD[3:-1], rf"\b(?:you|your|we)\b.{{0,80}}\bopt[\s-]out\b.{{0,60}}\b{_SOLD}"),
    (_SOLD[3:-1], rf"(?:^|[.!?]\W+)(?:opt[\s-]out\ of|do\ not\ sell)\b.{{0,40}}\b{_SOLD}"),
    ("personal", r"\bdo\ not\ sell(?:\ or\ share)?\ my\ personal\b"),
    # rights and terms
    ("all rights reserved", r"\ball\ rights\ reserved(?:\W*$|\s*[.,;:|©(])"),
    ("all rights reserved", r"(?:^\W*|(?:©|\bcopyright\b).{0,120}\b)all\ rights\ reserved\b"),
    ("©|copyright ", r"^\W*(?:copyright\b\W*)?©\s*(?:copyright\s*)?\d{4}"),
    ("copyright ", r"^\W*copyright\ (?:\(c\)\s*)?\d{4}"),
    (_TERMS_WORDS, r"\b(?:you|your|by\ \w+ing)\b.{0,160}"
     rf"\b(?:agree\w*|accept\w*|acknowledge|constitutes|consent|bound|subject\ to)\b.{{0,60}}{_TERMS}\b"),
    (_TERMS_WORDS, rf"\b(?:subject\ to|acceptance\ of|review|agree\ to|consult|under|in)\ our\b.{{0,20}}{_TERMS}\b"),
    (_TERMS_WORDS, rf"{_ORDER}(?:see|read|review|view|refer\ to|visit|check)\b.{{0,30}}{_TERMS}\b"),
    (_TERMS_WORDS, rf"\bsee\ our\ {_TERMS}\b"),
    (_TERMS_WORDS, rf"\b{_TERMS}\ apply\b"),
    (_TERMS_WORDS, rf"^[^.!?]{{0,60}}\b{_TERMS}\b[^.!?]{{0,20}}$"),
    (_TERMS_WORDS, rf"[|•*]\W*{_TERMS}\W*(?:$|[|•*])"),
    ("reproduced, ", r"\breproduced,\ (?:distributed|stored|copied)\b"),
    ("may not be ", r"\b(?:materials?|contents?|articles?|story|part\ of\ (?:it|this))\b.{0,60}"
     rf"\bmay\ not\ be\ {_PUBLISHED}\b"),
    ("may not be ", rf"\bmay\ not\ be\ {_PUBLISHED}(?:,|\b.{{0,80}}\bwithout\b.{{0,40}}\b(?:permission|consent)\b)"),
    ("registered in england", r"\bregistered\ in\ england\b.{0,40}(?:\bn(?:o|umber)\b|\d{5})"),
    ("recaptcha", r"\bprotected\ by\ recaptcha\b"),
    ("not responsible for", r"\bnot\ responsible\ for\ the\ content\ of\ external\b"),
    ("affiliate ", r"\b(?:we|us|our|this\ (?:post|page|article|story|site|video)|disclosure|ftc)\b.{0,120}"
     r"\baffiliate\ (?:links?|commissions?)\b"),
    ("affiliate ", r"\bmay\ (?:contain|include|be)\ affiliate\ links?\b"),
    (" commission", r"\b(?:we|may)\ earn\ (?:a|an\ affiliate)\ (?:small\ )?commission\b.{0,60}"
     r"\b(?:links?|buy|purchases?|page|site)\b"),
    # the machine
    ("javascript", rf"(?:{_ORDER}|\bneed\ to\ )(?:enable|turn\ on|activate)\ javascript\b"),
    ("javascript", r"\b(?:site|page|website|slideshow|video|form|app|feature|content)\ requires\ javascript\b"),
    ("javascript", r"\bjavascript\ is\ (?:currently\ )?(?:disabled|required|not\ (?:enabled|supported|available"
     r"|active))"),
    ("javascript", r"\bjavascript\ (?:must\ be\ enabled|has\ been\ disabled|(?:is\ )?turned\ off)"),
    ("your browser", r"\byour\ browser\ (?:does\ not|doesn.t|is\ not|isn.t)\ (?:currently\ )?"
     r"(?:support|allow|accept|have|able|enabled|recogni|up\ to\ date|compatible)"),
    ("your browser", r"\byour\ browser(?:[’']s)?\ settings?\b"),
    ("skip to ", r"^[^.!?]{0,60}\bskip\ to\ (?:main\ |the\ )?content\b(?!\ (?:that|which|they|about)\b)"),
    ("this page ", r"\bthis\ page\ (?:was\ (?:last\ )?|last\ )(?:edited|updated|modified)\b"),
    ("the wayback machine", r"^\W*the\ wayback\ machine\ -\ http"),
    ("powered by ", r"(?:^|[|•.!?]|\bproudly\b)\W*powered\ by\ (?:wordpress|disqus|taboola|outbrain|blogger)\b"),
    # accounts, newsletters, money
    ("sign", rf"(?:{_ORDER}(?:sign[\s-]up|signing\ up)|\bby\ signing\ up)\b.{{0,60}}\b(?:{_MAIL}|updates|account)\b"),
    ("subscrib", rf"(?:{_ORDER}subscrib(?:e|ing)|\bby\ subscribing)\b.{{0,60}}"
     rf"\b(?:{_MAIL}|now|today|feed|rss|access|channel|podcast|unlimited|magazine|updates)\b"),
    ("sign up|sign in|log in|login|join us|join now|join today|subscribe",
     r"^\W*(?:subscribe|sign\ (?:up|in)|log\ ?in|join\ (?:us|now|today))"
     r"(?:\W*$|\ (?:now|today|here|free|for|to|with|or|and|on|below|via|using|by)\b.{0,80}$)"),
    ("register", r"^\W*register(?:\W*$|\ (?:now|today|here|free|or\ (?:log|sign))\b.{0,80}$)"),
    ("register ", r"^\W*register\ (?:for|to)\ (?:a\ |an\ |your\ )?"
     r"(?:free|account|our|comment|continue|access|receive)\b.{0,80}$"),
    ("already ", r"\balready\ (?:a\ (?:member|subscriber)|have\ an\ account)(?:\W*\?|\W*$|\W+(?:log|sign)\ ?in\b)"),
    (" account", rf"(?:{_ORDER}|\blog\ ?in\ or\ )create\ (?:an|your|a)\ (?:free\ )?account\b"),
    ("password", r"(?:^\W*|[.!?-]\W+)forgot(?:ten)?\ (?:your\ )?password\b|\bforgot(?:ten)?\ your\ password\?"),
    ("mail address", r"\byour\ e-?mail\ address\ (?:will\ not|won.t|is\ never|is\ required)\b"),
    ("mail address", r"\b(?:enter|provide|type|confirm|submit)\b.{0,20}\b(?:your|a\ valid)\ e-?mail\ address\b"),
    ("mail address", r"^[^.!?]{0,20}\byour\ e-?mail\ address\W*$"),
    ("to your ", rf"\b(?:delivered|straight|sent|right)\b.{{0,20}}\bto\ your\ {_MAIL}\b"),
    ("donation|contribution", rf"{_ORDER}(?:consider\ )?mak(?:e|ing)\ a\ (?:tax-deductible\ )?(?:donation"
     rf"|contribution)\b"
     r".{0,80}\b(?:today|support|help|keep)"),
    ("donation|contribution", r"\byour\ (?:tax-deductible\ )?(?:donation|contribution)\ (?:will\ )?(?:support|help"
     r"|keep)s?\b"),
    # sharing and comments
    ("share |tweet |post |pin |mail ", r"^\W*(?:share|tweet|post|pin|e-?mail)\ "
     rf"(?:this\ (?:article|story|page|post)|(?:this\ )?(?:on|via|to)\ {_NETWORK})"
     rf"(?:\W+(?:on|via|to|by|with|and|or|{_NETWORK}|e-?mail|friends?|your|a|this|print|share|tweet|pin|google"
     rf"|tumblr|opens"
     r"|in|new|window))*\W*$"),
    ("share this ", rf"{_ORDER}share\ this\ (?:article|story|page|post)\ (?:with|on)\b"),
    ("share this|tweet this", r"^\W*(?:share|tweet)\ this\W*$"),
    (_ON_NETWORK, rf"{_ORDER}(?:follow|find|join|like)\ (?:us|me|him|her|them|our\ \w+|the\ conversation)"
     rf"\ on\ {_NETWORK}\b"),
    (_ON_NETWORK, rf"{_ORDER}follow(?:\ [\w@.’'-]+){{1,6}}\ on\ {_NETWORK}\b"),
    ("click here", r"\bclick\ here\b(?:\W*$|\ (?:to|for|and|if)\b)"),
    ("click to |tap to ", rf"(?:{_ORDER}|\bicon\ |\()(?:click|tap)\ to\ (?:share|enlarge|view|expand|play|copy)\b"),
    ("leave a ", rf"{_ORDER}leave\ a\ (?:comment|reply)\b"),
    ("in to ", rf"{_ORDER}(?:be\ )?(?:log|sign|logged|signed)\ in\ to\ (?:comment|reply|vote|post)\b"),
    ("comment", r"(?:^|[.!?]\W+)\W*comments?\ (?:are|is)\ (?:now\ )?closed\b"),
    ("be the first to ", rf"{_ORDER}be\ the\ first\ to\ (?:comment|add|review)\b"),
    # credits, captions, labels, entries of a bibliography
    ("credit|source|courtesy",
     r"^\W*(?:image|photo|picture|video)s?\ (?:credits?|source|courtesy)\b\s*(?::|by\b|of\b).{0,160}$"),
    ("credit|source|courtesy", rf"^\W*(?:credits?|sources?|courtesy(?:\ of)?)\s*:\s*{_NAME}"),
    ("getty images", r"(?:^|[/|(–—-]\s?|\b(?:via|by|credit|photos?|picture)\W+)\W*getty\ images\W*$"),
    ("getty images", r"[.!?][”\"’]?\s(?:\w+\W+){0,4}getty\ images\W*$"),
    ("editing by", r"^\W*(?:additional\ )?(?:reporting|writing)\ by\b.{2,200}[;,.)]\W*editing\ by\b"),
    (":", r"^\W*(?:related|recommended|read\ more|see\ also|next\ up|up\ next|filed\ under|also\ read|read\ also"
     r"|read\ next"
     r"|learn\ more|more\ on\ this|don.t\ miss)\s*:.{0,200}$"),
    (":", r"^\W*(?:read|see|more|watch|listen)\s*:[^.!?]{0,160}[!?]?$"),
    (":", r"^\W*(?:published|updated|posted)\s*:.{0,40}\d.{0,80}$"),
    (":", r"^\W*(?:by|tags?|category|categories|topics?)\s*:[^.!?]{0,80}$"),
    ("advertisement|read more|most read|trending|continue reading|miss|recommended|loading",
     r"^\W*(?:advertisement|read\ more|most\ read|trending(?:\ now)?|continue\ reading|don.t\ miss|recommended"
     r"|loading)\W*$"),
    ("related ", r"^\W*related\ (?:articles?|story|stories|posts?|topics?|coverage)\W*$"),
    ("continues below", r"\b(?:story|article)\ continues\ below\W*(?:(?:this|the)\W+)?(?:advert\w*|video"
     r"|gallery)?\W*$"),
    ("scholar", r"(?:[\])]\W*|\bcross\ ?ref\W+)google\ ?scholar\b|\bgoogle\ ?scholar\W*$"),
    ("crossref|cross ref", r"\bcross\ ?ref\W*(?:pub\ ?med|google|scopus|$)"),
)  # fmt: skip


def _by_word() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return for each word one pattern that joins all patterns listed under it."""
    patterns: defaultdict[str, list[str]] = defaultdict(list)
    for words, pattern in PHRASES:
        for word in words.split("|"):
            patterns[word].append(pattern.replace("\\ ", " "))
    return tuple((word, re.compile("|".join(found), re.IGNORECASE)) for word, found in patterns.items())


_BY_WORD = _by_word()


def is_boilerplate(text: str) -> bool:
    """Tell whether a paragraph contains one of the phrases, ignoring case."""
    folded = fold(text)
    for word, pattern in _BY_WORD:  # noqa: SIM110 - a generator would double the time
        if word in folded and pattern.search(text):
            return True
    return False


def fold(text: str) -> str:
    """Return text in lower case, with the letters that `re.IGNORECASE` equates with i, s and k replaced by these."""
    if not text.isascii():
        text = text.replace("İ", "i").replace("ı", "i").replace("ſ", "s")  # K, the sign of kelvin, has k below it
    return text.lower()
