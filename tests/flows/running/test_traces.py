"""Spans of a run, its stages and their shards, as the SDK of OpenTelemetry gets them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from flows.running.display import add_shard, span
from storage.store import Store
from tests.storage.test_store import documents, record_of

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="needs opentelemetry-sdk")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr("flows.running.display._tracer", provider.get_tracer("wikisum"))
    yield kept
    provider.shutdown()


def test_shards_lie_in_their_stage_and_that_in_its_run(spans: Any, tmp_path: Path) -> None:
    record = record_of(Store(str(tmp_path)), documents([0, 1]), 0)
    with span("mine"), span("documents"):
        add_shard("documents-00000", record)
        add_shard("documents-00001", ValueError("shard 1 holds nonsense"))
    done, failed, stage, run = spans.get_finished_spans()
    assert [one.name for one in (done, failed, stage, run)] == [
        "documents-00000",
        "documents-00001",
        "documents",
        "mine",
    ]
    assert done.parent.span_id == failed.parent.span_id == stage.context.span_id
    assert stage.parent.span_id == run.context.span_id
    assert done.end_time - done.start_time == int(record.seconds * 1e9)
    assert (done.status.status_code, failed.status.status_code) == (trace.StatusCode.UNSET, trace.StatusCode.ERROR)
    assert failed.events[0].attributes["exception.message"] == "shard 1 holds nonsense"
