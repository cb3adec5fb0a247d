"""The cross-encoder: what it reads, what it scores, on disk and back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from tokenizers import Tokenizer

from nymlink.core.errors import InputError, StoreError
from nymlink.core.store.manifest import seal, write_manifest
from nymlink.encode.model.token_batches import Tokens
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig, CrossScorer
from nymlink.rerank.folder import open_scorer
from nymlink.rerank.inputs import END, START, Entity, Inputs, entities
from nymlink.rerank.passages import Passage
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny

SHORT = CrossEncoderConfig(max_length=64)
PASSAGES = [
    Passage("infarto de ", "heart attack", " short stature"),
    Passage("x ", "seizure", ""),
    Passage("", "infarction", ""),
]
ENTITIES = [Entity("infarto", ("heart attack", "mi")), Entity("", ("seizure",)), Entity("", ("x:2",))]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made: Tokenizer = tiny.tokenizer()
    made.add_special_tokens([START, END])
    return made


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "base")


@pytest.fixture(scope="module")
def model(base: Path) -> CrossEncoder:
    torch.manual_seed(0)
    return CrossEncoder.from_encoder(base, SHORT)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """Ten concepts; the last has neither name nor type."""
    builder = TableBuilder()
    words = "heart", "attack", "seizure", "short", "stature", "fever", "origin", "infarction", "unknown"
    for number, word in enumerate(words):
        builder.concept(f"X:{number}", semantic_types=["Disease"] if number % 2 else [])
        builder.name(f"X:{number}", f"{word} attack", lang="en")
    builder.concept("X:9")
    return Vocabulary.of((Source("small", "table"), builder.build()))


def joint(inputs: Inputs, passage: Passage, entity: Entity) -> Tokens:
    return inputs.joint(zip(inputs.passage_ids([passage]), inputs.entity_ids([entity]), strict=True))


def said(tokenizer: Tokenizer, tokens: Tokens) -> str:
    return " ".join(str(tokenizer.id_to_token(one)) for one in tokens.ids.tolist())


def test_a_mention_is_read_together_with_a_concept(tokenizer: Tokenizer) -> None:
    inputs = Inputs(tokenizer, length=32)
    assert said(tokenizer, joint(inputs, PASSAGES[0], ENTITIES[0])) == (
        "[CLS] infarto de [START] heart attack [END] short stature [SEP] infarto [SEP] heart attack [SEP] mi [SEP]"
    )
    assert said(tokenizer, joint(inputs, PASSAGES[2], ENTITIES[1])) == (
        "[CLS] [START] infarction [END] [SEP] seizure [SEP]"
    )
    # What looks like a marker is text.
    assert (
        said(tokenizer, joint(inputs, Passage("[END]", "x", "[SEP]"), Entity("", ("[CLS]",)))).count("[CLS]") == 1
    )


def test_either_is_sure_of_half_the_room(tokenizer: Tokenizer) -> None:
    inputs = Inputs(tokenizer, length=32)
    long = Passage("stature " * 40, "heart attack", " seizure" * 40)
    many = Entity("infarto " * 40, ("attack " * 5, "short " * 6, "x", "heart"))
    # Nothing of a concept goes to waste: what its names leave is the context's.
    assert said(tokenizer, joint(inputs, long, many)) == (
        f"[CLS]{' stature' * 5} [START] heart attack [END]{' seizure' * 6} [SEP]"
        f"{' infarto' * 4} [SEP]{' attack' * 5} [SEP] x [SEP] heart [SEP]"
    )
    (few, lone) = Passage("", "heart attack", ""), Entity("", ("attack",))
    assert joint(inputs, few, many).lengths.tolist() == [6 + 5 + 6 + 7 + 2 + 2]
    assert joint(inputs, long, lone).lengths.tolist() == [32]
    cut = [
        joint(inputs, Passage("", "heart " * 40, ""), lone),
        joint(inputs, long, Entity("", ("attack " * 40,))),
        joint(inputs, long, many),
    ]
    assert all(one.lengths[0] <= 32 for one in cut)


WORDS = st.lists(st.sampled_from(["heart", "attack", "seizure", "stature"]), max_size=60).map(" ".join)


@given(WORDS, WORDS, WORDS, WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=6), st.integers(32, 80))
def test_mention_nearest_context_and_preferred_name_survive(
    left: str, mention: str, right: str, kind: str, names: list[str], length: int
) -> None:
    tokenizer = tiny.tokenizer()
    tokenizer.add_special_tokens([START, END])
    found = said(
        tokenizer, joint(Inputs(tokenizer, length=length), Passage(left, mention, right), Entity(kind, (*names,)))
    )
    assert len(found.split()) <= length
    passage, *texts = found.removesuffix("[SEP]").split("[SEP]")
    before, rest = passage.removeprefix("[CLS]").split(START)
    within, after = rest.split(END)
    assert left.endswith(before.strip())
    assert bool(before.strip()) == bool(left)
    assert right.startswith(after.strip())
    assert bool(after.strip()) == bool(right)
    assert within.split()[:2] == mention.split()[:2]
    kept = [text.strip() for text in texts[bool(kind) :]]
    assert kept[0]
    assert names[0].startswith(kept[0])
    assert kept[0] == names[0] or len(kept[0].split()) >= length // 2 - length // 8 - 2
    assert all(name in names for name in kept[1:])


def test_scores_are_the_heads_of_the_first_token(model: CrossEncoder) -> None:
    pairs = [(passage, entity) for passage in PASSAGES for entity in ENTITIES]
    inputs = model.inputs
    ids = [(inputs.passage_ids([one])[0], inputs.entity_ids([other])[0]) for one, other in pairs]
    found = model.scores(inputs.joint(ids))
    for (passage, entity), score in zip(pairs, found, strict=True):
        row = joint(inputs, passage, entity).ids.tolist()
        first = row.index(3) + 1
        types = torch.tensor([[0] * first + [1] * (len(row) - first)])
        states = model.model.transformer(torch.tensor([row]), token_type_ids=types).last_hidden_state[0, 0]
        expected = sum(a * b for a, b in zip(states.tolist(), model.model.head.tolist(), strict=True))
        assert score == pytest.approx(expected, abs=1e-4)
    assert len(np.unique(found.round(6))) == len(pairs)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_saved_and_loaded_it_is_the_same(tmp_path: Path, family: str) -> None:
    torch.manual_seed(0)
    model = CrossEncoder.from_encoder(tiny.folder(tmp_path / "base", family), SHORT)
    model.save(tmp_path / "saved")
    manifest = json.loads((tmp_path / "saved" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["kind"] == "cross-encoder"
    assert manifest["settings"] == {"max_length": 64, "first": 16}
    again = CrossEncoder.load(tmp_path / "saved")
    assert again.fingerprint == model.fingerprint == manifest["fingerprint"]
    assert not again.training
    tokens = [joint(one.inputs, PASSAGES[0], ENTITIES[0]) for one in (model, again)]
    assert np.array_equal(model.scores(tokens[0]), again.scores(tokens[1]))
    assert {path.suffix for path in (tmp_path / "saved").rglob("*") if path.is_file()} == {".json", ".safetensors"}
    with torch.no_grad():
        again.model.head.add_(1)
    assert again.fingerprint != model.fingerprint


def test_what_is_damaged_is_said(model: CrossEncoder, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    model.save(saved)
    with pytest.raises(StoreError, match="no such cross-encoder"):
        CrossEncoder.load(tmp_path / "nothing")
    manifest = saved / "manifest.json"
    whole = manifest.read_text(encoding="utf-8")
    for before, after, message in (
        ('"max_length": 64', '"max_length": 4096', "the cross-encoder is damaged"),
        ('"max_length": 64', '"length": 64', "the cross-encoder is damaged"),
        ('"cross-encoder"', '"reranker"', "not a nymlink cross-encoder but a nymlink reranker"),
        ("head.safetensors", "other", "other is missing"),
    ):
        write_manifest(saved, json.loads(whole.replace(before, after)))
        with pytest.raises(StoreError, match=message):
            CrossEncoder.load(saved)
    manifest.write_text(whole, encoding="utf-8")
    head = saved / "head.safetensors"
    head.write_bytes(b"x" * head.stat().st_size)
    with pytest.raises(StoreError, match=r"head\.safetensors is damaged"):
        CrossEncoder.load(saved)
    seal(saved, json.loads(whole))
    with pytest.raises(StoreError, match="the cross-encoder is damaged"):
        CrossEncoder.load(saved)
    save_file({"weights": torch.zeros(5)}, head)
    seal(saved, json.loads(whole))
    with pytest.raises(StoreError, match="its head is for vectors of length 5"):
        CrossEncoder.load(saved)
    shutil.rmtree(saved / "encoder")
    with pytest.raises(StoreError, match="is missing"):
        CrossEncoder.load(saved)


def test_settings_have_their_ranges(base: Path) -> None:
    with pytest.raises(InputError, match="max_length must be at least 32, not 16"):
        CrossEncoderConfig(max_length=16)
    with pytest.raises(InputError, match="max_length 128 is more than the model takes: use at most 66"):
        CrossEncoder.from_encoder(base, CrossEncoderConfig())
    with pytest.raises(InputError, match="first must be at least 1, not 0"):
        CrossEncoderConfig(first=0)


def test_all_candidates_that_are_to_be_read_are_put_in_order(
    base: Path, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    for first, candidates in ((16, 64), (100, 100)):
        CrossEncoder.from_encoder(base, CrossEncoderConfig(max_length=64, first=first)).save(tmp_path / "saved")
        assert Reranker.load(tmp_path / "saved", vocabulary).candidates == candidates


@pytest.mark.parametrize(("able", "tolerance"), [({}, 1e-4), ({"avx512_bf16": True}, 5e-3)])
def test_the_first_candidates_are_read_and_the_others_come_after_them(
    base: Path,
    vocabulary: Vocabulary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    able: dict[str, bool],
    tolerance: float,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    torch.manual_seed(0)
    model = CrossEncoder.from_encoder(base, CrossEncoderConfig(max_length=64, first=3)).eval()
    model.save(tmp_path / "saved")
    scorer = open_scorer(tmp_path / "saved", vocabulary)
    candidates = [[9, 0, 4, 8, 2, 1], [5], [7, 3]]
    found = scorer.scores(PASSAGES, candidates)
    for passage, rows, scores in zip(PASSAGES, candidates, found, strict=True):
        assert scores.dtype == np.float32
        assert scores.shape == (len(rows),)
        known = list(entities(vocabulary, rows[:3]))
        expected = [float(model.scores(joint(model.inputs, passage, one))[0]) for one in known]
        assert scores[:3].tolist() == pytest.approx(expected, abs=tolerance)
        lowest = min(scores[:3])
        assert scores[3:].tolist() == pytest.approx([lowest - at for at in range(1, len(rows) - 2)])
    assert scorer.scores([], []) == []


def test_many_mentions_are_read_in_turn_and_concepts_tokenised_once(
    model: CrossEncoder, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenised: list[Entity] = []
    original = Inputs.entity_ids

    def counted(self: Inputs, given: list[Entity]) -> object:
        tokenised.extend(given)
        return original(self, given)

    monkeypatch.setattr(Inputs, "entity_ids", counted)
    scorer = CrossScorer(model, vocabulary)
    few = scorer.scores(PASSAGES, [[0, 1, 2]] * 3)
    monkeypatch.setattr("nymlink.rerank.cross_encoder._AT_ONCE", 2)
    again = scorer.scores(PASSAGES, [[0, 1, 2]] * 3)
    for one, other in zip(few, again, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert len(tokenised) == 3
