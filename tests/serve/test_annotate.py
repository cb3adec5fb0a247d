"""POST /annotate: the mentions of an annotator."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from nymlink.annotation.annotator import Annotator
from nymlink.linking.link import Link
from nymlink.serve.serve_settings import Limits
from tests.serve.toy import built_index, serving

TEXT = "𝔄 His mother had a heart attack, no seizures; myocardial infarction is excluded."


def test_mentions_are_those_of_an_annotator(client: TestClient) -> None:
    answer = client.post("/annotate", json={"text": TEXT})
    assert answer.status_code == 200, answer.text
    links = answer.json()["links"]
    assert links == [link.to_dict() for link in Annotator(built_index()).annotate(TEXT)]
    assert [TEXT[link["start"] : link["end"]] for link in links] == [link["mention"] for link in links]
    assert "heart attack" in [link["mention"] for link in links]
    assert client.post("/annotate", json={"text": ""}).json() == {"links": []}


def test_the_language_of_a_text_is_given_or_detected(client: TestClient) -> None:
    english = client.post("/annotate", json={"text": TEXT}).json()
    assert client.post("/annotate", json={"text": TEXT, "language": "auto"}).json() == english
    # The index has no Spanish names.
    assert client.post("/annotate", json={"text": TEXT, "language": "es"}).json() == {"links": []}
    refused = client.post("/annotate", json={"text": TEXT, "language": "klingon!"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_language")


def test_bad_texts_are_refused(client: TestClient) -> None:
    assert client.post("/annotate", json={"text": TEXT, "index": "other"}).json()["code"] == "unknown_index"
    assert client.post("/annotate", json={"text": 3}).json()["code"] == "invalid_request"
    with serving(limits=Limits(text_characters=5)) as small:
        answer = small.post("/annotate", json={"text": TEXT})
        assert (answer.status_code, answer.json()["code"]) == (413, "text_too_long")


def test_a_text_that_takes_long_makes_no_other_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, end = threading.Event(), threading.Event()

    def annotate(_: Annotator, __: str) -> list[Link]:
        begun.set()
        assert end.wait(30)
        return []

    monkeypatch.setattr(Annotator, "annotate", annotate)
    with serving(limits=Limits(answer_seconds=0.1)) as client, ThreadPoolExecutor(1) as pool:
        # This one has its turn, or what warms the server up.
        first = pool.submit(client.post, "/annotate", json={"text": TEXT})
        assert begun.wait(30)
        second = client.post("/annotate", json={"text": TEXT})
        end.set()
        first.result(30)
        assert second.status_code == 503
        assert "annotated for 0.1 seconds" in second.json()["what"]
        assert client.post("/annotate", json={"text": TEXT}).status_code == 200
