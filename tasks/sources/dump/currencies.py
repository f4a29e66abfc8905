"""What stands before an amount in a currency, by the names of templates that write one.

Source: the pages of {{Currency}} and of the templates for single currencies in the English Wikipedia. Where that writes
a sign behind the amount, such as kr, the code stands before it instead.
"""

from collections.abc import Mapping

# By code of ISO 4217, in lower case, and by the sign itself.
SIGNS: Mapping[str, str] = {
    "usd": "US$", "us$": "US$", "gbp": "£", "£": "£", "pound": "£", "pound sterling": "£", "eur": "€", "€": "€",
    "euro": "€", "aud": "A$", "a$": "A$", "au$": "A$", "cad": "C$", "c$": "C$", "ca$": "C$", "can$": "C$",
    "jpy": "¥", "¥": "¥", "yen": "¥", "cny": "¥", "rmb": "¥", "cn¥": "CN¥", "inr": "₹", "₹": "₹", "indian rupee": "₹",
    "hkd": "HK$", "hk$": "HK$", "nzd": "NZ$", "nz$": "NZ$", "sgd": "S$", "s$": "S$", "twd": "NT$", "nt$": "NT$",
    "brl": "R$", "r$": "R$", "mxn": "MX$", "mex$": "MX$", "krw": "₩", "₩": "₩", "php": "₱", "₱": "₱", "rub": "₽",
    "₽": "₽", "ruble": "₽", "uah": "₴", "₴": "₴", "try": "₺", "₺": "₺", "ils": "₪", "nis": "₪", "₪": "₪", "ngn": "₦",
    "₦": "₦", "naira": "₦", "thb": "฿", "฿": "฿", "vnd": "₫", "bdt": "৳", "৳": "৳", "kzt": "₸", "ghs": "GH₵",
    "idr": "Rp",
    "myr": "RM", "zar": "R", "pkr": "PKR ", "lkr": "LKR ", "npr": "NPR ", "chf": "CHF ", "sek": "SEK ", "nok": "NOK ",
    "dkk": "DKK ", "isk": "ISK ", "pln": "PLN ", "czk": "CZK ", "huf": "HUF ", "ron": "RON ", "aed": "AED ",
    "sar": "SAR ", "qar": "QAR ", "egp": "EGP ", "kes": "KES ", "irr": "IRR ", "ars": "ARS ", "clp": "CLP ",
    "cop": "COP ", "$": "$",
}  # fmt: skip
# {{INRConvert|5|c}}
INDIAN_SCALES: Mapping[str, str] = {
    "l": "lakh", "c": "crore", "lc": "lakh crore", "k": "thousand", "m": "million", "b": "billion", "t": "trillion",
}  # fmt: skip
