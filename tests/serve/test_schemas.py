"""The official examples come out as they should, with the schemas and with what the server reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.serve.schemas import examples, validator

_SCHEMAS = (
    "data-extension-property-proposal",
    "data-extension-query",
    "data-extension-response",
    "manifest",
    "reconciliation-query-batch",
    "reconciliation-result-batch",
    "suggest-entities-response",
    "suggest-properties-response",
    "suggest-types-response",
)


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    return data / "schemas" / "reconciliation"


@pytest.mark.parametrize("version", ["0.2", "1.0-draft"])
def test_the_validators_tell_valid_examples_from_invalid_ones(folder: Path, version: str) -> None:
    import json

    seen = 0
    for name in _SCHEMAS:
        for kind in ("valid", "invalid"):
            for path in examples(folder, version, name, kind):
                accepted = validator(folder, version, name).is_valid(json.loads(path.read_text(encoding="utf-8")))
                assert accepted == (kind == "valid"), path
                seen += 1
    assert seen > 25


def test_queries_are_read_as_the_examples_of_0_2_say(client: TestClient, folder: Path) -> None:
    for kind, status in (("valid", 200), ("invalid", 400)):
        for path in examples(folder, "0.2", "reconciliation-query-batch", kind):
            answer = client.post("/reconcile/toy", data={"queries": path.read_text(encoding="utf-8")})
            assert answer.status_code == status, path
    for path in examples(folder, "0.2", "data-extension-query", "valid"):
        # They ask for properties of Wikidata.
        assert (
            client.post("/reconcile/toy", data={"extend": path.read_text(encoding="utf-8")}).json()["code"]
            == "unknown_property"
        )


def test_queries_are_read_as_the_examples_of_the_draft_say(client: TestClient, folder: Path) -> None:
    for kind, status in (("valid", 200), ("invalid", 400)):
        for path in examples(folder, "1.0-draft", "reconciliation-query-batch", kind):
            answer = client.post("/reconcile/toy/match", content=path.read_bytes())
            assert answer.status_code == status, (path, answer.text)
    for path in examples(folder, "1.0-draft", "data-extension-query", "valid"):
        answer = client.post("/reconcile/toy/extend", content=path.read_bytes())
        assert answer.json()["code"] == "unknown_property"
