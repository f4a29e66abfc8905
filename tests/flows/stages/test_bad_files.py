"""Files that are not what the settings say are named before work starts: the plan that a run begins with finds them."""

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from flows.build_wikisum import build
from flows.config import BuildConfig
from flows.running.session import planning_session

LINE = json.dumps({"title": "Ada", "lead": "Ada is a river of some length.", "references": ["http://a.test/"]}).encode()
RECORDS = "source.records.paths"
DUMP = "source.dump.paths"


def settings(name: str, value: Any) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    ("setting", "name", "data", "complaint"),
    [
        (
            RECORDS,
            "a.jsonl",
            b"title,lead\nAda,A river\n",
            "a.jsonl, line 1: Invalid JSON: expected ident at line 1 column 2, got 'title,lead",
        ),
        (RECORDS, "b.jsonl", b"[" + LINE + b"]", "b.jsonl, line 1: Input should be an object, got [{"),
        (
            RECORDS,
            "c.jsonl",
            b'{"title": 3, "lead": "", "references": []}',
            "c.jsonl, line 1: field 'title': Input should be a valid string, got 3",
        ),
        (RECORDS, "d.jsonl", b'{"title": "Ada", "references": []}', "d.jsonl, line 1: field 'lead': Field required"),
        (RECORDS, "e.jsonl", LINE.decode().encode("utf-16"), "e.jsonl, line 1: expected UTF-8, got the byte 0xff"),
        (RECORDS, "f.jsonl", gzip.compress(LINE, mtime=0), "f.jsonl, line 1: expected UTF-8, got the byte 0x8b"),
        (RECORDS, "g.jsonl.gz", gzip.compress(LINE, mtime=0)[:-12], "g.jsonl.gz: expected a whole gzip file"),
        (RECORDS, "h.jsonl.gz", LINE, "h.jsonl.gz: expected a whole gzip file"),
        (
            RECORDS,
            "i.jsonl",
            LINE[:-1] + b', "split": "dev"}',
            "field 'split': Input should be 'train', 'valid' or 'test', got 'dev'",
        ),
        (RECORDS, "j.jsonl", b"", "the source (source.records) is empty"),
        (DUMP, "k.xml", b"<html><body>A page</body></html>", "k.xml: expected a MediaWiki export"),
        (DUMP, "l.xml", b"<mediawiki><page><title>Ada</title>", "l.xml: expected a MediaWiki export"),
        (DUMP, "m.xml.bz2", bz2.compress(b"<mediawiki>" * 99)[:-9], "the bz2 stream is cut short"),
        (DUMP, "n.xml.gz", b"<mediawiki></mediawiki>", "n.xml.gz: expected a whole gzip file"),
        (
            "search.recorded",
            "o.jsonl",
            b'{"title": "Ada"}\n',
            "o.jsonl, line 1: expected a JSON object with title, a text, and results",
        ),
        (
            "search.recorded",
            "p.jsonl",
            b'{"title": "Ada", "results": [3]}\n',
            "p.jsonl, line 1: expected a JSON object with title, a text, and results",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_file_of_another_kind_is_named_before_work_starts(
    setting: str, name: str, data: bytes, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "articles.jsonl").write_bytes(LINE)
    given = {
        "preset": "records",
        "root": str(tmp_path / "root"),
        "source": {"records": {"paths": [str(tmp_path / "articles.jsonl")]}},
    }
    if setting == "search.recorded":
        given["search"] = {"provider": "recorded", "recorded": str(tmp_path / name)}
    else:
        given["source"] = {"kind": setting.split(".")[1], **settings(setting, [str(tmp_path / name)])["source"]}
    with pytest.raises(ValueError) as raised:
        planning_session(BuildConfig.model_validate(given)).once(build)
    assert complaint in str(raised.value)
    assert not (tmp_path / "root").exists()
