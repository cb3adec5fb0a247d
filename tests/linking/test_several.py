"""Links to several vocabularies: the best of each, and the best of all by confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.linking.several import SeveralLinkers, best_of
from tests.index.small import vocabulary


@pytest.fixture(scope="module")
def linkers() -> list[Linker]:
    diseases = vocabulary({"D:1": ["gout"], "D:2": ["kidney failure"], "D:3": ["heart attack"]})
    findings = vocabulary({"F:1": ["podagra"], "F:2": ["seizure"], "F:3": ["kidney failures of children"]})
    return [Linker(Index.build(each), top_k=2) for each in (diseases, findings)]


def test_the_best_of_each_and_of_all(linkers: list[Linker]) -> None:
    several = SeveralLinkers(linkers)
    mentions = ["seizure", "gout", "kidney failure", "zzz qqq", "heart attack and seizure"]
    links = several.link(mentions)
    for mention, link in zip(mentions, links, strict=True):
        own = [linker.link(mention) for linker in linkers]
        surest = max(own, key=lambda each: each.confidence or 0)
        assert link.confidence == surest.confidence
        assert link.candidates[0].concept_id == surest.candidates[0].concept_id
        assert {each.candidates[0].concept_id for each in own} == {
            each.concept_id for each in link.candidates if "confidence" in each.parts
        }
    assert [link.candidates[0].concept_id for link in links[:3]] == ["F:2", "D:1", "D:2"]
    assert several.explain("seizure").link.candidates[0].concept_id == "F:2"


def test_a_concept_of_several_vocabularies_keeps_its_first_place(linkers: list[Linker]) -> None:
    [first, second] = [linker.link("kidney failure") for linker in linkers]
    one, other, third = (replace(first.candidates[0], concept_id=id) for id in ("X", "Z", "A"))
    links = [
        replace(first, candidates=(one, third), confidence=0.9, nil=False),
        replace(second, candidates=(other, one), confidence=0.5, nil=False),
        replace(second, candidates=(one,), confidence=0.3, nil=False),
    ]
    best = best_of(links)
    assert [each.concept_id for each in best.candidates] == ["X", "Z", "A"]
    assert best.confidence == best.candidates[0].parts["confidence"] == 0.9


def test_documents_come_in_order(linkers: list[Linker]) -> None:
    documents = [Document(f"{n}", mentions=(Mention("gout"), Mention("seizure"))) for n in range(3)]
    found = list(SeveralLinkers(linkers).link_documents(iter(documents)))
    assert [[link.document_id for link in links] for links in found] == [["0"] * 2, ["1"] * 2, ["2"] * 2]
    assert found[0][0].candidates[0].concept_id == "D:1"


def test_the_domain_of_a_mention_in_one_index_of_several_vocabularies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"A:1": ["heart attack"], "A:2": ["heart failure"], "A:3": ["gout"]}
    index = Index.build(vocabulary({**names, "B:1": ["heart rate"], "B:2": ["seizure"], "B:3": ["heart valve"]}))
    linker = Linker(index)
    attack, valves, nothing = linker.link(["heart attack", "heart valves", ""])
    assert attack.domain is not None
    assert valves.domain is not None
    assert nothing.domain is None
    assert (attack.domain.name, valves.domain.name) == ("A", "B")
    assert valves.confidence is not None
    assert valves.confidence <= (valves.domain.confidence or 0) <= 1
    assert (attack.domain.nearest, attack.domain.of) == (1, 1)
    assert attack.to_dict()["domain"] == {
        "name": "A",
        "confidence": attack.domain.confidence,
        "nearest": 1,
        "of": 1,
    }
    assert linker.link(["gout"]).to_dicts()[0]["domain"] == "A"
    tables = [linker.link(pa.table({"term": [term]}), column="term") for term in ("gout", "")]
    assert tables[0].schema == tables[1].schema
    assert tables[0]["domain"].to_pylist() == ["A"]
    said = str(linker.explain("heart attack"))
    assert f"\n  domain A, confidence {attack.domain.confidence:.3f}: 1 of 1 nearest concepts" in said
    pain = linker.link("heart pain").domain
    assert pain is not None
    assert 1 <= pain.nearest < pain.of
    # Without a confidence, the domain is that of the first candidate.
    plain = Linker(Index.build(index.vocabulary, encoder=None).with_ranker(None)).link("heart valve").domain
    assert plain is not None
    assert (plain.name, plain.confidence) == ("B", None)
    index.save(tmp_path / "index")
    monkeypatch.chdir(tmp_path)
    command = ["link", "--index", "index", "heart attack", "--top-k", "2", "--format", "csv"]
    header, first, second = CliRunner().invoke(nymlink, command).stdout.splitlines()
    place = header.split(",").index("domain")
    assert header.split(",")[place + 1] == "domain_confidence"
    assert first.split(",")[place : place + 2] == ["A", f"{attack.domain.confidence:.4f}"]
    assert second.split(",")[place : place + 2] == ["", ""]


def test_a_single_vocabulary_is_no_domain() -> None:
    links = Linker(Index.build(vocabulary({"A:1": ["gout"], "A:2": ["seizure"]}), encoder=None)).link(["gout"])
    assert links[0].domain is None
    assert "domain" not in links[0].to_dict()


def test_confidences_are_needed(linkers: list[Linker]) -> None:
    plain = Linker(Index.build(vocabulary({"P:1": ["gout"]}), encoder=None).with_ranker(None))
    with pytest.raises(InputError, match="this index is not calibrated: run"):
        SeveralLinkers([*linkers, plain])
    assert SeveralLinkers([plain]).link(["gout"])[0].candidates[0].concept_id == "P:1"
