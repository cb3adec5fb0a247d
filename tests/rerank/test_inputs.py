"""What the encoders read: markers, budgets, and what survives a cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from nymlink.core.errors import InputError
from nymlink.encode.model.token_batches import Tokens
from nymlink.rerank.inputs import END, START, Entity, Inputs, entities, fit_context
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made: Tokenizer = tiny.tokenizer()
    made.enable_truncation(25)  # as a tokenizer of names comes
    made.add_special_tokens([START, END])
    return made


def said(tokenizer: Tokenizer, tokens: Tokens) -> list[str]:
    rows = [tokens.ids[start:end].tolist() for start, end in zip(tokens.offsets, tokens.offsets[1:], strict=False)]
    return [" ".join(str(tokenizer.id_to_token(one)) for one in row) for row in rows]


def test_a_mention_stands_between_markers(tokenizer: Tokenizer) -> None:
    found = Inputs(tokenizer, length=32).passages(
        [Passage("infarto de ", "heart attack", " short"), Passage("", "stature", "")]
    )
    assert said(tokenizer, found) == [
        "[CLS] infarto de [START] heart attack [END] short [SEP]",
        "[CLS] [START] stature [END] [SEP]",
    ]


def test_special_tokens_in_a_text_are_text(tokenizer: Tokenizer) -> None:
    (found,) = said(tokenizer, Inputs(tokenizer, length=64).passages([Passage("[END] [CLS]", "[SEP]", "\ud800")]))
    assert [found.count(one) for one in ("[CLS]", "[SEP]", "[START]", "[END]")] == [1, 1, 1, 1]


def test_an_entity_has_its_type_and_its_names(tokenizer: Tokenizer) -> None:
    inputs = Inputs(tokenizer, length=16)
    known = [
        Entity("stature", ("heart attack", "infarction")),
        Entity("", ("seizure",)),
        Entity("stature " * 9, ("heart " * 6 + "x", "attack " * 5, "seizure")),
        Entity("", ("stature " * 40, "x")),
    ]
    found = inputs.entities(known)
    assert said(tokenizer, found) == [
        "[CLS] stature [SEP] heart attack [SEP] infarction [SEP]",
        "[CLS] seizure [SEP]",
        "[CLS] stature stature [SEP] heart heart heart heart heart heart x [SEP] seizure [SEP]",
        "[CLS]" + " stature" * 14 + " [SEP]",
    ]


@given(
    *(st.lists(st.integers(0, 9), max_size=60) for _ in range(3)),
    st.integers(12, 124),
)
def test_the_mention_and_what_is_nearest_survive(left: Any, mention: Any, right: Any, room: int) -> None:
    before, kept, after = fit_context(left, mention, right, room=room)
    assert len(before) + len(kept) + len(after) == min(room, len(left) + len(mention) + len(right))
    assert list(before) == left[len(left) - len(before) :]
    assert list(after) == right[: len(after)]
    assert len(before) >= min(len(left), room // 8)
    assert len(after) >= min(len(right), room // 8)
    if len(mention) <= room - 2 * (room // 8):
        assert list(kept) == mention
    else:
        head = -(-len(kept) // 2)
        assert list(kept) == mention[:head] + mention[len(mention) - (len(kept) - head) :]
    if list(kept) == mention and min(len(left), len(right)) >= room:
        assert abs(len(before) - len(after)) <= 1


def test_long_inputs_have_the_length_that_was_asked_for(tokenizer: Tokenizer) -> None:
    long = Passage("stature " * 99, "heart " * 99, " seizure" * 99)
    found = Inputs(tokenizer, length=32).passages([long])
    assert found.lengths.tolist() == [32]
    (text,) = said(tokenizer, found)
    sides = "stature " * 3, " seizure" * 3
    assert text == f"[CLS] {sides[0]}[START]{' heart' * 22} [END]{sides[1]} [SEP]"


def test_many_inputs_are_tokenised_in_turn(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs(tokenizer, length=16)
    many = [Passage("stature " * (at % 9), "heart", " seizure" * (at % 7)) for at in range(2500)]
    known = [Entity("stature" if at % 2 else "", ("attack",) * (1 + at % 3)) for at in range(2500)]
    at_once: list[int] = []
    for name in ("passage_ids", "entity_ids"):
        original = getattr(Inputs, name)

        def counted(self: Inputs, given: list[Any], original: Any = original) -> Any:
            at_once.append(len(given))
            return original(self, given)

        monkeypatch.setattr(Inputs, name, counted)
    for found, alone in (
        (inputs.passages(many), [inputs.passages([one]) for one in many[:64]]),
        (inputs.entities(known), [inputs.entities([one]) for one in known[:64]]),
    ):
        assert (len(found), found.ids.dtype, found.offsets.dtype) == (2500, np.int32, np.int64)
        assert found.ids[: found.offsets[64]].tolist() == [int(one) for own in alone for one in own.ids]
    assert [size for size in at_once if size > 1] == [1024, 1024, 452] * 2
    assert len(inputs.passages([])) == len(inputs.entities([])) == 0


def test_a_tokenizer_without_ends_is_refused() -> None:
    bare = tiny.tokenizer()
    bare.post_processor = None
    with pytest.raises(InputError, match="one token before a text and one after it"):
        Inputs(bare, length=32)
    with pytest.raises(ValueError, match="does not have the markers"):
        Inputs(tiny.tokenizer(), length=32).passages([Passage("a", "b", "c")])


def test_concepts_without_names_or_type_are_entities() -> None:
    builder = TableBuilder()
    builder.concept("X:1", semantic_types=["Disease", "Sign"])
    for name in ("Heart Attack", "MI", "heart attack"):
        builder.name("X:1", name, lang="en")
    builder.name("X:1", "STEMI", lang="en", kind="narrow")
    builder.concept("X:2")
    builder.concept("X:3")
    builder.name("X:3", "Stroke", lang="en", kind="broad")
    vocabulary = Vocabulary.of((Source("small", "table"), builder.build()))
    assert list(entities(vocabulary, [1, 0, 2])) == [
        Entity("", ("x:2",)),
        Entity("disease, sign", ("heart attack", "mi")),
        Entity("", ("stroke",)),
    ]
