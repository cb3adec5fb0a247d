"""What the index and the rest of a document change, with a scorer that is a table; and orders on disk."""

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

from nymlink.core.errors import InputError, MissingExtraError, StoreError
from nymlink.core.store.manifest import write_manifest
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.encoder import Encoder
from nymlink.index.fusion import Fusion
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig, CrossScorer
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.rerank.folder import FittedOrder, read_fitted, score_settings, write_fitted
from nymlink.rerank.passages import Passage
from nymlink.rerank.reranker import Reranker
from tests.encode import tiny
from tests.rerank.orders import BY_CONTEXT, BY_INDEX, order
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
    return Index.build(
        vocabulary(*((concept, name, "en", "exact") for concept, name in names)), encoder=None
    ).with_ranker(None)


def document(*mentions: Mention) -> Document:
    return Document("1", TEXT, mentions)


def at(text: str, occurrence: int = 0, *, type: str = "Disease") -> Mention:
    start = -1
    for _ in range(occurrence + 1):
        start = TEXT.index(text, start + 1)
    return Mention(text, start, start + len(text), type=type)


def first(reranker: Reranker, links: Sequence[Link], given: Document) -> list[str]:
    return [link.candidates[0].concept_id for link in reranker.rerank(given, links)]


BY_DOCUMENT = order({"ahead_document": (0, 0, 2), "ahead_context": (0, 0, 1)})


def test_context_and_index_count_as_the_order_says(index: Index) -> None:
    given = document(at("Myocardial infarction"))
    links = Linker(index, top_k=5).link(given)
    scorer = Told(1.0, 0.0)
    assert links[0].candidates[0].concept_id == "X:1"
    for made, expected in ((None, "X:0"), (BY_CONTEXT, "X:0"), (BY_INDEX, "X:1")):
        assert first(Reranker(scorer, index.vocabulary, order=made), links, given) == [expected]


def test_a_mention_that_is_sure_informs_those_of_its_type_in_its_document(index: Index) -> None:
    # By its context "MI" means rather X:0; the name written out says that it is X:1.
    scorer = Told(0.5, 0.0)
    alone, with_document = (Reranker(scorer, index.vocabulary, order=made) for made in (BY_CONTEXT, BY_DOCUMENT))
    linker = Linker(index, top_k=5)
    same = document(at("Myocardial infarction"), at("MI", 1))
    assert first(alone, linker.link(same), same)[1] == "X:0"
    assert first(with_document, linker.link(same), same)[1] == "X:1"
    other = document(at("Myocardial infarction"), at("MI", 1, type="Gene"))
    assert first(with_document, linker.link(other), other)[1] == "X:0"
    apart = document(at("MI", 1))
    assert first(with_document, linker.link(apart), apart) == ["X:0"]


def test_parts_of_the_score_say_how_probable_each_candidate_is(index: Index) -> None:
    given = document(at("MI"))
    links = Linker(index, top_k=5).link(given)
    [found] = Reranker(Told(0.0, 5.0), index.vocabulary, order=BY_CONTEXT).rerank(given, links)
    # That none is right has the score 0, as the candidate that the context does not speak for.
    total = np.exp(1) + 1 + 1
    assert {one.concept_id: one.parts["reranked"] for one in found.candidates} == pytest.approx(
        {"X:1": np.exp(1) / total, "X:0": 1 / total}, abs=1e-6
    )
    assert {one.concept_id: one.parts["context"] for one in found.candidates} == {"X:1": 5, "X:0": 0}
    [without] = Reranker(Told(0.0, 5.0), index.vocabulary).rerank(given, links)
    assert all(set(one.parts) == {"exact", "sparse", "context", "writing"} for one in without.candidates)
    assert {one.score for one in found.candidates} == {one.score for one in links[0].candidates}


def test_the_order_is_explained(index: Index) -> None:
    given = document(at("MI"))
    linker = Linker(index, rerank=Reranker(Told(0.0, 5.0), index.vocabulary, order=BY_CONTEXT), top_k=2)
    found = linker.explain(given)
    assert found.first is not None
    assert found.second is not None
    assert (found.first.concept_id, found.second.concept_id, found.is_verbatim) == ("X:1", "X:0", False)
    assert [(reason.feature.name, reason.first, reason.second, reason.moved) for reason in found.reasons] == [
        ("ahead_context", 5, -5, 1)
    ]
    assert "+1.00 ahead_context: 5 against -5 (" in str(found)
    unfitted = Linker(index, rerank=Reranker(Told(0.0, 5.0), index.vocabulary)).explain(given)
    assert unfitted.first is not None
    assert unfitted.first.concept_id == "X:1"
    assert str(unfitted).endswith("by the context alone: nothing was fitted")
    placeless = Document("1", TEXT, (Mention("MI"),))
    assert str(linker.explain(placeless)).endswith("as the index has them: there is no context")
    for one in (Linker(index), linker):
        with pytest.raises(InputError, match="2 mentions: one at a time"):
            one.explain(document(at("MI"), at("MI", 1)))


