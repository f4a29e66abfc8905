"""Retrain every week: update the corpus, train both models further from the last ones, and keep the better version."""

import time

from flows.config import DEFAULT, BuildConfig
from flows.dag import find_paragraphs
from flows.running.faults import report_refused
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from flows.stages import intake, texts, versions
from flows.stages.results import VocabularyTable
from flows.stages.texts import CorpusStages
from storage.inventory import check_whole
from storage.registry import version_of
from tasks.retraining.champion_change import move_late_pointer, settle
from tasks.retraining.warm_start import PREDICTOR, VersionModels, champion_models, starting_models

_WEEKS = 4  # without a promotion, after which a server's alarm is raised, then weekly


@notifying_flow("retrain", "retrain-{config.name}-{config.retraining.period}")
def retrain(config: BuildConfig = DEFAULT) -> str:
    """Add data, train a challenger, promote it if it beats the champion; return the verdict and the rest as text."""
    return walk_flow(config, challenge_and_report)


def challenge_and_report(session: Session) -> str:
    """Walk everything, and say on the server if no version has been promoted for long; errors as `challenge`."""
    outcome = challenge(session)
    if not session.run.planning:
        report_refused(session.run.store, _WEEKS)
    return outcome


def challenge(session: Session) -> str:
    """Walk everything, or only finish the period's version. Raises ValueError: the corpus is imported, or a metric not
    scored; MissingFilesError: the root lacks what its inventory lists."""
    started, store, initial = time.monotonic(), session.run.store, session.config
    check_whole(store)
    if initial.imported is not None:
        raise ValueError(f"imported.folder is {initial.imported.folder!r}: expected a corpus of your own to retrain on")
    versions.check_deciding(initial)
    # Fixed at the start, so that a run that ends next week, or walks again after damage, stays in its week.
    settings = initial.retraining.model_copy(update={"week": initial.retraining.period})
    crawl = initial.crawl.model_copy(update={"refresh": settings.period})
    session.config = config = initial.model_copy(update={"crawl": crawl, "retraining": settings})
    version = version_of(store, settings.period)
    if version is not None:
        return settle(store, version, settings, planning=session.run.planning)
    if not session.run.planning:
        move_late_pointer(store)
    champion = champion_models(store, PREDICTOR if config.decoding.guidance.reads_predictor else None)
    start = starting_models(store, champion) if settings.vocabulary == "champion" else None
    corpus = updated_corpus(session, start)
    splits = versions.held_out_splits(session, corpus)
    challenger = versions.judge(session, "challenger", splits, versions.train_challenger(session, corpus, start))
    before = (
        None
        if champion is None
        else (champion, versions.judge(session, "champion", splits, versions.registered(champion)))
    )
    if session.run.planning:
        return ""
    from tasks.retraining.outcome import finish_retraining  # here, so that a plan does not load matplotlib

    run, manifest, seed = session.run, config.model_dump(mode="json"), config.seed
    return finish_retraining(
        run, manifest, settings, splits, challenger, before, start=start, seed=seed, started=started
    )


def updated_corpus(session: Session, start: VersionModels | None) -> CorpusStages:
    """Build this week's corpus: without the articles that earlier weeks judged on, in the vocabulary of `start`."""
    articles = intake.articles(session, kept_out=versions.earlier_test_articles(session))
    paragraphs = find_paragraphs(session, articles).compared
    features = texts.features(session, articles, paragraphs)
    vocabulary = texts.vocabulary(session, articles, paragraphs) if start is None else VocabularyTable(start.vocabulary)
    return CorpusStages(articles, paragraphs, features, vocabulary)
