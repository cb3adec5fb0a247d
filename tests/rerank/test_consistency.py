"""What the index's score and the rest of a document change, with a scorer that is a table; and weights on disk."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nymlink.core.errors import MissingExtraError, StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.corpus.model import Document, Mention
from nymlink.encode.encoder import Encoder
from nymlink.index.fusion.fusion import Fusion
from nymlink.index.fusion.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.linking.model import Link
from nymlink.rerank.cross.cross_encoder import CrossEncoder, CrossEncoderConfig
from nymlink.rerank.cross.cross_scorer import CrossScorer
from nymlink.rerank.dual.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.rerank.folder import FittedWeights, read_fitted, score_settings, write_fitted
from nymlink.rerank.log_linear import EvidenceWeights
from nymlink.rerank.passages import Passage
from nymlink.rerank.reranker import Reranker
from tests.encode import tiny
from tests.train.small import vocabulary

TEXT = "Myocardial infarction was seen. The MI was large. One MI was treated, as was the valve."


class Told:
    """Scores of concepts, by row, that are told for the word before a mention; others for any other word."""

    def __init__(self, *others: float, **told: tuple[float, ...]) -> None:
        self.others, self.told = others, told

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        said = [self.told.get(one.left.split()[-1] if one.left else "", self.others) for one in passages]
        return [
            np.array([scores[row] for row in rows], np.float32)
            for scores, rows in zip(said, candidates, strict=True)
        ]


@pytest.fixture(scope="module")
def index() -> Index:
    names = ("X:0", "mitral insufficiency"), ("X:0", "MI"), ("X:1", "myocardial infarction"), ("X:1", "MI")
    return Index.build(vocabulary(*((concept, name, "en", "exact") for concept, name in names)), encoder=None)


def document(*mentions: Mention) -> Document:
    return Document("1", TEXT, mentions)


def at(text: str, occurrence: int = 0, *, type: str = "Disease") -> Mention:
    start = -1
    for _ in range(occurrence + 1):
        start = TEXT.index(text, start + 1)
    return Mention(text, start, start + len(text), type=type)


def first(reranker: Reranker, links: Sequence[Link], given: Document) -> list[str]:
    return [link.candidates[0].concept_id for link in reranker.rerank(given, links)]


def test_the_score_of_the_index_counts_as_much_as_it_is_weighed(index: Index) -> None:
    given = document(at("Myocardial infarction"))
    links = Linker(index, top_k=5).link(given)
    scorer = Told(1.0, 0.0)
    gap = links[0].candidates[0].score - links[0].candidates[1].score
    assert links[0].candidates[0].concept_id == "X:1"
    for retrieval, expected in ((0.0, "X:0"), (0.9 / gap, "X:0"), (1.1 / gap, "X:1")):
        reranker = Reranker(scorer, index.vocabulary, weights=EvidenceWeights(retrieval=retrieval))
        assert first(reranker, links, given) == [expected]


def test_a_mention_that_is_sure_informs_those_of_its_type_in_its_document(index: Index) -> None:
    # By its context "One MI" may mean either, and a little rather X:0; the other one says that it is X:1.
    scorer = Told(0.0, 0.0, the=(0.0, 5.0), one=(0.5, 0.0))
    alone, with_document = (
        Reranker(scorer, index.vocabulary, weights=EvidenceWeights(document=w)) for w in (0.0, 1.0)
    )
    linker = Linker(index, top_k=5)
    same = document(at("MI", 0), at("MI", 1))
    assert first(alone, linker.link(same), same) == ["X:1", "X:0"]
    assert first(with_document, linker.link(same), same) == ["X:1", "X:1"]
    other = document(at("MI", 0), at("MI", 1, type="Gene"))
    assert first(with_document, linker.link(other), other) == ["X:1", "X:0"]
    apart = document(at("MI", 1))
    assert first(with_document, linker.link(apart), apart) == ["X:0"]


def test_parts_of_the_score_say_what_the_document_said(index: Index) -> None:
    scorer = Told(0.0, 0.0, the=(0.0, 5.0))
    given = document(at("MI", 0), at("MI", 1))
    links = Linker(index, top_k=5).link(given)
    _, found = Reranker(scorer, index.vocabulary, weights=EvidenceWeights(document=1)).rerank(given, links)
    sure = 1 / (1 + np.exp(-5))
    assert {one.concept_id: one.parts["document"] for one in found.candidates} == pytest.approx(
        {"X:1": sure, "X:0": 1 - sure}, abs=1e-6
    )
    _, without = Reranker(scorer, index.vocabulary).rerank(given, links)
    assert all(set(one.parts) == {"exact", "sparse", "context", "writing"} for one in without.candidates)
    assert {one.score for one in found.candidates} == {one.score for one in links[1].candidates}


def test_a_mention_without_context_informs_others_and_stays_as_it_is(index: Index) -> None:
    scorer = Told(0.5, 0.0)
    placeless = Mention("myocardial infarction", type="Disease")
    composite = replace(placeless, text="infarction or so", parts=("myocardial infarction", "zzzz"))
    weights = EvidenceWeights(retrieval=2, document=1)
    reranker = Reranker(scorer, index.vocabulary, weights=weights)
    for helper in (placeless, composite):
        given = document(at("MI", 1), helper)
        links = Linker(index, top_k=5).link(given)
        found = reranker.rerank(given, links)
        assert [link.candidates[0].concept_id for link in found[:1]] == ["X:1"]
        assert found[1] == links[1]
    alone = document(at("MI", 1))
    assert first(reranker, Linker(index, top_k=5).link(alone), alone) == ["X:0"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    DualEncoder.from_encoder(tiny.folder(tmp_path / "base"), DualEncoderConfig(max_length=64)).save(
        tmp_path / "reranker"
    )
    return tmp_path / "reranker"


def test_what_was_fitted_is_kept_in_the_folder(index: Index, folder: Path) -> None:
    assert read_fitted(folder) is None
    loaded = Reranker.load(folder, index.vocabulary)
    assert (loaded.weights, loaded.candidates) == (EvidenceWeights(), 64)
    weights = EvidenceWeights(context=0.5, retrieval=8, document=0.25)
    kept = FittedWeights(weights=weights, candidates=16, scores=score_settings(index))
    write_fitted(folder, kept)
    assert read_fitted(folder) == kept
    loaded = Reranker.load(folder, index.vocabulary)
    assert (loaded.weights, loaded.candidates) == (kept.weights, 16)
    assert DualEncoder.load(folder).width == 32
    given = document(at("MI", 0))
    (link,) = Reranker.load(folder, index.vocabulary).rerank(given, Linker(index, top_k=5).link(given))
    assert set(link.candidates[0].parts) >= {"context", "document"}


def said_of(folder: Path, recwarn: pytest.WarningsRecorder) -> list[str]:
    return [said for one in recwarn if str(folder) in (said := str(one.message))]


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({}, False),
        ({"encoder": "f00"}, True),
        ({"sparse": "le-nguyen"}, True),
        ({"fusion": {"method": "weighted", "weights": {"exact": 0.5, "sparse": 0.5}}}, True),
    ],
)
def test_weights_that_were_fitted_to_other_scores_are_warned_of(
    index: Index, folder: Path, recwarn: pytest.WarningsRecorder, changes: dict[str, object], warned: bool
) -> None:
    weights = EvidenceWeights(retrieval=8)
    write_fitted(folder, FittedWeights(weights=weights, candidates=16, scores=score_settings(index) | changes))
    # Its vocabulary does not say what its scores are.
    assert Reranker.load(folder, index.vocabulary).weights == weights
    assert said_of(folder, recwarn) == []
    assert Reranker.load(folder, index).weights == weights
    expected = (
        f"{folder}: its weights were fitted with an index whose scores are made in another way than those of this "
        "index: run `nymlink rerank fit` with this index"
    )
    assert said_of(folder, recwarn) == [expected] * warned


def test_of_weights_that_do_not_say_what_they_were_fitted_to_nothing_is_said(
    index: Index, folder: Path, recwarn: pytest.WarningsRecorder
) -> None:
    kept = {"weights": {"context": 1.0, "retrieval": 8.0, "document": 0.0}, "candidates": 16}
    manifest = json.loads((folder / "manifest.json").read_text())
    write_manifest(folder, {**manifest, "fitted": kept})
    assert Reranker.load(folder, index).weights == EvidenceWeights(retrieval=8)
    assert said_of(folder, recwarn) == []


def test_scores_are_known_by_their_searches_their_fusion_and_the_encoder(index: Index, tmp_path: Path) -> None:
    assert score_settings(index) == {
        "sparse": "nymlink",
        "encoder": None,
        "fusion": {"method": "weighted", "weights": {"exact": 0.1, "sparse": 0.9}},
        "ranker": None,
    }
    index.save(tmp_path / "index")
    assert score_settings(Index.load(tmp_path / "index")) == score_settings(index)
    other = index.with_fusion(Fusion.of(["exact", "sparse"], weights={"sparse": 1}))
    assert score_settings(other) == score_settings(index) | {"fusion": other.fusion.to_dict()}
    encoder = Encoder.load(tiny.folder(tmp_path / "base"))
    dense = Index.build(index.vocabulary, encoder=encoder)
    assert score_settings(dense)["encoder"] == encoder.fingerprint
    # Where it is now does not matter.
    shutil.move(tmp_path / "base", tmp_path / "moved")
    moved = Index.build(index.vocabulary, encoder=tmp_path / "moved")
    assert score_settings(moved) == score_settings(dense)


def test_a_cross_encoder_is_told_by_its_manifest(index: Index, tmp_path: Path) -> None:
    CrossEncoder.from_encoder(tiny.folder(tmp_path / "base"), CrossEncoderConfig(max_length=64)).save(
        tmp_path / "cross"
    )
    write_fitted(tmp_path / "cross", FittedWeights(weights=EvidenceWeights(document=1), candidates=64))
    loaded = Reranker.load(tmp_path / "cross", index.vocabulary)
    assert isinstance(loaded.scorer, CrossScorer)
    assert loaded.weights == EvidenceWeights(document=1)
    given = document(at("MI", 0))
    (link,) = loaded.rerank(given, Linker(index, top_k=5).link(given))
    assert set(link.candidates[0].parts) >= {"context", "document"}


def test_without_torch_the_extra_is_named(index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"re-ranking needs .* pip install 'nymlink\[train\]'"):
        Reranker.load(folder, index.vocabulary)


@pytest.mark.parametrize(
    "damage",
    [
        *(
            {"weights": weights, "candidates": 64}
            for weights in ({"context": -1.0}, {"other": 1.0}, {"context": "x"})
        ),
        *({"weights": {}, "candidates": candidates} for candidates in (0, "many", None)),
        {"weights": None, "candidates": 64},
        {"weights": {}},
        [1],
        3,
    ],
)
def test_what_was_fitted_and_is_damaged_is_said(index: Index, folder: Path, damage: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    write_manifest(folder, {**manifest, "fitted": damage})
    with pytest.raises(StoreError, match=r"the fitted weights are damaged .*: run `nymlink rerank fit` again"):
        Reranker.load(folder, index.vocabulary)


def test_folders_of_others_are_refused(index: Index, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    with pytest.raises(StoreError, match="this is not a nymlink reranker but a nymlink index"):
        Reranker.load(tmp_path / "index", index.vocabulary)
    with pytest.raises(StoreError, match="no such reranker"):
        write_fitted(tmp_path / "nothing", FittedWeights(weights=EvidenceWeights(), candidates=64))
