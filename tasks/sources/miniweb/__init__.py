"""A generated, deterministic web with articles that cite it: the source that needs no network and no data.

kinds, world: topics and their facts; links, pages: the URLs, their behaviour, and the texts behind them; site, server:
the articles, and the answers over HTTP. `tasks.evaluation.facts` reads its sentences back."""
