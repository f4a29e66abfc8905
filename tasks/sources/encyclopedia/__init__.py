"""Encyclopedias that others have already parsed: structured contents, MegaWika 2, and dumps of HTML."""
