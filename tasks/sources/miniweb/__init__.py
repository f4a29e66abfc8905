"""A generated, deterministic web with articles that cite it: the source that needs no network and no data.

names, world, kinds: topics and their facts; prose, chatter, pages, html, pdf: texts about them, and the pages with
these; links, site, server: the URLs, their behaviour, and HTTP; source: the articles. `tasks.evaluation.facts` reads
its sentences back."""
