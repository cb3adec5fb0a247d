"""Links to several vocabularies: the best of each, and the best of all by confidence."""

from __future__ import annotations

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.linking.several import SeveralLinkers
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


def test_documents_come_in_order(linkers: list[Linker]) -> None:
    documents = [Document(f"{n}", mentions=(Mention("gout"), Mention("seizure"))) for n in range(3)]
    found = list(SeveralLinkers(linkers).link_documents(iter(documents)))
    assert [[link.document_id for link in links] for links in found] == [["0"] * 2, ["1"] * 2, ["2"] * 2]
    assert found[0][0].candidates[0].concept_id == "D:1"


def test_confidences_are_needed(linkers: list[Linker]) -> None:
    plain = Linker(Index.build(vocabulary({"P:1": ["gout"]}), encoder=None))
    with pytest.raises(InputError, match="this index is not calibrated: run"):
        SeveralLinkers([*linkers, plain])
    assert SeveralLinkers([plain]).link(["gout"])[0].candidates[0].concept_id == "P:1"
