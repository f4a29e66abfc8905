"""What the name of a file below a root tells."""

import pytest

from storage.file_names import FileName, parse_file_name

KEY, HEX = "0123456789abcdef", "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (f"articles/part-00017.{KEY}.parquet", FileName("shard", f"articles/part-00017.{KEY}.parquet")),
        (f"articles/part-00017.{KEY}.json", FileName("shard", f"articles/part-00017.{KEY}.parquet", record=True)),
        (
            f"articles/part-00017.{KEY}.parquet.damaged",
            FileName("shard", f"articles/part-00017.{KEY}.parquet", damaged=True),
        ),
        (
            f"articles/part-00017.{KEY}.json.damaged",
            FileName("shard", f"articles/part-00017.{KEY}.parquet", damaged=True),
        ),
        (f"search/.scratch-00001.{KEY}/journal/1", FileName("scratch")),
        (f"articles/.part.{HEX}.tmp", FileName("temporary")),
        (f".probe-{HEX}", FileName("temporary")),
        (f"models/ranker/{KEY}.json", FileName("directory", f"models/ranker/{KEY}", record=True)),
        (f"models/ranker/{KEY}/best/weights", FileName("directory", f"models/ranker/{KEY}")),
        (f"models/ranker/{KEY}/state.damaged", FileName("directory", f"models/ranker/{KEY}", damaged=True)),
        (f"models/ranker/{KEY}/.state.{HEX}.tmp", FileName("temporary")),
        (f"reports/{KEY}/report.html", FileName("directory", f"reports/{KEY}")),
        (f"tables/{KEY}.json", FileName("directory", f"tables/{KEY}", record=True)),
        ("builds/20260101-000000-abcdef.json", FileName("build", "20260101-000000-abcdef")),
        ("builds/20260101-000000-abcdef.json.damaged", FileName("build", "20260101-000000-abcdef", damaged=True)),
        *(
            (name, None)
            for name in (
                "builds/latest.json",
                "builds/.json",
                "builds/notes.json",
                "builds/20260101-000000-a",
                "builds/pinned/b",
                "articles/mine.parquet",
                "notes.txt",
                f"models/part-00017.{KEY}.parquet",
                f"articles/part-0017.{KEY}.parquet",
                f"articles/part-00017.{KEY}",
                f"articles/part-00017.{KEY[:-1]}g.parquet",
                f"models/{KEY}.json",
                f"models/ranker/{KEY}",
                "models/ranker/readme.md",
                f"other/.part.{HEX}.tmp",
                f"articles/..{HEX}.tmp",
                f"articles/.{HEX}.tmp",
                "registry/000001.json",
                f"reports/{KEY.upper()}/a",
                f"a/articles/part-00017.{KEY}.parquet",
            )
        ),
    ],
)
def test_a_name_tells_what_a_file_is(name: str, told: FileName | None) -> None:
    assert parse_file_name(name) == told
