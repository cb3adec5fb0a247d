"""A small calibrated index with languages, branches, cross-references and definitions, and servers of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from nymlink.index.index import Index
from nymlink.serve.app import create_app
from nymlink.serve.serve_settings import Limits, ServeSettings
from nymlink.serve.served import ServedIndex, ServedIndexes
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.linking.toy import CALIBRATION
from tests.serve.described import check_answer


def _vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for concept_id, name, parents, kind, xrefs in (
        ("T:0", "Everything", [], "root", []),
        ("T:1", "Disorder", ["T:0"], "disease", []),
        ("T:2", "Heart disease", ["T:1"], "disease", ["ICD10:I51"]),
        ("T:3", "Myocardial infarction", ["T:2"], "disease", ["ICD10:I21", "UMLS:C0027051"]),
        ("T:4", "Mitral insufficiency", ["T:2"], "disease", ["ICD10:I34"]),
        ("T:5", "Finding", ["T:0"], "finding", []),
        ("T:6", "Seizure", ["T:5"], "finding", ["UMLS:C0036572"]),
        ("T:7", "Focal seizure", ["T:6"], "finding", []),
    ):
        builder.concept(concept_id, parents=parents, semantic_types=[kind], xrefs=xrefs)
        builder.name(concept_id, name, lang="en", kind="preferred")
    builder.concept("T:3", definition="Death of heart muscle <b>cells</b> by a lack of blood.")
    builder.name("T:3", "heart attack", lang="en")
    builder.name("T:3", "MI", lang="en", kind="abbreviation")
    builder.name("T:3", "infarto de miocardio", lang="es")
    builder.name("T:4", "MI", lang="en", kind="abbreviation")
    builder.name("T:6", "Epileptic seizure", lang="en")
    builder.concept("T:8", obsolete=True, replaced_by=["T:6"])
    builder.name("T:8", "Fit", lang="en", kind="preferred")
    return Vocabulary.of((Source("toy", "table", version="1"), builder.build()))


@cache
def built_index() -> Index:
    return Index.build(_vocabulary(), encoder=None).with_ranker(None).with_calibration(CALIBRATION.to_dict())


@cache
def plain_index() -> Index:
    return Index.build(_vocabulary(), encoder=None).with_ranker(None)


@contextmanager
def serving(
    *,
    limits: Limits | None = None,
    target_precision: float | None = None,
    indexes: dict[str, Index] | None = None,
    places: Sequence[tuple[str, Path | None]] = (),
    **settings: Any,
) -> Iterator[TestClient]:
    """A client of a server of the toy index, of other indexes, or of folders that it opens itself."""
    limits = limits or Limits()
    indexes = {"toy": built_index(), "plain": plain_index()} if indexes is None and not places else indexes or {}
    served = [
        ServedIndex(name, index, target_precision=target_precision, limits=limits)
        for name, index in indexes.items()
    ]
    app = create_app(ServedIndexes(served, places=places, limits=limits), ServeSettings(limits=limits, **settings))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.event_hooks = {"response": [check_answer]}
        yield client
