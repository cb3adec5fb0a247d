"""A client generated from the description of the API by openapi-python-client."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openapi_python_client", reason="openapi-python-client is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from tests.serve.running import Server
from tests.serve.toy import serving

pytestmark = pytest.mark.large

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """The generated package: ``generated("api.link.link")`` is a module of it."""
    folder = tmp_path_factory.mktemp("client")
    with serving(projects=folder / "projects") as client:
        (folder / "openapi.json").write_text(json.dumps(client.get("/openapi.json").json()), encoding="utf-8")
    (folder / "config.yml").write_text("post_hooks: []\n", encoding="utf-8")
    program = "from openapi_python_client.cli import app; app()"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            "generate",
            "--path",
            "openapi.json",
            "--config",
            "config.yml",
            "--meta",
            "none",
            "--output-path",
            "nymlink_client",
            "--fail-on-warning",
        ],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"nymlink_client.{name}")
    sys.path.remove(str(folder))


def test_a_generated_client_links_and_annotates(generated: Ask, server: Server) -> None:
    models = generated("models")
    client = generated("client").Client(f"http://127.0.0.1:{server.port}")
    asked = models.LinkRequest(mentions=["heart attack", None], top_k=2)
    linked = generated("api.link.link").sync(client=client, body=asked)
    assert isinstance(linked, models.LinksAnswer)
    assert [link.candidates[0].concept_id if link.candidates else None for link in linked.links] == ["T:3", None]
    assert isinstance(linked.links[0].candidates[0].matched, models.MatchedName)
    text = models.AnnotateRequest(text="No seizure, but a heart attack.")
    found = generated("api.link.annotate").sync(client=client, body=text)
    assert [(link.mention, link.start, link.negated) for link in found.links] == [
        ("seizure", 3, True),
        ("heart attack", 18, False),
    ]
    assert generated("api.vocabulary.describe_concept").sync("T:3", client=client).children_count == 0
    assert "nymlink_requests_total" in generated("api.server.metrics").sync(client=client)


def test_a_generated_client_gets_each_error_as_a_value(generated: Ask, server: Server) -> None:
    models, link = generated("models"), generated("api.link.link")
    client = generated("client").Client(f"http://127.0.0.1:{server.port}")
    problems = [
        link.sync(client=client, body=models.LinkRequest(mentions=["a"], index="other")),
        link.sync(client=client, body=models.LinkRequest(mentions=["a"], top_k=0)),
        link.sync(client=client, body=models.LinkRequest(mentions=["a"] * 2001)),
        generated("api.vocabulary.describe_concept").sync("T:99", client=client),
        generated("api.reconciliation_0_2.reconcile").sync("toy", client=client, queries="{"),
    ]
    assert all(isinstance(problem, models.Problem) for problem in problems)
    assert [problem.status for problem in problems] == [404, 422, 413, 404, 400]
    assert all(problem.what and problem.what_to_do for problem in problems)


def test_a_generated_client_sends_the_token(generated: Ask, index: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("secret\n", encoding="utf-8")
    running = Server.of(index, "--token-file", str(tokens))
    try:
        base = f"http://127.0.0.1:{running.port}"
        models, search = generated("models"), generated("api.vocabulary.search")
        refused = search.sync(client=generated("client").Client(base), q="heart")
        assert (type(refused), refused.status, refused.code) == (models.Problem, 401, "unauthorized")
        known = generated("client").AuthenticatedClient(base, token="secret")
        assert [found.concept_id for found in search.sync(client=known, q="heart a").results][:1] == ["T:3"]
    finally:
        running.process.kill()
        running.process.wait()


def test_the_description_is_whole() -> None:
    with serving() as client:
        api = client.get("/openapi.json").json()
    paths = set(api["paths"])
    assert {path for path in paths if not path.startswith(("/v1/", "/reconcile/"))} == {
        "/health",
        "/metrics",
        "/ready",
    }
    operations = [route for methods in api["paths"].values() for route in methods.values()]
    ids = [route["operationId"] for route in operations]
    assert len(ids) == len(set(ids))
    assert all("post" not in name.split("_") and name.isidentifier() for name in ids)
    for route in operations:
        for status, answer in route["responses"].items():
            assert all(content["schema"] for content in answer["content"].values()), (route["operationId"], status)
        problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for status in ("400", "401", "404", "413", "422", "503"):
            assert route["responses"][status]["content"] == problem, route["operationId"]
    assert api["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert api["security"] == [{}, {"token": []}]
    assert list(api["paths"]["/metrics"]["get"]["responses"]["200"]["content"]) == ["text/plain"]
