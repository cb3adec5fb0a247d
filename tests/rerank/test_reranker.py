"""The dual encoder and the re-ranking of links: against plain loops, on disk and back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nymlink.core.errors import InputError, StoreError, UnknownNameError
from nymlink.core.store.manifest import write_manifest
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig, DualScorer
from nymlink.rerank.folder import FittedOrder, open_scorer, write_fitted
from nymlink.rerank.inputs import END, START, Entity
from nymlink.rerank.passages import Passage
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny
from tests.rerank.orders import BY_INDEX
from tests.train.small import vocabulary

SHORT = DualEncoderConfig(max_length=64)
PASSAGES = [Passage("fever of ", "heart attack", " short stature"), Passage("x ", "seizure", "")]
ENTITIES = [Entity("fever", ("heart attack", "mi")), Entity("", ("seizure",))]
TEXT = "A heart attack and a seizure came with fever. Short stature was seen."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "base")


@pytest.fixture(scope="module")
def model(base: Path) -> DualEncoder:
    torch.manual_seed(0)
    return DualEncoder.from_encoder(base, SHORT)


@pytest.fixture(scope="module")
def index() -> Index:
    names = (
        "heart attack",
        "heart attack of origin",
        "attack",
        "seizure",
        "short seizure",
        "short stature",
        "fever",
    )
    return Index.build(
        vocabulary(*((f"X:{at}", name, "en", "exact") for at, name in enumerate(names))), encoder=None
    )


def reranker_of(model: DualEncoder, vocabulary: Vocabulary) -> Reranker:
    return Reranker(DualScorer(model, vocabulary), vocabulary)


def document(*mentions: str) -> Document:
    places = [(TEXT.index(one), TEXT.index(one) + len(one)) for one in mentions]
    return Document("1", TEXT, tuple(Mention(TEXT[start:end], start, end) for start, end in places))


def test_both_encoders_begin_as_the_base_and_are_two(model: DualEncoder) -> None:
    mention, entity = model.mention.transformer.state_dict(), model.entity.transformer.state_dict()
    for name, value in entity.items():
        assert torch.equal(value, mention[name][: len(value)])
        assert value.data_ptr() != mention[name].data_ptr()
    assert model.width == 32
    for tokenizer, known in ((model.mention.tokenizer, True), (model.entity.tokenizer, False)):
        assert [tokenizer.token_to_id(one) is not None for one in (START, END)] == [known, known]


@pytest.mark.parametrize("mention_start", ["marker", "word"])
def test_vectors_are_those_of_the_places_in_the_last_layer(base: Path, mention_start: str) -> None:
    model = DualEncoder.from_encoder(base, DualEncoderConfig(max_length=64, mention_start=mention_start))  # type: ignore[arg-type]
    found = model.encode_passages(PASSAGES)
    for passage, vector in zip(PASSAGES, found, strict=True):
        tokens = model.passage_tokens([passage])
        ids = tokens.ids.tolist()
        states = model.mention.transformer(torch.tensor([ids])).last_hidden_state[0].detach()
        start = ids.index(model.mention.tokenizer.token_to_id(START)) + (mention_start == "word")
        end = ids.index(model.mention.tokenizer.token_to_id(END))
        assert vector == pytest.approx(((states[start] + states[end]) / 2).numpy(), abs=1e-4)
    for entity, vector in zip(ENTITIES, model.encode_entities(ENTITIES), strict=True):
        ids = model.entity_tokens([entity]).ids.tolist()
        states = model.entity.transformer(torch.tensor([ids])).last_hidden_state[0].detach()
        assert vector == pytest.approx(states[0].numpy(), abs=1e-4)


@pytest.mark.parametrize("mention_start", ["marker", "word"])
def test_means_are_those_of_the_mention_and_of_all_of_a_concept(base: Path, mention_start: str) -> None:
    settings = DualEncoderConfig(max_length=64, mention_start=mention_start)  # type: ignore[arg-type]
    model = DualEncoder.from_encoder(base, settings, pooling="mean")
    for passage, vector in zip(PASSAGES, model.encode_passages(PASSAGES), strict=True):
        ids = model.passage_tokens([passage]).ids.tolist()
        states = model.mention.transformer(torch.tensor([ids])).last_hidden_state[0].detach()
        start, end = (ids.index(model.mention.tokenizer.token_to_id(one)) for one in (START, END))
        start += mention_start == "word"
        assert vector == pytest.approx(states[start : end + 1].mean(0).numpy(), abs=1e-4)
    for entity, vector in zip(ENTITIES, model.encode_entities(ENTITIES), strict=True):
        ids = model.entity_tokens([entity]).ids.tolist()
        states = model.entity.transformer(torch.tensor([ids])).last_hidden_state[0].detach()
        assert vector == pytest.approx(states.mean(0).numpy(), abs=1e-4)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_both_encoders_pool_as_the_base_does(base: Path, tmp_path: Path, pooling: Pooling) -> None:
    TorchModel.load(base, pooling=pooling).save(tmp_path / "base")
    model = DualEncoder.from_encoder(tmp_path / "base", SHORT)
    model.save(tmp_path / "saved")
    for one in (model, DualEncoder.load(tmp_path / "saved")):
        assert one.mention.settings.pooling == one.entity.settings.pooling == pooling
    other = DualEncoder.from_encoder(tmp_path / "base", SHORT, pooling="mean" if pooling == "cls" else "cls")
    assert other.fingerprint != model.fingerprint


@pytest.mark.parametrize("family", ["bert", "roberta", "deberta-v2", "modernbert"])
def test_saved_and_loaded_it_is_the_same(tmp_path: Path, family: str) -> None:
    torch.manual_seed(0)
    model = DualEncoder.from_encoder(tiny.folder(tmp_path / "base", family), SHORT)
    model.save(tmp_path / "saved")
    said = json.loads((tmp_path / "saved" / "manifest.json").read_text(encoding="utf-8"))
    assert (said["kind"], said["width"]) == ("reranker", 32)
    assert said["settings"] == {"max_length": 64, "mention_start": "marker", "candidates": 64}
    again = DualEncoder.load(tmp_path / "saved")
    assert again.fingerprint == model.fingerprint == said["fingerprint"]
    assert again.settings == model.settings
    assert np.array_equal(again.encode_passages(PASSAGES), model.encode_passages(PASSAGES))
    assert np.array_equal(again.encode_entities(ENTITIES), model.encode_entities(ENTITIES))
    assert {path.suffix for path in (tmp_path / "saved").rglob("*") if path.is_file()} == {".json", ".safetensors"}
    with torch.no_grad():
        next(again.entity.parameters()).add_(1)
    assert again.fingerprint != model.fingerprint


def test_the_entity_encoder_is_an_encoder(model: DualEncoder, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    assert Encoder.load(tmp_path / "saved" / "entity").width == 32


def test_what_is_damaged_is_said(model: DualEncoder, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    with pytest.raises(StoreError, match="no such reranker"):
        DualEncoder.load(tmp_path / "nothing")
    (tmp_path / "saved" / "mention" / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match=r"config\.json has 2 bytes"):
        DualEncoder.load(tmp_path / "saved")
    shutil.rmtree(tmp_path / "saved")
    model.save(tmp_path / "saved")
    manifest = tmp_path / "saved" / "manifest.json"
    write_manifest(
        tmp_path / "saved",
        json.loads(manifest.read_text(encoding="utf-8").replace('"max_length": 64', '"max_length": 4096')),
    )
    with pytest.raises(StoreError, match="the re-ranker is damaged"):
        DualEncoder.load(tmp_path / "saved")


def test_settings_have_their_ranges(base: Path) -> None:
    with pytest.raises(InputError, match="max_length must be at least 16, not 8"):
        DualEncoderConfig(max_length=8)
    with pytest.raises(InputError, match="unknown mention_start 'end'; known: marker, word"):
        DualEncoderConfig(mention_start="end")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="candidates must be at least 1, not 0"):
        DualEncoderConfig(candidates=0)
    with pytest.raises(InputError, match="max_length 128 is more than the model takes: use at most 66"):
        DualEncoder.from_encoder(base, DualEncoderConfig())


def test_candidates_come_in_the_order_of_their_distances(model: DualEncoder, index: Index) -> None:
    given = document("heart attack", "seizure", "Short stature")
    links = Linker(index, top_k=4).link(given)
    found = reranker_of(model, index.vocabulary).rerank(given, links)
    assert [len(link.candidates) for link in found] == [len(link.candidates) for link in links]
    passages = [
        Passage("a ", "heart attack", " and a seizure came with fever. short stature was seen."),
        Passage("a heart attack and a ", "seizure", " came with fever. short stature was seen."),
        Passage("a heart attack and a seizure came with fever. ", "short stature", " was seen."),
    ]
    for passage, before, after in zip(passages, links, found, strict=True):
        mention = model.encode_passages([passage])[0]
        scores = {}
        for one in before.candidates:
            concept = model.encode_entities([Entity("", (one.concept_name,))])[0]
            scores[one.concept_id] = -float(np.sqrt(((mention - concept) ** 2).sum()))
        assert {one.concept_id: one.parts["context"] for one in after.candidates} == pytest.approx(
            scores, abs=1e-3
        )
        falling = [one.parts["context"] for one in after.candidates]
        assert falling == sorted(falling, reverse=True)
        kept = {one.concept_id: one for one in before.candidates}
        for one in after.candidates:
            own = kept[one.concept_id]
            assert one == replace(own, parts={**own.parts, "context": one.parts["context"]})
        assert (after.mention, after.query) == (before.mention, before.query)


def test_the_first_candidates_are_put_in_order_however_many_are_asked_for(
    model: DualEncoder, index: Index
) -> None:
    given = document("heart attack", "seizure", "Short stature")
    scorer = DualScorer(model, index.vocabulary)
    reranker = Reranker(scorer, index.vocabulary, candidates=2)
    few, many = (Linker(index, top_k=top_k).link(given) for top_k in (2, 4))
    found = reranker.rerank(given, many)
    for before, first, after in zip(many, reranker.rerank(given, few), found, strict=True):
        assert after.candidates == (*first.candidates, *before.candidates[2:])
    linked = [Linker(index, top_k=top_k, rerank=reranker).link(given) for top_k in (1, 4)]
    assert [link.candidates[:1] for link in linked[1]] == [link.candidates for link in linked[0]]
    # It does matter how many they are.
    assert any(
        one.candidates[0].concept_id != other.candidates[0].concept_id
        for one, other in zip(found, Reranker(scorer, index.vocabulary).rerank(given, many), strict=True)
    )


def test_as_many_candidates_are_put_in_order_as_the_folder_says(
    model: DualEncoder, index: Index, tmp_path: Path
) -> None:
    made = DualEncoder(model.mention, model.entity, replace(SHORT, candidates=16))
    made.save(tmp_path / "saved")
    assert made.fingerprint == model.fingerprint
    assert Reranker.load(tmp_path / "saved", index).candidates == 16
    write_fitted(tmp_path / "saved", FittedOrder(order=BY_INDEX, candidates=8))
    assert Reranker.load(tmp_path / "saved", index).candidates == 8
    made.save(tmp_path / "older")
    manifest = json.loads((tmp_path / "older" / "manifest.json").read_text(encoding="utf-8"))
    del manifest["settings"]["candidates"]
    write_manifest(tmp_path / "older", manifest)
    assert Reranker.load(tmp_path / "older", index).candidates == 64


def test_a_scorer_is_given_as_much_text_as_it_reads(model: DualEncoder, index: Index, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    assert Reranker.load(tmp_path / "saved", index).max_length == 64
    given: list[Passage] = []

    class Reading:
        def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
            given.extend(passages)
            return [np.zeros(len(rows), np.float32) for rows in candidates]

    text = f"A{' a' * 4000} seizure{' b' * 4000}."
    start = text.index("seizure")
    long = Document("1", text, (Mention("seizure", start, start + 7),))
    for named in ({}, {"max_length": 300}):
        Reranker(Reading(), index.vocabulary, **named).rerank(long, Linker(index).link(long))
    assert [len(side) for one in given for side in (one.left, one.right)] == [1024, 1024, 2400, 2400]


@pytest.mark.parametrize(
    ("able", "kind", "tolerance"), [({}, torch.float32, 1e-5), ({"avx512_bf16": True}, torch.bfloat16, 0.02)]
)
def test_a_loaded_one_scores_in_what_the_device_is_fastest_in(
    model: DualEncoder,
    index: Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    able: dict[str, bool],
    kind: torch.dtype,
    tolerance: float,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    model.save(tmp_path / "saved")
    scorer = open_scorer(tmp_path / "saved", index.vocabulary)
    assert isinstance(scorer, DualScorer)
    assert {one.dtype for one in scorer.model.parameters()} == {kind}
    expected = DualScorer(model, index.vocabulary).scores(PASSAGES, [[0, 3], [2]])
    for own, one in zip(scorer.scores(PASSAGES, [[0, 3], [2]]), expected, strict=True):
        assert own.dtype == np.float32
        assert own.tolist() == pytest.approx(one.tolist(), rel=tolerance)


def test_concepts_are_encoded_once(model: DualEncoder, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Entity] = []
    original = DualEncoder.encode_entities

    def counted(self: DualEncoder, given: list[Entity]) -> object:
        encoded.extend(given)
        return original(self, given)

    monkeypatch.setattr(DualEncoder, "encode_entities", counted)
    reranker = reranker_of(model, index.vocabulary)
    given = document("heart attack", "seizure")
    links = Linker(index, top_k=4).link(given)
    first, second = (reranker.rerank(given, links) for _ in range(2))
    assert first == second
    assert len(encoded) == len(set(encoded)) > 3


def alone(index: Index, document: Document) -> list[Link]:
    """The links of the mentions of a document wherever they stand: a linker refuses wrong offsets."""
    return Linker(index, top_k=4).link([replace(mention, start=None, end=None) for mention in document.mentions])


def test_a_mention_without_context_passes_unharmed(model: DualEncoder, index: Index) -> None:
    heart, *_ = document("heart attack").mentions
    odd = (Mention("seizure"), Mention("seizure", 900, 907), Mention("seizure", 0, 7), Mention("zzz", 3, 6))
    parted = Mention("heart attack and a seizure", 2, 28, parts=("heart attack", "seizure"))
    reranker = reranker_of(model, index.vocabulary)
    for given in (
        Document("1", TEXT, (*odd, parted)),
        Document("1", "", (heart,)),
        Document("1", "heart attack", (replace(heart, start=0, end=12),)),
        Document("1", TEXT),
    ):
        links = alone(index, given)
        assert reranker.rerank(given, links) == links
    both = Document("1", TEXT, (*odd, heart, parted))
    links = alone(index, both)
    found = reranker.rerank(both, links)
    assert [before == after for before, after in zip(links, found, strict=True)] == [True] * 4 + [False, True]


def test_a_confidence_goes_where_another_candidate_comes_first(model: DualEncoder, index: Index) -> None:
    given = document("heart attack")
    links = [replace(link, confidence=0.5) for link in Linker(index, top_k=4).link(given)]
    reranker = reranker_of(model, index.vocabulary)
    (found,) = reranker.rerank(given, links)
    (again,) = reranker.rerank(given, [replace(found, confidence=0.5)])
    assert again.confidence == 0.5
    turned = replace(found, candidates=found.candidates[::-1], confidence=0.5)
    (other,) = reranker.rerank(given, [turned])
    assert other.confidence is None
    assert other.candidates == found.candidates


def test_links_of_others_are_refused(model: DualEncoder, index: Index) -> None:
    given = document("heart attack")
    links: list[Link] = Linker(index).link(given)
    other = vocabulary(("Y:1", "fever", "en", "exact"))
    with pytest.raises(UnknownNameError, match="the candidate 'X:0' is not in the re-ranker's vocabulary"):
        reranker_of(model, other).rerank(given, links)
    with pytest.raises(ValueError, match="shorter"):
        reranker_of(model, index.vocabulary).rerank(given, [])


def test_a_mention_in_a_very_long_document_is_re_ranked(model: DualEncoder, index: Index) -> None:
    text = "A seizure came. " * 7000
    assert len(text) > 100_000
    at = 2, len(text) // 32 * 16 + 2, len(text) - 14
    given = Document("1", text, tuple(Mention("seizure", start, start + 7) for start in at))
    links = Linker(index, top_k=4).link(given)
    found = reranker_of(model, index.vocabulary).rerank(given, links)
    assert all("context" in one.parts for link in found for one in link.candidates)


def test_many_mentions_are_scored_in_turn_and_concepts_encoded_once(
    model: DualEncoder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[Entity] = []
    original = DualEncoder.encode_entities

    def counted(self: DualEncoder, given: list[Entity]) -> object:
        encoded.extend(given)
        return original(self, given)

    monkeypatch.setattr(DualEncoder, "encode_entities", counted)
    many, candidates = [PASSAGES[0], PASSAGES[1]] * 2, [[0, 1], [2], [1, 3, 0], [4]]
    whole = DualScorer(model, index.vocabulary).scores(many, candidates)
    assert len(encoded) == 5
    monkeypatch.setattr("nymlink.rerank.dual_encoder._AT_ONCE", 3)
    scorer = DualScorer(model, index.vocabulary)
    for one, other in zip(whole, scorer.scores(many, candidates), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert len(encoded) == 10
    assert scorer.scores([], []) == []


def test_concepts_without_names_or_type_are_scored(model: DualEncoder) -> None:
    builder = TableBuilder()
    builder.concept("X:1", semantic_types=["Disease"])
    builder.name("X:1", "seizure", lang="en")
    builder.concept("X:2")
    known = Vocabulary.of((Source("small", "table"), builder.build()))
    (scores,) = DualScorer(model, known).scores([PASSAGES[1]], [[1, 0]])
    mention = model.encode_passages([PASSAGES[1]])[0]
    concepts = model.encode_entities([Entity("", ("x:2",)), Entity("disease", ("seizure",))])
    assert scores == pytest.approx(-np.linalg.norm(concepts - mention, axis=1), abs=1e-3)
    assert scores.dtype == np.float32
