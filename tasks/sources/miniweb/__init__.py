"""A generated, deterministic web with articles that cite it: the source that needs no network and no data.

names, world, kinds: topics and their facts; prose, chatter, pages, html, pdf: what is said about them, and on which
pages; reading, truth: from sentences back to facts, and what is true of a topic; links, site, server: which URLs there
are, what becomes of each, and HTTP; source: the articles.
"""
