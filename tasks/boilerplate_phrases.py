"""Phrases by which a paragraph says that it is about the page, not about the page's subject.

One pattern a line, grouped by what it catches. Each asks for enough words around it that prose about cookies,
newsletters or privacy policies does not match.
"""

import re

_SITE = r"(?:we|this\ (?:site|website|page)|our\ (?:web)?sites?|our\ partners|these\ (?:web)?sites)"
_NETWORK = r"(?:twitter|facebook|instagram|x|threads|bluesky|youtube|tiktok|linkedin|discord|reddit|whatsapp|pinterest)"
_TERMS = r"(?:terms\ (?:of|and|&)\ (?:use|service|conditions)|privacy\ (?:policy|notice|statement)|user\ agreement)"
_MAIL = r"(?:newsletters?|e-?mails?|inbox|alerts)"

_PATTERNS = (
    # consent
    rf"\b{_SITE}\b.{{0,60}}\buses?\b.{{0,30}}\bcookies\b",
    r"\b(?:these|strictly\ necessary|targeting|performance|functional|advertising)\ cookies\b",
    r"\b(?:accept|reject|manage|allow|disable|block)\b.{0,20}\bcookies\b",
    r"\bcookie\ (?:policy|settings|preferences|notice)\b",
    r"\bmostly\ in\ the\ form\ of\ cookies\b|\bcommonly\ called\ .?cookies\b|\bcategor(?:y|ies)\ of\ cookies\b",
    r"\b(?:opt[\s-]out|do\ not\ sell)\b.{0,60}\b(?:personal|sale|sharing|advertis)",
    # rights and terms
    r"\ball\ rights\ reserved\b",
    r"^\W*(?:copyright\b\W*)?(?:©|\(c\))\s*(?:copyright\s*)?\d{4}|^\W*copyright\ \d{4}",
    rf"\b(?:agree|accept|acceptance|acknowledge|constitutes|subject\ to|see|read|refer|visit|our)\b.{{0,60}}{_TERMS}\b",
    rf"^.{{0,60}}\b{_TERMS}\b.{{0,20}}$",
    r"\breproduced,\ (?:distributed|stored|copied)\b",
    r"\bmay\ not\ be\ (?:published|reproduced|reprinted|republished|copied)\b",
    r"\bregistered\ in\ england\b|\bprotected\ by\ recaptcha\b",
    r"\bnot\ responsible\ for\ the\ content\ of\ external\b",
    r"\baffiliate\ (?:links?|commissions?)\b|\bearn\ (?:a|an\ affiliate)\ commission\b",
    # the machine
    r"\b(?:enable|turn\ on|activate|requires?)\ javascript\b",
    r"\bjavascript\ (?:is\ (?:disabled|required|not)|must\ be|has\ been|turned\ off)",
    r"\byour\ browser\ (?:does\ not|doesn.t|is\ not|isn.t|settings?)\b",
    r"\bskip\ to\ (?:main\ |the\ )?content\b|\bthis\ page\ (?:was\ )?(?:last\ )?(?:edited|updated|modified)\b",
    r"^\W*the\ wayback\ machine\ -\ http|\bpowered\ by\ (?:wordpress|disqus|taboola|outbrain|blogger)\b",
    # accounts, newsletters, money
    rf"\bsign(?:ing)?[\s-]up\b.{{0,60}}\b(?:{_MAIL}|updates|account)\b",
    rf"\bsubscrib(?:e|ing)\b.{{0,60}}\b(?:{_MAIL}|now|today|feed|rss|access|channel|podcast|unlimited|magazine)\b",
    r"^\W*(?:subscribe|sign\ (?:up|in)|log\ ?in|register|join\ (?:us|now|today))\b.{0,80}$",
    r"\balready\ (?:a\ (?:member|subscriber)|have\ an\ account)\b|\bcreate\ (?:an|your)\ (?:free\ )?account\b",
    r"\bforgot(?:ten)?\ (?:your\ )?password\b|\b(?:your|a\ valid)\ e-?mail\ address\b",
    rf"\b(?:delivered|straight|sent|right)\b.{{0,20}}\bto\ your\ {_MAIL}\b",
    r"\b(?:make\ a|your)\ (?:tax-deductible\ )?(?:donation|contribution)\b.{0,80}\b(?:today|support|help|keep)",
    # sharing and comments
    rf"^.{{0,60}}\b(?:share|tweet|post|pin|email)\ (?:this|on|via|to)\b.{{0,20}}\b(?:article|story|page|{_NETWORK})\b",
    rf"\b(?:follow|like|find|join)\ (?:us|me|him|her|them|\w+(?:\ \w+)?)\ on\ {_NETWORK}\b",
    r"\bclick\ here\b|\b(?:click|tap)\ to\ (?:share|enlarge|view|expand|play|copy)\b",
    r"\bleave\ a\ (?:comment|reply)\b|\b(?:log|sign)\ in\ to\ (?:comment|reply|vote|post)\b",
    r"\bcomments?\ (?:are|is)\ closed\b|\bbe\ the\ first\ to\ (?:comment|add|review)\b",
    # captions, labels, entries of a bibliography
    r"^\W*(?:image|photo|picture)?\s*(?:credits?|source|courtesy)\b\s*(?::|by\b|of\b).{0,160}$|\bgetty\ images\W*$",
    r"^\W*(?:read|see|related|recommended|more|read\ more|see\ also|next\ up|up\ next|watch|listen|filed\ under)\s*:",
    r"^\W*(?:published|updated|posted|by|tags?|categor(?:y|ies)|topics?)\s*:.{0,80}$",
    r"\b(?:story|article)\ continues\ below\b",
    r"\bgoogle\ ?scholar\b|\bcross\ ?ref\s*(?:pub\ ?med|google|scopus|$)",
)
BOILERPLATE = re.compile("|".join(_PATTERNS).replace("\\ ", " "), re.IGNORECASE)
