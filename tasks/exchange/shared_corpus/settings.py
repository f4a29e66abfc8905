"""Settings of a shared corpus: the exported parts of a build."""

from typing import Literal, Self, get_args

from pydantic import model_validator

from tasks.engine.settings import Settings

Part = Literal["summary", "urls", "documents", "labels", "ranked", "graphs"]
PageText = Literal["licensed", "free", "all", "none"]
PARTS: tuple[Part, ...] = get_args(Part)
_INSIDE: dict[Part, Part] = {"labels": "documents", "ranked": "documents", "graphs": "ranked"}


class SharedCorpusSettings(Settings):
    """The exported parts of a build; ids, titles, licences and groups are always exported."""

    columns: tuple[Part, ...] | None = None
    """summary, urls (of references and search results), documents, labels (of their paragraphs), ranked (paragraphs),
    graphs; null = all that the build has"""
    page_text: PageText = "licensed"
    """documents whose text is exported; of the others titles, URLs, digests and labels are. licensed: those with a
    licence, which the page claims or the source of the articles gives, unless it forbids changes (ND); text not to be
    used commercially (NC) is among them | free: those whose licence allows everybody to share and to change the text
    (tasks.rights.licences) | all | none"""

    @model_validator(mode="after")
    def _columns_go_together(self) -> Self:
        chosen = self.columns if self.columns is not None else PARTS
        if not chosen:
            raise ValueError(f"columns is empty: expected some of {', '.join(PARTS)}")
        for inner, outer in _INSIDE.items():
            if inner in chosen and outer not in chosen:
                raise ValueError(f"columns has {inner} without {outer}, to which they belong: expected {outer} too")
        return self
