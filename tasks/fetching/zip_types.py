"""The media type of a file that is a ZIP archive, such as a Word file or a book: its first part or its list says it."""

import re
import zipfile
import zlib
from io import BytesIO

ZIP = "application/zip"
_MIMETYPE = re.compile(
    rb"PK\x03\x04.{26,120}?mimetype(application/(?:epub\+zip|vnd\.oasis\.opendocument\.[a-z-]{1,40}))", re.DOTALL
)
_MAIN = re.compile(rb"application/vnd\.(?:openxmlformats-officedocument|ms-[a-z]+)\.[\w.]{1,80}?(?=\.main\+xml)")
_END = b"PK\x05\x06"  # begins the end of an archive; without it the bytes are only its start
_OFFICE = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"ppt/", b"xl/")
_LARGEST = 1 << 20  # bytes of a list of types


def zip_type(body: bytes) -> str | None:
    """Return the media type of an archive by its bytes, or by its first ones; None if those leave it open."""
    named = _MIMETYPE.match(body[:200])
    if named:
        return named[1].decode("ascii")
    if _END not in body[-70_000:]:
        return None if any(name in body[:1024] for name in _OFFICE) else ZIP
    try:
        archive = zipfile.ZipFile(BytesIO(body))
        names = set(archive.namelist())
        if "META-INF/container.xml" in names:
            return "application/epub+zip"
        if any(name.endswith(".iwa") for name in names):
            return "application/vnd.apple.iwork"
        if _OFFICE[0].decode() not in names:
            return ZIP
        with archive.open(_OFFICE[0].decode()) as stream:
            main = _MAIN.search(stream.read(_LARGEST))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError, OSError):
        return ZIP  # damaged
    if main is None:
        return ZIP
    kind = main[0].decode("ascii").lower()
    return f"{kind}.12" if kind.endswith("macroenabled") else kind
