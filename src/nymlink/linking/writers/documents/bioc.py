"""Divide a document into the passages of BioC, and describe its mentions by infons: what XML and JSON share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nymlink.linking.writers.documents.document_writer import Annotation


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text, which no mention crosses the bounds of.

    Attributes:
        offset: where it begins, in code points.
        text: its text.
        annotations: its mentions, each with its number in the document, from 1.
    """

    offset: int
    text: str
    annotations: list[tuple[int, Annotation]]


def passages(text: str, annotations: list[Annotation]) -> Iterator[Passage]:
    """Divide a text at line ends, but for those within a mention; a text without any is one passage."""
    numbered = sorted(enumerate(annotations, start=1), key=lambda each: each[1].start)
    start, place = 0, 0
    while True:
        end, own = text.find("\n", start), place
        while True:
            end = len(text) if end < 0 else end
            while place < len(numbered) and numbered[place][1].start <= end:
                place += 1
            last = max((each.end for _, each in numbered[own:place]), default=0)
            if last <= end:
                break
            end = text.find("\n", last)
        yield Passage(start, text[start:end], numbered[own:place])
        if end >= len(text):
            return
        start = end + 1


def infons(annotation: Annotation) -> dict[str, str]:
    """Describe a mention: its type; of its link the concept's id and name, the score, flags and what to doubt."""
    link = annotation.link
    values = {"type": annotation.type}
    if annotation.concepts:
        values["identifier"] = annotation.concept_ids
        values["name"] = "|".join(concept.concept_name.replace("|", " ") for concept in annotation.concepts)
        values["score"] = f"{min(concept.score for concept in annotation.concepts):.4f}"
    if link.confidence is not None:
        values["confidence"] = f"{link.confidence:.4f}"
    if link.context is not None:
        values.update(dict.fromkeys(link.context.triggers, "true"))
    if link.notes:
        values["note"] = "; ".join(link.notes)
    return values
