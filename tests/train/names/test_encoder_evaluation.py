"""Held-out corpora: the same figures as counting by hand, and as the evaluation of links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.train.names.encoder_training import Encode, EncoderEvaluation, memoised, open_evaluations
from nymlink.train.settings.common import HeldOutCorpus
from tests.train.small import vocabulary

NAMES = ("cat", "dog", "cow", "hen", "pig", "ape")


@pytest.fixture
def held_out(tmp_path: Path) -> HeldOutCorpus:
    rows = [(f"X:{at}", name, "en", "exact") for at, name in enumerate(NAMES)]
    vocabulary(*rows, ("X:9", "cat", "en", "exact")).save(tmp_path / "vocab")
    folder = tmp_path / "processed_dev"
    folder.mkdir()
    (folder / "1.concept").write_text(
        "1||0|3||Disease||cat||X:9\n"
        "1||4|7||Disease||doggy||X:1\n"
        "1||8|11||Disease||cows|hens||X:2|X:3\n"
        "1||12|15||Disease||pig||X:77\n",
        encoding="utf-8",
    )
    return HeldOutCorpus(corpus=str(folder), dictionary=str(tmp_path / "vocab"))


def encode(near: dict[str, list[str]]) -> Encode:
    """An encoder by which the names nearest to a text are those listed, in that order."""

    def vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        made = np.zeros((len(texts), len(NAMES)), np.float32)
        for row, text in enumerate(texts):
            for place, name in enumerate(near.get(text, [text])):
                made[row, NAMES.index(name)] = 1 / (place + 1)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    return vectors


@pytest.mark.parametrize(
    ("changes", "right_at_1", "right_at_5"),
    [
        ({}, 3, 3),
        ({"doggy": ["cat", "dog"]}, 2, 3),
        ({"doggy": ["cat", "cow", "hen", "pig", "ape", "dog"]}, 2, 2),
        ({"hens": ["cow"]}, 3, 3),  # a part may mean any of the gold concepts
        ({"hens": ["pig", "hen"]}, 2, 3),  # and each must
        ({"pig": ["pig", "ape"]}, 3, 3),  # its gold id is not in the dictionary
    ],
)
def test_a_name_is_right_when_one_of_its_concepts_is_and_a_composite_when_all_its_parts_are(
    held_out: HeldOutCorpus, changes: dict[str, list[str]], right_at_1: int, right_at_5: int
) -> None:
    evaluation = EncoderEvaluation(held_out, problems=Problems())
    assert {name: evaluation.describe()[name] for name in ("mentions", "entries")} == {"mentions": 4, "entries": 6}
    figures = evaluation(encode({"doggy": ["dog"], "cows": ["cow"], "hens": ["hen"]} | changes))
    assert figures == {"acc@1": right_at_1 / 4, "acc@5": right_at_5 / 4}


def test_a_dictionary_without_the_gold_ids_is_said(held_out: HeldOutCorpus, tmp_path: Path) -> None:
    vocabulary(("Y:1", "cat", "en", "exact")).save(tmp_path / "other")
    other = HeldOutCorpus(corpus=held_out.corpus, dictionary=str(tmp_path / "other"))
    with pytest.raises(InputError, match="has a gold id that is in"):
        open_evaluations({"dev": other}, problems=Problems())


def test_mentions_of_a_type_alone_can_be_measured(held_out: HeldOutCorpus) -> None:
    with (Path(held_out.corpus) / "1.concept").open("a") as file:
        file.write("1||16|19||Sign||hen||X:3\n1||20|23||Finding||pig||X:77\n")
    evaluation = open_evaluations({"dev": held_out}, types=["Sign"], problems=Problems())["dev"]
    assert evaluation.describe()["mentions"] == 1
    assert evaluation(encode({})) == {"acc@1": 1, "acc@5": 1}
    assert open_evaluations({"dev": held_out}, problems=Problems())["dev"].describe()["mentions"] == 6
    with pytest.raises(InputError, match="no mention of type Finding has a gold id that"):
        EncoderEvaluation(held_out, types=["Finding"], problems=Problems())


def test_what_is_measured_on_is_known_by_its_digest(held_out: HeldOutCorpus) -> None:
    before = EncoderEvaluation(held_out, problems=Problems()).describe()
    assert EncoderEvaluation(held_out, problems=Problems()).describe() == before
    file = Path(held_out.corpus) / "1.concept"
    # As many mentions, of which one means something else.
    file.write_text(file.read_text(encoding="utf-8").replace("X:9", "X:0"), encoding="utf-8")
    after = EncoderEvaluation(held_out, problems=Problems()).describe()
    assert [name for name in before if before[name] != after[name]] == ["corpus"]


def test_a_dictionary_can_be_a_file(held_out: HeldOutCorpus, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("X:0||cat\nX:1||dog\n", encoding="utf-8")
    file = HeldOutCorpus(corpus=held_out.corpus, dictionary=str(tmp_path / "names.txt"))
    assert EncoderEvaluation(file, problems=Problems()).describe()["dictionary"][0]["format"] == "biosyn"


def test_a_name_is_encoded_once_for_all_corpora() -> None:
    asked: list[str] = []

    def vectors(names: Sequence[str]) -> npt.NDArray[np.float32]:
        asked.extend(names)
        return np.array([[len(name), 1] for name in names], np.float32)

    encoded = memoised(vectors)
    assert encoded(["cat", "horse", "cat"]).tolist() == [[3, 1], [5, 1], [3, 1]]
    assert encoded(["horse", "ox"]).tolist() == [[5, 1], [2, 1]]
    assert encoded(["ox"]).tolist() == [[2, 1]]
    assert asked == ["cat", "horse", "ox"]
