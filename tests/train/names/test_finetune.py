"""Fine-tuning: what is paired with what, and a training of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.train.names.pair_trainings import MentionPairs, train_finetune
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import FinetuneSettings
from tests.train.small import vocabulary

VOCABULARY = vocabulary(
    ("X:1", "Heart-Attack", "en", "preferred"),
    ("X:1", "heart attack", "en", "exact"),
    ("X:1", "Infarction", "en", "exact"),
    ("X:1", "heart disease", "en", "broad"),
    ("X:2", "stroke", "en", "preferred"),
    ("X:3", "seizure", "en", "preferred"),
    ("X:3", "fit", "en", "exact"),
)


def corpus(*mentions: tuple[str, str, tuple[str, ...]]) -> Corpus:
    made = [Mention(text, type=kind, concept_ids=ids) for text, kind, ids in mentions]
    return Corpus("made", (Document("1", mentions=tuple(made)),))


MENTIONS = corpus(
    ("heart attacks!", "Disease", ("X:1",)),
    ("Heart attacks", "Disease", ("X:1",)),
    ("infarction", "Disease", ("X:1",)),
    ("stroke", "Disease", ("X:2",)),
    ("a stroke", "Sign", ("X:2",)),
    ("stroke or fit", "Disease", ("X:2", "X:3")),
    ("gone", "Disease", ("X:9",)),
    ("unknown", "Disease", ()),
)


def spelt(pairs: MentionPairs, *, epoch: int = 0) -> list[tuple[str, str, str]]:
    parts = [pairs.slice(start, min(start + 2, len(pairs)), epoch=epoch) for start in range(0, len(pairs), 2)]
    return [
        (VOCABULARY.concept_id(row), left, right)
        for part in parts
        for row, left, right in zip(part.concepts.tolist(), part.left, part.right, strict=True)
    ]


def test_mentions_are_paired_with_every_other_name_of_their_concepts() -> None:
    assert sorted(spelt(MentionPairs(VOCABULARY, [MENTIONS]))) == [
        ("X:1", "heart attacks", "heart attack"),
        ("X:1", "heart attacks", "infarction"),
        ("X:1", "infarction", "heart attack"),
        ("X:2", "a stroke", "stroke"),
    ]


def test_the_order_is_shuffled_anew_in_each_epoch() -> None:
    pairs = MentionPairs(VOCABULARY, [corpus(*((f"pain {at}", "", ("X:1",)) for at in range(30)))])
    assert len(pairs) == 60
    assert sorted(spelt(pairs)) == sorted(spelt(pairs, epoch=1))
    assert spelt(pairs) == spelt(pairs) != spelt(pairs, epoch=1)


def test_only_mentions_of_the_types_asked_for() -> None:
    assert spelt(MentionPairs(VOCABULARY, [MENTIONS], types=["Sign"])) == [("X:2", "a stroke", "stroke")]


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(InputError, match=r"no mention has a gold id .*annotated with ids of this vocabulary"):
        MentionPairs(VOCABULARY, [corpus(("pain", "", ("Y:1",)))])
    with pytest.raises(InputError, match="no mention of type Finding, Sing has a gold id"):
        MentionPairs(VOCABULARY, [MENTIONS], types=["Finding", "Sing"])
    with pytest.raises(InputError, match="has another name"):
        MentionPairs(VOCABULARY, [corpus(("Stroke", "", ("X:2",)))])


def test_a_mention_of_several_concepts_has_the_names_of_each() -> None:
    pairs = MentionPairs(VOCABULARY, [corpus(("attack", "", ("X:2", "X:3")))])
    assert sorted(spelt(pairs)) == [
        ("X:2", "attack", "stroke"),
        ("X:3", "attack", "fit"),
        ("X:3", "attack", "seizure"),
    ]


def test_a_training_of_it(place: Path, tmp_path: Path) -> None:
    settings = FinetuneSettings(
        corpora=(str(place / "processed_dev"),),
        vocab=str(place / "vocab"),
        base=str(place / "base"),
        output=str(tmp_path / "out"),
        batch_pairs=12,
    )
    result = train_finetune(settings)
    said = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert result["steps"] == 9  # 36 pairs, three times
    assert said["recipe"] == "finetune"
    assert said["data"]["pairs"] == {"count": 36}
    assert list(said["data"]["corpora"][0]["files"]) == ["1.concept"]
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_mentions_of_the_types_asked_for_alone_are_measured(place: Path, tmp_path: Path) -> None:
    held_out = tmp_path / "processed_dev"
    held_out.mkdir()
    lines = (place / "processed_dev" / "1.concept").read_text(encoding="utf-8").splitlines(keepends=True)
    (held_out / "1.concept").write_text(
        "".join([*lines[:3], *(line.replace("Disease", "Sign") for line in lines)]), encoding="utf-8"
    )
    settings = FinetuneSettings(
        corpora=(str(place / "processed_dev"),),
        types=("Disease",),
        vocab=str(place / "vocab"),
        base=str(place / "base"),
        output=str(tmp_path / "out"),
        evaluation={"dev": HeldOutCorpus(corpus=str(held_out), dictionary=str(place / "vocab"))},
        max_steps=1,
    )
    train_finetune(settings)
    said = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert said["data"]["evaluation.dev"]["mentions"] == 3
