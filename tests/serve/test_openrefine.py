"""A client that makes OpenRefine's calls in its order, from adding the service to adding columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

Valid = Callable[[str, str, Any], None]
ORIGIN = {"Origin": "http://127.0.0.1:3333"}
CELLS = ["heart attack", "siezure", "MI", "mitral insufficiency", "heart attack", ""]


class OpenRefine:
    """The client: it reads the manifest, and follows the addresses that are there."""

    def __init__(self, client: TestClient, url: str) -> None:
        self._client = client
        self._url = url
        self.manifest: dict[str, Any] = {}

    def get(self, url: str, **parameters: Any) -> Any:
        return self._checked(self._client.get(url, params=parameters or None, headers=ORIGIN))

    def post(self, **form: str) -> Any:
        return self._checked(self._client.post(self._url, data=form, headers=ORIGIN))

    def _checked(self, answer: Any) -> Any:
        assert answer.status_code == 200, answer.text
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["content-type"].split(";")[0] == "application/json"
        return answer.json()

    def add_service(self) -> None:
        self.manifest = self.get(self._url)

    def guess_types(self, cells: list[str]) -> list[str]:
        """Ask for the first cells, and count the types of what is found."""
        batch = {f"q{number}": {"query": cell, "limit": 3} for number, cell in enumerate(cells[:10]) if cell}
        counts: dict[str, float] = {}
        for result in self.post(queries=json.dumps(batch)).values():
            for rank, candidate in enumerate(result["result"]):
                assert isinstance(candidate["type"], list)
                for type_ in candidate["type"]:
                    counts[type_["id"]] = counts.get(type_["id"], 0) + 1 / (1 + rank)
        return sorted(counts, key=lambda type_id: -counts[type_id])

    def suggest(self, what: str, prefix: str, **more: Any) -> list[dict[str, Any]]:
        place = self.manifest["suggest"][what]
        found: list[dict[str, Any]] = self.get(
            place["service_url"] + place["service_path"], prefix=prefix, **more
        )["result"]
        return found

    def flyout(self, what: str, id_: str) -> str:
        place = self.manifest["suggest"][what]
        path = place["flyout_service_path"].replace("${id}", id_)
        html: str = self.get(place["flyout_service_url"] + path)["html"]
        return html

    def reconcile(self, rows: list[dict[str, str]], type_id: str) -> list[dict[str, Any]]:
        """Reconcile the distinct cells of a column, in batches, with what other columns say."""
        size = self.manifest["batchSize"]
        results: list[dict[str, Any]] = []
        for start in range(0, len(rows), size):
            batch = {
                f"q{number}": {
                    "query": row["name"],
                    "type": type_id,
                    "type_strict": "should",
                    "properties": [{"pid": "xrefs", "v": row["code"]}] if row["code"] else [],
                }
                for number, row in enumerate(rows[start : start + size])
            }
            answers = self.post(queries=json.dumps(batch))
            results += [answers[key] for key in batch]
        return results

    def preview(self, id_: str) -> str:
        answer = self._client.get(self.manifest["preview"]["url"].replace("{{id}}", id_))
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text

    def view(self, id_: str) -> str:
        return self._client.get(self.manifest["view"]["url"].replace("{{id}}", id_)).text

    def propose(self, type_id: str) -> list[str]:
        place = self.manifest["extend"]["propose_properties"]
        proposed = self.get(place["service_url"] + place["service_path"], type=type_id)["properties"]
        return [each["id"] for each in proposed]

    def extend(self, ids: list[str], properties: list[str]) -> dict[str, Any]:
        wanted = {"ids": ids, "properties": [{"id": each, "settings": {"limit": "1"}} for each in properties]}
        extended: dict[str, Any] = self.post(extend=json.dumps(wanted))
        return extended


def test_openrefine_reconciles_a_column(client: TestClient, valid: Valid) -> None:
    refine = OpenRefine(client, "http://testserver/reconcile/toy")
    refine.add_service()
    valid("0.2", "manifest", refine.manifest)

    types = refine.guess_types(CELLS)
    assert "disease" in types[:3]
    assert refine.suggest("type", "Disord")[0]["id"] == "T:1"
    assert refine.suggest("property", "cross", type="disease")[0]["id"] == "xrefs"
    assert "Cross-references" in refine.flyout("property", "xrefs")

    rows = [{"name": cell, "code": "ICD10:I21" if cell == "MI" else ""} for cell in dict.fromkeys(CELLS)]
    results = refine.reconcile(rows, "disease")
    valid("0.2", "reconciliation-result-batch", {str(place): result for place, result in enumerate(results)})
    found = {row["name"]: result["result"] for row, result in zip(rows, results, strict=True)}
    matched = {name: next((each["id"] for each in some if each["match"]), None) for name, some in found.items()}
    assert matched == {
        "heart attack": "T:3",
        "siezure": None,
        "MI": None,
        "mitral insufficiency": "T:4",
        "": None,
    }
    assert found["MI"][0]["id"] == "T:3"
    assert found[""] == []

    # The rest is chosen by hand: hovering, opening, searching.
    assert "Death of heart muscle" in refine.preview("T:3")
    assert "Myocardial infarction" in refine.view("T:3")
    assert refine.suggest("entity", "seiz", type="finding", type_strict="should")[0]["id"] == "T:6"
    assert "Seizure" in refine.flyout("entity", "T:6")

    assert {"parents", "xrefs", "synonyms", "language", "definition"} <= set(refine.propose("disease"))
    extended = refine.extend(["T:3", "T:6"], ["parents", "xrefs"])
    valid("0.2", "data-extension-response", extended)
    assert extended["rows"] == {
        "T:3": {"parents": [{"id": "T:2", "name": "Heart disease"}], "xrefs": [{"str": "ICD10:I21"}]},
        "T:6": {"parents": [{"id": "T:5", "name": "Finding"}], "xrefs": [{"str": "UMLS:C0036572"}]},
    }


@pytest.mark.parametrize(
    "path", ["", "/suggest/entity", "/match", "/extend", "/preview", "/flyout/type", "/1.0-draft"]
)
def test_other_sites_may_ask_every_route(client: TestClient, path: str) -> None:
    url = f"/reconcile/toy{path}"
    preflight = {
        **ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = client.options(url, headers={**preflight, "Access-Control-Request-Private-Network": "true"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "Content-Type" in answer.headers["access-control-allow-headers"]
    assert answer.headers["access-control-allow-private-network"] == "true"
    # Errors, too: else a page would only see that something failed.
    assert client.request("PUT", url, headers=ORIGIN).headers["access-control-allow-origin"] == "*"
