"""POST /v1/check, /v1/relink, /v1/recode, and links to several indexes: as on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.corpus.documents import Document, Mention
from nymlink.evaluation.concordance import check_names
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.linking.relink import Former, Release, relink
from nymlink.linking.several import SeveralLinkers
from nymlink.serve.serve_settings import Limits
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.crossing import Crossing, RollUp
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.linking.toy import CALIBRATION
from tests.serve.toy import built_index, serving


def _newer() -> Index:
    """A newer release of the toy index: a merged concept, a concept with a new name, and a new one."""
    builder = TableBuilder()
    for concept_id, name in (("T:2", "Heart disease"), ("T:3", "Myocardial infarction"), ("T:6", "Seizure")):
        builder.concept(concept_id)
        builder.name(concept_id, name, lang="en", kind="preferred")
    builder.name("T:2", "Mitral insufficiency", lang="en")
    builder.concept("T:4", obsolete=True, replaced_by=["T:2"])
    builder.concept("T:9")
    builder.name("T:9", "MI", lang="en", kind="preferred")
    return Index.build(
        Vocabulary.of((Source("toy", "table", version="2"), builder.build())), encoder=None
    ).with_calibration(CALIBRATION.to_dict())


NEWER = _newer()


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with serving(
        indexes={
            "toy": built_index(),
            "newer": NEWER,
            "plain": Index.build(built_index().vocabulary, encoder=None).with_ranker(None),
        }
    ) as client:
        yield client


def ask(client: TestClient, path: str, body: Any, status: int = 200) -> Any:
    answer = client.post(f"/v1/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_names_and_ids_are_checked_as_by_the_command(client: TestClient) -> None:
    rows = [
        ("heart attack", "T:3"),
        ("heart attack", "T:6"),
        ("heart disease", "T:3"),
        ("fit", "T:8"),
        ("seizure", "T:99"),
        ("", "T:3"),
        ("nothing like it", "T:3"),
    ]
    answer = ask(client, "check", {"rows": [{"name": name, "id": id_} for name, id_ in rows]})
    documents = [Document("", mentions=(Mention(name, concept_ids=(id_,)),)) for name, id_ in rows]
    expected = [verdict.to_dict() for verdict in check_names(Linker(built_index()), documents)]
    for verdict in expected:
        del verdict["where"]
    assert answer["verdicts"] == expected
    assert [each["verdict"] for each in expected][:6] == [
        "agrees",
        "other",
        "broader",
        "replaced",
        "unknown",
        "missing",
    ]
    assert ask(client, "check", {"rows": []}) == {"verdicts": []}
    assert ask(client, "check", {"rows": [], "index": "none"}, 404)["code"] == "unknown_index"


def test_links_are_linked_again_as_by_the_command(client: TestClient) -> None:
    former = [
        Former("heart disease", "T:2", "Heart disease"),
        Former("mitral insufficiency", "T:4", "Mitral insufficiency"),
        Former("MI", "T:3", "MI"),
        Former("unheard of", ""),
    ]
    answer = ask(
        client,
        "relink",
        {
            "links": [
                {"mention": each.mention, "concept_id": each.concept_id, "matched_name": each.matched_name}
                for each in former
            ],
            "old": "toy",
            "new": "newer",
        },
    )
    release = Release(built_index().vocabulary, NEWER.vocabulary)
    assert answer["links"] == [each.to_dict() for each in relink(release, Linker(NEWER).link, former)]
    assert [each["concept_id"] for each in answer["links"]] == ["T:2", "T:2", "T:9", ""]
    assert answer["links"][1]["why"] == "merged: T:4 → T:2"
    assert answer["links"][0]["why"] == ""


def test_concepts_are_rolled_up_and_crossed_over_as_by_the_command(client: TestClient) -> None:
    vocabulary = built_index().vocabulary
    answer = ask(client, "recode", {"ids": ["T:4", "T:7", "T:8", "none"], "level": 1, "to": ["icd-10", "UMLS"]})
    rows = answer["rows"]
    rolling, crossing = RollUp(vocabulary, level=1), Crossing(vocabulary, "ICD10")
    assert [[each["id"] for each in row["rolled_up"]] for row in rows] == [["T:1"], ["T:5"], ["T:5"], []]
    assert [each["id"] for each in rows[0]["rolled_up"]] == list(rolling.of("T:4"))
    assert rows[0]["rolled_up"][0]["name"] == "Disorder"
    assert rows[0]["to"]["icd-10"] == [each.to_dict() for each in crossing.of("T:4")]
    assert [each["id"] for each in rows[2]["concepts"]] == ["T:6"]
    assert rows[1]["to"]["UMLS"] == [
        {"id": "UMLS:C0036572", "kind": "broad", "via": "T:6", "steps": 1, "source": "", "loss": "1 level broader"}
    ]
    assert rows[3] == {"id": "none", "concepts": [], "rolled_up": [], "to": {"icd-10": [], "UMLS": []}}
    slim = ask(client, "recode", {"ids": ["T:3", "T:4", "T:7", "T:5"], "slim": ["T:2", "T:6"], "counts": True})
    assert slim == {
        "counts": [
            {"id": "T:2", "name": "Heart disease", "count": 2},
            {"id": "T:6", "name": "Seizure", "count": 1},
            {"id": "", "name": "", "count": 1},
        ]
    }


@pytest.mark.parametrize(
    ("path", "body", "status", "what"),
    [
        ("recode", {"ids": ["T:1"]}, 422, "neither"),
        ("recode", {"ids": ["T:1"], "slim": ["T:1"], "level": 1}, 422, "slim and level"),
        ("recode", {"ids": ["T:1"], "level": 1, "to": ["UMLS"], "counts": True}, 422, "counts goes with"),
        ("recode", {"ids": ["T:1"], "level": 99}, 422, "no concept is of level 99"),
        ("recode", {"ids": ["T:1"], "slim": ["T:99"]}, 422, "T:99"),
        ("recode", {"ids": ["T:1"], "to": ["MESH"]}, 422, "no concept has an id of 'MESH'"),
        ("recode", {"ids": ["T:1"] * 4, "level": 1}, 413, "4 rows; the limit is 3"),
        ("check", {"rows": [{"name": "x" * 30, "id": "T:1"}]}, 413, "30 characters in a name"),
        ("relink", {"links": [], "old": "toy"}, 422, "new"),
        ("relink", {"links": [], "old": "toy", "new": "other"}, 404, "no index of this name"),
    ],
)
def test_unusable_requests_are_refused(path: str, body: Any, status: int, what: str) -> None:
    with serving(limits=Limits(mentions=3, mention_characters=20)) as small:
        assert what in ask(small, path, body, status)["what"]


def test_mentions_are_linked_to_several_indexes_as_by_the_command(client: TestClient) -> None:
    mentions = ["MI", "seizure", "focal seizure", "unheard of"]
    answer = ask(client, "link", {"mentions": mentions, "index": ["toy", "newer"], "top_k": 2})
    linkers = SeveralLinkers([Linker(built_index(), top_k=2), Linker(NEWER, top_k=2)])
    assert answer["links"] == [link.to_dict() for link in linkers.link(mentions)]
    one = ask(client, "link", {"mentions": mentions, "index": ["newer", "newer"]})
    assert one == ask(client, "link", {"mentions": mentions, "index": "newer"})
    refused = ask(client, "link", {"mentions": mentions, "index": ["toy", "plain"]}, 422)
    assert refused["code"] == "not_calibrated"
    assert "plain" in refused["what"]
    assert ask(client, "link", {"mentions": [], "index": ["toy", "none"]}, 404)["code"] == "unknown_index"
    assert ask(client, "link", {"mentions": [], "index": []}, 422)["code"] == "invalid_request"
