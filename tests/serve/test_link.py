"""POST /link: the links of a linker, in order, and errors in one shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.corpus.documents import Document, Mention
from nymlink.linking import judge
from nymlink.linking.judge import JudgeSettings
from nymlink.linking.linker import Linker
from nymlink.serve.serve_settings import Limits
from tests.linking.chat import ChatServer
from tests.serve.toy import built_index, plain_index, serving

NAMES = ["heart attack", "siezure", "MI", "", "heart attack", "infarto de miocardio"]


def link(client: TestClient, **request: Any) -> Any:
    answer = client.post("/link", json=request)
    assert answer.status_code == 200, answer.text
    return answer.json()["links"]


@pytest.mark.parametrize("top_k", [1, 3])
def test_links_are_those_of_a_linker(client: TestClient, top_k: int) -> None:
    expected = [found.to_dict() for found in Linker(built_index(), top_k=top_k).link(NAMES)]
    assert link(client, mentions=NAMES, top_k=top_k) == expected
    assert link(client, mentions=NAMES, top_k=top_k, index="toy") == expected


def test_indexes_stand_side_by_side(client: TestClient) -> None:
    assert link(client, mentions=["MI"], index="plain") == [Linker(plain_index()).link("MI").to_dict()]


def test_the_model_of_the_server_is_asked_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_WAIT", 0.01)
    log = tmp_path / "asked.jsonl"
    replies = iter(['{"answer": 2}', 500, 500, 500, "it may be the heart", 2.0])
    request = {"mentions": ["MI"], "text": "The MI of 1990.", "top_k": 1}
    with ChatServer(lambda _: next(replies)) as chat:
        settings = JudgeSettings(url=chat.url, below=1.0, file=str(log))
        with serving(judge=settings, limits=Limits(answer_seconds=1.0)) as client:
            assert client.get("/v1/indexes").json()["judge"] == settings.endpoint

            def asked(**changes: Any) -> tuple[Any, str]:
                answer = client.post("/link", json={**request, **changes}).json()
                return answer["links"][0], answer.get("judge")

            plain, at = asked()
            assert (chat.asked, at) == ([], None)
            judged, at = asked(judge=True)
            assert at == settings.endpoint
            assert judged["notes"][-1] == "small chose candidate 2"
            assert judged["candidates"][0]["concept_id"] != plain["candidates"][0]["concept_id"]
            assert len(judged["candidates"]) == 1
            assert asked(judge=True)[0] == judged
            assert len(chat.asked) == 1
            # Down, nonsense, slow: the link stays as it was.
            for mention, note in (
                ("seizure", "status 500"),
                ("fits", "names no candidate"),
                ("mi!", "no answer in"),
            ):
                same, _ = asked(mentions=[mention], text="")
                left, _ = asked(mentions=[mention], text="", judge=True)
                assert note in left["notes"][-1]
                assert (left["candidates"], left["confidence"]) == (same["candidates"], same["confidence"])
            several = client.post("/link", json={"mentions": ["MI"], "index": ["toy", "plain"], "judge": True})
            assert several.status_code == 422
    assert [json.loads(line)["choice"] for line in log.read_text().splitlines()] == [2, None, None, None]


def test_a_server_without_a_model_refuses_to_ask_one(client: TestClient) -> None:
    answer = client.post("/link", json={"mentions": ["MI"], "judge": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_judge")
    assert client.get("/v1/indexes").json()["judge"] is None


def test_missing_mentions_have_empty_links(client: TestClient) -> None:
    [first, second] = link(client, mentions=[None, "seizure"])
    assert (first["nil"], first["candidates"]) == (True, [])
    assert second["candidates"][0]["concept_id"] == "T:6"


def test_mentions_are_read_as_their_text_defines_them(client: TestClient) -> None:
    text = "Myocardial infarction (MI). MI is frequent."
    mention = {"text": "MI", "start": 28, "end": 30, "language": "en"}
    [found] = link(client, mentions=[mention], text=text)
    document = Document("", text, (Mention("MI", 28, 30, language="en"),))
    assert found == Linker(built_index()).link(document)[0].to_dict()
    assert found["query"] == "myocardial infarction"


def test_a_target_precision_makes_doubtful_links_nil() -> None:
    with serving(target_precision=0.97, indexes={"toy": built_index()}) as client:
        found = link(client, mentions=["heart attack", "MI"])
    assert [each["nil"] for each in found] == [
        each.nil for each in Linker(built_index(), target_precision=0.97).link(["heart attack", "MI"])
    ]
    assert found[1]["nil"]


def test_any_text_can_be_linked(client: TestClient) -> None:
    body = rb'{"mentions": ["\ud800 heart attack", "<script>", "\u0000"]}'
    answer = client.post("/link", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert [each["mention"] for each in answer.json()["links"]] == ["\ud800 heart attack", "<script>", "\0"]


@pytest.mark.parametrize(
    ("body", "status", "code", "what"),
    [
        (b'{"mentions": ["a"], "index": "other"}', 404, "unknown_index", "no index"),
        (b'{"mentions": ["a"], "top-k": 3}', 422, "invalid_request", "body.top-k"),
        (b'{"mentions": [3]}', 422, "invalid_request", "body.mentions.0"),
        (b'{"mentions": "gout"}', 422, "invalid_request", "list"),
        (b'{"mentions": ["a"], "top_k": 0}', 422, "invalid_request", "body.top_k"),
        (b'{"mentions": ["a"], "top_k": 101}', 422, "too_many_candidates", "the limit is 100"),
        (b'{"mentions": ["a"], "language": "klingon!"}', 422, "unknown_language", "language"),
        (b'{"mentions": [{"text": "a", "start": 5, "end": 2}]}', 422, "invalid_input", "mentions[0]"),
        (
            b'{"mentions": [{"text": "a", "start": 0, "end": 1}], "text": "b"}',
            422,
            "invalid_input",
            "the text has",
        ),
        (b'{"mentions": [{"text": "a", "language": "?"}]}', 422, "unknown_language", "language"),
        (b'{"mentions": [', 400, "invalid_request", "JSON"),
        (b"[" * 100_000, 400, "bad_request", "body"),
        (b'{"mentions": ["\xff"]}', 400, "bad_request", "body"),
        (b"\x00\x01\x02\xff", 400, "invalid_request", "JSON"),
        (b"", 422, "invalid_request", "body"),
        (b'{"\\ud800": 1, "mentions": []}', 422, "invalid_request", "body"),
    ],
)
def test_bad_requests_are_refused(client: TestClient, body: bytes, status: int, code: str, what: str) -> None:
    answer = client.post("/link", content=body, headers={"Content-Type": "application/json"})
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert what in problem["what"]
    assert set(problem) == {"status", "code", "what", "what_to_do", "request_id"}
    assert problem["what_to_do"]


def test_json_must_be_said_to_be_json(client: TestClient) -> None:
    answer = client.post("/link", content=b'{"mentions": []}')
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"mentions": ["a"] * 4}, "too_many_mentions"),
        ({"mentions": ["a" * 11]}, "mention_too_long"),
        ({"mentions": [{"text": "a" * 11}]}, "mention_too_long"),
        ({"mentions": [], "text": "a" * 21}, "text_too_long"),
        ({"mentions": ["a"], "text": "a" * 5000}, "body_too_large"),
    ],
)
def test_requests_have_limits(request_: dict[str, Any], code: str) -> None:
    limits = Limits(mentions=3, mention_characters=10, text_characters=20, body_bytes=4000)
    with serving(limits=limits) as client:
        answer = client.post("/link", json=request_)
        assert (answer.status_code, answer.json()["code"]) == (413, code)
        assert client.post("/link", json={"mentions": ["a"] * 3}).status_code == 200


def test_composite_mentions_are_split_on_request(client: TestClient) -> None:
    mentions = ["heart attack and epileptic seizure"]
    [whole] = client.post("/link", json={"mentions": mentions}).json()["links"]
    [split] = client.post("/link", json={"mentions": mentions, "composites": "always"}).json()["links"]
    assert whole["parts"] == []
    assert [part["mention"] for part in split["parts"]] == ["heart attack", "epileptic seizure"]
    assert client.post("/link", json={"mentions": mentions, "composites": "often"}).status_code == 422


def test_parts_count_as_mentions() -> None:
    with serving(limits=Limits(mentions=3)) as client:
        asked = {"mentions": ["heart attack and epileptic seizure"] * 2, "composites": "always"}
        answer = client.post("/link", json=asked)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_many_mentions")
        assert (
            client.post("/link", json={**asked, "mentions": ["heart attack and epileptic seizure"]}).status_code
            == 200
        )


def test_languages_of_mentions_are_codes(client: TestClient) -> None:
    asked = {"mentions": [{"text": "seizure", "language": "english"}]}
    assert client.post("/link", json=asked).json()["code"] == "unknown_language"
    for language in ("EN", "eng", "", None):
        [found] = link(client, mentions=[{"text": "seizure", "language": language}])
        assert "foreign" not in found


def test_links_are_restricted_as_those_of_a_linker(client: TestClient) -> None:
    linker = Linker(built_index(), top_k=3)
    for choices in ({"branch": "T:6"}, {"exclude": ["T:1", "MI"]}, {"ids": ["T:6", "T:1"]}):
        expected = [found.to_dict() for found in linker.link(NAMES, **choices)]
        assert link(client, mentions=NAMES, top_k=3, **choices) == expected
    refused = client.post("/link", json={"mentions": NAMES, "branch": ["T:66"]})
    assert refused.status_code == 422
    assert "'T:66' is no concept of the index; did you mean T:6" in refused.text
