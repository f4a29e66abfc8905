"""The systems of the papers' tables that cannot run on a corpus."""

from flows.dag import Dag
from tasks.tables.plan import system_sees_sentences
from tasks.tables.systems import SYSTEMS


def impossible(dag: Dag) -> dict[str, str]:
    """Return the systems that cannot run with these settings, and why."""
    reasons = {}
    tables, kept = dag.config.tables, dag.config.ranking.keep
    for name, system in SYSTEMS.items():
        wanted = tables.scaled(system.test_paragraphs or system.paragraphs)
        if not dag.ranks and not system.ranked:
            reasons[name] = "imported paragraphs are already ranked"
        elif dag.ranks and system.kind != "extractive" and wanted > kept:
            reasons[name] = f"it reads {wanted} paragraphs and ranking.keep is {kept}"
        elif not dag.ranks and system_sees_sentences(system, tables):
            reasons[name] = "imported paragraphs are token ids, in which no sentence is marked"
        elif system.graph != "none" and not dag.can_have_graphs:
            reasons[name] = "the imported shards have no graphs, and no texts of the training split to compute them"
        elif system.decoding.get("alignment") == "ranked" and not (dag.ranks and dag.config.ranking.method != "found"):
            reasons[name] = "no ranker scored the paragraphs"
        elif system.decoding.get("alignment") == "predicted" and dag.config.decoding.checkpoint:
            reasons[name] = "its attention predictor was trained only for the best checkpoint"
    return reasons