def test_a_mention_without_context_informs_others_and_stays_as_it_is(index: Index) -> None:
    scorer = Told(0.5, 0.0)
    placeless = Mention("myocardial infarction", type="Disease")
    composite = replace(placeless, text="infarction or so", parts=("myocardial infarction", "zzzz"))
    reranker = Reranker(scorer, index.vocabulary, order=BY_DOCUMENT)
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
    assert (loaded.order, loaded.candidates) == (None, 64)
    write_fitted(folder, FittedOrder(order=BY_CONTEXT, candidates=16, scores=score_settings(index)))
    kept = read_fitted(folder)
    assert kept is not None
    assert (kept.order.to_dict(), kept.scores) == (BY_CONTEXT.to_dict(), score_settings(index))
    loaded = Reranker.load(folder, index.vocabulary)
    assert loaded.order is not None
    assert (loaded.order.to_dict(), loaded.candidates) == (BY_CONTEXT.to_dict(), 16)
    assert DualEncoder.load(folder).width == 32
    given = document(at("MI", 0))
    (link,) = Reranker.load(folder, index.vocabulary).rerank(given, Linker(index, top_k=5).link(given))
    assert set(link.candidates[0].parts) >= {"context", "reranked"}


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
def test_orders_that_were_fitted_to_other_scores_are_warned_of(
    index: Index, folder: Path, recwarn: pytest.WarningsRecorder, changes: dict[str, object], warned: bool
) -> None:
    write_fitted(folder, FittedOrder(order=BY_INDEX, candidates=16, scores=score_settings(index) | changes))
    # Its vocabulary does not say what its scores are.
    assert Reranker.load(folder, index.vocabulary).order is not None
    assert said_of(folder, recwarn) == []
    assert Reranker.load(folder, index).order is not None
    expected = (
        f"{folder}: it was fitted with an index whose scores are made in another way than those of this index: "
        "run `nymlink rerank fit` with this index"
    )
    assert said_of(folder, recwarn) == [expected] * warned


def test_of_an_order_that_does_not_say_what_it_was_fitted_to_nothing_is_said(
    index: Index, folder: Path, recwarn: pytest.WarningsRecorder
) -> None:
    write_fitted(folder, FittedOrder(order=BY_INDEX, candidates=16))
    assert Reranker.load(folder, index).order is not None
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
    write_fitted(tmp_path / "cross", FittedOrder(order=BY_CONTEXT, candidates=64))
    loaded = Reranker.load(tmp_path / "cross", index.vocabulary)
    assert isinstance(loaded.scorer, CrossScorer)
    assert loaded.order is not None
    given = document(at("MI", 0))
    (link,) = loaded.rerank(given, Linker(index, top_k=5).link(given))
    assert set(link.candidates[0].parts) >= {"context", "reranked"}


def test_without_torch_the_extra_is_named(index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"re-ranking needs .* pip install 'nymlink\[train\]'"):
        Reranker.load(folder, index.vocabulary)


@pytest.mark.parametrize(
    "damage",
    [
        *({"order": BY_INDEX.to_dict(), "candidates": candidates} for candidates in (0, "many", None)),
        {"order": BY_INDEX.to_dict() | {"version": 0}, "candidates": 64},
        {"order": None, "candidates": 64},
        # As before orders were learned.
        {"weights": {"context": 1.0, "retrieval": 8.0, "document": 0.0}, "candidates": 64},
        [1],
        3,
    ],
)
def test_what_was_fitted_and_is_damaged_is_said(index: Index, folder: Path, damage: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    write_manifest(folder, {**manifest, "fitted": damage})
    with pytest.raises(StoreError, match=r"what was fitted cannot be used .*: run `nymlink rerank fit` again"):
        Reranker.load(folder, index.vocabulary)


def test_folders_of_others_are_refused(index: Index, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    with pytest.raises(StoreError, match="this is not a nymlink reranker but a nymlink index"):
        Reranker.load(tmp_path / "index", index.vocabulary)
    with pytest.raises(StoreError, match="no such reranker"):
        write_fitted(tmp_path / "nothing", FittedOrder(order=BY_INDEX, candidates=64))
